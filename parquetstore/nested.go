package parquetstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/tidemarkdb/tidemark/vec"
)

// levels is a leaf of a nested column as stored (Dremel: Melnik and others, 2010). Entry i says at which repetition
// and definition level a value, or the lack of one, lies; values holds those of full definition, in order.
type levels struct {
	leaf     *leaf
	rep, def []uint8 // rep is nil for a leaf without lists above it
	values   *vec.Vector
}

// repAt returns the repetition level of an entry.
func (l *levels) repAt(i int) int {
	if l.rep == nil {
		return 0
	}
	return int(l.rep[i])
}

var errLevels = errors.New("the levels of a nested column contradict each other")

// sliceNested returns rows of a nested column. The whole row group is put together at first use.
func (c *cursor) sliceNested(ctx context.Context, r *Reader, from, n int) (*vec.Vector, error) {
	if c.v == nil {
		v, err := r.f.nestedVector(ctx, r.group, c.column, r.scan.Counters)
		if err != nil {
			return nil, err
		}
		c.v = v
	}
	return c.v.Slice(from, n), nil
}

// nestedPage is the place among a chunk's pages under which the cache keeps a nested column of a row group.
const nestedPage = -2

func (f *File) nestedVector(ctx context.Context, g int, c *Column, counters *Counters) (*vec.Vector, error) {
	if f.cache == nil {
		return f.assembleGroup(ctx, g, c, counters)
	}
	key := pageKey{tablet: f.tablet, group: int32(g), leaf: int32(c.leaves[0]), at: nestedPage}
	v, hit, err := f.cache.page(ctx, key, func() (*vec.Vector, int64, error) {
		v, err := f.assembleGroup(ctx, g, c, counters)
		if err != nil {
			return nil, 0, err
		}
		return v, v.MemoryBytes(), nil
	})
	if hit && counters != nil {
		counters.PagesCached.Add(1)
	}
	return v, err
}

// assembleGroup decodes the leaves of a nested column in one row group and puts the rows together.
func (f *File) assembleGroup(ctx context.Context, g int, c *Column, counters *Counters) (out *vec.Vector, err error) {
	all := make([]*levels, c.leaves[1]-c.leaves[0])
	for i := range all {
		if all[i], err = f.decodeLevels(ctx, g, c.leaves[0]+i, counters); err != nil {
			return nil, err
		}
	}
	err = f.guard(func() (err error) {
		out, err = assemble(c.node, all, c.leaves[0], 0, 0)
		if err == nil && out.N != f.groups[g].rows {
			err = fmt.Errorf("%d rows where the row group has %d", out.N, f.groups[g].rows)
		}
		return err
	})
	if err != nil {
		return nil, f.damaged(fmt.Errorf("row group %d, column %q: %w", g, c.Name, err))
	}
	return out, nil
}

// decodeLevels reads every page of a nested leaf in one row group.
func (f *File) decodeLevels(ctx context.Context, g, leaf int, counters *Counters) (*levels, error) {
	c := &f.groups[g].chunks[leaf]
	d, err := f.directory(ctx, g, leaf)
	if err != nil {
		return nil, err
	}
	if err := f.src.acquire(); err != nil {
		return nil, f.damaged(err)
	}
	defer f.src.release()
	out := &levels{leaf: c.leaf}
	var pieces []*vec.Vector
	err = f.guard(func() error {
		dict, err := f.dictionary(ctx, c, d)
		if err != nil {
			return err
		}
		for at := range d.pages {
			h, body, err := f.page(ctx, c, d, at)
			if err != nil {
				return err
			}
			v, err := out.addPage(&h, c, body, dict)
			if err == nil && v.Form == vec.Flat {
				err = f.checkText(v)
			}
			if err != nil {
				return fmt.Errorf("page at offset %d: %w", d.pages[at].offset, err)
			}
			counters.pageDecoded(v.N, d.pages[at].size)
			pieces = append(pieces, v.Flatten())
		}
		return nil
	})
	if err != nil {
		return nil, f.damaged(fmt.Errorf("row group %d, column %q: %w", g, c.leaf.path, err))
	}
	if len(pieces) == 0 {
		pieces = append(pieces, vec.NewBuilder(c.leaf.typ, 0).Finish())
	}
	out.values = concat(c.leaf.typ, pieces)
	return out, nil
}

