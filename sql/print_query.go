package sql

import "strings"

// parens puts a query in parentheses.
func (pr *printer) parens(q QueryExpr) {
	pr.put("(")
	pr.query(q)
	pr.put(")")
}

func (pr *printer) query(q QueryExpr) {
	switch q := q.(type) {
	case *Query:
		pr.fullQuery(q)
	case *Select:
		pr.selectBlock(q)
	case *SetOp:
		pr.setOp(q)
	case *Values:
		pr.put("VALUES ")
		pr.commas(len(q.Rows), func(i int) {
			pr.put("(")
			pr.exprs(q.Rows[i])
			pr.put(")")
		})
	}
}

func (pr *printer) fullQuery(q *Query) {
	pr.withClause(q.With)
	if _, nested := q.Body.(*Query); nested {
		pr.parens(q.Body)
	} else {
		pr.query(q.Body)
	}
	pr.orderBy(" ORDER BY ", q.OrderBy)
	switch {
	case q.WithTies:
		pr.put(" FETCH FIRST (")
		pr.expr(q.Limit, precLowest)
		pr.put(") ROWS WITH TIES")
	default:
		pr.clause(" LIMIT ", q.Limit)
	}
	pr.clause(" OFFSET ", q.Offset)
}

func (pr *printer) withClause(w *With) {
	if w == nil {
		return
	}
	pr.put("WITH ")
	pr.when(w.Recursive, "RECURSIVE ")
	pr.commas(len(w.CTEs), func(i int) {
		c := w.CTEs[i]
		pr.ident(c.Name)
		pr.idents(c.Columns)
		pr.put(" AS ", [...]string{"", "MATERIALIZED ", "NOT MATERIALIZED "}[c.Materialize])
		if c.Change != nil {
			pr.put("(")
			pr.statement(c.Change)
			pr.put(")")
			return
		}
		pr.parens(c.Query)
	})
	pr.put(" ")
}

func (pr *printer) setOp(s *SetOp) {
	level := setLevel(s)
	pr.operand(s.Left, setLevel(s.Left) < level)
	pr.put([...]string{" UNION ", " INTERSECT ", " EXCEPT "}[s.Kind])
	pr.when(s.All, "ALL ")
	pr.when(s.ByName, "BY NAME ")
	pr.operand(s.Right, setLevel(s.Right) <= level)
}

func (pr *printer) operand(q QueryExpr, parens bool) {
	if parens {
		pr.parens(q)
		return
	}
	pr.query(q)
}

// setLevel is how tightly a query binds as an operand: a Query with its clauses not at all.
func setLevel(q QueryExpr) int {
	switch q := q.(type) {
	case *Query:
		return 0
	case *SetOp:
		if q.Kind == Intersect {
			return 2
		}
		return 1
	}
	return 3
}

func (pr *printer) selectBlock(s *Select) {
	pr.put("SELECT")
	pr.when(s.Distinct, " DISTINCT")
	if len(s.DistinctOn) > 0 {
		pr.put(" ON (")
		pr.exprs(s.DistinctOn)
		pr.put(")")
	}
	pr.when(len(s.Items) > 0, " ")
	pr.items(s.Items)
	pr.from(" FROM ", s.From)
	pr.clause(" WHERE ", s.Where)
	pr.groupBy(s.GroupBy)
	pr.clause(" HAVING ", s.Having)
	if len(s.Windows) > 0 {
		pr.put(" WINDOW ")
		pr.commas(len(s.Windows), func(i int) {
			pr.ident(s.Windows[i].Name)
			pr.put(" AS ")
			pr.window(s.Windows[i].Window)
		})
	}
	pr.clause(" QUALIFY ", s.Qualify)
}

func (pr *printer) items(list []SelectItem) {
	pr.commas(len(list), func(i int) {
		pr.expr(list[i].Expr, precLowest)
		if list[i].Alias.Name != "" {
			pr.put(" AS ")
			pr.label(list[i].Alias)
		}
	})
}

func (pr *printer) groupBy(g *GroupBy) {
	if g == nil {
		return
	}
	pr.put(" GROUP BY ")
	pr.when(g.All, "ALL")
	pr.when(g.Distinct, "DISTINCT ")
	pr.groupItems(g.Items)
}

