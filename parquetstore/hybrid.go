package parquetstore

import (
	"encoding/binary"
	"errors"
	"math/bits"

	"github.com/parquet-go/bitpack"
	"github.com/tidemarkdb/tidemark/vec"
)

// The RLE / bit-packed hybrid of Parquet (Encodings.md, "RLE = 3"), which holds levels, dictionary codes and booleans:
//
//	run    uvarint count<<1,       then one value in (width+7)/8 bytes
//	group  uvarint groups<<1 | 1,  then groups*8 values of width bits, least significant first

var (
	errRunCut  = errors.New("run-length data is cut off")
	errRunBits = errors.New("run-length data has an impossible bit width")
)

// run is one piece of hybrid data: count times value, or count packed values.
type run struct {
	count  int
	value  uint32
	packed []byte // nil for a repeated value
}

// nextRun reads the run at the start of src, of which at most limit values are wanted.
func nextRun(src []byte, width uint, limit int) (r run, rest []byte, err error) {
	header, n := binary.Uvarint(src)
	if n <= 0 {
		return r, nil, errRunCut
	}
	src = src[n:]
	if header&1 == 0 {
		size := int(width+7) / 8
		if len(src) < size || header == 0 {
			return r, nil, errRunCut
		}
		for i := range size {
			r.value |= uint32(src[i]) << (8 * i)
		}
		r.count = int(min(header>>1, uint64(limit)))
		return r, src[size:], nil
	}
	groups := header >> 1
	if groups == 0 {
		return r, nil, errRunCut
	}
	size := min(groups, uint64(limit+7)/8) * uint64(width)
	r.count = int(min(groups*8, uint64(limit)))
	if groups > uint64(limit) { // more than wanted: nothing follows that counts
		groups = (uint64(limit) + 7) / 8
	}
	// Some writers cut the padding off the last group.
	if need := uint64(r.count)*uint64(width) + 7; need/8 > uint64(len(src)) {
		return r, nil, errRunCut
	}
	r.packed = src[:min(size, uint64(len(src)))]
	return r, src[min(groups*uint64(width), uint64(len(src))):], nil
}

// unpack32 fills dst with packed values of width bits, 0 to 32.
func unpack32(dst []int32, packed []byte, width uint) {
	if width == 0 {
		clear(dst)
		return
	}
	bitpack.Unpack(dst, withPadding(packed, len(dst), width, bitpack.PaddingInt32), width)
}

// unpack64 fills dst with packed values of width bits, 0 to 64.
func unpack64(dst []int64, packed []byte, width uint) {
	if width == 0 {
		clear(dst)
		return
	}
	bitpack.Unpack(dst, withPadding(packed, len(dst), width, bitpack.PaddingInt64), width)
}

// withPadding returns packed with readable bytes behind it: those of its own buffer where it has them.
func withPadding(packed []byte, n int, width uint, padding int) []byte {
	need := bitpack.ByteCount(width*uint(n)) + padding
	if cap(packed) >= need {
		return packed[:need]
	}
	padded := make([]byte, need)
	copy(padded, packed)
	return padded
}

// decodeHybrid fills dst and returns the bitwise OR of its values, which bounds them.
func decodeHybrid(dst []int32, src []byte, width uint) (or uint32, err error) {
	if width > 32 {
		return 0, errRunBits
	}
	for len(dst) > 0 {
		var r run
		if r, src, err = nextRun(src, width, len(dst)); err != nil {
			return 0, err
		}
		out := dst[:r.count]
		dst = dst[r.count:]
		if r.packed == nil && width > 0 {
			or |= r.value
			fill(out, int32(r.value))
			continue
		}
		unpack32(out, r.packed, width)
		for _, x := range out {
			or |= uint32(x)
		}
	}
	return or, nil
}

func fill[T any](dst []T, x T) {
	for i := range dst {
		dst[i] = x
	}
}

// decodeValidity reads n definition levels of 0 or 1 as a bitmap; nil when all are 1. It returns how many are 1.
func decodeValidity(src []byte, n int) (vec.Bitmap, int, error) {
	if r, _, err := nextRun(src, 1, n); err != nil && n > 0 {
		return nil, 0, err
	} else if r.packed == nil && r.count == n && (r.value == 1 || n == 0) {
		return nil, n, nil
	}
	out := vec.NewBitmap(n)
	for at := 0; at < n; {
		r, rest, err := nextRun(src, 1, n-at)
		if err != nil {
			return nil, 0, err
		}
		src = rest
		switch {
		case r.packed != nil:
			setBits(out, at, r.packed, r.count)
		case r.value == 1:
			setRange(out, at, r.count)
		case r.value > 1:
			return nil, 0, errors.New("definition level above 1 in a flat column")
		}
		at += r.count
	}
	valid := out.Count(n)
	if valid == n {
		return nil, n, nil
	}
	return out, valid, nil
}

// setBits copies count bits of packed to bit at of b, where bits are 0.
func setBits(b vec.Bitmap, at int, packed []byte, count int) {
	for i := 0; i < count; i += 8 {
		bits8 := uint64(packed[i/8])
		if left := count - i; left < 8 {
			bits8 &= 1<<left - 1
		}
		word, shift := (at+i)/64, uint(at+i)%64
		b[word] |= bits8 << shift
		if shift > 56 && bits8>>(64-shift) != 0 {
			b[word+1] |= bits8 >> (64 - shift)
		}
	}
}

