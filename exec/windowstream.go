package exec

import (
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// maxContext bounds how many rows before or after a row a call may look at to be computed in stretches.
const maxContext = 1 << 16

// stretchKind says how a call is computed over a partition that is worked on in stretches.
type stretchKind uint8

const (
	notInStretches stretchKind = iota
	nearby                     // looks at so many rows before and after
	counting                   // counts rows or peer groups from the partition's start
	running                    // folds rows from the partition's start on: a state is carried from stretch to stretch
	overall                    // folds the whole partition: done ahead
	sized                      // depends on how many rows the partition has, which are counted ahead
)

// windowNeeds is what the calls of a window look at around a row.
type windowNeeds struct {
	kinds         []stretchKind
	before, after int
	peers         bool // stretches must end between peer groups
}

// needs finds how every call can be computed in stretches; ok is false when one cannot.
func (x *window) needs() (n windowNeeds, ok bool) {
	for i := range x.calls {
		kind := n.call(x, &x.calls[i])
		if kind == notInStretches {
			return n, false
		}
		n.kinds = append(n.kinds, kind)
	}
	return n, true
}

func (n *windowNeeds) call(x *window, c *windowCall) stretchKind {
	if c.Bound != nil {
		return n.function(c)
	}
	folds := !c.Distinct && (c.Agg.Func == nil || !c.Agg.Func.OrderSensitive) && c.Frame.Exclude == plan.ExcludeNoOthers
	switch {
	case wholePartition(c) && len(x.n.Order) == 0, c.start.kind == plan.UnboundedPreceding && c.end.kind == plan.UnboundedFollowing:
		if folds {
			return overall
		}
	case c.start.kind != plan.UnboundedPreceding:
		return n.frame(c)
	case folds && c.end.kind == plan.CurrentRow:
		n.peers = n.peers || c.Frame.Mode != plan.Rows
		return running
	case folds && c.Frame.Mode == plan.Rows && n.bound(&c.end):
		return running
	}
	return notInStretches
}

func (n *windowNeeds) function(c *windowCall) stretchKind {
	switch c.Bound.Func.Name {
	case "row_number":
		return counting
	case "rank", "dense_rank":
		n.peers = true
		return counting
	case "percent_rank", "cume_dist":
		n.peers = true
		return sized
	case "ntile":
		if _, constant := c.Args[0].(*plan.Const); constant {
			return sized
		}
	case "lag", "lead":
		offset := int64(1)
		if len(c.Args) > 1 {
			k, ok := c.Args[1].(*plan.Const)
			if !ok || k.Value.Null {
				return notInStretches
			}
			offset = max(k.Value.I, -k.Value.I)
		}
		if c.IgnoreNulls || !n.reach(offset) {
			return notInStretches
		}
		return nearby
	case "first_value", "last_value", "nth_value":
		return n.frame(c)
	}
	return notInStretches
}

// frame admits frames of ROWS that end near the row on both sides.
func (n *windowNeeds) frame(c *windowCall) stretchKind {
	if c.Frame.Mode != plan.Rows || c.Frame.Exclude == plan.ExcludeGroup || c.Frame.Exclude == plan.ExcludeTies || !n.bound(&c.start) || !n.bound(&c.end) {
		return notInStretches
	}
	return nearby
}

func (n *windowNeeds) bound(b *frameBound) bool {
	switch b.kind {
	case plan.CurrentRow:
		return true
	case plan.Preceding, plan.Following:
		return n.reach(b.rows)
	}
	return false
}

func (n *windowNeeds) reach(rows int64) bool {
	if rows < 0 || rows > maxContext {
		return false
	}
	n.before, n.after = max(n.before, int(rows)), max(n.after, int(rows))
	return true
}

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

	// Of the partition that the first row of rows lies in: whether it began before, and what came before that row.
	began  bool
	before struct{ rows, groups int64 }
	carry  []extension.Accumulator // by call
}

// stream sorts rows with the help of files and computes the calls in stretches.
func (x *window) stream(w *worker, out consumer, list *chunkList) error {
	needs, ok := x.needs()
	if !ok {
		return x.tooLarge()
	}
	s := &windowStream{windowNeeds: needs, x: x, w: w, out: out, res: x.q.budget.open("Window", x.m), rows: newStore(x.types)}
	defer s.res.release()
	s.least = max(x.q.budget.limit/int64(4*x.q.threads), 1<<16)
	s.limit = s.least
	s.carry = make([]extension.Accumulator, len(x.calls))
	var err error
	if s.totals, err = x.total(w, list, needs.kinds); err != nil {
		return err
	}
	sorted := &sorter{q: x.q, m: x.m, order: x.order, types: x.types, width: len(x.types), keep: -1}
	defer sorted.close()
	c, err := sorted.local(w)
	if err != nil {
		return err
	}
	for i := range list.len() {
		b, err := list.read(i)
		if err != nil {
			return err
		}
		if err := consumeSlices(b, c); err != nil {
			return err
		}
	}
	if err := c.(*sortWorker).spill(0); err != nil { // what memory there is is for the stretches
		return err
	}
	if err := sorted.merge(w, s); err != nil {
		return err
	}
	return s.advance(true)
}

func (x *window) tooLarge() error {
	return sqlerr.New(sqlerr.OutOfMemory, "out of memory: a partition of a window does not fit in the %d bytes of execution.memory_limit", x.q.budget.limit).
		Hintf("raise execution.memory_limit, or use PARTITION BY, or frames of ROWS that end near the row or begin at UNBOUNDED PRECEDING: those need not hold a whole partition")
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
		v, err := s.call(share, i)
		if err != nil {
			return err
		}
		out.Cols = append(out.Cols, v)
	}
	for from := s.halo; from < upto; from += vec.BatchRows {
		if err := s.w.check(); err != nil {
			return err
		}
		if err := s.out.consume(out.Slice(from, min(vec.BatchRows, upto-from))); err != nil {
			return err
		}
	}
	return nil
}

func (s *windowStream) call(share *windowShare, i int) (*vec.Vector, error) {
	c := &s.x.calls[i]
	switch s.kinds[i] {
	case overall:
		return s.totals.of(share, i)
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
