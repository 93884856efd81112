package plan

// Cols returns the columns read.
func (n *Scan) Cols() []Col { return n.Columns }

// Cols returns the columns read.
func (n *SourceScan) Cols() []Col { return n.Columns }

// Cols returns the columns of the rows.
func (n *Values) Cols() []Col { return n.Columns }

// Cols returns the input's columns.
func (n *Filter) Cols() []Col { return n.Input.Cols() }

// Cols returns the computed columns.
func (n *Project) Cols() []Col { return n.Columns }

// Cols returns the columns of both sides, of the left for Semi and Anti, and of the left and MarkCol for Mark.
func (n *Join) Cols() []Col { return joinCols(n.Kind, n.Left, n.Right, n.MarkCol) }

// Cols returns what a Join of the same kind would.
func (n *Apply) Cols() []Col { return joinCols(n.Kind, n.Left, n.Right, n.MarkCol) }

func joinCols(kind JoinKind, l, r Node, mark Col) []Col {
	left := l.Cols()
	switch kind {
	case Semi, Anti:
		return left
	case Mark:
		return append(left[:len(left):len(left)], mark)
	}
	right := r.Cols()
	out := make([]Col, 0, len(left)+len(right))
	out = append(append(out, left...), right...)
	for i := range out {
		if kind == Full || kind == Right && i < len(left) || (kind == Left || kind == Single) && i >= len(left) {
			out[i].Nullable = true
		}
	}
	return out
}

// Cols returns the input's columns, then the function's, then the ordinality.
func (n *Expand) Cols() []Col {
	in := n.Input.Cols()
	out := append(in[:len(in):len(in)], n.Columns...)
	if n.Ordinality != nil {
		out = append(out, *n.Ordinality)
	}
	if n.Outer {
		for i := len(in); i < len(out); i++ {
			out[i].Nullable = true
		}
	}
	return out
}

// Cols returns the groups, the aggregates and the grouping mask.
func (n *Aggregate) Cols() []Col {
	out := make([]Col, 0, len(n.GroupCols)+len(n.Aggregates)+1)
	out = append(out, n.GroupCols...)
	for i := range n.Aggregates {
		out = append(out, n.Aggregates[i].Out)
	}
	if n.Grouping != nil {
		out = append(out, *n.Grouping)
	}
	return out
}

// Cols returns the input's columns and one for each call.
func (n *Window) Cols() []Col {
	in := n.Input.Cols()
	out := make([]Col, 0, len(in)+len(n.Calls))
	out = append(out, in...)
	for i := range n.Calls {
		out = append(out, n.Calls[i].Out)
	}
	return out
}

// Cols returns the input's columns.
func (n *Sort) Cols() []Col { return n.Input.Cols() }

// Cols returns the input's columns.
func (n *Limit) Cols() []Col { return n.Input.Cols() }

// Cols returns the input's columns.
func (n *DistinctOn) Cols() []Col { return n.Input.Cols() }

// Cols returns the combined columns.
func (n *SetOp) Cols() []Col { return n.Columns }

// Cols returns the body's columns.
func (n *CTE) Cols() []Col { return n.Body.Cols() }

// Cols returns the columns of all rows.
func (n *RecursiveCTE) Cols() []Col { return n.Columns }

// Cols returns the columns read.
func (n *CTERef) Cols() []Col { return n.Columns }

// Inputs returns nothing.
func (*Scan) Inputs() []Node { return nil }

// Inputs returns nothing.
func (*SourceScan) Inputs() []Node { return nil }

// Inputs returns nothing.
func (*Values) Inputs() []Node { return nil }

// Inputs returns the input.
func (n *Filter) Inputs() []Node { return []Node{n.Input} }

// Inputs returns the input.
func (n *Project) Inputs() []Node { return []Node{n.Input} }

// Inputs returns both sides.
func (n *Join) Inputs() []Node { return []Node{n.Left, n.Right} }

// Inputs returns both sides.
func (n *Apply) Inputs() []Node { return []Node{n.Left, n.Right} }

// Inputs returns the input.
func (n *Expand) Inputs() []Node { return []Node{n.Input} }

// Inputs returns the input.
func (n *Aggregate) Inputs() []Node { return []Node{n.Input} }

// Inputs returns the input.
func (n *Window) Inputs() []Node { return []Node{n.Input} }

// Inputs returns the input.
func (n *Sort) Inputs() []Node { return []Node{n.Input} }

// Inputs returns the input.
func (n *Limit) Inputs() []Node { return []Node{n.Input} }

// Inputs returns the input.
func (n *DistinctOn) Inputs() []Node { return []Node{n.Input} }

// Inputs returns the combined inputs.
func (n *SetOp) Inputs() []Node { return n.Args }

// Inputs returns the definition and the body.
func (n *CTE) Inputs() []Node { return []Node{n.Def, n.Body} }

// Inputs returns the base and the step.
func (n *RecursiveCTE) Inputs() []Node { return []Node{n.Base, n.Step} }

// Inputs returns nothing.
func (*CTERef) Inputs() []Node { return nil }

// WithInputs returns the scan itself.
func (n *Scan) WithInputs([]Node) Node { return n }

// WithInputs returns the scan itself.
func (n *SourceScan) WithInputs([]Node) Node { return n }

// WithInputs returns the rows themselves.
func (n *Values) WithInputs([]Node) Node { return n }

// WithInputs returns a copy over another input.
func (n *Filter) WithInputs(in []Node) Node { c := *n; c.Input = in[0]; return &c }

// WithInputs returns a copy over another input.
func (n *Project) WithInputs(in []Node) Node { c := *n; c.Input = in[0]; return &c }

// WithInputs returns a copy over other sides.
func (n *Join) WithInputs(in []Node) Node {
	c := *n
	c.Left, c.Right = in[0], in[1]
	return &c
}

// WithInputs returns a copy over other sides.
func (n *Apply) WithInputs(in []Node) Node {
	c := *n
	c.Left, c.Right = in[0], in[1]
	return &c
}

// WithInputs returns a copy over another input.
func (n *Expand) WithInputs(in []Node) Node { c := *n; c.Input = in[0]; return &c }

// WithInputs returns a copy over another input.
func (n *Aggregate) WithInputs(in []Node) Node { c := *n; c.Input = in[0]; return &c }

// WithInputs returns a copy over another input.
func (n *Window) WithInputs(in []Node) Node { c := *n; c.Input = in[0]; return &c }

// WithInputs returns a copy over another input.
func (n *Sort) WithInputs(in []Node) Node { c := *n; c.Input = in[0]; return &c }

// WithInputs returns a copy over another input.
func (n *Limit) WithInputs(in []Node) Node { c := *n; c.Input = in[0]; return &c }

// WithInputs returns a copy over another input.
func (n *DistinctOn) WithInputs(in []Node) Node { c := *n; c.Input = in[0]; return &c }

// WithInputs returns a copy over other inputs.
func (n *SetOp) WithInputs(in []Node) Node { c := *n; c.Args = in; return &c }

// WithInputs returns a copy over another definition and body.
func (n *CTE) WithInputs(in []Node) Node {
	c := *n
	c.Def, c.Body = in[0], in[1]
	return &c
}

// WithInputs returns a copy over another base and step.
func (n *RecursiveCTE) WithInputs(in []Node) Node {
	c := *n
	c.Base, c.Step = in[0], in[1]
	return &c
}

// WithInputs returns the reference itself.
func (n *CTERef) WithInputs([]Node) Node { return n }
