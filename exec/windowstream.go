package exec

import (
	"errors"
	"slices"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// errLargePeers says that stretches cannot end between peer groups, as one is too large.
var errLargePeers = errors.New("a peer group is too large")

// windowStream computes a window over partitions too large for memory. Rows come in order and are worked on in
// stretches, each with the rows around it that calls look at:
//
//	| done before, context | rows passed on now | context, done next |
//	  halo
type windowStream struct {
	windowNeeds
	x      *window
	w      *worker
	out    consumer
	res    *reservation
	rows   *store
	halo   int
	limit  int64 // bytes at which a stretch is worked on
	least  int64 // limit at first
	totals *windowTotals
	pages  *windowPages // nil when no call is far
	base   int64        // number of the first row of rows
	skip   int64        // so many rows were passed on before

	// Of the partition that the first row of rows lies in: whether it began before, and what came before that row.
	began  bool
	before struct{ rows, groups int64 }
	carry  []extension.Accumulator // by call
}

// stream sorts rows with the help of files and computes the calls in stretches.
func (x *window) stream(w *worker, out consumer, list *chunkList) error {
	needs, ok := x.needs(false)
	if !ok {
		return x.tooLarge()
	}
	totals, err := x.total(w, list, needs.kinds)
	if err != nil {
		return err
	}
	defer totals.res.release()
	sorted := &sorter{q: x.q, m: x.m, order: x.order, types: x.types, width: len(x.types), keep: -1}
	defer sorted.close()
	c, err := sorted.local(w)
	if err != nil {
		return err
	}
	if err := list.each(w, c.consume); err != nil {
		return err
	}
	if err := c.(*sortWorker).spill(0); err != nil { // what memory there is is for the stretches
		return err
	}
	s := x.newStream(w, out, needs, totals)
	if err := s.run(sorted); err != errLargePeers {
		return err
	}
	if needs, ok = x.needs(true); !ok {
		return x.tooLarge()
	}
	again := x.newStream(w, out, needs, totals)
	again.skip = s.passed()
	return again.run(sorted)
}

func (x *window) newStream(w *worker, out consumer, needs windowNeeds, totals *windowTotals) *windowStream {
	s := &windowStream{windowNeeds: needs, x: x, w: w, out: out, totals: totals, res: x.q.budget.open("Window", x.m), rows: newStore(x.types)}
	s.least = max(x.q.budget.limit/int64(4*x.q.threads), 1<<16)
	s.limit = s.least
	s.carry = make([]extension.Accumulator, len(x.calls))
	return s
}

// run computes the calls over sorted rows; errLargePeers leaves rows that were not passed on.
func (s *windowStream) run(sorted *sorter) (err error) {
	defer s.res.release()
	if slices.Contains(s.kinds, far) {
		if s.pages, err = newWindowPages(s.x, s.w, s.kinds); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.pages.close()) }()
		if err := sorted.merge(s.w, s.pages); err != nil {
			return err
		}
		if err := s.pages.finish(); err != nil {
			return err
		}
	}
	if err := sorted.merge(s.w, s); err != nil {
		return err
	}
	return s.advance(true)
}

// passed returns how many rows were passed on.
func (s *windowStream) passed() int64 { return max(s.base+int64(s.halo), s.skip) }

func (x *window) tooLarge() error {
	return sqlerr.New(sqlerr.OutOfMemory, "out of memory: a partition of a window does not fit in the %d bytes of execution.memory_limit", x.q.budget.limit).
		Hintf("raise execution.memory_limit, or use PARTITION BY: DISTINCT, IGNORE NULLS and functions that gather values, such as string_agg and array_agg, hold a whole partition unless their frames are of ROWS near the row")
}

// littleBytes is what partitions in stretches may hold beside the stretch over the limit.
const littleBytes = 1 << 19

// require reserves what grows with the number of rows or partitions and cannot be parted.
func (x *window) require(res *reservation, size int64) error {
	switch {
	case res.resize(size):
	case size <= littleBytes:
		res.force(size)
	default:
		return x.tooLarge()
	}
	return nil
}

func (s *windowStream) consume(b *vec.Batch) error {
	s.rows.append(b.Cols, b.Sel, b.Rows())
	if s.size() < s.limit {
		return s.reserve()
	}
	return s.advance(false)
}

// reserve makes the stretch hold what it takes. What calls look at and two batches are not refused: there is no doing
// with less.
func (s *windowStream) reserve() error {
	size := s.size()
	if s.res.resize(size) {
		return nil
	}
	if size > 2*s.least && s.rows.total > int64(s.windowNeeds.before+s.after+2*vec.BatchRows) {
		if s.peers {
			return errLargePeers
		}
		return s.x.tooLarge()
	}
	s.res.force(size)
	return nil
}

func (s *windowStream) flush() error { return nil }

// size is what working on the rows held takes: joined and computed upon, they are held several times.
func (s *windowStream) size() int64 { return 3*s.rows.memory() + s.rows.total*64 }

