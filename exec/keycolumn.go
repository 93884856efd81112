package exec

import (
	"github.com/tidemarkdb/tidemark/function"
	"github.com/tidemarkdb/tidemark/vec"
)

// keyColumn holds one column of the keys of a grouper, appended row by row and compared in place.
type keyColumn struct {
	t       vec.Type
	width   int
	n       int
	data    []byte
	offsets []int64 // byte strings: a group's strings may pass what a vector can address
	nulls   []bool  // nil until the first NULL
	nested  *vec.Builder
	boxed   []vec.Value // arrays and structs, to compare
	equal   function.RowEqual
}

// newKeyColumn returns a column with room for hint values of fixed width.
func newKeyColumn(t vec.Type, hint int) *keyColumn {
	c := &keyColumn{t: t, width: t.Phys().Width(), equal: function.EqualRows(t)}
	switch {
	case c.width > 0:
		c.data = make([]byte, 0, hint*c.width)
	case t.Phys() == vec.PhysBytes:
		c.offsets = []int64{0}
	case c.width == 0:
		c.nested = vec.NewBuilder(t, 0)
	}
	return c
}

func (c *keyColumn) reset() {
	c.n, c.data, c.nulls, c.boxed = 0, c.data[:0], nil, nil
	if c.offsets != nil {
		c.offsets = c.offsets[:1]
	}
	if c.nested != nil {
		c.nested = vec.NewBuilder(c.t, 0)
	}
}

func (c *keyColumn) memory() int64 {
	return int64(cap(c.data)+cap(c.offsets)*8+cap(c.nulls)) + int64(len(c.boxed))*128
}

func (c *keyColumn) append(v *vec.Vector, row int) {
	null := v.IsNull(row)
	if null && c.nulls == nil {
		c.nulls = make([]bool, c.n, c.n+1)
	}
	if c.nulls != nil {
		c.nulls = append(c.nulls, null)
	}
	c.n++
	switch {
	case c.width > 0:
		if null {
			var zero [16]byte
			c.data = append(c.data, zero[:c.width]...)
			return
		}
		p, i := v.Physical(row)
		c.data = append(c.data, p.Data[i*c.width:(i+1)*c.width]...)
	case c.offsets != nil:
		if !null {
			c.data = append(c.data, v.Bytes(row)...)
		}
		c.offsets = append(c.offsets, int64(len(c.data)))
	default:
		c.boxed = append(c.boxed, v.Value(row))
	}
}

func (c *keyColumn) isNull(number uint32) bool { return c.nulls != nil && c.nulls[number] }

// compare sets differ[i] where row rows[i] of v is not the key out[rows[i]].
func (c *keyColumn) compare(v *vec.Vector, rows []int32, out []uint32, differ []bool) {
	if c.t.ID == vec.Null {
		return
	}
	if c.nulls != nil || v.MayHaveNulls() {
		c.compareNulls(v, rows, out, differ)
	}
	switch c.t.Phys() {
	case vec.PhysBool:
		compareKeys[byte](c, v, rows, out, differ)
	case vec.PhysInt16:
		compareKeys[int16](c, v, rows, out, differ)
	case vec.PhysInt32:
		compareKeys[int32](c, v, rows, out, differ)
	case vec.PhysInt64:
		compareKeys[int64](c, v, rows, out, differ)
	case vec.PhysInt128:
		compareKeys[vec.Int128](c, v, rows, out, differ)
	case vec.PhysBytes:
		c.compareBytes(v, rows, out, differ)
	case vec.PhysList, vec.PhysStruct:
		for i, r := range rows {
			if !differ[i] && !v.IsNull(int(r)) {
				differ[i] = vec.Compare(v.Value(int(r)), c.boxed[out[r]]) != 0
			}
		}
	default: // floats and intervals, whose equal values may differ in their bits
		stored := &vec.Vector{Type: c.t, N: c.n, Data: c.data}
		for i, r := range rows {
			if !differ[i] && !v.IsNull(int(r)) {
				differ[i] = !c.equal(v, int(r), stored, int(out[r]))
			}
		}
	}
}

// compareNulls decides the rows where either side is NULL; values are compared after, and NULLs have equal ones or
// differ already.
func (c *keyColumn) compareNulls(v *vec.Vector, rows []int32, out []uint32, differ []bool) {
	for i, r := range rows {
		if v.IsNull(int(r)) != c.isNull(out[r]) {
			differ[i] = true
		}
	}
}

func compareKeys[T interface {
	comparable
	vec.Fixed
}](c *keyColumn, v *vec.Vector, rows []int32, out []uint32, differ []bool) {
	stored := vec.Cast[T](c.data)
	if v.Form == vec.Flat && v.Valid == nil {
		x := vec.Cast[T](v.Data)
		for i, r := range rows {
			differ[i] = differ[i] || x[r] != stored[out[r]]
		}
		return
	}
	for i, r := range rows {
		if differ[i] || v.IsNull(int(r)) {
			continue
		}
		p, at := v.Physical(int(r))
		differ[i] = vec.Cast[T](p.Data)[at] != stored[out[r]]
	}
}

func (c *keyColumn) compareBytes(v *vec.Vector, rows []int32, out []uint32, differ []bool) {
	nulls := v.MayHaveNulls()
	for i, r := range rows {
		if differ[i] || nulls && v.IsNull(int(r)) {
			continue
		}
		number := out[r]
		differ[i] = string(v.Bytes(int(r))) != string(c.data[c.offsets[number]:c.offsets[number+1]])
	}
}

// vector returns keys [from, from+n), borrowing where it can.
func (c *keyColumn) vector(from, n int) *vec.Vector {
	if c.t.ID == vec.Null {
		return vec.NullOf(c.t, n)
	}
	out := &vec.Vector{Type: c.t, N: n}
	switch {
	case c.width > 0:
		out.Data = c.data[from*c.width : (from+n)*c.width]
	case c.offsets != nil:
		base := c.offsets[from]
		out.Offsets = make([]int32, n+1)
		for i := range out.Offsets {
			out.Offsets[i] = int32(c.offsets[from+i] - base)
		}
		out.Data = c.data[base:c.offsets[from+n]]
	default:
		for _, x := range c.boxed[from : from+n] {
			c.nested.Append(x)
		}
		return c.nested.Finish()
	}
	if c.nulls != nil {
		out.Valid = vec.NewBitmap(n)
		for i, null := range c.nulls[from : from+n] {
			if !null {
				out.Valid.Set(i)
			}
		}
	}
	return out
}
