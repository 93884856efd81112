package maskindex

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"golang.org/x/sync/errgroup"
)

// limits bounds the memory of resolution, in rows.
type limits struct {
	chunk     uint64 // staged rows that are resolved at a time
	slab      int    // the largest chunk that is kept in memory for later look-ups; larger ones stay in their sidecars
	slabMerge int    // the largest slab that slabs are merged into
}

var defaultLimits = limits{chunk: 4 << 20, slab: 1 << 20, slabMerge: 4 << 20}

// layer is where some staging tablets are looked up: a slab, or the sidecar of one.
type layer struct {
	slab   *slab
	tablet Tablet // of the sidecar, when slab is nil

	firstAppend, lastAppend uint64
}

// resolution is the masks of a set with what the next staging tablets need. It is immutable once made.
type resolution struct {
	set    Set
	masks  *Masks
	layers []layer
	bytes  int64
}

// bare is the resolution of a base without staging tablets.
func bare(set Set) *resolution {
	return &resolution{
		set:   Set{Table: set.Table, Base: set.Base},
		masks: &Masks{base: set.Base, over: map[uint64]*Mask{}},
	}
}

// resolver extends a resolution by staging tablets.
type resolver struct {
	files *Files
	limits
	next *resolution

	mu   sync.Mutex
	dead map[uint64]*roaring.Bitmap // rows that the new tablets kill, by tablet
}

// extend returns the resolution of set, of whose staging tablets prev resolved the first ones:
//
//	resolved(set) = resolved(prev) OR older positions of the new keys OR delete rows of the new tablets
func extend(ctx context.Context, files *Files, lim limits, prev *resolution, set Set) (*resolution, error) {
	r := &resolver{files: files, limits: lim, dead: map[uint64]*roaring.Bitmap{}, next: &resolution{
		set:    set,
		masks:  &Masks{base: set.Base, over: maps.Clone(prev.masks.over), truncated: prev.masks.truncated},
		layers: slices.Clone(prev.layers),
		bytes:  prev.bytes,
	}}
	for done := len(prev.set.Staging); done < len(set.Staging); {
		if set.Staging[done].TruncateBefore && (done == 0 || set.Staging[done-1].Append != set.Staging[done].Append) {
			r.truncate(set.Staging[:done])
		}
		n := r.chunkLen(set.Staging[done:])
		if err := r.resolve(ctx, set.Staging[done:done+n]); err != nil {
			return nil, err
		}
		done += n
	}
	return r.next, r.publish()
}

// chunkLen returns how many of the tablets are resolved together: not across a TRUNCATE, nor across the end of a
// disjoint append, whose tablets skip each other.
func (l limits) chunkLen(tablets []Tablet) int {
	rows, n := uint64(0), 0
	for n < len(tablets) {
		t := tablets[n]
		rows += uint64(t.Rows)
		if n > 0 {
			newAppend := t.Append != tablets[n-1].Append
			if rows > l.chunk || newAppend && (t.TruncateBefore || t.Disjoint || tablets[n-1].Disjoint) {
				break
			}
		}
		n++
	}
	return n
}

// truncate kills every row of the base and of the older staging tablets.
func (r *resolver) truncate(older []Tablet) {
	m := r.next.masks
	m.truncated = true
	for id, k := range m.over {
		r.next.bytes -= maskBytes(k)
		delete(m.over, id)
	}
	for _, t := range older {
		r.put(t.ID, fullMask(t.Rows))
	}
	for _, l := range r.next.layers {
		if l.slab != nil {
			r.next.bytes -= l.slab.bytes()
		}
	}
	r.next.layers = nil
	clear(r.dead)
}

// put sets the mask of a tablet and accounts for its memory.
func (r *resolver) put(id uint64, m *Mask) {
	r.next.bytes += maskBytes(m) - maskBytes(r.next.masks.over[id])
	r.next.masks.over[id] = m
}

// maskBytes estimates the memory of a mask with its place in a map.
func maskBytes(m *Mask) int64 {
	switch {
	case m == nil:
		return 0
	case m.bm == nil:
		return 96
	}
	return 96 + int64(m.bm.GetSizeInBytes())
}

// resolve adds tablets that are looked up together.
func (r *resolver) resolve(ctx context.Context, tablets []Tablet) error {
	s, err := r.gather(ctx, tablets)
	if err != nil {
		return err
	}
	if err := r.probeLayers(ctx, &s.Batch, tablets[0]); err != nil {
		return err
	}
	if !r.next.masks.truncated {
		if err := r.probeBase(ctx, &s.Batch); err != nil {
			return err
		}
	}
	if len(s.hi) <= r.slab {
		r.pushSlab(layer{slab: s, firstAppend: tablets[0].Append, lastAppend: tablets[len(tablets)-1].Append})
		return nil
	}
	for _, t := range tablets {
		r.next.layers = append(r.next.layers, layer{tablet: t, firstAppend: t.Append, lastAppend: t.Append})
	}
	return nil
}

