package exec

import (
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/function"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// node is a compiled expression, used by one worker. eval returns one value for each of the input's rows; the vector
// may be in any form and is valid until the node's next eval.
type node interface {
	eval(in *input) (*vec.Vector, error)
}

// program is a list of expressions over the columns of one stream, compiled for one worker.
type program struct {
	nodes []node
	in    *input
	out   []*vec.Vector
	mem   *arena
	exact bool // rows that do not count are never computed: that has effects, or has failed
}

// newProgram compiles exprs over columns laid out as l.
func newProgram(w *worker, l layout, exprs []plan.Expr) (*program, error) {
	c := newExprCompiler(w, l)
	for _, e := range exprs {
		c.count(e)
	}
	p := &program{in: newInput(c.ids), out: make([]*vec.Vector, len(exprs)), mem: c.mem}
	for _, e := range exprs {
		n, err := c.compile(e)
		if err != nil {
			return nil, err
		}
		p.nodes = append(p.nodes, n)
		p.exact = p.exact || !deterministic(e)
	}
	return p, nil
}

// eval computes every expression over the rows of b that count. The vectors are valid until the next eval.
func (p *program) eval(b *vec.Batch) ([]*vec.Vector, error) {
	p.mem.reset()
	p.in.batch(b)
	return p.compute()
}

// evalAll computes every expression over all N rows of b, as if every one counted, which is cheaper where nearly all
// do. It is false when that cannot be had: then eval tells whether a row that counts is to blame.
func (p *program) evalAll(b *vec.Batch) ([]*vec.Vector, bool) {
	if p.exact {
		return nil, false
	}
	p.mem.reset()
	p.in.all(b)
	out, err := p.compute()
	p.exact = err != nil
	return out, err == nil
}

func (p *program) compute() ([]*vec.Vector, error) {
	for i, n := range p.nodes {
		v, err := n.eval(p.in)
		if err != nil {
			return nil, err
		}
		p.out[i] = v
	}
	return p.out, nil
}

// exprCompiler compiles the expressions of one program.
type exprCompiler struct {
	w      *worker
	l      layout
	ids    *uint64
	seen   map[string]int // how often an expression occurs, by fingerprint
	shared map[string]node
	inDict bool // below a dictNode
	mem    *arena
}

func newExprCompiler(w *worker, l layout) *exprCompiler {
	return &exprCompiler{w: w, l: l, ids: new(uint64), seen: map[string]int{}, shared: map[string]node{}, mem: &arena{}}
}

// count records the subexpressions of e, so that those which occur twice are computed once.
func (c *exprCompiler) count(e plan.Expr) {
	switch e.(type) {
	case *plan.ColumnRef, *plan.Const:
		return
	}
	key := fingerprint(e)
	c.seen[key]++
	if c.seen[key] > 1 {
		return
	}
	for _, k := range e.Children() {
		c.count(k)
	}
}

func (c *exprCompiler) compile(e plan.Expr) (node, error) {
	switch e := e.(type) {
	case *plan.ColumnRef:
		place, ok := c.l[e.ID]
		if !ok {
			return nil, sqlerr.New(sqlerr.Internal, "column %s (#%d) is not among the input of its operator", e.Name, e.ID).
				Hintf("this is a bug in the planner: report it together with the query")
		}
		return colNode(place), nil
	case *plan.Const:
		return newConstNode(e.Value), nil
	}
	key := ""
	if !c.inDict && deterministic(e) {
		key = fingerprint(e)
		if n, ok := c.shared[key]; ok {
			return n, nil
		}
	}
	n, err := c.compileDict(e)
	if err != nil {
		return nil, err
	}
	if key != "" && c.seen[key] > 1 {
		n = &sharedNode{inner: n}
		c.shared[key] = n
	}
	return n, nil
}

// compileDict wraps what can be computed once a dictionary entry.
func (c *exprCompiler) compileDict(e plan.Expr) (node, error) {
	col, ok := c.dictColumn(e)
	if !ok {
		return c.compileNode(e)
	}
	c.inDict = true
	inner, err := c.compileNode(e)
	c.inDict = false
	if err != nil {
		return nil, err
	}
	return newDictNode(inner, col, c.ids), nil
}

func (c *exprCompiler) compileAll(es []plan.Expr) ([]node, error) {
	out := make([]node, len(es))
	for i, e := range es {
		n, err := c.compile(e)
		if err != nil {
			return nil, err
		}
		out[i] = n
	}
	return out, nil
}

func (c *exprCompiler) compileNode(e plan.Expr) (node, error) {
	kids, err := c.compileAll(e.Children())
	if err != nil {
		return nil, err
	}
	switch e := e.(type) {
	case *plan.Call:
		return newCallNode(e, kids, c.w.ev, c.mem), nil
	case *plan.Cast:
		return newCastNode(e, kids[0], c.w.ev)
	case *plan.Compare:
		return &compareNode{op: e.Op, left: kids[0], right: kids[1], t: e.Left.Type()}, nil
	case *plan.And:
		return newKleeneNode(kids, 0, c.ids), nil
	case *plan.Or:
		return newKleeneNode(kids, 1, c.ids), nil
	case *plan.Not:
		return &notNode{arg: kids[0]}, nil
	case *plan.IsNull:
		return &isNullNode{arg: kids[0], negate: e.Negate}, nil
	case *plan.IsBool:
		return &isBoolNode{arg: kids[0], want: e.Want, negate: e.Negate}, nil
	case *plan.In:
		return newInNode(e, kids[0]), nil
	case *plan.Case:
		n := len(e.When)
		cn := &caseNode{t: e.T, when: kids[:n], then: kids[n : 2*n], rest: newInput(c.ids), taken: newInput(c.ids)}
		if e.Else != nil {
			cn.els = kids[2*n]
		}
		return cn, nil
	case *plan.Coalesce:
		return &coalesceNode{t: e.T, args: kids, rest: newInput(c.ids)}, nil
	case *plan.MakeArray:
		return &arrayNode{t: e.T, args: kids}, nil
	case *plan.MakeStruct:
		return &structNode{t: e.T, args: kids}, nil
	case *plan.Field:
		return &fieldNode{arg: kids[0], index: e.Index, t: e.Type()}, nil
	}
	return nil, sqlerr.New(sqlerr.Internal, "the executor met an expression it does not know: %T", e).
		Hintf("this is a bug in the planner: report it together with the query")
}

// colNode is a column of the input.
type colNode int

func (c colNode) eval(in *input) (*vec.Vector, error) { return in.col(int(c)), nil }

// constNode is a constant.
type constNode struct{ v *vec.Vector }

func newConstNode(v vec.Value) *constNode { return &constNode{vec.ConstantOf(v.Type, v, 1)} }

func (c *constNode) eval(in *input) (*vec.Vector, error) { return constantRows(c.v, in.n), nil }

// constantRows returns the constant vector v with n rows.
func constantRows(v *vec.Vector, n int) *vec.Vector {
	if v.N == n {
		return v
	}
	out := *v
	out.N = n
	return &out
}

// sharedNode computes an expression that occurs several times once for each input.
type sharedNode struct {
	inner node
	id    uint64
	value *vec.Vector
}

func (s *sharedNode) eval(in *input) (*vec.Vector, error) {
	if s.id == in.id && s.value != nil {
		return s.value, nil
	}
	v, err := s.inner.eval(in)
	if err != nil {
		return nil, err
	}
	s.id, s.value = in.id, v
	return v, nil
}

// callNode calls a kernel.
type callNode struct {
	bound    *extension.BoundScalar
	name     string
	args     []node
	vals     []*vec.Vector
	ev       *extension.Eval
	volatile bool
}

func newCallNode(e *plan.Call, args []node, ev *extension.Eval, mem *arena) node {
	n := &callNode{bound: &e.Bound, name: e.Name, args: args, vals: make([]*vec.Vector, len(args)), ev: ev}
	n.volatile = e.Bound.Func != nil && e.Bound.Func.Volatility == extension.Volatile
	if fast := newArithNode(e, n, mem); fast != nil {
		return fast
	}
	return n
}

func (c *callNode) eval(in *input) (*vec.Vector, error) {
	for i, a := range c.args {
		v, err := a.eval(in)
		if err != nil {
			return nil, err
		}
		c.vals[i] = v
		if c.bound.Strict && constantNull(v) {
			return vec.NullOf(c.bound.Result, in.n), nil
		}
	}
	return c.run(in.n)
}

// run calls the kernel on the arguments in vals, once for all rows when they are constants.
func (c *callNode) run(rows int) (*vec.Vector, error) {
	constant := !c.volatile && rows > 0
	for _, v := range c.vals {
		constant = constant && v.Form == vec.Constant
	}
	n := rows
	if constant {
		for i, v := range c.vals {
			c.vals[i] = constantRows(v, 1)
		}
		n = 1
	}
	out, err := c.bound.Kernel(c.ev, c.vals, n)
	if err != nil {
		return nil, err
	}
	if out.N != n {
		return nil, sqlerr.New(sqlerr.Internal, "function %s returned %d rows for %d", c.name, out.N, n).
			Hintf("this is a bug in the extension that provides it: report it there")
	}
	if c.bound.Strict {
		out = c.strict(out, n)
	}
	if constant {
		return toConstant(out, rows), nil
	}
	return out, nil
}

// strict makes the rows with a NULL argument NULL.
func (c *callNode) strict(out *vec.Vector, n int) *vec.Vector {
	var valid vec.Bitmap
	for _, v := range c.vals {
		if v.MayHaveNulls() {
			valid = vec.And(valid, v.RowValid(), n)
		}
	}
	if valid == nil {
		return out
	}
	return withValid(out, valid, n)
}

// withValid returns v with the rows that valid clears NULL too.
func withValid(v *vec.Vector, valid vec.Bitmap, n int) *vec.Vector {
	if v.Type.ID == vec.Null {
		return v
	}
	if v.Form == vec.Constant {
		if v.IsNull(0) {
			return v
		}
		return vec.DictionaryOf(v, make([]int32, n), valid)
	}
	out := *v
	out.Valid = vec.And(v.Valid, valid, n)
	return &out
}

// toConstant returns row 0 of v as a constant of n rows.
func toConstant(v *vec.Vector, n int) *vec.Vector {
	if v.Form == vec.Constant {
		return constantRows(v, n)
	}
	if v.Form == vec.Dictionary || v.Type.Phys() == vec.PhysStruct {
		return vec.ConstantOf(v.Type, v.Value(0), n)
	}
	out := *v
	out.Form, out.N = vec.Constant, n
	return &out
}

// castNode converts.
type castNode struct {
	arg    node
	kernel extension.Kernel
	ev     *extension.Eval
}

func newCastNode(e *plan.Cast, arg node, ev *extension.Eval) (node, error) {
	resolve := function.Cast
	if e.Try {
		resolve = function.TryCast
	}
	kernel, err := resolve(e.Arg.Type(), e.To)
	return &castNode{arg: arg, kernel: kernel, ev: ev}, err
}

func (c *castNode) eval(in *input) (*vec.Vector, error) {
	v, err := c.arg.eval(in)
	if err != nil {
		return nil, err
	}
	if v.Form == vec.Constant && in.n > 0 {
		out, err := c.kernel(c.ev, []*vec.Vector{constantRows(v, 1)}, 1)
		if err != nil {
			return nil, err
		}
		return toConstant(out, in.n), nil
	}
	return c.kernel(c.ev, []*vec.Vector{v}, in.n)
}
