package exec

import (
	"slices"

	"github.com/tidemarkdb/tidemark/vec"
)

// colBuf gathers the values of one column, in any form, into one flat vector.
type colBuf struct {
	t       vec.Type
	width   int // of a fixed-width value; 0 for the others
	n       int
	data    []byte
	offsets []int32 // byte strings
	valid   vec.Bitmap
	nested  *vec.Builder // arrays, structs and the untyped NULL
	dict    *vec.Vector  // where set, rows are kept as places in it
	index   []int32
}

func newColBuf(t vec.Type, capacity int) *colBuf {
	c := &colBuf{t: t, width: t.Phys().Width()}
	switch {
	case c.width > 0:
		c.data = make([]byte, 0, capacity*c.width)
	case t.Phys() == vec.PhysBytes:
		c.offsets = append(make([]int32, 0, capacity+1), 0)
	default:
		c.nested = vec.NewBuilder(t, capacity)
	}
	return c
}

// memory returns the bytes held.
func (c *colBuf) memory() int64 {
	size := int64(cap(c.data) + cap(c.offsets)*4 + cap(c.index)*4 + cap(c.valid)*8)
	if c.nested != nil {
		size += c.nested.MemoryBytes()
	}
	return size
}

// append adds the n rows that sel (nil: the first n) picks from v.
func (c *colBuf) append(v *vec.Vector, sel vec.Selection, n int) {
	if c.nested != nil {
		c.appendNested(v, sel, n)
		return
	}
	if c.dict != nil {
		c.appendIndex(v, sel, n)
		return
	}
	if c.valid != nil || v.MayHaveNulls() {
		c.appendValid(v, sel, n)
	}
	switch c.width {
	case 0:
		c.appendBytes(v, sel, n)
	case 1:
		appendFixed[byte](c, v, sel, n)
	case 2:
		appendFixed[int16](c, v, sel, n)
	case 4:
		appendFixed[int32](c, v, sel, n)
	case 8:
		appendFixed[int64](c, v, sel, n)
	default:
		appendFixed[vec.Int128](c, v, sel, n)
	}
	c.n += n
}

func (c *colBuf) appendNested(v *vec.Vector, sel vec.Selection, n int) {
	if sel != nil {
		c.nested.AppendVector(v, sel[:n])
	} else {
		for i := range n {
			c.nested.AppendFrom(v, i)
		}
	}
	c.n += n
}

func (c *colBuf) appendValid(v *vec.Vector, sel vec.Selection, n int) {
	words := (c.n + n + 63) / 64
	if c.valid == nil {
		c.valid = vec.NewFullBitmap(c.n)
	}
	for len(c.valid) < words {
		c.valid = append(c.valid, 0)
	}
	appendValid(c.valid, c.n, v, sel, n)
}

// appendValid sets bits [at, at+n) of dst to the validity of the rows that sel picks from v.
func appendValid(dst vec.Bitmap, at int, v *vec.Vector, sel vec.Selection, n int) {
	if !v.MayHaveNulls() {
		for i := at; i < at+n; i++ {
			dst.Set(i)
		}
		return
	}
	for i := range n {
		row := i
		if sel != nil {
			row = int(sel[i])
		}
		if v.IsNull(row) {
			dst.Clear(at + i)
		} else {
			dst.Set(at + i)
		}
	}
}

func appendFixed[T vec.Fixed](c *colBuf, v *vec.Vector, sel vec.Selection, n int) {
	size := c.n * c.width
	c.data = slices.Grow(c.data[:size], n*c.width)[:size+n*c.width]
	copyFixed(vec.Cast[T](c.data[size:]), v, sel, n)
}

// copyFixed writes the values of the n rows that sel picks from v to dst. NULL rows get anything.
func copyFixed[T vec.Fixed](dst []T, v *vec.Vector, sel vec.Selection, n int) {
	switch v.Form {
	case vec.Constant:
		x := vec.Cast[T](v.Data)[0]
		for i := range n {
			dst[i] = x
		}
	case vec.Dictionary:
		from := vec.Cast[T](v.Dict.Data)
		if len(from) == 0 { // every row is NULL
			clear(dst[:n])
			return
		}
		if sel == nil {
			for i, x := range v.Index[:n] {
				dst[i] = from[x]
			}
			return
		}
		for i, s := range sel[:n] {
			dst[i] = from[v.Index[s]]
		}
	default:
		from := vec.Cast[T](v.Data)
		if sel == nil {
			copy(dst[:n], from)
			return
		}
		gatherTo(dst, from, sel[:n])
	}
}