// advance works on the rows held and passes on those for which everything they look at is there.
func (s *windowStream) advance(end bool) error {
	if err := s.reserve(); err != nil {
		return err
	}
	n := int(s.rows.total)
	if n == 0 {
		return nil
	}
	cols, err := s.take()
	if err != nil {
		return err
	}
	share, err := newWindowShare(s.x, s.w, cols, n)
	if err != nil {
		return err
	}
	upto := n
	if !end {
		upto = n - max(s.after, 1)
		if s.peers && upto > 0 {
			upto = int(share.peerStart[upto])
		}
	}
	if upto > s.halo {
		if err := s.pass(share, upto); err != nil {
			return err
		}
	}
	if end {
		return nil
	}
	return s.keep(share, max(upto, s.halo))
}

// take returns the rows held as columns.
func (s *windowStream) take() ([]*vec.Vector, error) {
	chunks := s.rows.take()
	cols := make([]*vec.Vector, len(s.x.types))
	for i, t := range s.x.types {
		col, err := concat(s.x.q, t, chunks, i)
		if err != nil {
			return nil, err
		}
		cols[i] = col
	}
	return cols, nil
}

// pass computes every call and passes on the rows between the halo and upto.
func (s *windowStream) pass(share *windowShare, upto int) error {
	out := &vec.Batch{N: share.n, Cols: share.cols[:s.x.width:s.x.width]}
	for i := range s.x.calls {
		v, err := s.call(share, i, upto)
		if err != nil {
			return err
		}
		out.Cols = append(out.Cols, v)
	}
	for from := max(s.halo, int(s.skip-s.base)); from < upto; from += vec.BatchRows {
		if err := s.w.check(); err != nil {
			return err
		}
		if err := s.out.consume(out.Slice(from, min(vec.BatchRows, upto-from))); err != nil {
			return err
		}
	}
	return nil
}

func (s *windowStream) call(share *windowShare, i, upto int) (*vec.Vector, error) {
	c := &s.x.calls[i]
	switch s.kinds[i] {
	case overall:
		return s.totals.of(share, i)
	case far:
		return s.pages.calls[i].rows(share, s.base, s.halo, upto)
	case sized:
		s.count(share)
	case running:
		if s.began && s.carry[i] != nil {
			state, err := s.carry[i].SaveState(0, 1)
			if err != nil {
				return nil, err
			}
			share.carried = state
			defer func() { share.carried = nil }()
		}
	}
	v, err := share.call(c)
	if err != nil || s.kinds[i] != counting || !s.began {
		return v, err
	}
	by := s.before.rows
	if c.Bound.Func.Name == "dense_rank" {
		by = s.before.groups
	}
	numbers := vec.Cast[int64](v.Data)
	for k := range numbers[:share.bounds[1]] {
		numbers[k] += by
	}
	return v, nil
}

// keep holds on to the rows from upto on and those before that calls still look at, and carries on past the others.
func (s *windowStream) keep(share *windowShare, upto int) error {
	from := max(upto-s.windowNeeds.before, 0)
	if s.peers {
		from = int(share.peerStart[from])
	}
	p := 0
	for int(share.bounds[p+1]) <= from {
		p++
	}
	start := int(share.bounds[p])
	if p > 0 {
		s.before.rows, s.before.groups = 0, 0
		clear(s.carry)
	}
	s.before.rows += int64(from - start)
	s.before.groups += int64(share.groupOf[from] - share.groupOf[start])
	for i, kind := range s.kinds {
		if kind == running {
			if err := s.fold(share, i, start, from); err != nil {
				return err
			}
		}
	}
	s.began = from > start || p == 0 && s.began
	s.base += int64(from)
	s.halo = upto - from
	rest := make([]*vec.Vector, len(share.cols))
	for i, c := range share.cols {
		rest[i] = c.Slice(from, share.n-from)
	}
	s.rows = newStore(s.x.types) // the old one would make room for ever more rows
	s.rows.append(rest, nil, share.n-from)
	// What is kept counts too: a stretch must grow beyond it to get past a large peer group.
	s.limit = max(s.limit, 2*s.size())
	return s.reserve()
}

// fold adds rows [from, to) to the state that a running call carries.
func (s *windowStream) fold(share *windowShare, i, from, to int) error {
	c := &s.x.calls[i]
	if s.carry[i] == nil {
		s.carry[i] = c.Agg.New(s.w.ev)
		s.carry[i].Grow(1)
	}
	kept := share.kept(c)
	rows := make([]int32, 0, min(to-from, vec.BatchRows))
	for at := from; at < to; {
		rows = rows[:0]
		for ; at < to && len(rows) < vec.BatchRows; at++ {
			if kept == nil || kept.Get(at) {
				rows = append(rows, int32(at))
			}
		}
		if len(rows) == 0 {
			continue
		}
		if err := share.fold(c, s.carry[i], nil, rows); err != nil {
			return err
		}
	}
	return nil
}
