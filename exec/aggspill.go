package exec

import "github.com/tidemarkdb/tidemark/vec"

// share adds rows, or groups with their states, to partitions.
func (aw *aggWorker) share(to *partitions, cols []*vec.Vector, n int) {
	aw.hashes = resize(aw.hashes, n)
	aw.hasher.hash(aw.a.sharedBy(cols, 0), n, aw.hashes)
	to.add(cols, aw.hashes, n)
}

// partition empties the tables into partitions.
func (aw *aggWorker) partition() error {
	a := aw.a
	a.chooseSharing(aw.table)
	if aw.states == nil {
		aw.states = newPartitions(a.q, a.state, 0, a.m).keepDicts(a.width, true)
	}
	for _, g := range append(aw.whole, aw.table) {
		for from := 0; from < g.len(); from += vec.BatchRows {
			n := min(vec.BatchRows, g.len()-from)
			cols, err := g.states(from, n)
			if err != nil {
				return err
			}
			aw.share(aw.states, cols, n)
		}
	}
	aw.whole, aw.size = nil, 0
	hint := maxLocalGroups
	if aw.direct {
		hint = 0 // nothing is folded any more
	}
	aw.table = newGroups(a, aw.w.ev, hint)
	return nil
}

func (aw *aggWorker) memory() int64 {
	size := aw.table.memory() + aw.size + aw.hasher.memory()
	if aw.rows != nil {
		size += aw.rows.memory()
	}
	if aw.states != nil {
		size += aw.states.memory()
	}
	return size
}

// settle keeps what is held within the budget.
func (aw *aggWorker) settle() error {
	size := aw.memory()
	if aw.res.resize(size) {
		return nil
	}
	if !aw.a.q.spill.enabled() || aw.a.width == 0 && aw.rows == nil {
		return aw.res.exceeded(size - aw.res.held)
	}
	if aw.a.width > 0 {
		if err := aw.partition(); err != nil {
			return err
		}
	}
	if err := aw.spill(); err != nil {
		return err
	}
	// An empty table is small; that it may not be granted while others hold the rest is no reason to fail.
	aw.res.resize(aw.memory())
	return nil
}

// spill writes the partitions to files.
func (aw *aggWorker) spill() error {
	aw.spilled = true
	for _, p := range []*partitions{aw.rows, aw.states} {
		if p != nil {
			if err := p.spill(); err != nil {
				return err
			}
		}
	}
	aw.res.resize(0)
	return nil
}
