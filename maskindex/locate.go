package maskindex

import (
	"context"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

// Locate calls fn for every key that has a live row in the set, with its place in keys and the position of the row.
// Calls come from one goroutine, in no order. Merging a batch of changes and fetching stored values start from it.
func (c *Cache) Locate(ctx context.Context, set Set, keys *Keys, fn func(i int, p Position)) error {
	r, err := c.resolution(ctx, set)
	if err != nil {
		return err
	}
	b, err := NewBatch(keys)
	if err != nil {
		return err
	}
	l := locator{masks: r.masks, seen: map[uint64]*Mask{}, fn: fn, found: make([]Position, b.Len()), is: make([]bool, b.Len())}
	for _, y := range r.layers {
		if y.slab == nil {
			err = l.file(ctx, c.files, y.tablet.Keys, b)
		} else {
			err = l.slab(y.slab, b)
		}
		if err != nil {
			return err
		}
	}
	if r.masks.truncated {
		return l.err
	}
	if err := cover(ctx, c.files, &set); err != nil {
		return err
	}
	for _, name := range set.Base.index {
		if err := l.file(ctx, c.files, name, b); err != nil {
			return err
		}
	}
	return l.err
}

// locator passes live positions on.
type locator struct {
	masks *Masks
	seen  map[uint64]*Mask // masks looked up; nil for tablets that left the set
	fn    func(i int, p Position)
	found []Position // by place in the keys
	is    []bool     // whether found holds one
	err   error
}

func (l *locator) slab(s *slab, b *Batch) error {
	if s.Width() != b.Width() && b.Len() > 0 {
		return sqlerr.New(sqlerr.Internal, "%d-bit keys looked up among %d-bit ones", b.Width(), s.Width())
	}
	s.probe(b, func(j int, pos uint64) {
		l.take(int(b.idx[j]), Position{s.ids[pos>>slabRowBits], uint32(pos)})
	})
	return nil
}

func (l *locator) file(ctx context.Context, files *Files, name string, b *Batch) error {
	f, release, err := files.Acquire(ctx, name)
	if err != nil {
		return err
	}
	defer release()
	return f.Probe(ctx, b, l.take)
}

// take passes a position on unless it is dead or of a tablet that is gone. A run and a sidecar may both name it.
func (l *locator) take(i int, p Position) {
	m, known := l.seen[p.Tablet]
	if !known {
		if l.masks.has(p.Tablet) {
			m, l.err = l.masks.Of(p.Tablet)
		}
		l.seen[p.Tablet] = m
	}
	if m == nil || m.Contains(p.Row) {
		return
	}
	if !l.is[i] {
		l.is[i], l.found[i] = true, p
		l.fn(i, p)
	} else if l.found[i] != p && l.err == nil {
		l.err = sqlerr.New(sqlerr.DataCorrupted, "%s and %s are live and have the same merge key", l.found[i], p).
			Hintf("Run flightsrv check on the data root.")
	}
}
