package exec

import (
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// prober matches one worker's rows of the probe side. A probe row is known by its place among the batch's rows that
// count; a pair is such a place and a row of the table.
type prober struct {
	j       *join
	w       *worker
	next    consumer
	t       *joinTable
	prog    *program
	keys    []*vec.Vector
	ints    []int64
	wide    []int64
	hash    []uint64
	valid   vec.Bitmap
	cond    *pairCondition
	b       *vec.Batch
	rows    []int32 // places in b by probe row; nil: the same
	n       int
	left    []int32 // pairs
	right   []int32
	matched []bool // by probe row
	unknown []bool // by probe row, for Mark
	build   vec.Bitmap
	pick    []picker
	index   []int32
	out     vec.Batch
	cols    []*vec.Vector
	spilled *partitions
	sel     []int32
	near    []int32 // places in b of rows whose partition is in memory, and of the others
	far     []int32

	rangeProg *program // what to look up in a table without keys
	found     []int32
}

// probe is the join's stage.
func (j *join) probe(w *worker, next consumer) (consumer, error) {
	p := &prober{j: j, w: w, next: next, t: j.table}
	prog, err := newProgram(w, j.probeL, j.probeKeys)
	if err != nil {
		return nil, err
	}
	p.prog = prog
	if len(j.other) > 0 {
		if p.cond, err = newPairCondition(w, j); err != nil {
			return nil, err
		}
	}
	if j.ranges != nil {
		if p.rangeProg, err = newProgram(w, j.probeL, j.ranges.probe); err != nil {
			return nil, err
		}
	}
	p.pick = make([]picker, len(j.out)+1)
	j.mu.Lock()
	j.probers = append(j.probers, p)
	j.mu.Unlock()
	return p, nil
}

func (p *prober) flush() error { return nil }

func (p *prober) consume(b *vec.Batch) error {
	if b.Rows() == 0 {
		return nil
	}
	if p.j.grace {
		if p.t == nil {
			return p.putAside(b)
		}
		near, err := p.splitResident(b)
		if err != nil || near == nil {
			return err
		}
		b = near
	}
	p.begin(b)
	if len(p.j.probeKeys) > 0 {
		keys, err := p.prog.eval(b)
		if err != nil {
			return err
		}
		p.keys = keys
		p.valid = p.j.validKeys(keys, p.n)
		if p.t.unique && p.cond == nil {
			return p.consumeUnique()
		}
	} else if p.t.n == 1 && p.cond == nil && (p.j.keep == probeInner || p.j.keep == probeSingle) && !p.j.outer {
		return p.consumeConstant()
	}
	return p.consumePairs()
}

// begin prepares for the rows of b.
func (p *prober) begin(b *vec.Batch) {
	p.b, p.rows, p.n = b, b.Sel, b.Rows()
	p.left, p.right = p.left[:0], p.right[:0]
	p.matched = resize(p.matched, p.n)
	clear(p.matched)
	if p.j.keep == probeMark {
		p.unknown = resize(p.unknown, p.n)
		clear(p.unknown)
	}
	if p.build == nil && (p.j.outer || p.j.semi || p.j.anti) {
		p.build = vec.NewBitmap(p.t.n)
	}
}

// sides puts the columns of both sides in order.
func (p *prober) sides(probe, build []*vec.Vector) []*vec.Vector {
	if p.j.buildFirst {
		return append(append(p.cols[:0], build...), probe...)
	}
	return append(append(p.cols[:0], probe...), build...)
}

// consumeConstant joins with a table of one row, which every row matches: its columns are constants.
func (p *prober) consumeConstant() error {
	build := make([]*vec.Vector, p.j.buildWidth)
	for i := range build {
		build[i] = toConstant(p.t.cols[i], p.b.N)
	}
	p.out = vec.Batch{N: p.b.N, Sel: p.b.Sel, Cols: p.sides(p.b.Cols, build)}
	return p.next.consume(&p.out)
}

// consumePairs finds every pair, in pieces, and then does what depends on having seen all of a row's.
func (p *prober) consumePairs() error {
	if err := p.pairs(); err != nil {
		return err
	}
	if err := p.piece(); err != nil {
		return err
	}
	return p.finish()
}

// pairs collects the pairs that may match and passes them on in pieces.
func (p *prober) pairs() error {
	t := p.t
	switch {
	case len(p.j.probeKeys) == 0:
		return p.allPairs()
	case t.n == len(t.nullRow):
		return nil
	case t.ints && t.dense:
		low, span := uint64(t.low), t.span
		return p.bucketPairs(p.intKeys(), func(x int64) (uint64, bool) {
			d := uint64(x) - low
			return d, d <= span
		})
	case t.ints:
		return p.bucketPairs(p.intKeys(), func(x int64) (uint64, bool) { return uint64(x) * hashMultiplier >> t.shift, true })
	}
	p.hash = resize(p.hash, p.n)
	hashKeys(p.keys, p.n, p.hash)
	return p.bucketPairs(toInt64(p.hash), func(x int64) (uint64, bool) { return uint64(x) >> t.shift, true })
}

// bucketPairs pairs each row with those of its bucket that have its key or hash.
func (p *prober) bucketPairs(keys []int64, bucket func(int64) (uint64, bool)) error {
	t := p.t
	for i, x := range keys {
		if p.valid != nil && !p.valid.Get(i) {
			continue
		}
		b, ok := bucket(x)
		if !ok {
			continue
		}
		if t.direct != nil {
			if r := t.direct[b]; r > 0 {
				p.left, p.right = append(p.left, int32(i)), append(p.right, r-1)
			}
		} else {
			for at := t.starts[b]; at < t.starts[b+1]; at++ {
				if t.keys != nil && t.keys[at] != x {
					continue
				}
				p.left, p.right = append(p.left, int32(i)), append(p.right, t.rows[at])
				if len(p.left) >= vec.BatchRows {
					if err := p.piece(); err != nil {
						return err
					}
				}
			}
		}
		if len(p.left) >= vec.BatchRows {
			if err := p.piece(); err != nil {
				return err
			}
		}
	}
	return nil
}

// allPairs pairs every row with every row of the table, or those that its order leaves.
func (p *prober) allPairs() error {
	once := p.build == nil && (p.j.keep == probeSemi || p.j.keep == probeAnti || p.j.keep == probeMark)
	look := p.lookRange()
	for i := range int32(p.n) {
		among, n := look(i)
		for at := range n {
			r := int32(at)
			if among != nil {
				r = among[at]
			}
			if once && p.matched[i] {
				break
			}
			p.left, p.right = append(p.left, i), append(p.right, r)
			if len(p.left) == vec.BatchRows {
				if err := p.piece(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// piece tests the pairs collected and passes on or notes those that match.
func (p *prober) piece() error {
	if err := p.w.check(); err != nil {
		return err
	}
	if len(p.j.probeKeys) > 0 && !p.t.ints {
		p.sameKeys()
	}
	if p.cond != nil && len(p.left) > 0 {
		if err := p.test(); err != nil {
			return err
		}
	}
	if len(p.left) == 0 {
		return nil
	}
	if p.build != nil {
		for _, r := range p.right {
			p.build.Set(int(r))
		}
	}
	if p.j.keep == probeSingle {
		for _, i := range p.left {
			if p.matched[i] {
				return sqlerr.New(sqlerr.CardinalityViolation, "more than one row returned by a subquery used as an expression").
					Hintf("make the subquery return one row, with an aggregate or LIMIT 1")
			}
			p.matched[i] = true
		}
	}
	for _, i := range p.left {
		p.matched[i] = true
	}
	var err error
	switch p.j.keep {
	case probeInner, probeOuter, probeSingle:
		err = p.emitPairs()
	}
	p.left, p.right = p.left[:0], p.right[:0]
	return err
}

// sameKeys drops pairs whose hashes agree but whose keys differ.
func (p *prober) sameKeys() {
	for k, equal := range p.t.equal {
		a, b, kept := p.keys[k], p.t.cols[p.j.keyPlaces[k]], 0
		for i, l := range p.left {
			if r := p.right[i]; equal(a, int(l), b, int(r)) {
				p.left[kept], p.right[kept] = l, r
				kept++
			}
		}
		p.left, p.right = p.left[:kept], p.right[:kept]
	}
}

// test drops the pairs for which the other conditions are not TRUE, noting for Mark where they are unknown.
func (p *prober) test() error {
	states, err := p.cond.eval(p, p.left, p.right)
	if err != nil {
		return err
	}
	kept := 0
	for i, s := range states {
		switch s {
		case isTrue:
			p.left[kept], p.right[kept] = p.left[i], p.right[i]
			kept++
		case isUnknown:
			if p.unknown != nil {
				p.unknown[p.left[i]] = true
			}
		}
	}
	p.left, p.right = p.left[:kept], p.right[:kept]
	return nil
}

// place returns the place in the batch of a probe row.
func (p *prober) places(rows []int32) []int32 {
	if p.rows == nil {
		return rows
	}
	p.sel = resize(p.sel, len(rows))
	gatherTo(p.sel, p.rows, rows)
	return p.sel
}

// buildColumn returns column i of the table's rows in the pairs. Strings and nested values are dictionaries over the
// table's own vector, so that consumers know its entries again in the next batch.
func (p *prober) buildColumn(i int) *vec.Vector {
	c := p.t.cols[i]
	if c.Form == vec.Flat && c.Type.ID != vec.Null && c.Type.Phys().Width() == 0 {
		return &vec.Vector{Type: c.Type, Form: vec.Dictionary, N: len(p.right), Index: p.right, Dict: c}
	}
	return p.pick[p.j.probeWidth+i].take(c, p.right)
}

// emitPairs passes the pairs on as rows.
func (p *prober) emitPairs() error {
	at := p.places(p.left)
	probe, build := make([]*vec.Vector, p.j.probeWidth), make([]*vec.Vector, p.j.buildWidth)
	for i := range probe {
		probe[i] = p.pick[i].take(p.b.Cols[i], at)
	}
	for i := range build {
		build[i] = p.buildColumn(i)
	}
	p.out = vec.Batch{N: len(p.left), Cols: p.sides(probe, build)}
	return p.next.consume(&p.out)
}

// finish passes on what depends on whether a probe row had a match.
func (p *prober) finish() error {
	switch p.j.keep {
	case probeSemi:
		return p.emitRows(true, nil)
	case probeAnti:
		return p.emitRows(false, nil)
	case probeOuter, probeSingle:
		nulls := make([]*vec.Vector, p.j.buildWidth)
		for i := range nulls {
			nulls[i] = vec.NullOf(p.j.buildTypes[i], p.b.N)
		}
		return p.emitRows(false, nulls)
	case probeMark:
		return p.emitMarks()
	}
	return nil
}

// emitRows passes on the probe rows that have, or have not, a match.
func (p *prober) emitRows(matched bool, build []*vec.Vector) error {
	sel := p.sel[:0]
	for i, m := range p.matched[:p.n] {
		if m == matched {
			row := int32(i)
			if p.rows != nil {
				row = p.rows[i]
			}
			sel = append(sel, row)
		}
	}
	p.sel = sel
	if len(sel) == 0 {
		return nil
	}
	p.out = vec.Batch{N: p.b.N, Sel: sel, Cols: p.b.Cols}
	if build != nil {
		p.out.Cols = p.sides(p.b.Cols, build)
	}
	return p.next.consume(&p.out)
}

// toInt64 returns hashes as the integers of the same bits.
func toInt64(h []uint64) []int64 {
	out := make([]int64, len(h))
	for i, x := range h {
		out[i] = int64(x)
	}
	return out
}
