package exec

import (
	"slices"

	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/vec"
)

// scanSource reads a stored table.
type scanSource struct {
	node    *plan.Scan
	m       *nodeMetrics
	runtime []runtimeOffer // from joins above
	q       *query
	src     ScanSource
	filters []*ScanFilter
	todo    []*ScanFilter // what the storage leaves to us
	except  bool          // the consumer takes vec.Batch.Except
}

// runtimeOffer is a filter for one of the columns that a scan reads.
type runtimeOffer struct {
	filter *runtimeFilter
	place  int
}

func (c *compiler) scan(n *plan.Scan, m *nodeMetrics) *stream {
	src := &scanSource{node: n, m: m}
	for place, col := range n.Columns {
		for _, f := range c.runtime[col.ID] {
			src.runtime = append(src.runtime, runtimeOffer{f, place})
		}
	}
	return single(n.Columns, src)
}

func (s *scanSource) open(q *query, workers int) error {
	s.q = q
	l := layoutOf(s.node.Columns)
	s.filters, s.todo = nil, nil
	for _, group := range groupConjuncts(s.node.Filters, l) {
		f, err := newScanFilter(q, l, group, workers)
		if err != nil {
			return err
		}
		s.filters = append(s.filters, f)
	}
	for _, r := range s.runtime {
		if f := r.filter.scanFilter(r.place, workers); f != nil {
			s.filters = append(s.filters, f)
		}
	}
	src, err := q.env.Storage.Scan(q.ctx, &ScanRequest{
		Table: s.node.Table, Ordinals: s.node.Ordinals, Filters: s.filters, Workers: workers,
		Except: s.except,
	})
	if err != nil {
		return err
	}
	s.src = src
	for i, applied := range src.Applied() {
		if !applied {
			s.todo = append(s.todo, s.filters[i])
		}
	}
	return nil
}

func (s *scanSource) run(w *worker, out consumer) error {
	var passed vec.Batch
	var live []int32
	for {
		if err := w.check(); err != nil {
			return err
		}
		b, err := s.src.Next(s.q.ctx, w.id)
		if err != nil || b == nil {
			if err != nil && s.q.ctx.Err() != nil {
				return s.q.reason()
			}
			return err
		}
		if b.Except != nil && len(s.todo) == 0 {
			if err := out.consume(b); err != nil {
				return err
			}
			continue
		}
		sel := b.Sel
		if b.Except != nil {
			live = appendOthers(live[:0], b.Except, b.N)
			sel = live
		}
		for _, f := range s.todo {
			if sel, err = f.Select(w.id, b.Cols, b.N, sel); err != nil {
				return err
			}
			if len(sel) == 0 {
				break
			}
		}
		if sel != nil && len(sel) == 0 {
			continue
		}
		passed = vec.Batch{Cols: b.Cols, N: b.N, Sel: sel}
		if err := out.consume(&passed); err != nil {
			return err
		}
	}
}

func (s *scanSource) close() error {
	if s.src == nil {
		return nil
	}
	s.m.count(s.src.Counters()...)
	err := s.src.Close()
	s.src = nil
	return err
}

// groupConjuncts joins the bounds of one column, whose test is one, and orders: bounds and single values, other tests
// that cannot fail, the rest as they come.
func groupConjuncts(conds []plan.Expr, l layout) (groups [][]plan.Expr) {
	var free, rest [][]plan.Expr
	ranges := map[int]int{} // column to place in groups
	for _, e := range conds {
		p, exact := simplePredicate(e, l)
		switch {
		case exact && p.Op == PredRange:
			if at, ok := ranges[p.Column]; ok {
				groups[at] = append(groups[at], e)
				continue
			}
			ranges[p.Column] = len(groups)
			groups = append(groups, []plan.Expr{e})
		case mayFail(e):
			rest = append(rest, []plan.Expr{e})
		default:
			free = append(free, []plan.Expr{e})
		}
	}
	return slices.Concat(groups, free, rest)
}

// both returns the range that two of one column have in common.
func both(a, b *Predicate) *Predicate {
	out := *a
	if b.Low != nil {
		c := -1
		if out.Low != nil {
			c = vec.Compare(*out.Low, *b.Low)
		}
		if c < 0 || c == 0 && b.LowOpen {
			out.Low, out.LowOpen = b.Low, b.LowOpen
		}
	}
	if b.High != nil {
		c := 1
		if out.High != nil {
			c = vec.Compare(*out.High, *b.High)
		}
		if c > 0 || c == 0 && b.HighOpen {
			out.High, out.HighOpen = b.High, b.HighOpen
		}
	}
	return &out
}

