package parquetstore

import (
	"encoding/binary"
	"errors"

	"github.com/tidemarkdb/tidemark/vec"
)

var errDelta = errors.New("delta-encoded data is cut off or malformed")

// deltaHeader is the head of DELTA_BINARY_PACKED data (Parquet's Encodings.md, "DELTA_BINARY_PACKED = 5").
type deltaHeader struct {
	block  int // values a block
	minis  int // miniblocks a block
	total  int // values in all
	first  int64
	values int // values a miniblock
}

func zigzagAt(src []byte) (int64, []byte, bool) {
	u, n := binary.Uvarint(src)
	if n <= 0 {
		return 0, nil, false
	}
	return int64(u>>1) ^ -int64(u&1), src[n:], true
}

func parseDeltaHeader(src []byte) (h deltaHeader, rest []byte, err error) {
	var parts [3]uint64
	for i := range parts {
		u, n := binary.Uvarint(src)
		if n <= 0 || u > 1<<31 {
			return h, nil, errDelta
		}
		parts[i], src = u, src[n:]
	}
	h.block, h.minis, h.total = int(parts[0]), int(parts[1]), int(parts[2])
	if h.block == 0 || h.block > 1<<20 || h.minis == 0 || h.block%h.minis != 0 || h.block/h.minis%32 != 0 {
		return h, nil, errDelta
	}
	h.values = h.block / h.minis
	var ok bool
	if h.first, src, ok = zigzagAt(src); !ok {
		return h, nil, errDelta
	}
	return h, src, nil
}

// decodeDelta fills dst, of which there must be exactly as many values as encoded, and returns what follows them.
func decodeDelta[T int32 | int64](dst []T, src []byte) (rest []byte, err error) {
	h, src, err := parseDeltaHeader(src)
	if err != nil {
		return nil, err
	}
	if h.total != len(dst) {
		return nil, errDelta
	}
	if len(dst) == 0 {
		return src, nil
	}
	last := T(h.first)
	dst[0] = last
	dst = dst[1:]
	for len(dst) > 0 {
		least, after, ok := zigzagAt(src)
		if !ok || len(after) < h.minis {
			return nil, errDelta
		}
		widths := after[:h.minis]
		src = after[h.minis:]
		for _, w := range widths {
			if len(dst) == 0 {
				break
			}
			if dst, src, err = deltaMiniblock(dst, src, h.values, uint(w), T(least), &last); err != nil {
				return nil, err
			}
		}
	}
	return src, nil
}

// deltaMiniblock decodes one miniblock of up to values values, each least plus width bits above the one before.
func deltaMiniblock[T int32 | int64](dst []T, src []byte, values int, width uint, least T, last *T) ([]T, []byte, error) {
	n := min(values, len(dst))
	size := values / 8 * int(width)
	if n < values && len(src) < size { // some writers cut the padding off the last miniblock
		size = min(size, len(src))
	}
	if len(src) < size || (n*int(width)+7)/8 > len(src) {
		return nil, nil, errDelta
	}
	out := dst[:n]
	switch o := any(out).(type) {
	case []int32:
		if err := unpackDelta32(o, src[:size:cap(src)], width); err != nil {
			return nil, nil, err
		}
	case []int64:
		if width > 64 {
			return nil, nil, errDelta
		}
		unpack64(o, src[:size:cap(src)], width)
	}
	x := *last
	for i, d := range out {
		x += d + least
		out[i] = x
	}
	*last = x
	return dst[n:], src[size:], nil
}

// unpackDelta32 unpacks deltas of 32-bit values. Some writers take them in 64 bits, which makes them wider than the
// values: only their low halves count.
func unpackDelta32(dst []int32, src []byte, width uint) error {
	if width <= 32 {
		unpack32(dst, src, width)
		return nil
	}
	if width > 64 {
		return errDelta
	}
	wide := make([]int64, len(dst))
	unpack64(wide, src, width)
	for i, x := range wide {
		dst[i] = int32(x)
	}
	return nil
}

// decodeDeltaLengths reads n DELTA_LENGTH_BYTE_ARRAY strings as offsets into the returned data, which borrows src.
func decodeDeltaLengths(src []byte, n int) (offsets []int32, data []byte, err error) {
	offsets = make([]int32, n+1)
	data, err = decodeDelta(offsets[1:], src)
	if err != nil {
		return nil, nil, err
	}
	total := int64(0)
	for i, length := range offsets[1:] {
		total += int64(length)
		if length < 0 || total > int64(len(data)) {
			return nil, nil, errDelta
		}
		offsets[i+1] = int32(total)
	}
	return offsets, data[:total:cap(data)], nil
}

// decodeDeltaBytes reads n DELTA_BYTE_ARRAY strings: each shares a prefix with the one before.
func decodeDeltaBytes(src []byte, n int) (offsets []int32, data []byte, err error) {
	prefixes := make([]int32, n)
	src, err = decodeDelta(prefixes, src)
	if err != nil {
		return nil, nil, err
	}
	ends, suffixes, err := decodeDeltaLengths(src, n)
	if err != nil {
		return nil, nil, err
	}
	offsets = make([]int32, n+1)
	total, length := int64(0), int64(0)
	for i, p := range prefixes {
		if p < 0 || int64(p) > length {
			return nil, nil, errDelta
		}
		length = int64(p) + int64(ends[i+1]-ends[i])
		if total += length; total > vec.MaxBytes {
			return nil, nil, errors.New("a page holds more than 2 GiB of strings")
		}
		offsets[i+1] = int32(total)
	}
	data = make([]byte, total)
	for i, p := range prefixes {
		out := data[offsets[i]:offsets[i+1]]
		if p > 0 {
			copy(out, data[offsets[i-1]:][:p])
		}
		copy(out[p:], suffixes[ends[i]:ends[i+1]])
	}
	return offsets, data, nil
}