// gather reads the keys of tablets, kills their delete rows and the rows that later ones among them supersede, and
// returns their newest positions.
func (r *resolver) gather(ctx context.Context, tablets []Tablet) (*slab, error) {
	rows := 0
	for _, t := range tablets {
		rows += int(t.Rows)
	}
	entries := make([]entry, 0, rows)
	ids := make([]uint64, len(tablets))
	wide := 0 // 1: narrow keys were seen, 2: wide ones, 3: both
	for i, t := range tablets {
		ids[i] = t.ID
		f, release, err := r.files.Acquire(ctx, t.Keys)
		if err != nil {
			return nil, err
		}
		entries, err = r.read(ctx, f, t, uint64(i)<<slabRowBits, entries)
		if f.wide() {
			wide |= 2
		} else {
			wide |= 1
		}
		release()
		if err != nil {
			return nil, err
		}
	}
	if wide == 3 {
		return nil, sqlerr.New(sqlerr.Internal, "staging tablets of table %d have keys of different widths", r.next.set.Table)
	}
	var superseded []uint64
	s := newSlab(entries, ids, wide == 2, func(pos uint64) { superseded = append(superseded, pos) })
	return s, r.kill(superseded, slabRowBits, func(o int) (Tablet, bool) { return tablets[o], true })
}

// read appends the entries of a sidecar, with at added to their rows, and puts the first mask of its tablet.
func (r *resolver) read(ctx context.Context, f *File, t Tablet, at uint64, entries []entry) ([]entry, error) {
	if len(f.tablets) != 1 || f.tablets[0] != (TabletRows{t.ID, t.Rows}) || f.f.keys != uint64(t.Rows) {
		return nil, damaged(f.name, f.size-footerSize, "it is not the sidecar of tablet %d with %d rows", t.ID, t.Rows)
	}
	m, err := NewMask(f.deletes, t.Rows)
	if err != nil {
		return nil, sqlerr.New(sqlerr.DataCorrupted, "tablet %d: %w", t.ID, err)
	}
	r.put(t.ID, m)
	c := f.cursor()
	for {
		e, err := c.head(ctx)
		if err != nil || e == nil {
			return entries, err
		}
		for _, e := range c.entries {
			if e.pos >= uint64(t.Rows) {
				return nil, f.strayPosition(e.hi, e.lo, e.pos)
			}
			e.pos += at
			entries = append(entries, e)
		}
		c.at = len(c.entries)
	}
}

// probeLayers kills the positions of the keys, those of first and tablets after it, in older staging tablets.
func (r *resolver) probeLayers(ctx context.Context, b *Batch, first Tablet) error {
	staged := make(map[uint64]Tablet, len(r.next.set.Staging))
	for _, t := range r.next.set.Staging {
		staged[t.ID] = t
	}
	return r.parallel(ctx, len(r.next.layers), func(ctx context.Context, i int) error {
		l := r.next.layers[i]
		switch {
		case first.Disjoint && l.firstAppend == first.Append: // the whole layer is of that append
			return nil
		case l.slab == nil:
			return r.probeFile(ctx, l.tablet.Keys, b, staged)
		case l.slab.Width() != b.Width() && b.Len() > 0:
			return sqlerr.New(sqlerr.Internal, "staging tablets of table %d have keys of different widths", r.next.set.Table)
		}
		var found []uint64
		l.slab.probe(b, func(_ int, pos uint64) { found = append(found, pos) })
		return r.kill(found, slabRowBits, func(o int) (Tablet, bool) {
			t, ok := staged[l.slab.ids[o]]
			return t, ok
		})
	})
}

// probeBase kills the positions of the keys in the base.
func (r *resolver) probeBase(ctx context.Context, b *Batch) error {
	base := r.next.set.Base
	if err := cover(ctx, r.files, &r.next.set); err != nil {
		return err
	}
	return r.parallel(ctx, len(base.index), func(ctx context.Context, i int) error {
		return r.probeFile(ctx, base.index[i], b, base.tablets)
	})
}

