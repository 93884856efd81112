package exec

// distinctSharing is how an aggregation that removes duplicates for a DISTINCT one shares out what it finds. By its own
// keys, so that many workers fold even one group; or, once there are many groups, by the keys of the outer aggregation:
// then all of a group comes from one share, and the outer one has whole groups at the end of each.
type distinctSharing struct {
	chosen  bool // by the first worker that shares anything out
	byGroup bool
}

// manyGroups is from how many groups on in a worker's table sharing out by group keeps every worker busy, and no group
// may have more than one in groupShare of the rows.
const (
	manyGroups = 16 * partitionCount
	groupShare = 16
)

// linkDistinct tells an aggregation that removes duplicates and the one that folds what is left of each other.
func linkDistinct(inner, outer source) {
	a, ok := inner.(*aggregation)
	if b, is := outer.(*aggregation); ok && is {
		a.outer, b.inner = b, a
	}
}

// chooseSharing decides by the groups of one worker.
func (a *aggregation) chooseSharing(table *groups) {
	if a.outer == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sharing.chosen {
		return
	}
	a.sharing.chosen = true
	n, width := table.len(), a.outer.width
	if n < manyGroups || width == 0 {
		return
	}
	ids, g := make([]uint32, n), newGrouper(a.types[:width], n)
	g.assign(table.keys.keys(0, n)[:width], n, ids)
	if g.len() < manyGroups {
		return
	}
	rows := make([]int, g.len())
	for _, id := range ids {
		if rows[id]++; rows[id] > n/groupShare {
			return
		}
	}
	a.sharing.byGroup = true
}

// getsWhole reports whether groups come whole, share by share.
func (a *aggregation) getsWhole() bool { return a.inner != nil && a.inner.sharing.byGroup }

// endWhole notes that a worker's groups are whole: no more rows of theirs come to any worker.
func (a *aggregation) endWhole(w *worker) {
	for _, aw := range a.workers {
		if aw.w != w || aw.table.len() == 0 {
			continue
		}
		if aw.rows != nil || aw.states != nil { // memory was short: some of a group may lie in partitions
			return
		}
		aw.whole = append(aw.whole, aw.table)
		aw.size += aw.table.memory()
		aw.table, aw.seen = newGroups(a, aw.w.ev, aw.table.len()), 0
	}
}