func (pr *printer) groupItems(list []GroupItem) {
	pr.commas(len(list), func(i int) {
		g := list[i]
		switch {
		case g.Kind != GroupExprs:
			pr.put([...]string{"", "ROLLUP (", "CUBE (", "GROUPING SETS ("}[g.Kind])
			pr.groupItems(g.Sets)
			pr.put(")")
		case len(g.Exprs) == 1:
			pr.groupExpr(g.Exprs[0])
		default:
			pr.put("(")
			pr.exprs(g.Exprs)
			pr.put(")")
		}
	})
}

// groupExpr puts a single grouping expression, in parentheses when it begins like a grouping element: with a call of a
// function named rollup or cube. The text is made once, so that nested queries do not double the work at each level.
func (pr *printer) groupExpr(e Expr) {
	text := Text(e)
	if strings.HasPrefix(text, "rollup(") || strings.HasPrefix(text, "cube(") {
		pr.put("(", text, ")")
		return
	}
	pr.put(text)
}

func (pr *printer) from(words string, list []TableExpr) {
	if len(list) == 0 {
		return
	}
	pr.put(words)
	pr.commas(len(list), func(i int) { pr.table(list[i]) })
}

func (pr *printer) table(t TableExpr) {
	switch t := t.(type) {
	case *Table:
		pr.name(t.Name)
		pr.asOf(t.AsOf)
		pr.alias(t.Alias)
		pr.sample(t.Sample)
	case *Derived:
		pr.when(t.Lateral, "LATERAL ")
		pr.parens(t.Query)
		pr.alias(t.Alias)
		pr.sample(t.Sample)
	case *FileTable:
		pr.string(t.Path)
		pr.alias(t.Alias)
		pr.sample(t.Sample)
	case *FuncTable:
		pr.funcTable(t)
	case *Join:
		pr.join(t)
	}
}

func (pr *printer) alias(a TableAlias) {
	if a.Name.Name != "" {
		pr.put(" AS ")
		pr.ident(a.Name)
		pr.idents(a.Columns)
	}
}

func (pr *printer) asOf(a *AsOf) {
	switch {
	case a == nil:
		return
	case a.Version:
		pr.put(" AT (VERSION => ")
	default:
		pr.put(" AT (TIMESTAMP => ")
	}
	pr.expr(a.Value, precLowest)
	pr.put(")")
}

func (pr *printer) sample(s *Sample) {
	if s == nil {
		return
	}
	pr.put(" TABLESAMPLE ")
	if s.Method != "" {
		pr.ident(Ident{Name: s.Method})
		pr.put(" ")
	}
	pr.put("(")
	pr.expr(s.Size, precLowest)
	pr.when(s.Rows, " ROWS")
	pr.when(s.Percent, " PERCENT")
	pr.put(")")
	if s.Repeat != nil {
		pr.clause(" REPEATABLE (", s.Repeat)
		pr.put(")")
	}
}

func (pr *printer) funcTable(t *FuncTable) {
	pr.when(t.Lateral, "LATERAL ")
	pr.when(len(t.Calls) > 1, "ROWS FROM (")
	pr.commas(len(t.Calls), func(i int) { pr.call(t.Calls[i]) })
	pr.when(len(t.Calls) > 1, ")")
	pr.when(t.Ordinality, " WITH ORDINALITY")
	pr.alias(t.Alias)
	if len(t.ColumnDefs) > 0 {
		pr.when(t.Alias.Name.Name == "", " AS ")
		pr.structFields(t.ColumnDefs)
	}
	pr.sample(t.Sample)
}

func (pr *printer) join(j *Join) {
	aliased := j.Alias.Name.Name != ""
	pr.when(aliased, "(")
	pr.table(j.Left)
	pr.put(" ")
	pr.when(j.Natural, "NATURAL ")
	pr.when(j.Asof, "ASOF ")
	pr.put([...]string{"", "LEFT ", "RIGHT ", "FULL ", "CROSS ", "SEMI ", "ANTI "}[j.Kind], "JOIN ")
	if right, ok := j.Right.(*Join); ok && right.Alias.Name.Name == "" {
		pr.put("(")
		pr.table(right)
		pr.put(")")
	} else {
		pr.table(j.Right)
	}
	pr.clause(" ON ", j.On)
	if len(j.Using) > 0 {
		pr.put(" USING ")
		pr.idents(j.Using)
		if j.UsingAlias.Name != "" {
			pr.put(" AS ")
			pr.ident(j.UsingAlias)
		}
	}
	pr.when(aliased, ")")
	pr.alias(j.Alias)
}
