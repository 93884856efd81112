package sql

// Walk visits node and, where f returns true for a part, the parts below it, in the order of the text. It descends
// into statements, queries, table references and expressions of every kind.
func Walk(node Node, f func(Node) bool) {
	if isNil(node) || !f(node) {
		return
	}
	eachChild(node, func(n Node) { Walk(n, f) })
}

// deeperThan reports whether a path of more than limit nodes leads down from n.
func deeperThan(n Node, limit int) bool {
	if limit == 0 {
		return true
	}
	deep := false
	eachChild(n, func(child Node) { deep = deep || deeperThan(child, limit-1) })
	return deep
}

func isNil(n Node) bool {
	if n == nil {
		return true
	}
	switch n := n.(type) {
	case *FuncCall:
		return n == nil
	case *Select:
		return n == nil
	}
	return false
}

// visitor calls a function for the children of one node; its methods take the shapes children come in.
type visitor func(Node)

func (v visitor) expr(list ...Expr) {
	for _, e := range list {
		if e != nil {
			v(e)
		}
	}
}

func (v visitor) query(q QueryExpr) {
	if q != nil {
		v(q)
	}
}

func (v visitor) tables(list []TableExpr) {
	for _, t := range list {
		v(t)
	}
}

func (v visitor) items(list []SelectItem) {
	for _, i := range list {
		v.expr(i.Expr)
	}
}

func (v visitor) order(list []OrderItem) {
	for _, o := range list {
		v.expr(o.Expr)
	}
}

func (v visitor) groups(list []GroupItem) {
	for _, g := range list {
		v.expr(g.Exprs...)
		v.groups(g.Sets)
	}
}

func (v visitor) options(list []Option) {
	for _, o := range list {
		v.expr(o.Value)
	}
}

func (v visitor) with(w *With) {
	if w == nil {
		return
	}
	for _, c := range w.CTEs {
		v.query(c.Query)
		if c.Change != nil {
			v(c.Change)
		}
	}
}

func (v visitor) window(w *Window) {
	if w == nil {
		return
	}
	v.expr(w.PartitionBy...)
	v.order(w.OrderBy)
	if w.Frame != nil {
		v.expr(w.Frame.Start.Offset, w.Frame.End.Offset)
	}
}

func (v visitor) sample(s *Sample) {
	if s != nil {
		v.expr(s.Size, s.Repeat)
	}
}

func (v visitor) assignments(list []Assignment) {
	for _, a := range list {
		v.expr(a.Value)
	}
}

func (v visitor) column(c *ColumnDef) {
	v.expr(c.Default, c.Generated)
	v.constraints(c.Constraints)
}

func (v visitor) constraints(list []Constraint) {
	for _, c := range list {
		v.expr(c.Check)
	}
}

// eachChild calls f for each node directly below n.
func eachChild(n Node, f func(Node)) {
	v := visitor(f)
	switch n := n.(type) {
	case Expr:
		v.ofExpr(n)
	case TableExpr:
		v.ofTable(n)
	case QueryExpr:
		v.ofQuery(n)
	case Statement:
		v.ofStatement(n)
	}
}

func (v visitor) ofExpr(e Expr) {
	switch e := e.(type) {
	case *Star:
		v.expr(e.Operand)
		v.items(e.Replace)
	case *Unary:
		v.expr(e.Operand)
	case *Binary:
		v.expr(e.Left, e.Right)
	case *Logic:
		v.expr(e.Args...)
	case *IsTest:
		v.expr(e.Operand)
	case *IsDistinct:
		v.expr(e.Left, e.Right)
	case *Between:
		v.expr(e.Operand, e.Low, e.High)
	case *InList:
		v.expr(e.Operand)
		v.expr(e.List...)
	case *InQuery:
		v.expr(e.Operand)
		v.query(e.Query)
	case *Like:
		v.expr(e.Operand, e.Pattern, e.Escape)
	case *Quantified:
		v.expr(e.Left)
		v.query(e.Query)
		v.expr(e.Array)
	case *Exists:
		v.query(e.Query)
	case *Subquery:
		v.query(e.Query)
	case *ArrayQuery:
		v.query(e.Query)
	case *Array:
		v.expr(e.Elems...)
	case *Struct:
		for _, f := range e.Fields {
			v.expr(f.Value)
		}
	case *Row:
		v.expr(e.Elems...)
	case *Case:
		v.expr(e.Operand)
		for _, w := range e.Whens {
			v.expr(w.Cond, w.Result)
		}
		v.expr(e.Else)
	case *Cast:
		v.expr(e.Operand)
	case *Lambda:
		v.expr(e.Body)
	case *Collate:
		v.expr(e.Operand)
	case *Subscript:
		v.expr(e.Operand, e.Index)
	case *Slice:
		v.expr(e.Operand, e.Low, e.High)
	case *Field:
		v.expr(e.Operand)
	case *FuncCall:
		for _, a := range e.Args {
			v.expr(a.Value)
		}
		v.order(e.OrderBy)
		v.expr(e.Filter)
		v.window(e.Over)
	}
}