// gatherTo writes from[sel[i]] to dst[i].
func gatherTo[T any](dst, from []T, sel []int32) {
	dst = dst[:len(sel)]
	for i, s := range sel {
		dst[i] = from[s]
	}
}

func (c *colBuf) appendBytes(v *vec.Vector, sel vec.Selection, n int) {
	p := v
	if v.Form == vec.Dictionary {
		p = v.Dict
	}
	if v.Form == vec.Flat && sel == nil && v.Valid == nil {
		from, to := v.Offsets[0], v.Offsets[n]
		shift := int32(len(c.data)) - from
		c.data = append(c.data, v.Data[from:to]...)
		c.offsets = slices.Grow(c.offsets, n)
		for _, o := range v.Offsets[1 : n+1] {
			c.offsets = append(c.offsets, o+shift)
		}
		return
	}
	nulls := v.MayHaveNulls()
	c.offsets = slices.Grow(c.offsets, n)
	for i := range n {
		row := i
		if sel != nil {
			row = int(sel[i])
		}
		if !nulls || !v.IsNull(row) {
			switch v.Form {
			case vec.Dictionary:
				row = int(v.Index[row])
			case vec.Constant:
				row = 0
			}
			c.data = append(c.data, p.Data[p.Offsets[row]:p.Offsets[row+1]]...)
		}
		c.offsets = append(c.offsets, int32(len(c.data)))
	}
}

// newIndexBuf returns a buffer of strings that are all entries of dict, which it refers to and does not count.
func newIndexBuf(dict *vec.Vector, capacity int) *colBuf {
	return &colBuf{t: dict.Type, dict: dict, index: make([]int32, 0, capacity)}
}

// appendIndex adds rows of a vector over the buffer's dictionary.
func (c *colBuf) appendIndex(v *vec.Vector, sel vec.Selection, n int) {
	if c.valid != nil || v.Valid != nil {
		c.appendValid(&vec.Vector{Type: v.Type, N: v.N, Valid: v.Valid}, sel, n)
	}
	if sel == nil {
		c.index = append(c.index, v.Index[:n]...)
	} else {
		c.index = growTo(c.index, c.n+n)
		gatherTo(c.index[c.n:], v.Index, sel[:n])
	}
	c.n += n
}

// finish returns the rows as a vector, flat unless the buffer is over a dictionary, and leaves it empty, without its
// memory.
func (c *colBuf) finish() *vec.Vector {
	if c.dict != nil {
		v := &vec.Vector{Type: c.t, Form: vec.Dictionary, N: c.n, Valid: c.valid, Index: c.index, Dict: c.dict}
		c.n, c.valid, c.index = 0, nil, nil
		return v
	}
	if c.nested != nil {
		c.n = 0
		v := c.nested.Finish()
		return v
	}
	v := &vec.Vector{Type: c.t, N: c.n, Valid: c.valid, Data: c.data, Offsets: c.offsets}
	c.n, c.valid, c.data, c.offsets = 0, nil, nil, nil
	if c.width == 0 {
		c.offsets = []int32{0}
	}
	return v
}

// entryBytes returns the bytes of a dictionary's entries that append would add. What stands for NULL or an unwanted row
// may be no entry.
func entryBytes(v *vec.Vector, sel vec.Selection, n int) (total int64) {
	offsets := v.Dict.Offsets
	add := func(x int32) {
		if uint(x) < uint(v.Dict.N) {
			total += int64(offsets[x+1] - offsets[x])
		}
	}
	if sel == nil {
		for _, x := range v.Index[:n] {
			add(x)
		}
		return total
	}
	for _, r := range sel[:n] {
		add(v.Index[r])
	}
	return total
}

// bytesToAppend bounds the bytes of strings that append would add.
func bytesToAppend(v *vec.Vector, sel vec.Selection, n int) int64 {
	if v.Type.Phys() != vec.PhysBytes {
		return 0
	}
	if v.Form == vec.Flat {
		return int64(len(v.Data))
	}
	p, longest := v, int32(0)
	if v.Form == vec.Dictionary {
		p = v.Dict
	}
	if int64(len(p.Data))*int64(n) < maxChunkBytes/2 { // no need to look closer
		return int64(len(p.Data)) * int64(n)
	}
	if v.Form == vec.Dictionary && n < p.N {
		return entryBytes(v, sel, n)
	}
	for i := 1; i < len(p.Offsets); i++ {
		longest = max(longest, p.Offsets[i]-p.Offsets[i-1])
	}
	return int64(longest) * int64(n)
}