// newScanFilter compiles conjuncts over columns laid out as l, for every worker. Several are bounds of one column.
func newScanFilter(q *query, l layout, es []plan.Expr, workers int) (*ScanFilter, error) {
	f := &ScanFilter{Total: !slices.ContainsFunc(es, mayFail)}
	refs := map[plan.ColID]*plan.ColumnRef{}
	for i, e := range es {
		collectColumns(e, refs)
		p, exact := simplePredicate(e, l)
		if i > 0 {
			p = both(f.Simple, p)
		}
		f.Simple, f.Exact = p, exact
	}
	for id := range refs {
		f.Columns = append(f.Columns, l[id])
	}
	conds := make([]*conjunction, workers)
	for i := range conds {
		c, err := newConjunction(q.newWorker(i, nil), l, es)
		if err != nil {
			return nil, err
		}
		conds[i] = c
	}
	f.Select = func(worker int, cols []*vec.Vector, n int, sel vec.Selection) (vec.Selection, error) {
		out, err := conds[worker].apply(cols, n, sel)
		if out == nil && err == nil {
			out = conds[worker].all(n)
		}
		return out, err
	}
	return f, nil
}

// all returns the selection of n rows, in the conjunction's memory.
func (k *conjunction) all(n int) vec.Selection {
	k.out = resize(k.out, n)
	for i := range k.out {
		k.out[i] = int32(i)
	}
	return k.out
}

// simplePredicate returns e in the form that statistics decide, and whether that is all that e says.
func simplePredicate(e plan.Expr, l layout) (p *Predicate, exact bool) {
	switch e := e.(type) {
	case *plan.Compare:
		ref, value, op, ok := columnAndConst(e)
		if !ok || value.Null {
			return nil, false
		}
		p = &Predicate{Column: l[ref.ID]}
		switch op {
		case plan.Eq:
			p.Low, p.High = &value, &value
		case plan.Lt, plan.Le:
			p.High, p.HighOpen = &value, op == plan.Lt
		case plan.Gt, plan.Ge:
			p.Low, p.LowOpen = &value, op == plan.Gt
		case plan.Ne:
			p.Op, p.Values = PredNotEq, []vec.Value{value}
		default:
			return nil, false
		}
		return p, true
	case *plan.IsNull:
		ref, ok := e.Arg.(*plan.ColumnRef)
		if !ok {
			return nil, false
		}
		p = &Predicate{Column: l[ref.ID], Op: PredIsNull}
		if e.Negate {
			p.Op = PredNotNull
		}
		return p, true
	case *plan.In:
		return inPredicate(e, l)
	case *plan.Call:
		return prefixPredicate(e, l), false
	}
	return nil, false
}

func inPredicate(e *plan.In, l layout) (*Predicate, bool) {
	ref, ok := e.Arg.(*plan.ColumnRef)
	if !ok || e.Negate {
		return nil, false
	}
	p := &Predicate{Column: l[ref.ID], Op: PredIn}
	for _, v := range e.List {
		if !v.Null { // x IN (..., NULL) is never TRUE by the NULL
			p.Values = append(p.Values, v)
		}
	}
	sortValues(p.Values)
	return p, true
}

// prefixPredicate gives the range of strings that LIKE 'prefix...' can match.
func prefixPredicate(e *plan.Call, l layout) *Predicate {
	if len(e.Args) != 2 || e.Name != "like" && e.Name != "~~" && e.Name != "starts_with" {
		return nil
	}
	ref, isRef := e.Args[0].(*plan.ColumnRef)
	pattern, isConst := e.Args[1].(*plan.Const)
	if !isRef || !isConst || pattern.Value.Null || ref.T.Phys() != vec.PhysBytes {
		return nil
	}
	prefix := pattern.Value.S
	if e.Name != "starts_with" {
		for i := range len(prefix) {
			if prefix[i] == '%' || prefix[i] == '_' || prefix[i] == '\\' {
				prefix = prefix[:i]
				break
			}
		}
	}
	if prefix == "" {
		return nil
	}
	low := vec.StringValue(ref.T, prefix)
	p := &Predicate{Column: l[ref.ID], Low: &low}
	if after, ok := afterPrefix(prefix); ok {
		high := vec.StringValue(ref.T, after)
		p.High, p.HighOpen = &high, true
	}
	return p
}

// afterPrefix returns the least string above every string that begins with prefix; false when there is none.
func afterPrefix(prefix string) (string, bool) {
	b := []byte(prefix)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < 0xff {
			b[i]++
			return string(b[:i+1]), true
		}
	}
	return "", false
}
