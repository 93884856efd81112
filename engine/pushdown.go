package engine

import (
	"slices"

	"github.com/tidemarkdb/tidemark/exec"
	"github.com/tidemarkdb/tidemark/parquetstore"
	"github.com/tidemarkdb/tidemark/vec"
)

// columnPredicate is a predicate before it is known where in a file its column lies.
type columnPredicate struct {
	column int // place among the scan's columns
	op     parquetstore.Op
	values []vec.Value
	prune  bool // holds for every row that counts, but need not be evaluated on rows: some filter says more
}

// pushDown sorts the filters of a request out: what scans evaluate by themselves, what prunes only, and what is to be
// evaluated on rows. Filters over row positions are left to the executor.
func (t *tableScan) pushDown(req *exec.ScanRequest) {
	t.applied = make([]bool, len(req.Filters))
	var rest []*exec.ScanFilter
	for i, f := range req.Filters {
		if slices.ContainsFunc(f.Columns, func(c int) bool { return t.layout[c] < 0 }) {
			continue
		}
		t.applied[i] = true
		predicates, evaluable := t.predicatesOf(f)
		exact := evaluable && f.Exact && !f.Runtime
		for k := range predicates {
			predicates[k].prune = !exact
		}
		t.predicates = append(t.predicates, predicates...)
		switch {
		case exact:
		case f.Runtime: // a look into a table of bits is cheaper than most conditions
			t.filters = append(t.filters, f)
		default:
			rest = append(rest, f)
		}
	}
	t.filters = append(t.filters, rest...)
}

// predicatesOf returns the predicates of a filter's simple form, and whether scans evaluate them to the letter.
func (t *tableScan) predicatesOf(f *exec.ScanFilter) (out []columnPredicate, evaluable bool) {
	p := f.Simple
	if p == nil {
		return nil, false
	}
	column := t.layout[p.Column]
	evaluable = true
	add := func(op parquetstore.Op, values ...vec.Value) {
		if !parquetstore.Exact(t.types[column], op) {
			evaluable = false
			return
		}
		out = append(out, columnPredicate{column: column, op: op, values: values})
	}
	switch p.Op {
	case exec.PredRange:
		addRange(p, add)
	case exec.PredIn:
		add(parquetstore.In, p.Values...)
	case exec.PredNotEq:
		add(parquetstore.Ne, p.Values[0])
	case exec.PredIsNull:
		add(parquetstore.IsNull)
	case exec.PredNotNull:
		add(parquetstore.IsNotNull)
	default:
		return nil, false
	}
	return out, evaluable
}

func addRange(p *exec.Predicate, add func(parquetstore.Op, ...vec.Value)) {
	closed := p.Low != nil && p.High != nil && !p.LowOpen && !p.HighOpen
	switch {
	case closed && vec.Compare(*p.Low, *p.High) == 0:
		add(parquetstore.Eq, *p.Low)
		return
	case closed:
		add(parquetstore.Between, *p.Low, *p.High)
		return
	}
	if p.Low != nil {
		op := parquetstore.Ge
		if p.LowOpen {
			op = parquetstore.Gt
		}
		add(op, *p.Low)
	}
	if p.High != nil {
		op := parquetstore.Le
		if p.HighOpen {
			op = parquetstore.Lt
		}
		add(op, *p.High)
	}
}

// addPredicates gives a file's scan the predicates. It is false when a column that the file lacks excludes every row.
func (t *tableScan) addPredicates(f *openFile) bool {
	for _, p := range t.predicates {
		place := f.places[p.column]
		if place < 0 {
			if !p.holds(t.initial[p.column]) {
				return false
			}
			continue
		}
		predicate := parquetstore.Predicate{Column: place, Op: p.op, Values: p.values}
		if p.prune {
			f.scan.Prune = append(f.scan.Prune, predicate)
		} else {
			f.scan.Predicates = append(f.scan.Predicates, predicate)
		}
	}
	return true
}

// holds reports whether the predicate is TRUE of a value.
func (p columnPredicate) holds(v vec.Value) bool {
	if p.op == parquetstore.IsNull || p.op == parquetstore.IsNotNull || v.Null {
		return v.Null == (p.op == parquetstore.IsNull)
	}
	compare := func(i int) int { return vec.Compare(v, p.values[i]) }
	switch p.op {
	case parquetstore.Eq:
		return compare(0) == 0
	case parquetstore.Ne:
		return compare(0) != 0
	case parquetstore.Lt:
		return compare(0) < 0
	case parquetstore.Le:
		return compare(0) <= 0
	case parquetstore.Gt:
		return compare(0) > 0
	case parquetstore.Ge:
		return compare(0) >= 0
	case parquetstore.Between:
		return compare(0) >= 0 && compare(1) <= 0
	case parquetstore.In:
		return slices.ContainsFunc(p.values, func(x vec.Value) bool { return vec.Compare(v, x) == 0 })
	}
	return true
}

// scanOf returns the scan of a file for one worker, which has memory of its own in every filter.
func (t *tableScan) scanOf(f *openFile, worker int) *parquetstore.Scan {
	if len(t.filters) == 0 {
		return f.scan
	}
	scan := *f.scan
	cols := make([]*vec.Vector, len(t.layout))
	for _, filter := range t.filters {
		scan.Filters = append(scan.Filters, t.rowFilter(f, filter, worker, cols))
	}
	return &scan
}

func (t *tableScan) rowFilter(f *openFile, filter *exec.ScanFilter, worker int, cols []*vec.Vector) parquetstore.RowFilter {
	out := parquetstore.RowFilter{Total: filter.Total}
	var present, absent []int // places among the columns asked for
	for _, c := range filter.Columns {
		if place := f.places[t.layout[c]]; place >= 0 {
			out.Columns, present = append(out.Columns, place), append(present, c)
		} else {
			absent = append(absent, c)
		}
	}
	out.Select = func(in []*vec.Vector, n int, sel vec.Selection) (vec.Selection, error) {
		for i, c := range present {
			cols[c] = in[i]
		}
		for _, c := range absent {
			cols[c] = vec.ConstantOf(t.types[t.layout[c]], t.initial[t.layout[c]], n)
		}
		return filter.Select(worker, cols, n, sel)
	}
	return out
}
