package exec

import (
	"bytes"
	"encoding/binary"

	"github.com/tidemarkdb/tidemark/vec"
)

// encodeBatch writes the rows of a batch without a selection whose columns are flat: the row count, then for each
// column a byte that tells whether validity follows, validity, and the values.
func encodeBatch(w *bytes.Buffer, b *vec.Batch) {
	putUvarint(w, uint64(b.N))
	for _, c := range b.Cols {
		encodeVector(w, c.Flatten())
	}
}

func putUvarint(w *bytes.Buffer, x uint64) {
	var buf [binary.MaxVarintLen64]byte
	w.Write(buf[:binary.PutUvarint(buf[:], x)])
}

func encodeVector(w *bytes.Buffer, v *vec.Vector) {
	if v.Valid == nil {
		w.WriteByte(0)
	} else {
		w.WriteByte(1)
		words := (v.N + 63) / 64
		var word [8]byte
		for _, x := range v.Valid[:words] {
			binary.LittleEndian.PutUint64(word[:], x)
			w.Write(word[:])
		}
	}
	switch p := v.Type.Phys(); p {
	case vec.PhysNone:
	case vec.PhysBytes:
		encodeOffsets(w, v)
		if v.N > 0 {
			w.Write(v.Data[v.Offsets[0]:v.Offsets[v.N]])
		}
	case vec.PhysList:
		encodeOffsets(w, v)
		from, n := int32(0), 0
		if v.N > 0 {
			from, n = v.Offsets[0], int(v.Offsets[v.N]-v.Offsets[0])
		}
		encodeVector(w, v.Kids[0].Slice(int(from), n).Flatten())
	case vec.PhysStruct:
		for _, k := range v.Kids {
			encodeVector(w, k.Slice(0, v.N).Flatten())
		}
	default:
		w.Write(v.Data[:v.N*p.Width()])
	}
}

func encodeOffsets(w *bytes.Buffer, v *vec.Vector) {
	for i := range v.N {
		putUvarint(w, uint64(v.Offsets[i+1]-v.Offsets[i]))
	}
}

// batchDecoder reads what encodeBatch wrote. ok turns false at the first fault.
type batchDecoder struct {
	b  []byte
	ok bool
}

func decodeBatch(data []byte, types []vec.Type) (*vec.Batch, bool) {
	d := &batchDecoder{b: data, ok: true}
	out := &vec.Batch{N: int(d.uvarint())}
	for _, t := range types {
		if !d.ok {
			return nil, false
		}
		out.Cols = append(out.Cols, d.vector(t, out.N))
	}
	return out, d.ok && len(d.b) == 0
}

func (d *batchDecoder) uvarint() uint64 {
	x, n := binary.Uvarint(d.b)
	if n <= 0 || x > 1<<40 {
		d.ok = false
		return 0
	}
	d.b = d.b[n:]
	return x
}

// take returns the next n bytes.
func (d *batchDecoder) take(n int) []byte {
	if n < 0 || n > len(d.b) {
		d.ok = false
		return nil
	}
	out := d.b[:n:n]
	d.b = d.b[n:]
	return out
}

func (d *batchDecoder) vector(t vec.Type, n int) *vec.Vector {
	v := &vec.Vector{Type: t, N: n}
	flag := d.take(1)
	if !d.ok {
		return v
	}
	if flag[0] != 0 {
		raw := d.take((n + 63) / 64 * 8)
		v.Valid = make(vec.Bitmap, len(raw)/8)
		for i := range v.Valid {
			v.Valid[i] = binary.LittleEndian.Uint64(raw[i*8:])
		}
	}
	switch p := t.Phys(); p {
	case vec.PhysNone:
	case vec.PhysBytes:
		v.Offsets = d.offsets(n)
		if d.ok {
			v.Data = d.take(int(v.Offsets[n]))
		}
	case vec.PhysList:
		v.Offsets = d.offsets(n)
		if d.ok {
			v.Kids = []*vec.Vector{d.vector(*t.Elem, int(v.Offsets[n]))}
		}
	case vec.PhysStruct:
		for _, f := range t.Fields {
			v.Kids = append(v.Kids, d.vector(f.Type, n))
		}
	default:
		raw := d.take(n * p.Width())
		if d.ok { // values must be aligned
			v.Data = vec.AsBytes(make([]vec.Int128, (len(raw)+15)/16))[:len(raw)]
			copy(v.Data, raw)
		}
	}
	return v
}

func (d *batchDecoder) offsets(n int) []int32 {
	if n > len(d.b) { // each takes a byte at least
		d.ok = false
		return nil
	}
	out, at := make([]int32, n+1), uint64(0)
	for i := range n {
		if at += d.uvarint(); at > vec.MaxBytes {
			d.ok = false
		}
		out[i+1] = int32(at)
	}
	return out
}