func (v visitor) ofTable(t TableExpr) {
	switch t := t.(type) {
	case *Table:
		if t.AsOf != nil {
			v.expr(t.AsOf.Value)
		}
		v.sample(t.Sample)
	case *Derived:
		v.query(t.Query)
		v.sample(t.Sample)
	case *FuncTable:
		for _, c := range t.Calls {
			v(c)
		}
		v.sample(t.Sample)
	case *FileTable:
		v.sample(t.Sample)
	case *Join:
		v(t.Left)
		v(t.Right)
		v.expr(t.On)
	}
}

func (v visitor) ofQuery(q QueryExpr) {
	switch q := q.(type) {
	case *Query:
		v.with(q.With)
		v.query(q.Body)
		v.order(q.OrderBy)
		v.expr(q.Limit, q.Offset)
	case *Select:
		v.expr(q.DistinctOn...)
		v.items(q.Items)
		v.tables(q.From)
		v.expr(q.Where)
		if q.GroupBy != nil {
			v.groups(q.GroupBy.Items)
		}
		v.expr(q.Having)
		for _, w := range q.Windows {
			v.window(w.Window)
		}
		v.expr(q.Qualify)
	case *SetOp:
		v.query(q.Left)
		v.query(q.Right)
	case *Values:
		for _, row := range q.Rows {
			v.expr(row...)
		}
	}
}

func (v visitor) ofStatement(s Statement) {
	switch s := s.(type) {
	case *Explain:
		v.options(s.Options)
		v(s.Statement)
	case *Insert:
		v.with(s.With)
		v.query(s.Source)
		if c := s.OnConflict; c != nil {
			v.expr(c.Predicate)
			v.assignments(c.Update)
			v.expr(c.Where)
		}
		v.items(s.Returning)
	case *Update:
		v.with(s.With)
		v.assignments(s.Set)
		v.tables(s.From)
		v.expr(s.Where)
		v.items(s.Returning)
	case *Delete:
		v.with(s.With)
		v.tables(s.Using)
		v.expr(s.Where)
		v.items(s.Returning)
	case *Merge:
		v.with(s.With)
		v(s.Source)
		v.expr(s.On)
		for _, w := range s.Whens {
			v.expr(w.And)
			v.assignments(w.Set)
			v.expr(w.Values...)
		}
		v.items(s.Returning)
	case *Copy:
		v.query(s.Query)
		v.options(s.Options)
	case *Set:
		v.expr(s.Values...)
	case *DeclareCursor:
		v.query(s.Query)
	case *Prepare:
		v(s.Statement)
	case *Execute:
		v.expr(s.Args...)
	case *CallProc:
		v(s.Call)
	case *Describe:
		v.query(s.Query)
	case *Maintain:
		v.options(s.Options)
	case *Pragma:
		v.expr(s.Values...)
	default:
		v.ofDefinition(s)
	}
}

func (v visitor) ofDefinition(s Statement) {
	switch s := s.(type) {
	case *CreateTable:
		for i := range s.Columns {
			v.column(&s.Columns[i])
		}
		v.constraints(s.Constraints)
		v.options(s.Options)
		v.query(s.As)
	case *CreateView:
		v.query(s.Query)
	case *CreateStream:
		v.options(s.Options)
	case *CreateIndex:
		v.order(s.Exprs)
		v.expr(s.Where)
	case *Alter:
		for _, a := range s.Actions {
			if a.Def != nil {
				v.column(a.Def)
			}
			v.expr(a.Using, a.Default)
			if a.Constraint != nil {
				v.expr(a.Constraint.Check)
			}
			v.options(a.Options)
		}
	}
}
