package exec

import "github.com/tidemarkdb/tidemark/vec"

// emitMarks passes every probe row on with whether it has a match. NULL, where there is none, says that one was
// unknown: by a NULL key on either side or by another condition.
func (p *prober) emitMarks() error {
	if err := p.markUnknown(); err != nil {
		return err
	}
	return p.passMarks()
}

// passMarks passes every probe row on with what is known of its match.
func (p *prober) passMarks() error {
	marks := &vec.Vector{Type: vec.BoolType, N: p.b.N, Data: make([]byte, p.b.N)}
	for i := range p.n {
		row := i
		if p.rows != nil {
			row = int(p.rows[i])
		}
		switch {
		case p.matched[i]:
			marks.Data[row] = 1
		case p.unknown[i]:
			if marks.Valid == nil {
				marks.Valid = vec.NewFullBitmap(p.b.N)
			}
			marks.Valid.Clear(row)
		}
	}
	p.out = vec.Batch{N: p.b.N, Sel: p.b.Sel, Cols: append(append(p.cols[:0], p.b.Cols...), marks)}
	return p.next.consume(&p.out)
}

// markUnknown finds the rows without a match for which a NULL key leaves that open. Keys that are null-safe only
// confine what is compared, as the correlation of a subquery does.
func (p *prober) markUnknown() error {
	if len(p.keys) == 0 {
		return nil
	}
	if len(p.keys) == 1 && p.cond == nil && !p.j.nullSafe[0] {
		for i := range p.n {
			null := p.valid != nil && !p.valid.Get(i)
			p.unknown[i] = null && p.t.n > 0 || len(p.t.nullRow) > 0
		}
		return nil
	}
	for i := range p.n {
		if p.matched[i] || p.unknown[i] {
			continue
		}
		var err error
		if p.valid != nil && !p.valid.Get(i) {
			err = p.searchUnknown(int32(i), nil)
		} else if len(p.t.nullRow) > 0 {
			err = p.searchUnknown(int32(i), p.t.nullRow)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// searchUnknown looks among rows of the table (nil: all) for one that matches a probe row or may, for all that NULLs
// let one know.
func (p *prober) searchUnknown(i int32, among []int32) error {
	n := len(among)
	if among == nil {
		n = p.t.n
	}
	for from := 0; from < n; from += vec.BatchRows {
		if err := p.w.check(); err != nil {
			return err
		}
		left, right := p.left[:0], p.right[:0]
		for k := from; k < min(from+vec.BatchRows, n); k++ {
			r := int32(k)
			if among != nil {
				r = among[k]
			}
			if p.mayMatch(i, r) {
				left, right = append(left, i), append(right, r)
			}
		}
		p.left, p.right = left[:0], right[:0]
		if len(left) == 0 {
			continue
		}
		if p.cond == nil {
			p.unknown[i] = true
			return nil
		}
		states, err := p.cond.eval(p, left, right)
		if err != nil {
			return err
		}
		for _, s := range states {
			if s != isFalse {
				p.unknown[i] = true
				return nil
			}
		}
	}
	return nil
}

// mayMatch reports whether no key tells the rows apart.
func (p *prober) mayMatch(i, r int32) bool {
	for k, key := range p.keys {
		stored := p.t.cols[p.j.keyPlaces[k]]
		if !p.j.nullSafe[k] && (key.IsNull(int(i)) || stored.IsNull(int(r))) {
			continue
		}
		if !p.t.equal[k](key, int(i), stored, int(r)) {
			return false
		}
	}
	return true
}
