package plan

import "github.com/tidemarkdb/tidemark/vec"

// Type returns the column's type.
func (e *ColumnRef) Type() vec.Type { return e.T }

// Type returns the constant's type.
func (e *Const) Type() vec.Type { return e.Value.Type }

// Type returns the parameter's type.
func (e *Param) Type() vec.Type { return e.T }

// Type returns the function's result type.
func (e *Call) Type() vec.Type { return e.Bound.Result }

// Type returns the type converted to.
func (e *Cast) Type() vec.Type { return e.To }

// Type returns BOOLEAN.
func (*Compare) Type() vec.Type { return vec.BoolType }

// Type returns BOOLEAN.
func (*And) Type() vec.Type { return vec.BoolType }

// Type returns BOOLEAN.
func (*Or) Type() vec.Type { return vec.BoolType }

// Type returns BOOLEAN.
func (*Not) Type() vec.Type { return vec.BoolType }

// Type returns BOOLEAN.
func (*IsNull) Type() vec.Type { return vec.BoolType }

// Type returns BOOLEAN.
func (*IsBool) Type() vec.Type { return vec.BoolType }

// Type returns BOOLEAN.
func (*In) Type() vec.Type { return vec.BoolType }

// Type returns the common type of the branches.
func (e *Case) Type() vec.Type { return e.T }

// Type returns the common type of the arguments.
func (e *Coalesce) Type() vec.Type { return e.T }

// Type returns the array type.
func (e *MakeArray) Type() vec.Type { return e.T }

// Type returns the struct type.
func (e *MakeStruct) Type() vec.Type { return e.T }

// Type returns the field's type.
func (e *Field) Type() vec.Type { return e.Arg.Type().Fields[e.Index].Type }

// Type returns BOOLEAN, or for a scalar or array subquery the type of its value.
func (e *Subquery) Type() vec.Type { return e.T }

// Children returns nothing.
func (*ColumnRef) Children() []Expr { return nil }

// Children returns nothing.
func (*Const) Children() []Expr { return nil }

// Children returns nothing.
func (*Param) Children() []Expr { return nil }

// Children returns the arguments.
func (e *Call) Children() []Expr { return e.Args }

// Children returns the operand.
func (e *Cast) Children() []Expr { return []Expr{e.Arg} }

// Children returns both operands.
func (e *Compare) Children() []Expr { return []Expr{e.Left, e.Right} }

// Children returns the conjuncts.
func (e *And) Children() []Expr { return e.Args }

// Children returns the disjuncts.
func (e *Or) Children() []Expr { return e.Args }

// Children returns the operand.
func (e *Not) Children() []Expr { return []Expr{e.Arg} }

// Children returns the operand.
func (e *IsNull) Children() []Expr { return []Expr{e.Arg} }

// Children returns the operand.
func (e *IsBool) Children() []Expr { return []Expr{e.Arg} }

// Children returns the operand; the list is constant.
func (e *In) Children() []Expr { return []Expr{e.Arg} }

// Children returns the conditions, the results and, when there is one, the ELSE.
func (e *Case) Children() []Expr {
	out := make([]Expr, 0, 2*len(e.When)+1)
	out = append(append(out, e.When...), e.Then...)
	if e.Else != nil {
		out = append(out, e.Else)
	}
	return out
}

// Children returns the arguments.
func (e *Coalesce) Children() []Expr { return e.Args }

// Children returns the elements.
func (e *MakeArray) Children() []Expr { return e.Args }

// Children returns the fields.
func (e *MakeStruct) Children() []Expr { return e.Args }

// Children returns the struct.
func (e *Field) Children() []Expr { return []Expr{e.Arg} }

// Children returns the compared values; the subquery's plan is not among them.
func (e *Subquery) Children() []Expr { return e.Args }

// WithChildren returns the reference itself.
func (e *ColumnRef) WithChildren([]Expr) Expr { return e }

// WithChildren returns the constant itself.
func (e *Const) WithChildren([]Expr) Expr { return e }

// WithChildren returns the parameter itself.
func (e *Param) WithChildren([]Expr) Expr { return e }

// WithChildren returns a copy over other arguments.
func (e *Call) WithChildren(c []Expr) Expr { n := *e; n.Args = c; return &n }

// WithChildren returns a copy over another operand.
func (e *Cast) WithChildren(c []Expr) Expr { n := *e; n.Arg = c[0]; return &n }

// WithChildren returns a copy over other operands.
func (e *Compare) WithChildren(c []Expr) Expr {
	n := *e
	n.Left, n.Right = c[0], c[1]
	return &n
}

// WithChildren returns a conjunction of others.
func (*And) WithChildren(c []Expr) Expr { return &And{Args: c} }

// WithChildren returns a disjunction of others.
func (*Or) WithChildren(c []Expr) Expr { return &Or{Args: c} }

// WithChildren returns a copy over another operand.
func (*Not) WithChildren(c []Expr) Expr { return &Not{Arg: c[0]} }

// WithChildren returns a copy over another operand.
func (e *IsNull) WithChildren(c []Expr) Expr { n := *e; n.Arg = c[0]; return &n }

// WithChildren returns a copy over another operand.
func (e *IsBool) WithChildren(c []Expr) Expr { n := *e; n.Arg = c[0]; return &n }

// WithChildren returns a copy over another operand.
func (e *In) WithChildren(c []Expr) Expr { n := *e; n.Arg = c[0]; return &n }

// WithChildren returns a copy over others in the order of Children.
func (e *Case) WithChildren(c []Expr) Expr {
	n := *e
	k := len(e.When)
	n.When, n.Then = c[:k:k], c[k:2*k:2*k]
	if e.Else != nil {
		n.Else = c[2*k]
	}
	return &n
}

// WithChildren returns a copy over other arguments.
func (e *Coalesce) WithChildren(c []Expr) Expr { n := *e; n.Args = c; return &n }

// WithChildren returns a copy over other elements.
func (e *MakeArray) WithChildren(c []Expr) Expr { n := *e; n.Args = c; return &n }

// WithChildren returns a copy over other fields.
func (e *MakeStruct) WithChildren(c []Expr) Expr { n := *e; n.Args = c; return &n }

// WithChildren returns a copy over another struct.
func (e *Field) WithChildren(c []Expr) Expr { n := *e; n.Arg = c[0]; return &n }

// WithChildren returns a copy over other compared values.
func (e *Subquery) WithChildren(c []Expr) Expr { n := *e; n.Args = c; return &n }
