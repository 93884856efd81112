package exec

import "github.com/tidemarkdb/tidemark/vec"

// runPartition folds the rows and states of one partition and yields its groups.
func (a *aggregation) runPartition(w *worker, out consumer, rows, states *chunkList, res *reservation, level int) error {
	if rows.len() == 0 && states.len() == 0 {
		return nil
	}
	g := a.takeTable(w, int(min(rows.rows+states.rows, maxLocalGroups)))
	fits, err := foldList(w, states, res, g, g.merge)
	if err == nil && fits {
		var set rowSet
		fits, err = foldList(w, rows, res, g, func(cols []*vec.Vector, n int) error { return g.update(cols, set.whole(n)) })
	}
	if err != nil {
		return err
	}
	if !fits {
		needed := g.memory()
		g = nil
		if a.spreadable() && a.q.spill.enabled() && (level > 0 || a.width == 0 && a.spread == nil) {
			res.resize(0)
			if g, err = a.spreadPartition(w, rows, res); err != nil {
				return err
			}
			return a.pass(w, out, g)
		}
		if level+1 >= maxLevels || !a.q.spill.enabled() || rows.rows+states.rows <= 1 {
			return res.exceeded(needed - res.held)
		}
		res.resize(0)
		return a.split(w, out, rows, states, res, level+1)
	}
	err = a.pass(w, out, g)
	a.putTable(g)
	res.resize(0)
	return err
}

// maxSpareBytes is how large a table may be to be emptied and used again. They are few: one a worker.
const maxSpareBytes = 4 << 20

// takeTable returns an empty table for about so many groups.
func (a *aggregation) takeTable(w *worker, hint int) *groups {
	if g, ok := a.spare.Get().(*groups); ok {
		g.renew(w.ev)
		return g
	}
	return newGroups(a, w.ev, hint)
}

// putTable takes back a table that nobody needs any more.
func (a *aggregation) putTable(g *groups) {
	size := g.memory()
	if limit := a.q.budget.limit; size <= maxSpareBytes && (limit == 0 || size <= limit/partitionCount) {
		a.spare.Put(g)
	}
}

// pass yields a partition's groups, or adds the only one to the total.
func (a *aggregation) pass(w *worker, out consumer, g *groups) error {
	if a.total != nil {
		return a.addTotal(g)
	}
	return g.yield(w, out)
}

// foldList folds batches into a table for as long as it fits.
func foldList(w *worker, l *chunkList, res *reservation, g *groups, into func(cols []*vec.Vector, n int) error) (fits bool, err error) {
	for i := range l.len() {
		b, err := l.read(i)
		if err != nil {
			return false, err
		}
		for from := 0; from < b.N; from += vec.BatchRows {
			if err := w.check(); err != nil {
				return false, err
			}
			part := b.Slice(from, min(vec.BatchRows, b.N-from))
			if err := into(part.Cols, part.N); err != nil {
				return false, err
			}
			if !res.resize(g.memory()) {
				return false, nil
			}
		}
	}
	return true, nil
}

// addTotal folds one partition's group into the only one there is.
func (a *aggregation) addTotal(g *groups) error {
	cols, err := g.states(0, 1)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.total.merge(cols, 1)
}

// split partitions a partition again by further bits of the hash and runs its parts.
func (a *aggregation) split(w *worker, out consumer, rows, states *chunkList, res *reservation, level int) error {
	parts := [2]*partitions{newPartitions(a.q, a.types, level, a.m), newPartitions(a.q, a.state, level, a.m)}
	var hashes []uint64
	var hasher keyHasher
	for i, l := range []*chunkList{rows, states} {
		for j := range l.len() {
			if err := w.check(); err != nil {
				return err
			}
			b, err := l.read(j)
			if err != nil {
				return err
			}
			hashes = resize(hashes, b.N)
			hasher.hash(a.sharedBy(b.Cols, level), b.N, hashes)
			parts[i].add(b.Cols, hashes, b.N)
			l.items[j].b = nil
			if parts[i].memory() > splitBytes {
				if err := parts[i].spill(); err != nil {
					return err
				}
			}
		}
		if err := parts[i].spill(); err != nil {
			return err
		}
	}
	for k := range partitionCount {
		if err := a.runPartition(w, out, parts[0].list(k), parts[1].list(k), res, level); err != nil {
			return err
		}
	}
	return nil
}

// splitBytes is what partitioning again may hold in memory between two spills; it is not part of the budget.
const splitBytes = 16 << 20
