package exec

import (
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/vec"
)

// arithOp is an operation with a loop of its own.
type arithOp uint8

const (
	addOp arithOp = iota
	subOp
	mulOp
)

// arithNode is +, - or * of numbers, without allocating. Where a result overflows, the function's kernel computes the
// batch again and decides: the row may be NULL.
type arithNode struct {
	call  *callNode
	op    arithOp
	run   func(a, b *vec.Vector, n int) (data []byte, ok bool)
	arena *arena
}

// newArithNode returns the node of a call that has a loop of its own, nil for others.
func newArithNode(e *plan.Call, call *callNode, mem *arena) *arithNode {
	if e.Bound.Func == nil || len(e.Args) != 2 || !e.Bound.Strict {
		return nil
	}
	x := &arithNode{call: call, arena: mem}
	switch e.Bound.Func.Name {
	case "+":
		x.op = addOp
	case "-":
		x.op = subOp
	case "*":
		x.op = mulOp
	default:
		return nil
	}
	a, b, to := e.Bound.Args[0], e.Bound.Args[1], e.Bound.Result
	switch {
	case a.ID == vec.Int64 && b.ID == vec.Int64 && to.ID == vec.Int64:
		x.run = x.int64s
	case a.ID == vec.Int32 && b.ID == vec.Int32 && to.ID == vec.Int32:
		x.run = x.int32s
	case a.ID == vec.Decimal && b.ID == vec.Decimal && to.ID == vec.Decimal:
		x.run = x.decimals(a, b, to)
	}
	if x.run == nil {
		return nil
	}
	return x
}

func (x *arithNode) eval(in *input) (*vec.Vector, error) {
	c := x.call
	for i, a := range c.args {
		v, err := a.eval(in)
		if err != nil {
			return nil, err
		}
		if v.Type.ID == vec.Null || constantNull(v) {
			return vec.NullOf(c.bound.Result, in.n), nil
		}
		c.vals[i] = v
	}
	if in.n == 0 || c.vals[0].Form == vec.Constant && c.vals[1].Form == vec.Constant {
		return c.run(in.n)
	}
	data, ok := x.run(c.vals[0], c.vals[1], in.n)
	if !ok {
		return c.run(in.n)
	}
	out := &vec.Vector{Type: c.bound.Result, N: in.n, Data: data}
	for _, v := range c.vals {
		if v.MayHaveNulls() {
			out.Valid = vec.And(out.Valid, v.RowValid(), in.n)
		}
	}
	return out, nil
}

// operand returns the values of a vector and a mask: row i is values[i&mask].
func operand[T vec.Fixed](mem *arena, v *vec.Vector, n int) (values []T, mask int) {
	switch v.Form {
	case vec.Flat:
		return vec.Cast[T](v.Data)[:n], -1
	case vec.Constant:
		return vec.Cast[T](v.Data)[:1], 0
	}
	out := lend[T](mem, n)
	copyFixed(out, v, nil, n)
	return out, -1
}

func (x *arithNode) int64s(a, b *vec.Vector, n int) ([]byte, bool) {
	p, pm := operand[int64](x.arena, a, n)
	q, qm := operand[int64](x.arena, b, n)
	out := lend[int64](x.arena, n)
	over := int64(0)
	switch x.op {
	case addOp:
		for i := range out {
			l, r := p[i&pm], q[i&qm]
			s := l + r
			out[i] = s
			over |= (s ^ l) & (s ^ r)
		}
	case subOp:
		for i := range out {
			l, r := p[i&pm], q[i&qm]
			s := l - r
			out[i] = s
			over |= (l ^ r) & (s ^ l)
		}
	default:
		for i := range out {
			m := vec.MulInt64(p[i&pm], q[i&qm])
			out[i] = int64(m.Lo)
			over |= -(m.Hi ^ int64(m.Lo)>>63) | (m.Hi ^ int64(m.Lo)>>63)
		}
	}
	return vec.AsBytes(out), over >= 0
}

func (x *arithNode) int32s(a, b *vec.Vector, n int) ([]byte, bool) {
	p, pm := operand[int32](x.arena, a, n)
	q, qm := operand[int32](x.arena, b, n)
	out := lend[int32](x.arena, n)
	over := uint64(0)
	for i := range out {
		l, r, s := int64(p[i&pm]), int64(q[i&qm]), int64(0)
		switch x.op {
		case addOp:
			s = l + r
		case subOp:
			s = l - r
		default:
			s = l * r
		}
		out[i] = int32(s)
		over |= uint64(s+1<<31) >> 32
	}
	return vec.AsBytes(out), over == 0
}
