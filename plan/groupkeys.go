package plan

import (
	"slices"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

// dropDependentGroups groups by a table's key alone where the groups hold the whole key and more columns of the same
// table: the others are the same in every row of a group, so any value of them will do. Keys get shorter that way.
func dropDependentGroups(o *optimizer, n Node) Node {
	return mapNode(n, func(n Node) Node {
		if agg, ok := n.(*Aggregate); ok && len(agg.Sets) == 0 && len(agg.Groups) > 1 {
			n = shortenGroups(o, agg)
		}
		if agg, ok := n.(*Aggregate); ok && len(agg.Sets) == 0 && len(agg.Groups) > 1 {
			return computeGroups(agg)
		}
		return n
	})
}

// computeGroups computes groups from the others, once a group, where these are all they depend on.
func computeGroups(n *Aggregate) Node {
	known := map[ColID]Col{}
	for i, g := range n.Groups {
		if r, ok := g.(*ColumnRef); ok && onlyEqualToItself(r.T) {
			known[r.ID] = n.GroupCols[i]
		}
	}
	c := *n
	c.Groups, c.GroupCols = nil, nil
	exprs := make([]Expr, len(n.Groups))
	for i, g := range n.Groups {
		exprs[i] = fromGroups(g, known)
		if exprs[i] == nil || i == len(n.Groups)-1 && len(c.Groups) == 0 { // without groups there would be a row for no input
			exprs[i] = refTo(n.GroupCols[i])
			c.Groups, c.GroupCols = append(c.Groups, g), append(c.GroupCols, n.GroupCols[i])
		}
	}
	if len(c.Groups) == len(n.Groups) {
		return n
	}
	for _, col := range n.Cols()[len(n.GroupCols):] {
		exprs = append(exprs, refTo(col))
	}
	return &Project{Input: &c, Columns: n.Cols(), Exprs: exprs}
}

// fromGroups returns an expression that is no column over the columns of groups, nil when it needs others.
func fromGroups(e Expr, known map[ColID]Col) Expr {
	if _, plain := e.(*ColumnRef); plain || isVolatile(e) {
		return nil
	}
	ok := true
	out := mapExpr(e, func(e Expr) Expr {
		switch e := e.(type) {
		case *ColumnRef:
			col, is := known[e.ID]
			ok = ok && is
			return refTo(col)
		case *Subquery:
			ok = false
		}
		return e
	})
	if !ok {
		return nil
	}
	return out
}

// onlyEqualToItself reports a type without values that are equal and yet not the same, as 0 and -0 are, from which
// different ones may be computed.
func onlyEqualToItself(t vec.Type) bool {
	switch t.ID {
	case vec.Bool, vec.Int16, vec.Int32, vec.Int64, vec.Decimal, vec.Text, vec.Bytea, vec.Date, vec.Time, vec.TimeTZ, vec.Timestamp, vec.TimestampTZ, vec.UUID:
		return true
	}
	return false
}

func shortenGroups(o *optimizer, n *Aggregate) Node {
	dependent := dependentGroups(n)
	if len(dependent) == 0 || o.functions.Aggregate("any_value") == nil {
		return n
	}
	c := *n
	c.Groups, c.GroupCols, c.Aggregates = nil, nil, slices.Clone(n.Aggregates)
	for i, g := range n.Groups {
		if !slices.Contains(dependent, i) {
			c.Groups, c.GroupCols = append(c.Groups, g), append(c.GroupCols, n.GroupCols[i])
			continue
		}
		bound, err := o.functions.ResolveAggregate("any_value", []extension.Argument{{Type: g.Type()}})
		if err != nil || !bound.Result.Equal(g.Type()) {
			return n
		}
		c.Aggregates = append(c.Aggregates, AggCall{Out: n.GroupCols[i], Bound: bound, Name: "any_value", Args: []Expr{g}})
	}
	return keepCols(&c, n.Cols())
}

// dependentGroups returns the places of groups that others determine.
func dependentGroups(n *Aggregate) []int {
	at := map[ColID]int{}
	for i, g := range n.Groups {
		if r, ok := g.(*ColumnRef); ok {
			at[r.ID] = i
		}
	}
	var out []int
	for _, s := range keyedScans(n.Input) {
		key := true
		for _, k := range s.Table.Key {
			place := slices.Index(s.Ordinals, k)
			if place < 0 {
				key = false
				break
			}
			if _, grouped := at[s.Columns[place].ID]; !grouped {
				key = false
				break
			}
		}
		if !key {
			continue
		}
		for i, c := range s.Columns {
			if g, ok := at[c.ID]; ok && !slices.Contains(s.Table.Key, s.Ordinals[i]) {
				out = append(out, g)
			}
		}
	}
	return out
}

// keyedScans lists the scans of tables with a key whose columns reach n unchanged: padding with NULLs keeps the
// dependence, since then the key is NULL too.
func keyedScans(n Node) []*Scan {
	switch n := n.(type) {
	case *Scan:
		if len(n.Table.Key) > 0 {
			return []*Scan{n}
		}
	case *Filter:
		return keyedScans(n.Input)
	case *Join:
		if n.Kind == Semi || n.Kind == Anti || n.Kind == Mark {
			return keyedScans(n.Left)
		}
		return append(keyedScans(n.Left), keyedScans(n.Right)...)
	case *Project:
		return keyedScans(n.Input)
	}
	return nil
}
