package sql

import ()

func (pr *printer) cast(e *Cast) {
	pr.when(e.Try, "TRY_")
	pr.put("CAST(")
	pr.expr(e.Operand, precLowest)
	pr.put(" AS ")
	pr.typeName(e.Type)
	pr.put(")")
}

// functionName puts a name where a function's may stand. A function whose syntax is its own is safe: it reads plain
// arguments as well.
func (pr *printer) functionName(n Name) {
	if len(n) == 1 && !n[0].Quoted && (wordClasses[n[0].Name] == funcWord || niladic[n[0].Name]) {
		pr.put(n[0].Name)
		return
	}
	pr.name(n)
}

func (pr *printer) call(c *FuncCall) {
	pr.functionName(c.Name)
	if len(c.Name) == 1 && !c.Name[0].Quoted && niladic[c.Name[0].Name] && len(c.Args) == 0 {
		return
	}
	if len(c.Name) == 1 && c.Name[0].Name == "position" && len(c.Args) == 2 { // which takes no commas
		pr.put("(")
		pr.expr(c.Args[1].Value, precRange+1)
		pr.put(" IN ")
		pr.expr(c.Args[0].Value, precRange+1)
		pr.put(")")
		return
	}
	pr.put("(")
	pr.when(c.Star, "*")
	pr.when(c.Distinct, "DISTINCT ")
	pr.commas(len(c.Args), func(i int) {
		a := c.Args[i]
		pr.when(a.Variadic, "VARIADIC ")
		if a.Name.Name != "" {
			pr.label(a.Name)
			pr.put(" => ")
		}
		pr.expr(a.Value, precLowest)
	})
	if !c.WithinGroup {
		pr.orderBy(" ORDER BY ", c.OrderBy)
	}
	pr.put([...]string{"", " RESPECT NULLS", " IGNORE NULLS"}[c.NullsMode], ")")
	if c.WithinGroup {
		pr.put(" WITHIN GROUP (")
		pr.orderBy("ORDER BY ", c.OrderBy)
		pr.put(")")
	}
	if c.Filter != nil {
		pr.clause(" FILTER (WHERE ", c.Filter)
		pr.put(")")
	}
	if c.Over != nil {
		pr.put(" OVER ")
		pr.window(c.Over)
	}
}

func (pr *printer) window(w *Window) {
	if w.Reference {
		pr.ident(w.Base)
		return
	}
	pr.put("(")
	separator := ""
	if w.Base.Name != "" {
		pr.ident(w.Base)
		separator = " "
	}
	if len(w.PartitionBy) > 0 {
		pr.put(separator, "PARTITION BY ")
		pr.exprs(w.PartitionBy)
		separator = " "
	}
	if len(w.OrderBy) > 0 {
		pr.orderBy(separator+"ORDER BY ", w.OrderBy)
		separator = " "
	}
	if f := w.Frame; f != nil {
		pr.put(separator, [...]string{"RANGE", "ROWS", "GROUPS"}[f.Mode], " BETWEEN ")
		pr.bound(f.Start)
		pr.put(" AND ")
		pr.bound(f.End)
		pr.put([...]string{"", " EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES"}[f.Exclude])
	}
	pr.put(")")
}

func (pr *printer) bound(b FrameBound) {
	if b.Offset != nil {
		// AND behind the offset belongs to the frame.
		pr.expr(b.Offset, precAnd+1)
	}
	pr.put([...]string{"UNBOUNDED PRECEDING", " PRECEDING", "CURRENT ROW", " FOLLOWING", "UNBOUNDED FOLLOWING"}[b.Kind])
}

func (pr *printer) orderBy(words string, list []OrderItem) {
	if len(list) == 0 {
		return
	}
	pr.put(words)
	pr.commas(len(list), func(i int) {
		o := list[i]
		if o.All {
			pr.put("ALL")
		} else {
			pr.expr(o.Expr, precLowest)
		}
		pr.when(o.Desc, " DESC")
		pr.put([...]string{"", " NULLS FIRST", " NULLS LAST"}[o.Nulls])
	})
}
