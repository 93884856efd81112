package exec

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/vec"
)

// selector is a conjunct that narrows a selection without failing, on a column that comes flat.
type selector interface {
	// choose writes the rows of sel (nil: all n) that pass to out, which has room for them, and returns how many.
	// v is flat.
	choose(v *vec.Vector, n int, sel vec.Selection, out []int32) int
}

// conjunct is one condition of a filter, for one worker.
type conjunct struct {
	fast selector // nil: only test
	col  int      // the column of fast
	test node
	in   *input
	hit  []int32
	free bool // it cannot fail, so that it may run in any order
	// What it has cost and kept so far orders it among the others.
	nanos, rows, kept int64
}

// conjunction is a filter compiled for one worker.
type conjunction struct {
	parts   []*conjunct
	out     []int32
	batches int
	mem     *arena
}

// newConjunction compiles conditions over columns laid out as l.
func newConjunction(w *worker, l layout, conditions []plan.Expr) (*conjunction, error) {
	c := newExprCompiler(w, l)
	k := &conjunction{mem: c.mem}
	ranges := map[int]*conjunct{} // integer ranges of one column make one
	for _, e := range conditions {
		test, err := c.compile(e)
		if err != nil {
			return nil, err
		}
		part := &conjunct{test: test, in: newInput(c.ids), free: !mayFail(e)}
		part.fast, part.col = fastSelector(e, l)
		if r, ok := part.fast.(*intRange); ok {
			if other := ranges[part.col]; other != nil {
				o := other.fast.(*intRange)
				o.lo, o.hi = max(o.lo, r.lo), min(o.hi, r.hi)
				other.test = newKleeneNode([]node{other.test, test}, isFalse, c.ids)
				continue
			}
			ranges[part.col] = part
		}
		k.parts = append(k.parts, part)
	}
	k.sort(func(p *conjunct) float64 { return float64(b2i(p.fast == nil)) })
	return k, nil
}

