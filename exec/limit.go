package exec

import (
	"sync/atomic"

	"github.com/tidemarkdb/tidemark/function"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// window of rows [from, to) that LIMIT and OFFSET let through, shared by the workers of a stream.
type rowWindow struct {
	from, to int64 // to < 0: no end
	passed   atomic.Int64
}

// limitStage passes on the rows of a window and then stops the pipeline.
type limitStage struct {
	next consumer
	win  *rowWindow
	sel  vec.Selection
	out  vec.Batch
}

func (r *rowWindow) stage(_ *worker, next consumer) (consumer, error) {
	return &limitStage{next: next, win: r}, nil
}

func (l *limitStage) consume(b *vec.Batch) error {
	rows := int64(b.Rows())
	end := l.win.passed.Add(rows)
	start := end - rows
	lo, hi := max(l.win.from-start, 0), rows
	if l.win.to >= 0 {
		hi = min(hi, l.win.to-start)
	}
	if lo < hi {
		l.out = *b
		if lo > 0 || hi < rows {
			l.out.Sel = l.cut(b, int(lo), int(hi))
		}
		if err := l.next.consume(&l.out); err != nil {
			return err
		}
	}
	if l.win.to >= 0 && end >= l.win.to {
		return errStop
	}
	return nil
}

// cut returns the selection of rows [lo, hi) among those of b that count.
func (l *limitStage) cut(b *vec.Batch, lo, hi int) vec.Selection {
	if b.Sel != nil {
		return b.Sel[lo:hi]
	}
	l.sel = l.sel[:0]
	for i := lo; i < hi; i++ {
		l.sel = append(l.sel, int32(i))
	}
	return l.sel
}

func (l *limitStage) flush() error { return nil }

// limitBounds evaluates LIMIT and OFFSET, which refer to no column.
func (c *compiler) limitBounds(count, offset plan.Expr) (*rowWindow, error) {
	win := &rowWindow{to: -1}
	from, _, err := c.constantCount(offset, "OFFSET", sqlerr.InvalidOffset)
	if err != nil {
		return nil, err
	}
	n, limited, err := c.constantCount(count, "LIMIT", sqlerr.InvalidLimit)
	if err != nil {
		return nil, err
	}
	win.from = from
	if limited && from+n >= from { // a sum past 2^63 is no limit
		win.to = from + n
	}
	return win, nil
}

// constantCount evaluates a row count; ok is false when it is absent or NULL.
func (c *compiler) constantCount(e plan.Expr, clause, code string) (n int64, ok bool, err error) {
	if e == nil {
		return 0, false, nil
	}
	v, err := c.constant(e)
	if err != nil || v.Null {
		return 0, false, err
	}
	if v.Type.ID != vec.Int64 {
		if v, err = function.CastValue(c.evalWorker().ev, v, vec.Int64Type); err != nil {
			return 0, false, err
		}
	}
	if v.I < 0 {
		return 0, false, sqlerr.New(code, "%s must not be negative", clause).Hintf("give a number of rows from 0 up, or leave %s out", clause)
	}
	return v.I, true, nil
}

// constant evaluates an expression without columns.
func (c *compiler) constant(e plan.Expr) (vec.Value, error) {
	if k, ok := e.(*plan.Const); ok {
		return k.Value, nil
	}
	prog, err := newProgram(c.evalWorker(), layout{}, []plan.Expr{e})
	if err != nil {
		return vec.Value{}, err
	}
	out, err := prog.eval(&vec.Batch{N: 1})
	if err != nil {
		return vec.Value{}, err
	}
	return out[0].Value(0), nil
}

// evalWorker returns a worker to evaluate constants with while compiling.
func (c *compiler) evalWorker() *worker { return c.q.newWorker(0, nil) }