// cover makes sure that every base tablet with a live row is in a key file: a gap would leave old versions alive.
func cover(ctx context.Context, files *Files, set *Set) error {
	base := set.Base
	if base.covered.Load() {
		return nil
	}
	in := make(map[uint64]uint32, len(base.tablets))
	for _, name := range base.index {
		f, release, err := files.Acquire(ctx, name)
		if err != nil {
			return err
		}
		for _, t := range f.tablets {
			in[t.ID] = t.Rows
		}
		release()
	}
	for id, t := range base.tablets {
		rows, ok := in[id]
		if !ok && !base.committed(t).All() && t.Rows > 0 {
			return sqlerr.New(sqlerr.DataCorrupted, "no key file covers tablet %d of table %d", id, set.Table).
				Hintf("Rebuild the sidecar of the tablet.")
		}
		if ok && rows != t.Rows {
			return sqlerr.New(sqlerr.DataCorrupted, "tablet %d has %d rows and %d in its key file", id, t.Rows, rows).
				Hintf("Rebuild the key files of the tablet.")
		}
	}
	base.covered.Store(true)
	return nil
}

// probeFile kills the positions of the keys in one file, as far as they lie in tablets.
func (r *resolver) probeFile(ctx context.Context, name string, b *Batch, tablets map[uint64]Tablet) error {
	f, release, err := r.files.Acquire(ctx, name)
	if err != nil {
		return err
	}
	defer release()
	parts, err := f.probe(ctx, b)
	if err != nil {
		return err
	}
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	found := make([]uint64, 0, n)
	for _, p := range parts {
		for _, m := range p {
			if _, _, ok := f.position(m.pos); !ok {
				return f.strayPosition(b.hi[m.at], b.low(int(m.at)), m.pos)
			}
			found = append(found, m.pos)
		}
	}
	return r.kill(found, f.f.rowBits, func(o int) (Tablet, bool) {
		t, ok := tablets[f.tablets[o].ID]
		return t, ok
	})
}

// kill adds packed positions to the dead rows. Those whose ordinal names no tablet of the set are left out.
func (r *resolver) kill(positions []uint64, rowBits uint8, tablet func(ordinal int) (Tablet, bool)) error {
	positions = sortUint64(positions, make([]uint64, len(positions)))
	rows := make([]uint32, 0, len(positions))
	for i := 0; i < len(positions); {
		ordinal := positions[i] >> rowBits
		rows = rows[:0]
		for ; i < len(positions) && positions[i]>>rowBits == ordinal; i++ {
			rows = append(rows, uint32(positions[i]&(1<<rowBits-1)))
		}
		t, ok := tablet(int(ordinal))
		if !ok {
			continue
		}
		if last := rows[len(rows)-1]; last >= t.Rows {
			return sqlerr.New(sqlerr.DataCorrupted, "a key file names row %d of tablet %d, which has %d", last, t.ID, t.Rows).
				Hintf("Rebuild the key files of the tablet.")
		}
		r.mu.Lock()
		bm := r.dead[t.ID]
		if bm == nil {
			bm = roaring.New()
			r.dead[t.ID] = bm
		}
		bm.AddMany(rows)
		r.mu.Unlock()
	}
	return nil
}

// parallel calls fn(0..n-1) on all cores and returns the first error.
func (r *resolver) parallel(ctx context.Context, n int, fn func(ctx context.Context, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		g.Go(func() error { return guard("look-up", func() error { return fn(ctx, i) }) })
	}
	return g.Wait()
}

// pushSlab adds a slab and merges the last ones while they are of like size, so that there are few.
func (r *resolver) pushSlab(l layer) {
	if len(l.slab.hi) == 0 {
		return
	}
	layers := r.next.layers
	r.next.bytes += l.slab.bytes()
	for n := len(layers); n > 0 && layers[n-1].slab != nil; n-- {
		older, newer := layers[n-1].slab, l.slab
		if len(older.hi) > 2*len(newer.hi) || len(older.hi)+len(newer.hi) > r.slabMerge {
			break
		}
		l = layer{slab: mergeSlabs(older, newer), firstAppend: layers[n-1].firstAppend, lastAppend: l.lastAppend}
		r.next.bytes += l.slab.bytes() - older.bytes() - newer.bytes()
		layers = layers[:n-1]
	}
	r.next.layers = append(layers, l)
}

// publish joins the dead rows with the masks so far. Or reads its inputs only, so shared masks stay untouched.
func (r *resolver) publish() error {
	for id, dead := range r.dead {
		old, err := r.next.masks.Of(id)
		if err != nil {
			return err
		}
		m, err := NewMask(roaring.Or(old.Bitmap(), dead), old.rows)
		if err != nil {
			return err
		}
		r.put(id, m)
	}
	return nil
}