// sort orders the parts that cannot fail by rank, in front of the others, whose order stays.
func (k *conjunction) sort(rank func(*conjunct) float64) {
	slices.SortStableFunc(k.parts, func(a, b *conjunct) int {
		if a.free != b.free {
			return b2i(b.free) - b2i(a.free)
		}
		if !a.free {
			return 0
		}
		switch x, y := rank(a), rank(b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
}

// adaptEvery is how many batches pass between two looks at the order of conjuncts.
const adaptEvery = 16

// apply returns the rows of sel (nil: all n) for which every condition is TRUE; nil when all n rows pass. The result
// is valid until the next apply.
func (k *conjunction) apply(cols []*vec.Vector, n int, sel vec.Selection) (vec.Selection, error) {
	k.batches++
	k.mem.reset()
	measure := len(k.parts) > 1
	if measure && k.batches%adaptEvery == 0 {
		k.sort(func(p *conjunct) float64 {
			dropped := float64(p.rows-p.kept) + 1
			return float64(p.nanos) / dropped
		})
	}
	k.out = resize(k.out, n)
	for _, p := range k.parts {
		var began time.Time
		if measure {
			began = time.Now()
		}
		rows := n
		if sel != nil {
			rows = len(sel)
		}
		kept, err := p.apply(cols, n, sel, k.out)
		if err != nil {
			return nil, err
		}
		if measure {
			p.nanos, p.rows, p.kept = p.nanos+int64(time.Since(began)), p.rows+int64(rows), p.kept+int64(kept)
		}
		if sel == nil && kept == n {
			continue
		}
		if sel = k.out[:kept]; kept == 0 {
			break
		}
	}
	return sel, nil
}

// apply writes the rows of sel that pass to out, which may be sel's own memory.
func (p *conjunct) apply(cols []*vec.Vector, n int, sel vec.Selection, out []int32) (int, error) {
	if p.fast != nil && cols[p.col].Form == vec.Flat {
		return p.fast.choose(cols[p.col], n, sel, out), nil
	}
	rows := n
	if sel != nil {
		rows = len(sel)
	}
	p.in.reset(cols, sel, rows)
	v, err := p.test.eval(p.in)
	if err != nil {
		return 0, err
	}
	if sel == nil {
		return len(trueRows(out[:0], v, rows)), nil
	}
	p.hit = trueRows(p.hit[:0], v, rows)
	for i, h := range p.hit {
		out[i] = sel[h]
	}
	return len(p.hit), nil
}

// mayFail reports whether computing e can raise an error.
func mayFail(e plan.Expr) bool {
	switch e := e.(type) {
	case *plan.Cast:
		return true
	case *plan.Call:
		if !harmless[strings.ToLower(e.Name)] {
			return true
		}
	}
	return slices.ContainsFunc(e.Children(), mayFail)
}

// harmless lists functions that raise no error.
var harmless = map[string]bool{
	"like": true, "not_like": true, "ilike": true, "not_ilike": true, "~~": true, "!~~": true, "~~*": true, "!~~*": true, "starts_with": true,
	"length": true, "lower": true, "upper": true,
}

// fastSelector returns the selector of a condition and its column, nil when it has none.
func fastSelector(e plan.Expr, l layout) (selector, int) {
	switch e := e.(type) {
	case *plan.Compare:
		ref, value, op, ok := columnAndConst(e)
		if !ok || value.Null {
			return nil, 0
		}
		place, ok := l[ref.ID]
		if !ok {
			return nil, 0
		}
		return compareSelector(op, value), place
	case *plan.IsNull:
		if ref, ok := e.Arg.(*plan.ColumnRef); ok {
			if place, ok := l[ref.ID]; ok && ref.T.ID != vec.Null {
				return nullSelector(e.Negate), place
			}
		}
	}
	return nil, 0
}

// columnAndConst takes a comparison of a column with a constant apart, the column on the left.
func columnAndConst(e *plan.Compare) (ref *plan.ColumnRef, value vec.Value, op plan.CompareOp, ok bool) {
	left, right, op := e.Left, e.Right, e.Op
	if _, isConst := left.(*plan.Const); isConst {
		left, right, op = right, left, mirrored(op)
	}
	ref, isRef := left.(*plan.ColumnRef)
	c, isConst := right.(*plan.Const)
	if !isRef || !isConst {
		return nil, vec.Value{}, op, false
	}
	return ref, c.Value, op, true
}

func compareSelector(op plan.CompareOp, value vec.Value) selector {
	switch value.Type.Phys() {
	case vec.PhysInt16, vec.PhysInt32, vec.PhysInt64:
		if op == plan.Ne {
			return intNot(value.I)
		}
		if lo, hi, ok := rangeOf(op, value.I); ok {
			return &intRange{lo: lo, hi: hi}
		}
	case vec.PhysFloat64:
		if !math.IsNaN(value.F) && op <= plan.Ge {
			return &floatCompare{op: op, c: value.F}
		}
	case vec.PhysBytes:
		if op == plan.Eq || op == plan.Ne {
			return &stringEqual{s: value.S, want: op == plan.Eq}
		}
	}
	return nil
}

// rangeOf returns the integers that stand in relation op to c; lo > hi when there are none.
func rangeOf(op plan.CompareOp, c int64) (lo, hi int64, ok bool) {
	lo, hi = math.MinInt64, math.MaxInt64
	switch op {
	case plan.Eq:
		return c, c, true
	case plan.Le:
		return lo, c, true
	case plan.Ge:
		return c, hi, true
	case plan.Lt:
		if c == math.MinInt64 {
			return 0, -1, true
		}
		return lo, c - 1, true
	case plan.Gt:
		if c == math.MaxInt64 {
			return 0, -1, true
		}
		return c + 1, hi, true
	}
	return 0, 0, false
}
