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

// intKeys returns the only key's values as 64-bit integers.
func (p *prober) intKeys() []int64 {
	k := p.keys[0]
	if k.Form == vec.Flat && k.Type.Phys() == vec.PhysInt64 {
		return vec.Cast[int64](k.Data)[:p.n]
	}
	p.ints = resize(p.ints, p.n)
	widenInts(p.ints, k, p.n)
	return p.ints
}

// emitAligned passes on the probe batch with the build side's columns beside it. found is by probe row.
func (p *prober) emitAligned(found []int32) error {
	sel := p.sel[:0]
	inner := p.j.keep == probeInner
	index := make([]int32, p.b.N)
	var valid vec.Bitmap
	if !inner {
		valid = vec.NewBitmap(p.b.N)
	}
	for i, r := range found {
		row := int32(i)
		if p.rows != nil {
			row = p.rows[i]
		}
		if r >= 0 {
			index[row] = r
			if valid != nil {
				valid.Set(int(row))
			}
			sel = append(sel, row)
		}
	}
	p.sel = sel
	p.out = vec.Batch{N: p.b.N, Sel: p.b.Sel}
	if inner {
		if len(sel) == 0 {
			return nil
		}
		if len(sel) < p.b.N {
			p.out.Sel = sel
		}
	}
	build := make([]*vec.Vector, p.j.buildWidth)
	for i := range build {
		c := p.t.cols[i]
		if p.t.n == 0 {
			build[i] = vec.NullOf(c.Type, p.b.N)
			continue
		}
		if c.Form == vec.Dictionary {
			build[i] = vec.DictionaryOf(c, index, valid)
			continue
		}
		build[i] = &vec.Vector{Type: c.Type, Form: vec.Dictionary, N: p.b.N, Index: index, Dict: c, Valid: valid}
	}
	p.out.Cols = p.sides(p.b.Cols, build)
	return p.next.consume(&p.out)
}
