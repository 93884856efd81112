package exec

import (
	"github.com/tidemarkdb/tidemark/vec"
)

// buildRows yields the rows of the build side that a join keeps by whether they had a match, when all probing is done.
type buildRows struct {
	j    *join
	next ticket
	hit  vec.Bitmap
}

func (s *buildRows) open(*query, int) error {
	if s.j.table != nil { // otherwise each partition yielded its own
		s.hit = mergeMatches(s.j.probers, s.j.table.n)
	}
	return nil
}

func (s *buildRows) close() error { return nil }

// mergeMatches returns which of n build rows any of the probers matched.
func mergeMatches(probers []*prober, n int) vec.Bitmap {
	hit := vec.NewBitmap(n)
	for _, p := range probers {
		for i, w := range p.build {
			hit[i] |= w
		}
		p.build = nil
	}
	return hit
}

func (s *buildRows) run(w *worker, out consumer) error {
	if s.j.table == nil {
		return nil
	}
	for {
		from := s.next.take() * vec.BatchRows
		if from >= s.j.table.n {
			return nil
		}
		if err := w.check(); err != nil {
			return err
		}
		if err := s.j.emitBuildRows(s.j.table, s.hit, from, out); err != nil {
			return err
		}
	}
}

// emitBuildRows passes on the rows to keep among the table's rows from from on, at most a batch of them.
func (j *join) emitBuildRows(t *joinTable, hit vec.Bitmap, from int, out consumer) error {
	n := min(vec.BatchRows, t.n-from)
	var sel vec.Selection
	for i := range n {
		if hit.Get(from+i) == j.semi {
			sel = append(sel, int32(i))
		}
	}
	if len(sel) == 0 {
		return nil
	}
	b := &vec.Batch{N: n, Sel: sel}
	build := make([]*vec.Vector, j.buildWidth)
	for i := range build {
		build[i] = t.cols[i].Slice(from, n)
	}
	if !j.outer {
		b.Cols = build
		return out.consume(b)
	}
	types := typesOf(j.out)
	if j.buildFirst {
		types = types[j.buildWidth:]
	}
	probe := make([]*vec.Vector, j.probeWidth)
	for i := range probe {
		probe[i] = vec.NullOf(types[i], n)
	}
	if j.buildFirst {
		b.Cols = append(build, probe...)
	} else {
		b.Cols = append(probe, build...)
	}
	return out.consume(b)
}

// putAside stores probe rows by the partition of their key, for when the table of that partition is made.
func (p *prober) putAside(b *vec.Batch) error {
	j := p.j
	if p.spilled == nil {
		p.spilled = newPartitions(j.q, j.probeTypes(), 0, j.m)
		j.mu.Lock()
		j.spilledProbes = append(j.spilledProbes, p.spilled)
		j.mu.Unlock()
	}
	keys, err := p.prog.eval(b)
	if err != nil {
		return err
	}
	n := b.Rows()
	p.hash = resize(p.hash, n)
	hashKeys(keys, n, p.hash)
	cols := p.cols[:0]
	for i := range b.Cols {
		cols = append(cols, p.prog.in.col(i))
	}
	p.cols = append(cols, keys...)
	p.spilled.add(p.cols, p.hash, n)
	if p.spilled.memory() > splitBytes {
		return p.spilled.spill()
	}
	return nil
}