// addPage appends the levels of a page and returns its values.
func (l *levels) addPage(h *pageHeader, c *chunk, body []byte, dict *vec.Vector) (*vec.Vector, error) {
	p, err := l.leaf.open(h, c.codec, body, nil)
	if err != nil {
		return nil, err
	}
	defer p.release()
	first := len(l.def)
	if l.leaf.maxRep > 0 {
		if l.rep, err = appendLevels(l.rep, p.rep, h.values, l.leaf.maxRep); err != nil {
			return nil, err
		}
	}
	if l.def, err = appendLevels(l.def, p.def, h.values, l.leaf.maxDef); err != nil {
		return nil, err
	}
	present := 0
	for _, d := range l.def[first:] {
		present += toInt(int(d) == l.leaf.maxDef)
	}
	return l.leaf.decodeValues(h.encoding, p.values, present, dict)
}

// appendLevels decodes n levels of at most most.
func appendLevels(dst []uint8, src []byte, n, most int) ([]uint8, error) {
	if most == 0 {
		return append(dst, make([]uint8, n)...), nil
	}
	decoded := make([]int32, n)
	or, err := decodeHybrid(decoded, src, bitWidth(uint32(most)))
	if err != nil {
		return nil, err
	}
	for _, x := range decoded {
		if or > uint32(most) && (x < 0 || int(x) > most) {
			return nil, errLevels
		}
		dst = append(dst, uint8(x))
	}
	return dst, nil
}

// assemble builds the vector of a node. Its rows are the entries of its leaves at repetition level rep or less and at
// definition level need or more: those where what holds the node has an element. base is the first leaf of all.
func assemble(n *node, all []*levels, base, rep, need int) (*vec.Vector, error) {
	if n.shape == leafShape {
		return assembleLeaf(n, all[n.leaf-base], need)
	}
	l := all[n.firstLeaf()-base]
	out := &vec.Vector{Type: n.typ}
	var valid []bool
	if n.shape == listShape {
		out.Offsets = []int32{0}
	}
	elements := int32(0)
	for i, d := range l.def {
		level := l.repAt(i)
		if level <= rep && int(d) >= need {
			if out.N++; n.shape == listShape {
				out.Offsets = append(out.Offsets, elements)
			}
			valid = append(valid, int(d) >= n.def)
		}
		if n.shape == listShape && int(d) >= n.elemDef && level <= n.rep {
			if out.N == 0 {
				return nil, errLevels
			}
			elements++
			out.Offsets[out.N] = elements
		}
	}
	out.Valid = packValid(valid)
	kidRep, kidNeed, kidRows := rep, need, out.N
	if n.shape == listShape {
		kidRep, kidNeed, kidRows = n.rep, n.elemDef, int(elements)
	}
	for _, k := range n.kids {
		kid, err := assemble(k, all, base, kidRep, kidNeed)
		if err != nil {
			return nil, err
		}
		if kid.N != kidRows {
			return nil, errLevels
		}
		out.Kids = append(out.Kids, kid)
	}
	return out, nil
}

func assembleLeaf(n *node, l *levels, need int) (*vec.Vector, error) {
	var valid []bool
	present := 0
	for _, d := range l.def {
		if int(d) >= need {
			ok := int(d) >= n.def
			valid = append(valid, ok)
			present += toInt(ok)
		}
	}
	if present != l.values.N {
		return nil, errLevels
	}
	if present == len(valid) {
		return l.values, nil
	}
	return scatter(l.values, packValid(valid), len(valid)), nil
}

// packValid returns valid as a bitmap, nil when all are.
func packValid(valid []bool) vec.Bitmap {
	out := vec.NewBitmap(len(valid))
	nulls := false
	for i, ok := range valid {
		if ok {
			out.Set(i)
		} else {
			nulls = true
		}
	}
	if !nulls {
		return nil
	}
	return out
}

// firstLeaf returns the first leaf below a node.
func (n *node) firstLeaf() int {
	for n.shape != leafShape {
		n = n.kids[0]
	}
	return n.leaf
}
