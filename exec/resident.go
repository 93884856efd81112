package exec

import (
	"sync/atomic"

	"github.com/tidemarkdb/tidemark/vec"
)

// residentParts is which partitions of a build side that does not fit stay in memory: the first so many, which only
// become fewer. Probe rows of theirs are joined as they come; only the others go through files.
//
//	| 0 ... count | count ... partitionCount |
//	  one table     files, joined at the end
type residentParts struct{ gone atomic.Int32 }

func (r *residentParts) count() int { return partitionCount - int(r.gone.Load()) }

// lower makes at most n partitions stay.
func (r *residentParts) lower(n int) {
	for {
		gone := r.gone.Load()
		if int(gone) >= partitionCount-n || r.gone.CompareAndSwap(gone, int32(partitionCount-n)) {
			return
		}
	}
}

// residentShare is which part of the memory limit all builders together keep rows in. They are held twice while the
// table is made of them, beside its index.
const residentShare = 4

// evict writes partitions to files until the builder holds no more than its part of what may stay.
func (b *joinBuilder) evict() error {
	keep := b.j.q.budget.limit / int64(residentShare*b.j.q.threads)
	if !b.j.splits() {
		keep = 0
	}
	for {
		n := b.j.resident.count()
		if keep == 0 {
			n = 0
			b.j.resident.lower(0)
		}
		if err := b.parts.spillFrom(n); err != nil {
			return err
		}
		held := b.parts.memory()
		if n == 0 {
			b.res.resize(0)
			return nil
		}
		if held <= keep {
			if b.res.resize(held) {
				return nil
			}
			keep = 0
			continue
		}
		b.j.resident.lower(min(n-1, int(int64(n)*keep/held)))
	}
}

// buildResident makes the table of the partitions that stay, as many as there is memory for, and moves the rest to
// files.
func (j *join) buildResident() (err error) {
	for _, b := range j.builders {
		if err := b.spill(); err != nil {
			return err
		}
	}
	for {
		n, held, rows := j.resident.count(), int64(0), int64(0)
		for _, b := range j.builders {
			if err := b.parts.spillFrom(n); err != nil {
				return err
			}
			for _, s := range b.parts.stores[:n] {
				if s != nil {
					held, rows = held+s.memory(), rows+s.total
				}
			}
		}
		switch {
		case n == 0:
			for _, b := range j.builders {
				b.res.release()
			}
			return nil
		case !j.res.resize(held + rows*tableRowBytes):
			j.resident.lower(n / 2)
			continue
		}
		var chunks []*vec.Batch
		for _, b := range j.builders {
			for _, s := range b.parts.stores[:n] {
				if s != nil {
					chunks = append(chunks, s.take()...)
				}
			}
		}
		j.table, err = j.newTable(chunks)
		return err
	}
}

// splitResident puts aside the rows of b whose partition is in files and returns the others, nil when there are none.
func (p *prober) splitResident(b *vec.Batch) (*vec.Batch, error) {
	keys, err := p.prog.eval(b)
	if err != nil {
		return nil, err
	}
	n, resident := b.Rows(), p.j.resident.count()
	p.hash = resize(p.hash, n)
	hashKeys(keys, n, p.hash)
	p.near, p.far = p.near[:0], p.far[:0]
	for i, h := range p.hash {
		row := int32(i)
		if b.Sel != nil {
			row = b.Sel[i]
		}
		if partitionOf(h, 0) < resident {
			p.near = append(p.near, row)
		} else {
			p.far = append(p.far, row)
		}
	}
	switch {
	case len(p.far) == 0:
		return b, nil
	case len(p.near) == 0:
		return nil, p.putAside(b)
	}
	if err := p.putAside(&vec.Batch{N: b.N, Cols: b.Cols, Sel: p.far}); err != nil {
		return nil, err
	}
	return &vec.Batch{N: b.N, Cols: b.Cols, Sel: p.near}, nil
}
