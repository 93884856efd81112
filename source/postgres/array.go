package postgres

import (
	"encoding/binary"
	"fmt"

	"github.com/tidemarkdb/tidemark/vec"
)

// arrayDecoder returns the decoder of arrays whose elements have type elem. PostgreSQL does not declare the number of
// dimensions; a value must have as many as the target type is nested, or none at all (empty). Lower bounds other than
// 1 are not kept.
//
//	dimensions int32 | has NULLs int32 | element type oid | (length int32, lower bound int32) per dimension |
//	(length int32, -1: NULL; bytes) per element
func arrayDecoder(elem sourceType, target vec.Type) decodeFunc {
	depth := 0
	for t := target; t.ID == vec.Array; t = *t.Elem {
		depth++
	}
	decode := binaryDecoder(elem, innermost(target))
	return func(b *vec.Builder, raw []byte) error {
		r := cursor{rest: raw}
		dimensions := int(r.uint32())
		r.uint32()
		r.uint32()
		if r.bad {
			return errWidth
		}
		if dimensions == 0 {
			b.EndList()
			return nil
		}
		if dimensions != depth {
			return fmt.Errorf("it has %d dimensions but the column has %d", dimensions, depth)
		}
		lengths := make([]int, dimensions)
		for i := range lengths {
			lengths[i] = int(r.uint32())
			r.uint32()
		}
		if r.bad || !wellFormed(r, lengths) {
			return errWidth
		}
		return appendArray(b, &r, lengths, decode)
	}
}

// wellFormed reports whether exactly the elements of the given lengths follow.
func wellFormed(r cursor, lengths []int) bool {
	total := 1
	for _, n := range lengths {
		if n <= 0 || n > len(r.rest) {
			return false
		}
		if total *= n; total > len(r.rest) {
			return false
		}
	}
	for range total {
		if n := int32(r.uint32()); n >= 0 {
			r.bytes(int(n))
		}
	}
	return !r.bad && len(r.rest) == 0
}

func appendArray(b *vec.Builder, r *cursor, lengths []int, decode decodeFunc) error {
	elements := b.Elements()
	for range lengths[0] {
		if len(lengths) > 1 {
			if err := appendArray(elements, r, lengths[1:], decode); err != nil {
				return err
			}
			continue
		}
		n := int32(r.uint32())
		if n < 0 {
			elements.AppendNull()
			continue
		}
		if err := decode(elements, r.bytes(int(n))); err != nil {
			return fmt.Errorf("an element: %w", err)
		}
	}
	b.EndList()
	return nil
}

// cursor reads big-endian fields. After it ran out of bytes, bad is set and fields read as zero.
type cursor struct {
	rest []byte
	bad  bool
}

func (r *cursor) bytes(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.bad, r.rest = true, nil
		return nil
	}
	out := r.rest[:n]
	r.rest = r.rest[n:]
	return out
}

func (r *cursor) uint8() byte {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *cursor) uint16() uint16 {
	if b := r.bytes(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (r *cursor) uint32() uint32 {
	if b := r.bytes(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (r *cursor) uint64() uint64 {
	if b := r.bytes(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// text reads a string that ends with a zero byte.
func (r *cursor) text() string {
	for i, c := range r.rest {
		if c == 0 {
			s := string(r.rest[:i])
			r.rest = r.rest[i+1:]
			return s
		}
	}
	r.bad, r.rest = true, nil
	return ""
}
