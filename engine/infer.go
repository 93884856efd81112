package engine

import (
	"slices"

	"github.com/tidemarkdb/tidemark/sql"
)

// partialKeys returns the partial unique indexes over the columns of ON CONFLICT whose predicate its WHERE implies: each
// condition of the predicate is written in it.
func (i *insertion) partialKeys(columns []string, where sql.Expr) ([]uniqueKey, error) {
	if where == nil {
		return nil, nil
	}
	given := conditionTexts(where)
	var over []string
	for _, name := range columns {
		over = append(over, quoted(name))
	}
	slices.Sort(over)
	over = slices.Compact(over)
	var out []uniqueKey
	for _, u := range uniqueKeys(i.table) {
		exprs := slices.Sorted(slices.Values(u.exprs))
		if u.where == "" || !slices.Equal(exprs, over) {
			continue
		}
		predicate, err := sql.ParseExpr(u.where)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(conditionTexts(predicate), func(c string) bool { return !slices.Contains(given, c) }) {
			out = append(out, u)
		}
	}
	return out, nil
}

// conditionTexts returns the text of each condition that AND joins.
func conditionTexts(e sql.Expr) []string {
	l, ok := e.(*sql.Logic)
	if !ok || l.Or {
		return []string{sql.Text(e)}
	}
	var out []string
	for _, a := range l.Args {
		out = append(out, conditionTexts(a)...)
	}
	return out
}
