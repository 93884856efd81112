package parquetstore

import (
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// nestedRows is the rowBuffer of a column with arrays or structs: one shredded leaf for each primitive in it.
type nestedRows struct {
	column tablet.Column
	parts  []shreddedLeaf
	rows   int
}

// shreddedLeaf is the levels and values of a leaf, gathered for one row group.
type shreddedLeaf struct {
	rep, def []int32
	values   *columnBuffer
	starts   []int // entry at which each row begins
}

func newNestedRows(c tablet.Column) *nestedRows {
	n := &nestedRows{column: c}
	n.addLeaves(c.Type)
	return n
}

func (n *nestedRows) addLeaves(t vec.Type) {
	switch t.ID {
	case vec.Array:
		n.addLeaves(*t.Elem)
	case vec.Struct:
		for _, f := range t.Fields {
			n.addLeaves(f.Type)
		}
	default:
		n.parts = append(n.parts, shreddedLeaf{values: newColumnBuffer(t)})
	}
}

func (n *nestedRows) leaves() int { return len(n.parts) }

func (n *nestedRows) memoryBytes() int {
	size := 0
	for i := range n.parts {
		p := &n.parts[i]
		size += p.values.memoryBytes() + 4*(len(p.rep)+len(p.def)) + 8*len(p.starts)
	}
	return size
}

func (n *nestedRows) reset() {
	n.rows = 0
	for i := range n.parts {
		p := &n.parts[i]
		p.rep, p.def, p.starts = p.rep[:0], p.def[:0], p.starts[:0]
		p.values.reset()
	}
}

func (n *nestedRows) append(v *vec.Vector, sel vec.Selection) {
	if sel == nil {
		sel = vec.Sequence(v.N)
	}
	for _, row := range sel {
		for i := range n.parts {
			n.parts[i].starts = append(n.parts[i].starts, len(n.parts[i].def))
		}
		n.value(v, int(row), n.column.Type, n.column.Nullable, 0, 0, 0, 0)
		n.rows++
	}
}

// value shreds one value into the leaves from leaf on and returns the leaf after them. rep and def are the levels of
// what holds the value; lists is the repetition level of the innermost list around it.
func (n *nestedRows) value(v *vec.Vector, i int, t vec.Type, nullable bool, leaf int, rep, def, lists int32) int {
	if v.IsNull(i) {
		return n.missing(t, leaf, rep, def)
	}
	if nullable {
		def++
	}
	p, at := v.Physical(i)
	switch t.ID {
	case vec.Array:
		from, to := int(p.Offsets[at]), int(p.Offsets[at+1])
		if from == to {
			return n.missing(t, leaf, rep, def)
		}
		next := leaf
		for k := from; k < to; k++ {
			next = n.value(p.Kids[0], k, *t.Elem, true, leaf, rep, def+1, lists+1)
			rep = lists + 1
		}
		return next
	case vec.Struct:
		for k, f := range t.Fields {
			leaf = n.value(p.Kids[k], at, f.Type, true, leaf, rep, def, lists)
		}
		return leaf
	}
	part := &n.parts[leaf]
	part.rep, part.def = append(part.rep, rep), append(part.def, def)
	part.values.append(p, vec.Selection{int32(at)})
	return leaf + 1
}

// missing notes in every leaf below that there is nothing above level def.
func (n *nestedRows) missing(t vec.Type, leaf int, rep, def int32) int {
	switch t.ID {
	case vec.Array:
		return n.missing(*t.Elem, leaf, rep, def)
	case vec.Struct:
		for _, f := range t.Fields {
			leaf = n.missing(f.Type, leaf, rep, def)
		}
		return leaf
	}
	part := &n.parts[leaf]
	part.rep, part.def = append(part.rep, rep), append(part.def, def)
	return leaf + 1
}

func (n *nestedRows) encode(encoders []*chunkEncoder, out []encodedChunk) error {
	for i, c := range encoders {
		if err := n.parts[i].values.checkText(); err != nil {
			return c.textError(err)
		}
		if err := c.encodeNested(&n.parts[i], &out[i]); err != nil {
			return err
		}
	}
	return nil
}

// encodeNested encodes a shredded leaf. Its pages end on rows and have no bounds: scans do not prune by them.
func (c *chunkEncoder) encodeNested(p *shreddedLeaf, out *encodedChunk) error {
	b := p.values
	v := values{form: c.leaf.form, data: widenStored(b.typ, c.leaf.form, b.data)}
	if b.phys == vec.PhysBytes {
		v.offsets = b.offsets
	}
	c.start(out, int64(len(p.def)))
	out.index = nil
	encoding, width := c.chooseEncoding(&v, b.present)
	if err := c.writeDictionary(out, encoding); err != nil {
		return err
	}
	from, row := 0, 0
	for row < len(p.starts) || row == 0 {
		rows := min(c.o.PageRows, len(p.starts)-row)
		entry, end, count := p.span(row, rows, c.leaf.maxDef)
		for rows > 1 && pageBytes(&v, encoding, width, from, count) > c.o.PageBytes {
			rows /= 2
			entry, end, count = p.span(row, rows, c.leaf.maxDef)
		}
		c.levels = c.levels[:0]
		if c.leaf.maxRep > 0 {
			c.levels = appendHybrid(c.levels, p.rep[entry:end], bitWidth(uint32(c.leaf.maxRep)))
		}
		repBytes := len(c.levels)
		if c.leaf.maxDef > 0 {
			c.levels = appendHybrid(c.levels, p.def[entry:end], bitWidth(uint32(c.leaf.maxDef)))
		}
		page := v.slice(from, from+count)
		c.raw = page.encode(c.raw[:0], encoding, width)
		counts := pageCounts{row: row, rows: rows, values: end - entry, nulls: end - entry - count}
		if err := c.writePage(out, counts, encoding, repBytes, len(c.levels)-repBytes); err != nil {
			return err
		}
		from, row = from+count, row+rows
		if rows == 0 {
			break
		}
	}
	c.finish(out, &extent{}, int64(len(p.def)-b.present))
	return nil
}

// span returns the entries of rows rows from row on and how many of them have a value.
func (p *shreddedLeaf) span(row, rows, full int) (from, to, present int) {
	from, to = len(p.def), len(p.def)
	if row < len(p.starts) {
		from = p.starts[row]
	}
	if row+rows < len(p.starts) {
		to = p.starts[row+rows]
	}
	for _, d := range p.def[from:to] {
		present += toInt(int(d) == full)
	}
	return from, to, present
}

// isFlat reports a type that one leaf holds.
func isFlat(t vec.Type) bool { return t.ID != vec.Array && t.ID != vec.Struct }

func newRowBuffer(c tablet.Column) rowBuffer {
	if isFlat(c.Type) {
		return flatRows{newColumnBuffer(c.Type)}
	}
	return newNestedRows(c)
}
