package maskindex

import (
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// Adopt derives the resolution of set to from that of set from, which must be cached, without a look-up: to is what a
// cascade made of from, adopting its first staging tablets into the base with their masks committed, retiring some,
// and rewriting others. Tablets that stay keep their id and rows. fates, which may be nil, returns the fate of
// rewritten tablets, as it is given to Merge; only Move and To count.
//
// It reports whether it could. When not, nothing is lost: the next Masks of to computes it.
func (c *Cache) Adopt(from, to Set, fates func(tablet uint64) Fate) bool {
	if len(to.Staging) == 0 {
		return true // its masks are the committed ones
	}
	if to.check() != nil || from.Table != to.Table {
		return false
	}
	adopted := len(from.Staging) - len(to.Staging)
	if adopted > 0 && from.Staging[adopted-1].Append == to.Staging[0].Append {
		return false
	}
	if adopted < 0 || !slices.EqualFunc(from.Staging[adopted:], to.Staging, sameStaging) {
		return false
	}
	fromKeys, toKeys := prefixKeys(&from), prefixKeys(&to)
	c.mu.Lock()
	prev := c.lookup(fromKeys[len(fromKeys)-1])
	c.mu.Unlock()
	if prev == nil {
		return false
	}
	r := adopt(prev, to, fates)
	if r == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.insert(toKeys[len(toKeys)-1], r)
	return true
}

func sameStaging(a, b Tablet) bool {
	return a.ID == b.ID && a.Rows == b.Rows && a.Append == b.Append && a.TruncateBefore == b.TruncateBefore && a.Disjoint == b.Disjoint
}

// adopt returns the resolution of to, or nil when prev does not imply it.
func adopt(prev *resolution, to Set, fates func(tablet uint64) Fate) *resolution {
	to.Staging = slices.Clone(to.Staging)
	r := &resolver{dead: map[uint64]*roaring.Bitmap{}, next: &resolution{
		set: to, masks: &Masks{base: to.Base, over: map[uint64]*Mask{}},
	}}
	r.next.masks.truncated = slices.ContainsFunc(to.Staging, func(t Tablet) bool { return t.TruncateBefore })
	for _, t := range to.Staging {
		m, err := prev.masks.Of(t.ID)
		if err != nil {
			return nil
		}
		r.put(t.ID, m)
	}
	made, ok := r.rewritten(prev, fates)
	if !ok {
		return nil
	}
	for id, t := range to.Base.tablets {
		if r.next.masks.truncated || made[id] {
			continue
		}
		if !r.keep(prev, t) {
			return nil
		}
	}
	r.keepLayers(prev)
	if r.publish() != nil {
		return nil
	}
	return r.next
}

// keep carries the mask of an unchanged base tablet over; false when prev knows no such tablet.
func (r *resolver) keep(prev *resolution, t Tablet) bool {
	m, err := prev.masks.Of(t.ID)
	if err != nil || m.rows != t.Rows {
		return false
	}
	committed := r.next.masks.base.committed(t)
	if m.None() || m.dead == committed.dead && m.Bitmap().AndCardinality(committed.Bitmap()) == uint64(m.dead) {
		return true
	}
	r.dead[t.ID] = m.Bitmap().Clone()
	return true
}

// rewritten moves the dead rows of rewritten tablets into the tablets that a rewrite made, and returns those.
func (r *resolver) rewritten(prev *resolution, fates func(tablet uint64) Fate) (made map[uint64]bool, ok bool) {
	made = map[uint64]bool{}
	if fates == nil {
		return made, true
	}
	move := func(id uint64) bool {
		fate := fates(id)
		if fate.Move == nil || fate.Gone {
			return true
		}
		if t, in := r.next.masks.base.tablets[fate.To.ID]; !in || t.Rows != fate.To.Rows {
			return false
		}
		made[fate.To.ID] = true
		m, err := prev.masks.Of(id)
		if err != nil {
			return false
		}
		dead := moved(m.Bitmap(), fate.Move)
		if old := r.dead[fate.To.ID]; old != nil {
			dead.Or(old)
		}
		if !dead.IsEmpty() {
			r.dead[fate.To.ID] = dead
		}
		return true
	}
	for id := range prev.set.Base.tablets {
		if !move(id) {
			return nil, false
		}
	}
	for _, t := range prev.set.Staging {
		if !move(t.ID) {
			return nil, false
		}
	}
	return made, true
}

// moved returns where a rewrite put the rows of bm; those it left out are gone.
func moved(bm *roaring.Bitmap, move func(uint32) (uint32, bool)) *roaring.Bitmap {
	out := roaring.New()
	var buf, rows [1024]uint32
	for it := bm.ManyIterator(); ; {
		n := it.NextMany(buf[:])
		if n == 0 {
			return out
		}
		k := 0
		for _, old := range buf[:n] {
			if row, ok := move(old); ok {
				rows[k] = row
				k++
			}
		}
		out.AddMany(rows[:k])
	}
}

// keepLayers keeps what later appends look up in the tablets that are still staging. The adopted ones are found in
// the index of the base from now on.
func (r *resolver) keepLayers(prev *resolution) {
	staged := make(map[uint64]bool, len(r.next.set.Staging))
	for _, t := range r.next.set.Staging {
		staged[t.ID] = true
	}
	for _, l := range prev.layers {
		if l.slab == nil {
			if staged[l.tablet.ID] {
				r.next.layers = append(r.next.layers, l)
			}
			continue
		}
		if s := l.slab.filter(func(id uint64) bool { return staged[id] }); s != nil {
			l.slab = s
			r.next.layers = append(r.next.layers, l)
			r.next.bytes += s.bytes()
		}
	}
}
