package tablet

import (
	"encoding/binary"
	"errors"
)

var (
	errCutOff   = errors.New("the bytes end too early")
	errTooMany  = errors.New("there are bytes too many")
	errBadBound = errors.New("a bound has an unknown form")
)

func appendString[T string | []byte](b []byte, s T) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

// A bound is one byte, kind<<1 | exact, and its value.
func appendBound(b []byte, v Bound) []byte {
	tag := byte(v.Kind) << 1
	if v.Exact {
		tag |= 1
	}
	b = append(b, tag)
	switch v.Kind {
	case IntBound:
		b = binary.AppendVarint(b, v.hi)
	case FloatBound:
		b = binary.LittleEndian.AppendUint64(b, uint64(v.hi))
	case Int128Bound:
		b = binary.LittleEndian.AppendUint64(b, uint64(v.hi))
		b = binary.LittleEndian.AppendUint64(b, v.lo)
	case BytesBound:
		b = appendString(b, v.text)
	}
	return b
}

// decoder reads what the append functions wrote. The first fault sticks; later reads give zeros.
type decoder struct {
	rest string
	err  error
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
	d.rest = ""
}

func (d *decoder) take(n int) string {
	if n < 0 || n > len(d.rest) {
		d.fail(errCutOff)
		return ""
	}
	s := d.rest[:n]
	d.rest = d.rest[n:]
	return s
}

func (d *decoder) byte() byte {
	s := d.take(1)
	if s == "" {
		return 0
	}
	return s[0]
}

func (d *decoder) u64() uint64 {
	s := d.take(8)
	if s == "" {
		return 0
	}
	return uint64(le32(s)) | uint64(le32(s[4:]))<<32
}

func (d *decoder) uvarint() uint64 {
	var x uint64
	for shift := 0; shift < 64; shift += 7 {
		s := d.take(1)
		if s == "" {
			return 0
		}
		x |= uint64(s[0]&0x7f) << shift
		if s[0] < 0x80 {
			return x
		}
	}
	d.fail(errors.New("a number is too long"))
	return 0
}

func (d *decoder) varint() int64 {
	u := d.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

func (d *decoder) text() string {
	n := d.uvarint()
	if n > uint64(len(d.rest)) {
		d.fail(errCutOff)
		return ""
	}
	return d.take(int(n))
}

func (d *decoder) bound() Bound {
	tag := d.byte()
	b := Bound{Kind: BoundKind(tag >> 1), Exact: tag&1 == 1}
	switch b.Kind {
	case NoBound:
	case IntBound:
		b.hi = d.varint()
	case FloatBound:
		b.hi = int64(d.u64())
	case Int128Bound:
		b.hi = int64(d.u64())
		b.lo = d.u64()
	case BytesBound:
		b.text = d.text()
	default:
		d.fail(errBadBound)
	}
	return b
}

func (d *decoder) done() error {
	if d.err == nil && d.rest != "" {
		d.err = errTooMany
	}
	return d.err
}
