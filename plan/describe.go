package plan

import (
	"fmt"
	"strings"
)

// describe returns the operator's name and the lines that say what it does.
func describe(n Node) (string, []string) {
	switch n := n.(type) {
	case *Scan:
		return describeScan(n)
	case *SourceScan:
		return "Source " + n.Name + columnList(n.Columns), nil
	case *Values:
		return fmt.Sprintf("Values (%d rows)%s", len(n.Rows), columnList(n.Columns)), describeRows(n)
	case *Filter:
		return "Filter", []string{exprList(n.Conditions, " AND ")}
	case *Project:
		return "Project", []string{assignments(n.Columns, n.Exprs)}
	case *Join:
		return describeJoin(n)
	case *Apply:
		name := n.Kind.String() + " Apply"
		if n.Kind == Mark {
			name += " → " + column(n.MarkCol)
		}
		return name, lines("on: ", exprList(n.On, " AND "))
	case *Expand:
		name := "Expand"
		if n.Outer {
			name = "Outer Expand"
		}
		cols := n.Columns
		if n.Ordinality != nil {
			cols = append(cols[:len(cols):len(cols)], *n.Ordinality)
		}
		return name + " " + n.Name + "(" + exprList(n.Args, ", ") + ")" + columnList(cols), nil
	case *Aggregate:
		return describeAggregate(n)
	case *Window:
		return describeWindow(n)
	case *Sort:
		if n.Limit >= 0 {
			name := fmt.Sprintf("Top %d", n.Limit)
			if n.Offset > 0 {
				name += fmt.Sprintf(" offset %d", n.Offset)
			}
			return name, []string{keyList(n.Keys)}
		}
		return "Sort", []string{keyList(n.Keys)}
	case *Limit:
		return "Limit" + optional(" ", n.Count) + optional(" offset ", n.Offset), nil
	case *DistinctOn:
		return "Distinct On", []string{exprList(n.Keys, ", ")}
	case *SetOp:
		name := [...]string{Union: "Union", Intersect: "Intersect", Except: "Except"}[n.Kind]
		if n.All {
			name += " All"
		}
		return name + columnList(n.Columns), nil
	case *CTE:
		return fmt.Sprintf("CTE %s (%d)", n.Name, n.ID), nil
	case *RecursiveCTE:
		name := "Recursive"
		if n.Distinct {
			name = "Recursive Distinct"
		}
		return fmt.Sprintf("%s %s (%d)%s", name, n.Name, n.ID, columnList(n.Columns)), nil
	case *CTERef:
		return fmt.Sprintf("CTE Scan %s (%d)%s", n.Name, n.ID, columnList(n.Columns)), nil
	}
	return fmt.Sprintf("%T", n), nil
}

func describeScan(n *Scan) (string, []string) {
	name := "Scan " + n.Table.Name + columnList(n.Columns)
	return name, lines("filter: ", exprList(n.Filters, " AND "))
}

func describeRows(n *Values) []string {
	var out []string
	for i, row := range n.Rows {
		if i == 5 {
			return append(out, "...")
		}
		if len(row) > 0 {
			out = append(out, "("+exprList(row, ", ")+")")
		}
	}
	return out
}

func describeJoin(n *Join) (string, []string) {
	name := n.Kind.String() + " Join"
	if n.Kind == Mark {
		name += " → " + column(n.MarkCol)
	}
	if n.BuildLeft {
		name += " (build left)"
	}
	var equal []string
	for _, c := range n.Equal {
		op := Eq
		if c.NullSafe {
			op = NotDistinct
		}
		equal = append(equal, FormatExpr(&Compare{Op: op, Left: c.Left, Right: c.Right}))
	}
	out := append(lines("on: ", strings.Join(equal, " AND ")), lines("and: ", exprList(n.Other, " AND "))...)
	if len(n.RuntimeFilters) > 0 {
		var which []string
		for _, i := range n.RuntimeFilters {
			which = append(which, fmt.Sprint(i))
		}
		out = append(out, "runtime filters: "+strings.Join(which, ", "))
	}
	return name, out
}

