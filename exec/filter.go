package exec

import (
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/vec"
)

// filterStage keeps the rows for which every condition is TRUE.
type filterStage struct {
	w    *worker
	next consumer
	cond *conjunction
	out  vec.Batch
}

func newFilter(l layout, conditions []plan.Expr) stage {
	return func(w *worker, next consumer) (consumer, error) {
		cond, err := newConjunction(w, l, conditions)
		return &filterStage{w: w, next: next, cond: cond}, err
	}
}

func (f *filterStage) consume(b *vec.Batch) error {
	sel, err := f.cond.apply(b.Cols, b.N, b.Sel)
	if err != nil || sel != nil && len(sel) == 0 {
		return err
	}
	f.out = vec.Batch{Cols: b.Cols, N: b.N, Sel: sel}
	return f.next.consume(&f.out)
}

func (f *filterStage) flush() error { return nil }

// projectStage computes expressions.
type projectStage struct {
	next consumer
	prog *program
	out  vec.Batch
}

// newProject computes exprs. Where all are columns the rows are not touched.
func newProject(l layout, exprs []plan.Expr) stage {
	places := make([]int, len(exprs))
	columnsOnly := true
	for i, e := range exprs {
		ref, ok := e.(*plan.ColumnRef)
		if !ok {
			columnsOnly = false
			break
		}
		if places[i], ok = l[ref.ID]; !ok {
			columnsOnly = false
			break
		}
	}
	return func(w *worker, next consumer) (consumer, error) {
		if columnsOnly {
			return &pickStage{next: next, places: places}, nil
		}
		prog, err := newProgram(w, l, exprs)
		return &projectStage{next: next, prog: prog}, err
	}
}

func (p *projectStage) consume(b *vec.Batch) error {
	if b.Rows() == 0 {
		return nil
	}
	cols, err := p.prog.eval(b)
	if err != nil {
		return err
	}
	p.out = vec.Batch{Cols: cols, N: b.Rows()}
	return p.next.consume(&p.out)
}

func (p *projectStage) flush() error { return nil }

// pickStage passes some columns on, in another order.
type pickStage struct {
	next   consumer
	places []int
	cols   []*vec.Vector
	out    vec.Batch
}

func (p *pickStage) consume(b *vec.Batch) error {
	p.cols = p.cols[:0]
	for _, i := range p.places {
		p.cols = append(p.cols, b.Cols[i])
	}
	p.out = vec.Batch{Cols: p.cols, N: b.N, Sel: b.Sel}
	return p.next.consume(&p.out)
}

func (p *pickStage) flush() error { return nil }
