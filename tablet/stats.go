package tablet

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
	"sort"
)

// ColumnStats are the statistics of one column in one tablet. NullCount counts every stored row version; delete
// markers hold NULL outside the merge key.
type ColumnStats struct {
	FieldID   int32
	Min, Max  Bound  // over the values that are neither NULL nor NaN
	NullCount int64  // rows in which the column is NULL
	NaNCount  int64  // rows in which a float is NaN, which sorts above every number
	Distinct  []byte // a sketch of the distinct values, nil when none was kept
}

// Stats are the statistics of a tablet's columns in a compact immutable form, looked up without unpacking. The zero
// Stats knows nothing of any column. Stats compare with ==.
//
//	u32 n | n x (u32 field id, u32 end of its body) sorted by field id | bodies
type Stats struct{ encoded string }

const statsSlot = 8

// MakeStats packs the statistics of columns with distinct field ids.
func MakeStats(columns []ColumnStats) Stats {
	if len(columns) == 0 {
		return Stats{}
	}
	sorted := slices.Clone(columns)
	slices.SortFunc(sorted, func(a, b ColumnStats) int { return cmp.Compare(a.FieldID, b.FieldID) })
	var bodies []byte
	head := binary.LittleEndian.AppendUint32(nil, uint32(len(sorted)))
	for _, c := range sorted {
		bodies = appendBound(bodies, c.Min)
		bodies = appendBound(bodies, c.Max)
		bodies = binary.AppendUvarint(bodies, uint64(c.NullCount))
		bodies = binary.AppendUvarint(bodies, uint64(c.NaNCount))
		bodies = appendString(bodies, c.Distinct)
		head = binary.LittleEndian.AppendUint32(head, uint32(c.FieldID))
		head = binary.LittleEndian.AppendUint32(head, uint32(len(bodies)))
	}
	return Stats{string(append(head, bodies...))}
}

// Len returns the number of columns with statistics.
func (s Stats) Len() int {
	if s.encoded == "" {
		return 0
	}
	return int(le32(s.encoded))
}

// Column returns the statistics of a column, and whether there are any. Distinct is a copy.
func (s Stats) Column(fieldID int32) (ColumnStats, bool) {
	n := s.Len()
	i := sort.Search(n, func(i int) bool { return s.fieldID(i) >= fieldID })
	if i == n || s.fieldID(i) != fieldID {
		return ColumnStats{}, false
	}
	c, err := s.decode(i)
	return c, err == nil
}

// All yields the statistics of every column, in the order of field ids.
func (s Stats) All() iter.Seq[ColumnStats] {
	return func(yield func(ColumnStats) bool) {
		for i := range s.Len() {
			if c, err := s.decode(i); err == nil && !yield(c) {
				return
			}
		}
	}
}

func (s Stats) fieldID(i int) int32 { return int32(le32(s.encoded[4+i*statsSlot:])) }

func (s Stats) end(i int) int { return int(le32(s.encoded[8+i*statsSlot:])) }

func (s Stats) decode(i int) (ColumnStats, error) {
	bodies := s.encoded[4+s.Len()*statsSlot:]
	start := 0
	if i > 0 {
		start = s.end(i - 1)
	}
	d := decoder{rest: bodies[start:s.end(i)]}
	c := ColumnStats{FieldID: s.fieldID(i), Min: d.bound(), Max: d.bound()}
	c.NullCount, c.NaNCount = int64(d.uvarint()), int64(d.uvarint())
	if sketch := d.text(); sketch != "" {
		c.Distinct = []byte(sketch)
	}
	return c, d.done()
}

// validate checks the frame, so that no method panics. Bodies are decoded when they are asked for, which keeps opening
// a root with many tablets cheap; one that does not decode counts as no statistics, and prunes nothing.
func (s Stats) validate() error {
	if s.encoded == "" {
		return nil
	}
	if len(s.encoded) < 4 || uint64(len(s.encoded)-4) < uint64(s.Len())*statsSlot || s.Len() == 0 {
		return fmt.Errorf("column statistics of %d bytes are cut off", len(s.encoded))
	}
	n, before := s.Len(), 0
	size := len(s.encoded) - 4 - n*statsSlot
	for i := range n {
		if i > 0 && s.fieldID(i) <= s.fieldID(i-1) {
			return fmt.Errorf("column statistics are out of order at field %d", s.fieldID(i))
		}
		if s.end(i) < before || s.end(i) > size {
			return fmt.Errorf("column statistics of field %d lie outside their block", s.fieldID(i))
		}
		before = s.end(i)
	}
	if before != size {
		return fmt.Errorf("column statistics have %d bytes too many", size-before)
	}
	return nil
}

func le32(s string) uint32 {
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}