func describeAggregate(n *Aggregate) (string, []string) {
	var out []string
	name := "Aggregate"
	switch {
	case len(n.Groups) > 0 && len(n.Aggregates) == 0 && len(n.Sets) == 0:
		name = "Distinct"
	case len(n.Groups) > 0:
		name = "Group"
	}
	if n.FromMetadata {
		name += " (from metadata)"
	}
	if len(n.Groups) > 0 {
		out = append(out, "by: "+assignments(n.GroupCols, n.Groups))
	}
	if len(n.Sets) > 0 {
		var sets []string
		for _, s := range n.Sets {
			var cols []string
			for _, i := range s {
				cols = append(cols, column(n.GroupCols[i]))
			}
			sets = append(sets, "("+strings.Join(cols, ", ")+")")
		}
		out = append(out, "sets: "+strings.Join(sets, ", "))
	}
	if n.Grouping != nil {
		out = append(out, "grouping: "+column(*n.Grouping))
	}
	for i := range n.Aggregates {
		out = append(out, describeCall(&n.Aggregates[i]))
	}
	return name, out
}

func describeCall(a *AggCall) string {
	var b strings.Builder
	b.WriteString(column(a.Out) + " = " + a.Name + "(")
	if a.Distinct {
		b.WriteString("DISTINCT ")
	}
	if len(a.Args) == 0 {
		b.WriteByte('*')
	}
	b.WriteString(exprList(a.Args, ", "))
	if len(a.OrderBy) > 0 {
		b.WriteString(" ORDER BY " + keyList(a.OrderBy))
	}
	b.WriteByte(')')
	if a.Filter != nil {
		b.WriteString(" FILTER " + FormatExpr(a.Filter))
	}
	return b.String()
}

func describeWindow(n *Window) (string, []string) {
	out := append(lines("partition: ", exprList(n.Partition, ", ")), lines("order: ", keyList(n.Order))...)
	for i := range n.Calls {
		c := &n.Calls[i]
		text := column(c.Out) + " = " + c.Name + "("
		if c.Distinct {
			text += "DISTINCT "
		}
		if len(c.Args) == 0 && c.Agg != nil {
			text += "*"
		}
		text += exprList(c.Args, ", ") + ")"
		if c.Filter != nil {
			text += " FILTER " + FormatExpr(c.Filter)
		}
		if c.IgnoreNulls {
			text += " IGNORE NULLS"
		}
		out = append(out, text+" "+describeFrame(c.Frame))
	}
	return "Window", out
}

func describeFrame(f Frame) string {
	mode := [...]string{Range: "RANGE", Rows: "ROWS", Groups: "GROUPS"}[f.Mode]
	end := func(b Bound) string {
		switch b.Kind {
		case UnboundedPreceding:
			return "UNBOUNDED PRECEDING"
		case Preceding:
			return FormatExpr(b.Offset) + " PRECEDING"
		case Following:
			return FormatExpr(b.Offset) + " FOLLOWING"
		case UnboundedFollowing:
			return "UNBOUNDED FOLLOWING"
		}
		return "CURRENT ROW"
	}
	exclude := [...]string{"", " EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES"}[f.Exclude]
	return mode + " " + end(f.Start) + " .. " + end(f.End) + exclude
}

func column(c Col) string { return fmt.Sprintf("%s#%d", c.Name, c.ID) }

func columnList(cols []Col) string {
	if len(cols) == 0 {
		return ""
	}
	out := make([]string, len(cols))
	for i, c := range cols {
		out[i] = column(c)
	}
	return " [" + strings.Join(out, ", ") + "]"
}

func exprList(es []Expr, sep string) string {
	out := make([]string, len(es))
	for i, e := range es {
		out[i] = FormatExpr(e)
		if _, or := e.(*Or); or && sep == " AND " && len(es) > 1 {
			out[i] = "(" + out[i] + ")"
		}
	}
	return strings.Join(out, sep)
}

// assignments writes computed columns; one passed on under its own id is just named.
func assignments(cols []Col, es []Expr) string {
	out := make([]string, len(cols))
	for i, c := range cols {
		if r, ok := es[i].(*ColumnRef); ok && r.ID == c.ID {
			out[i] = column(c)
		} else {
			out[i] = column(c) + " = " + FormatExpr(es[i])
		}
	}
	return strings.Join(out, ", ")
}

func keyList(keys []SortKey) string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = FormatExpr(k.Expr)
		if k.Desc {
			out[i] += " DESC"
		}
		if k.NullsFirst != k.Desc {
			out[i] += map[bool]string{true: " NULLS FIRST", false: " NULLS LAST"}[k.NullsFirst]
		}
	}
	return strings.Join(out, ", ")
}

func optional(prefix string, e Expr) string {
	if e == nil {
		return ""
	}
	return prefix + FormatExpr(e)
}

func lines(prefix, text string) []string {
	if text == "" {
		return nil
	}
	return []string{prefix + text}
}
