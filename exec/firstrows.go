package exec

import "github.com/tidemarkdb/tidemark/vec"

// firstRows tells the first row of each key from those that follow. It holds the keys seen in memory until that is
// refused; from then on keys and rows are kept in files, shared out by the hash of the key, and drain finds the first
// rows partition by partition. One goroutine uses it.
type firstRows struct {
	q      *query
	m      *nodeMetrics
	res    *reservation
	types  []vec.Type // of rows
	places []int      // of the key's columns among them
	seen   grouper    // nil once keys are in files
	keys   *partitions
	aside  *partitions
	once   bool // drain is called once: keys need not be remembered for another
	ids    []uint32
	hash   []uint64
}

func newFirstRows(q *query, m *nodeMetrics, operator string, types []vec.Type, places []int) *firstRows {
	f := &firstRows{q: q, m: m, res: q.budget.open(operator, m), types: types, places: places}
	f.seen = newGrouper(f.keyTypes(), 0)
	return f
}

func (f *firstRows) keyTypes() []vec.Type {
	out := make([]vec.Type, len(f.places))
	for i, p := range f.places {
		out[i] = f.types[p]
	}
	return out
}

// spilled reports whether rows must be put aside instead of seen.
func (f *firstRows) spilled() bool { return f.seen == nil }

// see returns the rows whose key comes for the first time, valid until the next call.
func (f *firstRows) see(keys []*vec.Vector, n int) ([]int32, error) {
	f.ids = resize(f.ids, n)
	f.seen.assign(keys, n, f.ids)
	fresh := f.seen.fresh()
	if f.res.resize(f.seen.memory()) {
		return fresh, nil
	}
	if !f.q.spill.enabled() {
		return nil, f.res.exceeded(f.seen.memory() - f.res.held)
	}
	f.keys = newPartitions(f.q, f.keyTypes(), 0, f.m)
	if err := f.share(f.keys, f.seen); err != nil {
		return nil, err
	}
	f.seen = nil
	f.res.release()
	return fresh, f.keys.spill()
}

// share adds the keys of a grouper to partitions.
func (f *firstRows) share(to *partitions, g grouper) error {
	for from := 0; from < g.len(); from += vec.BatchRows {
		if err := f.q.check(); err != nil {
			return err
		}
		n := min(vec.BatchRows, g.len()-from)
		if err := f.add(to, g.keys(from, n), firstPlaces(len(f.places)), n); err != nil {
			return err
		}
	}
	return nil
}

// firstPlaces returns 0 to n-1.
func firstPlaces(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// add adds rows to partitions by the key at places.
func (f *firstRows) add(to *partitions, cols []*vec.Vector, places []int, n int) error {
	f.hash = resize(f.hash, n)
	hashKeys(pickColumns(cols, places), n, f.hash)
	to.add(cols, f.hash, n)
	if to.memory() > splitBytes {
		return to.spill()
	}
	return nil
}

// putAside keeps rows for drain.
func (f *firstRows) putAside(cols []*vec.Vector, n int) error {
	if f.aside == nil {
		f.aside = newPartitions(f.q, f.types, 0, f.m)
	}
	return f.add(f.aside, cols, f.places, n)
}

// drain passes the rows put aside to emit, with which of them are the first of their key, in the order in which rows of
// one key came. It remembers those keys too, unless once is set.
func (f *firstRows) drain(w *worker, emit func(b *vec.Batch, fresh []int32) error) error {
	if f.aside == nil {
		return nil
	}
	for k := range partitionCount {
		rows := f.aside.list(k)
		if rows.rows == 0 {
			continue
		}
		if err := f.part(w, f.keys.list(k), rows, 0, emit); err != nil {
			return err
		}
	}
	if err := f.keys.spill(); err != nil {
		return err
	}
	return f.aside.reset()
}

// part does one partition. What turns out not to fit is shared out again: the keys met so far, and the rows to come.
func (f *firstRows) part(w *worker, keys, rows *chunkList, level int, emit func(b *vec.Batch, fresh []int32) error) error {
	g := newGrouper(f.keyTypes(), 0)
	fits := func() bool { return f.res.resize(g.memory()) || level+1 >= maxLevels }
	defer f.res.release()
	at := 0
	for ; at < keys.len() && fits(); at++ {
		if err := f.assign(w, keys, at, g, firstPlaces(len(f.places)), nil); err != nil {
			return err
		}
	}
	if at == keys.len() {
		keys, at = &chunkList{types: keys.types}, 0
		for ; at < rows.len() && fits(); at++ {
			if err := f.assign(w, rows, at, g, f.places, emit); err != nil {
				return err
			}
		}
		if at == rows.len() {
			return nil
		}
		rows = rows.from(at)
	} else {
		keys = keys.from(at)
	}
	return f.split(w, g, keys, rows, level+1, emit)
}

// assign lets a chunk meet the keys of g.
func (f *firstRows) assign(w *worker, list *chunkList, i int, g grouper, places []int, emit func(b *vec.Batch, fresh []int32) error) error {
	if err := w.check(); err != nil {
		return err
	}
	b, err := list.read(i)
	if err != nil {
		return err
	}
	for from := 0; from < b.N; from += vec.BatchRows {
		part := b.Slice(from, min(vec.BatchRows, b.N-from))
		f.ids = resize(f.ids, part.N)
		g.assign(pickColumns(part.Cols, places), part.N, f.ids)
		fresh := g.fresh()
		if emit == nil || len(fresh) == 0 {
			continue
		}
		if !f.once {
			if err := f.remember(part, fresh); err != nil {
				return err
			}
		}
		if err := emit(part, fresh); err != nil {
			return err
		}
	}
	return nil
}

// remember adds the keys of rows to those seen.
func (f *firstRows) remember(b *vec.Batch, rows []int32) error {
	keys := make([]*vec.Vector, len(f.places))
	for i, p := range f.places {
		keys[i] = b.Cols[p].Select(rows)
	}
	return f.add(f.keys, keys, firstPlaces(len(keys)), len(rows))
}

// split shares the keys of g, further keys and rows out by more bits of the hash and does the parts.
func (f *firstRows) split(w *worker, g grouper, keys, rows *chunkList, level int, emit func(b *vec.Batch, fresh []int32) error) error {
	moreKeys, moreRows := newPartitions(f.q, f.keyTypes(), level, f.m), newPartitions(f.q, f.types, level, f.m)
	if err := f.share(moreKeys, g); err != nil {
		return err
	}
	f.res.release()
	move := func(l *chunkList, to *partitions, places []int) error {
		for i := range l.len() {
			if err := w.check(); err != nil {
				return err
			}
			b, err := l.read(i)
			if err != nil {
				return err
			}
			if err := f.add(to, b.Cols, places, b.N); err != nil {
				return err
			}
		}
		return to.spill()
	}
	if err := move(keys, moreKeys, firstPlaces(len(f.places))); err != nil {
		return err
	}
	if err := move(rows, moreRows, f.places); err != nil {
		return err
	}
	for k := range partitionCount {
		if err := f.part(w, moreKeys.list(k), moreRows.list(k), level, emit); err != nil {
			return err
		}
	}
	if err := moreKeys.discard(); err != nil {
		return err
	}
	return moreRows.discard()
}

// release gives back the memory held.
func (f *firstRows) release() { f.res.release() }
