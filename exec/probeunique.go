package exec

import "github.com/tidemarkdb/tidemark/vec"

// consumeUnique handles tables without duplicate keys: no probe row makes two rows, so that columns of the probe side
// pass untouched, and those of the build side are dictionaries that share one index.
func (p *prober) consumeUnique() error {
	found := p.lookup()
	if p.build != nil {
		for _, r := range found {
			if r >= 0 {
				p.build.Set(int(r))
			}
		}
	}
	switch p.j.keep {
	case probeNone:
		return nil
	case probeSemi, probeAnti, probeMark:
		for i, r := range found {
			p.matched[i] = r >= 0
		}
		return p.finish()
	}
	return p.emitAligned(found)
}

// lookup returns, by probe row, the row of the table with its key, -1 where there is none.
func (p *prober) lookup() []int32 {
	p.index = resize(p.index, p.n)
	found := p.index
	vals := p.intKeys()
	if t := p.t; t.direct != nil {
		direct, low, span := t.direct, uint64(t.low), t.span
		for i, x := range vals {
			found[i] = -1
			if d := uint64(x) - low; d <= span {
				found[i] = direct[d] - 1
			}
		}
	} else {
		for i, x := range vals {
			found[i] = -1
			b := uint64(x) * hashMultiplier >> t.shift
			for at := t.starts[b]; at < t.starts[b+1]; at++ {
				if t.keys[at] == x {
					found[i] = t.rows[at]
					break
				}
			}
		}
	}
	if p.valid != nil {
		for i := range found {
			if !p.valid.Get(i) {
				found[i] = -1
			}
		}
	}
	return found
}

// intKeys returns the keys as 64-bit integers, as the table has them.
func (p *prober) intKeys() []int64 {
	if p.t.packed != nil {
		p.ints, p.wide = resize(p.ints, p.n), resize(p.wide, p.n)
		p.t.packed.pack(p.keys, p.ints, p.wide)
		return p.ints
	}
	k := p.keys[0]
	if k.Form == vec.Flat && k.Type.Phys() == vec.PhysInt64 {
		return vec.Cast[int64](k.Data)[:p.n]
	}
	p.ints = resize(p.ints, p.n)
	widenInts(p.ints, k, p.n)
	return p.ints
}

// sparse is from how many rows of a batch for one that has a match on the others are not worth being passed on with it.
const sparse = 4

// emitAligned passes on the probe batch with the build side's columns beside it. found is by probe row.
func (p *prober) emitAligned(found []int32) error {
	n, k := p.b.N, 0
	p.sel, p.right = resize(p.sel, len(found)), resize(p.right, len(found))
	for i, r := range found {
		row := int32(i)
		if p.rows != nil {
			row = p.rows[i]
		}
		p.sel[k], p.right[k] = row, r
		k += b2i(r >= 0)
	}
	p.sel, p.right = p.sel[:k], p.right[:k]
	inner := p.j.keep == probeInner
	switch {
	case inner && k == 0:
		return nil
	case inner && k*sparse <= n:
		return p.emitSparse()
	}
	index := make([]int32, n)
	var valid vec.Bitmap
	if !inner {
		valid = vec.NewBitmap(n)
	}
	for i, row := range p.sel {
		index[row] = p.right[i]
		if valid != nil {
			valid.Set(int(row))
		}
	}
	p.out = vec.Batch{N: n, Sel: p.b.Sel}
	if inner && k < n {
		p.out.Sel = p.sel
	}
	p.out.Cols = p.sides(p.b.Cols, p.buildRows(index, valid))
	return p.next.consume(&p.out)
}

// emitSparse passes on the rows of the probe batch that have a match, without the others.
func (p *prober) emitSparse() error {
	probe := make([]*vec.Vector, p.j.probeWidth)
	for i, c := range p.b.Cols {
		probe[i] = p.pick[i].gather(c, p.sel)
	}
	p.out = vec.Batch{N: len(p.sel), Cols: p.sides(probe, p.buildRows(p.right, nil))}
	return p.next.consume(&p.out)
}

// buildRows returns the build side's columns for rows of the table, as dictionaries that share index.
func (p *prober) buildRows(index []int32, valid vec.Bitmap) []*vec.Vector {
	build := make([]*vec.Vector, p.j.buildWidth)
	for i := range build {
		switch c := p.t.cols[i]; {
		case p.t.n == 0:
			build[i] = vec.NullOf(c.Type, len(index))
		case c.Form == vec.Dictionary:
			build[i] = vec.DictionaryOf(c, index, valid)
		default:
			build[i] = &vec.Vector{Type: c.Type, Form: vec.Dictionary, N: len(index), Index: index, Dict: c, Valid: valid}
		}
	}
	return build
}