func setRange(b vec.Bitmap, at, count int) {
	for count > 0 {
		word, shift := at/64, uint(at)%64
		n := min(count, 64-int(shift))
		b[word] |= (^uint64(0) >> (64 - uint(n))) << shift
		at, count = at+n, count-n
	}
}

// bitWidth returns the bits the largest value needs.
func bitWidth(largest uint32) uint { return uint(bits.Len32(largest)) }

// shortestRun is how many equal values are stored as a run rather than packed. Shorter runs would save bytes but cost
// the decoder its long unpacking loops.
const shortestRun = 64

// maxGroups bounds one packed stretch to keep its header within three bytes.
const maxGroups = 1 << 15

// appendHybrid appends values, each below 1<<width, in the hybrid encoding.
func appendHybrid(dst []byte, values []int32, width uint) []byte {
	start := 0
	for i := 0; i < len(values); {
		n := runLength(values[i:])
		// A packed stretch must end on a group of 8, so a run starts only there.
		lead := (8 - (i-start)%8) % 8
		if n-lead < shortestRun {
			i += n
			continue
		}
		i += lead
		n -= lead
		dst = appendPacked(dst, values[start:i], width)
		dst = binary.AppendUvarint(dst, uint64(n)<<1)
		for b := uint(0); b < width; b += 8 {
			dst = append(dst, byte(values[i]>>b))
		}
		i += n
		start = i
	}
	return appendPacked(dst, values[start:], width)
}

func runLength(values []int32) int {
	n := 1
	for n < len(values) && values[n] == values[0] {
		n++
	}
	return n
}

func appendPacked(dst []byte, values []int32, width uint) []byte {
	for len(values) > 0 {
		n := min(len(values), maxGroups*8)
		groups := (n + 7) / 8
		dst = binary.AppendUvarint(dst, uint64(groups)<<1|1)
		if width > 0 {
			dst = packBits(dst, values[:n], groups*8, width)
		}
		values = values[n:]
	}
	return dst
}

// packBits appends values packed to width bits and padded with zeros to count values.
func packBits(dst []byte, values []int32, count int, width uint) []byte {
	whole := len(values) &^ 7
	size := count / 8 * int(width)
	at := len(dst)
	dst = append(dst, make([]byte, size)...)
	if whole > 0 {
		bitpack.Pack(dst[at:], values[:whole], width)
	}
	if whole < len(values) {
		var last [8]int32
		copy(last[:], values[whole:])
		var out [32]byte
		bitpack.Pack(out[:], last[:], width)
		copy(dst[at+whole/8*int(width):at+size], out[:width])
	}
	return dst
}

// appendValidity appends n validity bits (nil: all 1) as definition levels of a flat nullable column.
func appendValidity(dst []byte, valid vec.Bitmap, n int) []byte {
	if valid == nil {
		dst = binary.AppendUvarint(dst, uint64(n)<<1)
		return append(dst, 1)
	}
	groups := (n + 7) / 8
	dst = binary.AppendUvarint(dst, uint64(groups)<<1|1)
	at := len(dst)
	dst = append(dst, make([]byte, groups)...)
	for i := range groups {
		dst[at+i] = byte(valid[i/8] >> (8 * (i % 8)))
	}
	if rest := n % 8; rest != 0 {
		dst[len(dst)-1] &= 1<<rest - 1
	}
	return dst
}

// hybridReader reads hybrid data piece by piece.
type hybridReader struct {
	src   []byte
	width uint
	left  int // values behind run
	run   run
	at    int // values of run that were read
}

// next makes run the next one when the last has been read.
func (h *hybridReader) next() error {
	if h.at < h.run.count {
		return nil
	}
	if h.left == 0 {
		return errRunCut
	}
	r, rest, err := nextRun(h.src, h.width, h.left)
	if err != nil {
		return err
	}
	h.run, h.src, h.at = r, rest, 0
	h.left -= r.count
	return nil
}

// skip passes n values over.
func (h *hybridReader) skip(n int) error {
	for n > 0 {
		if err := h.next(); err != nil {
			return err
		}
		take := min(n, h.run.count-h.at)
		h.at += take
		n -= take
	}
	return nil
}

// read fills dst with the next values.
func (h *hybridReader) read(dst []int32) error {
	for len(dst) > 0 {
		if err := h.next(); err != nil {
			return err
		}
		out := dst[:min(len(dst), h.run.count-h.at)]
		dst = dst[len(out):]
		if h.run.packed == nil || h.width == 0 {
			fill(out, int32(h.run.value))
		} else {
			h.unpack(out)
		}
		h.at += len(out)
	}
	return nil
}

// unpack fills dst with packed values from value at of the run on.
func (h *hybridReader) unpack(dst []int32) {
	at := h.at
	if lead := at % 8; lead != 0 { // values begin inside a byte
		var group [8]int32
		unpack32(group[:], h.run.packed[at/8*int(h.width):], h.width)
		n := copy(dst, group[lead:])
		dst, at = dst[n:], at+n
	}
	if len(dst) > 0 {
		unpack32(dst, h.run.packed[at/8*int(h.width):], h.width)
	}
}
