package exec

import (
	"slices"

	"github.com/tidemarkdb/tidemark/vec"
)

// spreadable reports whether a group that does not fit can be folded in parts: rows are needed because of DISTINCT
// alone, so that rows with different arguments may be folded apart and the states merged.
func (a *aggregation) spreadable() bool {
	for i := range a.calls {
		if len(a.calls[i].order) > 0 {
			return false
		}
	}
	return a.raw
}

// distinctClass is calls that are DISTINCT in the same arguments, as an aggregation of their own. Calls that are not
// DISTINCT go with the first class.
type distinctClass struct {
	*aggregation
	calls []int // among those of the whole aggregation
}

func (a *aggregation) distinctClasses() []*distinctClass {
	var classes []*distinctClass
	var plain []int
next:
	for i := range a.calls {
		c := &a.calls[i]
		if !c.distinct {
			plain = append(plain, i)
			continue
		}
		for _, k := range classes {
			if slices.Equal(k.spread, c.args) {
				k.calls = append(k.calls, i)
				continue next
			}
		}
		classes = append(classes, &distinctClass{aggregation: &aggregation{spread: c.args}, calls: []int{i}})
	}
	classes[0].calls = append(classes[0].calls, plain...)
	for _, k := range classes {
		k.q, k.m, k.exprs, k.types, k.width, k.raw = a.q, a.m, a.exprs, a.types, a.width, true
		k.state = slices.Clone(a.types[:a.width])
		for _, i := range k.calls {
			k.aggregation.calls = append(k.aggregation.calls, a.calls[i])
			k.state = append(k.state, a.calls[i].bound.State...)
		}
	}
	return classes
}

// spreadPartition folds rows whose groups are too large to be folded at once: class by class, each shared out by the
// hash of keys and arguments.
func (a *aggregation) spreadPartition(w *worker, rows *chunkList, res *reservation) (*groups, error) {
	total := newGroups(a, w.ev, 0)
	held := a.q.budget.open("Aggregate", a.m)
	defer held.release()
	for _, class := range a.distinctClasses() {
		err := class.spreadRows(w, rows, res, 0, func(g *groups) error {
			for from := 0; from < g.len(); from += vec.BatchRows {
				if err := w.check(); err != nil {
					return err
				}
				n := min(vec.BatchRows, g.len()-from)
				cols, err := g.states(from, n)
				if err != nil {
					return err
				}
				if err := total.mergeCalls(cols, n, class.calls); err != nil {
					return err
				}
			}
			return held.require(total.memory())
		})
		if err != nil {
			return nil, err
		}
	}
	return total, nil
}

// spreadRows shares rows out by the hash of keys and arguments and passes on the groups of each part.
func (k *distinctClass) spreadRows(w *worker, rows *chunkList, res *reservation, level int, merge func(*groups) error) error {
	parts := newPartitions(k.q, k.types, level, k.m)
	var hashes []uint64
	for i := range rows.len() {
		if err := w.check(); err != nil {
			return err
		}
		b, err := rows.read(i)
		if err != nil {
			return err
		}
		hashes = resize(hashes, b.N)
		hashKeys(append(b.Cols[:k.width:k.width], pickColumns(b.Cols, k.spread)...), b.N, hashes)
		parts.add(b.Cols, hashes, b.N)
		if parts.memory() > splitBytes {
			if err := parts.spill(); err != nil {
				return err
			}
		}
	}
	if err := parts.spill(); err != nil {
		return err
	}
	for p := range partitionCount {
		list := parts.list(p)
		if list.rows == 0 {
			continue
		}
		g := newGroups(k.aggregation, w.ev, 0)
		var set rowSet
		fits, err := foldList(w, list, res, g, func(cols []*vec.Vector, n int) error { return g.update(cols, set.whole(n)) })
		switch {
		case err != nil:
			return err
		case fits:
			err = merge(g)
		case level+1 >= maxLevels:
			return res.exceeded(g.memory() - res.held)
		default:
			g = nil
			res.resize(0)
			err = k.spreadRows(w, list, res, level+1, merge)
		}
		res.resize(0)
		if err != nil {
			return err
		}
	}
	return parts.discard()
}

// mergeCalls folds keys and the states of some calls.
func (g *groups) mergeCalls(cols []*vec.Vector, n int, calls []int) error {
	ids := g.number(cols, &rowSet{n: n})
	for i := range g.calls {
		g.calls[i].acc.Grow(g.len())
	}
	at := g.a.width
	for _, i := range calls {
		c := &g.calls[i]
		width := len(c.spec.bound.State)
		if err := c.acc.MergeState(ids, cols[at:at+width], n); err != nil {
			return err
		}
		at += width
	}
	return nil
}
