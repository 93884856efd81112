package engine

import (
	"slices"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// throughView returns a statement that changes rows of a view as one that changes its table; any other comes back as it
// is. The view must be simple: some columns of one table, or of another such view, and perhaps a WHERE.
func (s *Session) throughView(snapshot *catalog.Snapshot, statement sql.Statement) (sql.Statement, error) {
	name := targetOf(statement)
	if name == nil {
		return statement, nil
	}
	_, view, err := s.relation(snapshot, name)
	if err != nil || view == nil {
		return statement, nil // whoever looks for the table says what is wrong
	}
	table, through, err := s.simpleView(snapshot, view, 0)
	if err != nil {
		return nil, sqlerr.From(err).At(name.Position())
	}
	v := viewChange{through: through, view: view}
	switch t := statement.(type) {
	case *sql.Insert:
		statement, err = v.insert(t, nameOf(table))
	case *sql.Update:
		changed := *t
		changed.Table, changed.Through = nameOf(table), through
		changed.Set, err = v.assignments(t.Set)
		statement = &changed
	case *sql.Delete:
		changed := *t
		changed.Table, changed.Through = nameOf(table), through
		statement = &changed
	case *sql.Merge:
		statement, err = v.merge(t, nameOf(table))
	}
	return statement, err
}

// viewChange puts the columns of a table in the place of those of a view in a statement that changes it.
type viewChange struct {
	through *sql.Through
	view    *catalog.View
}

func (v viewChange) columns(names []sql.Ident) ([]sql.Ident, error) {
	out := slices.Clone(names)
	for i, name := range names {
		at := slices.IndexFunc(v.through.Columns, func(c sql.ThroughColumn) bool { return c.Name == name.Name })
		if at < 0 {
			return nil, sqlerr.New(sqlerr.UndefinedColumn, "column %q of relation %q does not exist", name.Name, v.view.Name).
				Hintf("DESCRIBE %s lists those that do", v.view.Name).At(name.Pos)
		}
		out[i].Name = v.through.Columns[at].Of
	}
	return out, nil
}

// first returns the first n columns of the view as those of the table.
func (v viewChange) first(n int) []sql.Ident {
	var out []sql.Ident
	for _, c := range v.through.Columns[:min(n, len(v.through.Columns))] {
		out = append(out, sql.Ident{Name: c.Of, Quoted: true})
	}
	return out
}

// assignments are those of the table's columns. DEFAULT is that of a view's column, which has none, as in PostgreSQL.
func (v viewChange) assignments(set []sql.Assignment) ([]sql.Assignment, error) {
	out := slices.Clone(set)
	for i := range out {
		var err error
		out[i].Value = withoutDefault(out[i].Value)
		if out[i].Columns, err = v.columns(out[i].Columns); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// withoutDefault puts NULL in the place of DEFAULT, in the row of several values too.
func withoutDefault(value sql.Expr) sql.Expr {
	switch e := value.(type) {
	case *sql.Default:
		return &sql.Null{Pos: e.Pos}
	case *sql.Row:
		row := *e
		row.Elems = make([]sql.Expr, len(e.Elems))
		for i, elem := range e.Elems {
			row.Elems[i] = withoutDefault(elem)
		}
		return &row
	}
	return value
}

func (v viewChange) insert(t *sql.Insert, table sql.Name) (*sql.Insert, error) {
	if t.ByName {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "INSERT BY NAME into a view is not supported").
			Hintf("list the columns, or insert into the table").At(t.Pos)
	}
	changed := *t
	changed.Table, changed.Through = table, v.through
	var err error
	if changed.Columns, err = v.columns(t.Columns); err != nil {
		return nil, err
	}
	if len(t.Columns) == 0 && t.Source != nil {
		width := len(v.through.Columns)
		if values, ok := t.Source.(*sql.Values); ok {
			width = len(values.Rows[0])
		}
		changed.Columns = v.first(width)
	}
	if c := t.OnConflict; c != nil {
		on := *c
		if on.Columns, err = v.columns(c.Columns); err != nil {
			return nil, err
		}
		if on.Update, err = v.assignments(c.Update); err != nil {
			return nil, err
		}
		changed.OnConflict = &on
	}
	return &changed, nil
}

func (v viewChange) merge(t *sql.Merge, table sql.Name) (*sql.Merge, error) {
	changed := *t
	changed.Table, changed.Through, changed.Whens = table, v.through, slices.Clone(t.Whens)
	for i := range changed.Whens {
		w := &changed.Whens[i]
		var err error
		if w.Set, err = v.assignments(w.Set); err != nil {
			return nil, err
		}
		if w.Columns, err = v.columns(w.Columns); err != nil {
			return nil, err
		}
		if w.Action == sql.MergeInsert && len(w.Columns) == 0 {
			w.Columns = v.first(len(w.Values))
		}
	}
	return &changed, nil
}

// maxViewDepth bounds how many views are looked through.
const maxViewDepth = 64

// simpleView returns the table that a view stands for and what it has of it.
func (s *Session) simpleView(snapshot *catalog.Snapshot, v *catalog.View, depth int) (*catalog.Table, *sql.Through, error) {
	no := func(why string) error {
		return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "cannot change rows of view %q", v.Name).Detailf("%s", why).
			Hintf("views of some columns of one table and a WHERE can be changed; change the tables of others")
	}
	query, err := s.viewQuery(snapshot, v)
	if err != nil {
		return nil, nil, err
	}
	if q, ok := query.(*sql.Query); ok {
		if q.With != nil || q.Limit != nil || q.Offset != nil {
			return nil, nil, no("Views containing WITH, LIMIT or OFFSET are not automatically updatable.")
		}
		query = q.Body
	}
	sel, ok := query.(*sql.Select)
	if !ok || sel.Distinct || sel.GroupBy != nil || sel.Having != nil || sel.Qualify != nil || depth > maxViewDepth {
		return nil, nil, no("Views containing DISTINCT, GROUP BY, HAVING, QUALIFY or set operations are not automatically updatable.")
	}
	if len(sel.From) != 1 {
		return nil, nil, no("Views that do not select from a single table or view are not automatically updatable.")
	}
	from, ok := sel.From[0].(*sql.Table)
	if !ok || len(from.Alias.Columns) > 0 || from.AsOf != nil || from.Sample != nil {
		return nil, nil, no("Views that do not select from a single table or view are not automatically updatable.")
	}
	table, inner, err := s.relation(snapshot, from.Name)
	if err != nil {
		return nil, nil, err
	}
	below := &sql.Through{}
	if inner != nil {
		if table, below, err = s.simpleView(snapshot, inner, depth+1); err != nil {
			return nil, nil, err
		}
	} else {
		for _, c := range table.Columns {
			below.Columns = append(below.Columns, sql.ThroughColumn{Name: c.Name, Of: c.Name})
		}
	}
	out := &sql.Through{View: sql.Name{{Name: v.Schema}, {Name: v.Name}}, Filters: below.Filters}
	for i, item := range sel.Items {
		column, ok := item.Expr.(*sql.Column)
		at := -1
		if ok {
			at = slices.IndexFunc(below.Columns, func(c sql.ThroughColumn) bool { return c.Name == column.Name.Last().Name })
		}
		if at < 0 || slices.ContainsFunc(out.Columns, func(c sql.ThroughColumn) bool { return c.Of == below.Columns[at].Of }) {
			return nil, nil, no("View columns that are not columns of their base relation, each once, are not updatable.")
		}
		c := sql.ThroughColumn{Name: column.Name.Last().Name, Of: below.Columns[at].Of}
		if item.Alias.Name != "" {
			c.Name = item.Alias.Name
		}
		if i < len(v.Columns) {
			c.Name = v.Columns[i]
		}
		out.Columns = append(out.Columns, c)
	}
	if sel.Where != nil {
		relation := from.Name.Last().Name
		if from.Alias.Name.Name != "" {
			relation = from.Alias.Name.Name
		}
		out.Filters = append(slices.Clone(out.Filters), sql.ThroughFilter{Relation: relation, Columns: below.Columns, Where: sel.Where})
	}
	return table, out, nil
}
