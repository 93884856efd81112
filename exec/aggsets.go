package exec

import (
	"slices"

	"github.com/tidemarkdb/tidemark/vec"
)

// linkSets makes grouping sets that lie within another one be folded from the groups of that, which are fewer than the
// rows. It returns the aggregations so that a finer one comes before what is folded from it, and those that are fed
// with rows: the ones within no other, or all of them where states do not do.
func linkSets(aggs []*aggregation, sets [][]int) (order, roots []*aggregation) {
	if aggs[0].raw { // all have the same calls
		return aggs, aggs
	}
	places := make([]int, len(sets))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return len(sets[b]) - len(sets[a]) })
	for k, i := range places {
		a := aggs[i]
		order = append(order, a)
		parent := -1
		for _, j := range places[:k] { // the last one is the smallest
			if within(sets[i], sets[j]) {
				parent = j
			}
		}
		if parent < 0 {
			roots = append(roots, a)
			continue
		}
		for _, g := range sets[i] {
			a.within = append(a.within, slices.Index(sets[parent], g))
		}
		aggs[parent].coarser = append(aggs[parent].coarser, a)
	}
	return order, roots
}

// within reports whether every member of a set is in another.
func within(set, of []int) bool {
	for _, g := range set {
		if !slices.Contains(of, g) {
			return false
		}
	}
	return true
}

// finer is between an aggregation and the operator after it: groups pass through it once they are whole, and are folded
// into the coarser sets on their way.
type finer struct {
	consumer
	into []*aggWorker
}

// feedCoarser returns a consumer that folds groups into the coarser sets before it passes them to out.
func (a *aggregation) feedCoarser(w *worker, out consumer) (consumer, error) {
	if len(a.coarser) == 0 {
		return out, nil
	}
	f := &finer{consumer: out}
	for _, c := range a.coarser {
		to, err := c.local(w)
		if err != nil {
			return nil, err
		}
		f.into = append(f.into, to.(*aggWorker))
	}
	return f, nil
}

// fold folds groups [from, from+n).
func (f *finer) fold(g *groups, from, n int) error {
	cols, err := g.states(from, n)
	if err != nil {
		return err
	}
	for _, aw := range f.into {
		some := append(pickColumns(cols[:g.a.width], aw.a.within), cols[g.a.width:]...)
		if err := aw.foldStates(some, n); err != nil {
			return err
		}
	}
	return nil
}

// foldStates folds groups of a finer set, as states gives them, into the worker's table.
func (aw *aggWorker) foldStates(cols []*vec.Vector, n int) error {
	aw.seen += int64(n)
	if aw.direct {
		aw.share(aw.states, cols, n)
		return aw.settle()
	}
	if err := aw.table.merge(cols, n); err != nil {
		return err
	}
	return aw.shrink()
}
