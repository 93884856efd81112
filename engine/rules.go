package engine

import (
	"context"
	"slices"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablestore"
	"github.com/tidemarkdb/tidemark/vec"
)

// uniqueKey is what no two rows of a table may share: of a UNIQUE constraint or a unique index.
type uniqueKey struct {
	name    string
	exprs   []string // over the columns' bare names
	columns []int32  // those that exprs and where mention
	plain   bool     // exprs are columns, in the order of columns
	where   string   // "" or which rows count
}

func uniqueKeys(t *catalog.Table) []uniqueKey {
	var out []uniqueKey
	for _, c := range t.Constraints {
		if c.Kind == catalog.UniqueKey || c.Kind == catalog.PrimaryKey {
			u := uniqueKey{name: c.Name, columns: c.Columns, plain: true}
			for _, name := range t.ColumnNames(c.Columns) {
				u.exprs = append(u.exprs, quoted(name))
			}
			out = append(out, u)
		}
	}
	for _, i := range t.Indexes {
		if i.Unique {
			plain := len(i.Columns) == len(i.Exprs) && i.Where == ""
			for at, name := range t.ColumnNames(i.Columns) {
				plain = plain && i.Exprs[at] == quoted(name)
			}
			out = append(out, uniqueKey{i.Name, i.Exprs, i.Columns, plain, i.Where})
		}
	}
	return out
}

// conditions returns the expressions with an alias before their columns, and the WHERE of the key or "".
func (u uniqueKey) over(alias string) (exprs []string, where string, err error) {
	for _, e := range u.exprs {
		text, err := qualified(e, alias)
		if err != nil {
			return nil, "", err
		}
		exprs = append(exprs, text)
	}
	if u.where != "" {
		where, err = qualified(u.where, alias)
	}
	return exprs, where, err
}

// rules hold what the rows that one statement changes must keep, besides NOT NULL and the PRIMARY KEY: CHECK holds for
// each row as it comes, the others for the table as the statement leaves it.
type rules struct {
	session  *Session
	table    *catalog.Table
	checks   []catalog.Constraint
	uniques  []uniqueKey
	parents  []catalog.Constraint // foreign keys of the table
	children []childKey           // foreign keys that refer to it and refuse some change of it
	acting   []childKey           // foreign keys that refer to it and change their rows with it

	places []int        // of the columns that uniques and parents need of rows added
	rows   []*vec.Batch // these columns
}

// childKey is a foreign key of another table, or of the same, that refers to the one being changed.
type childKey struct {
	table      *catalog.Table
	constraint catalog.Constraint
}

// newRules returns the rules of a table that a statement may break which sets the columns that sets names; nil when
// there are none. A statement that adds rows sets all columns; removes says that rows or their keys may go.
func (s *Session) newRules(snapshot *catalog.Snapshot, t *catalog.Table, sets func(id int32) bool, removes bool) *rules {
	r := &rules{session: s, table: t}
	any := func(ids []int32) bool { return slices.ContainsFunc(ids, sets) }
	var needed []int32
	for _, c := range t.Constraints {
		switch {
		case c.Kind == catalog.CheckRows && (len(c.Columns) == 0 || any(c.Columns)):
			r.checks = append(r.checks, c)
		case c.Kind == catalog.ForeignKey && any(c.Columns):
			r.parents, needed = append(r.parents, c), append(needed, c.Columns...)
		}
	}
	for _, u := range uniqueKeys(t) {
		if any(u.columns) {
			r.uniques, needed = append(r.uniques, u), append(needed, u.columns...)
		}
	}
	for _, id := range t.ReferencedBy {
		child, ok := snapshot.TableByID(id)
		if !ok || !removes {
			continue
		}
		for _, c := range child.Constraints {
			if c.Kind == catalog.ForeignKey && c.References == t.ID && any(c.RefColumns) {
				if acts(c) {
					r.acting = append(r.acting, childKey{child, c})
				}
				if !c.ActsOnDelete() || !c.ActsOnUpdate() {
					r.children = append(r.children, childKey{child, c})
				}
			}
		}
	}
	if len(r.checks)+len(r.uniques)+len(r.parents)+len(r.children)+len(r.acting) == 0 {
		return nil
	}
	slices.Sort(needed)
	r.places = tablestore.Places(t, slices.Compact(needed))
	return r
}

// check checks rows of the table's columns, and perhaps hidden ones behind them, against CHECK.
func (r *rules) check(ctx context.Context, b *vec.Batch) error {
	if len(r.checks) > 0 {
		snapshot, release := r.session.snapshot()
		defer release()
		rows := &memoryRows{schema: schemaOf(r.table), batches: []*vec.Batch{vec.NewBatch(b.N, b.Cols[:len(r.table.Columns)]...)}}
		names := map[string]plan.Relation{"t": &plan.Virtual{Name: "t", Source: rows}}
		for _, c := range r.checks {
			row, err := r.session.firstRow(ctx, snapshot, "SELECT * FROM t WHERE NOT ("+c.Expr+")", names)
			if err != nil {
				return err
			}
			if row != nil {
				return sqlerr.New(sqlerr.CheckViolation, "new row for relation %q violates check constraint %q", r.table.Name, c.Name).
					Detailf("Failing row contains %s.", rowText(row, 0)).Hintf("the constraint is CHECK (%s)", c.Expr)
			}
		}
	}
	return nil
}

// add checks rows that the statement adds and keeps what is needed of them.
func (r *rules) add(ctx context.Context, b *vec.Batch) error {
	if err := r.check(ctx, b); err != nil {
		return err
	}
	if len(r.places) > 0 {
		kept := vec.NewBatch(b.N)
		for _, p := range r.places {
			kept.Cols = append(kept.Cols, b.Cols[p])
		}
		r.rows = append(r.rows, kept)
	}
	return nil
}

// verify checks the table as an edit leaves it. It returns the edits that keep what it found out true until the commit.
func (r *rules) verify(ctx context.Context, c *changes, snapshot *catalog.Snapshot, edit *catalog.Modify) ([]catalog.Edit, error) {
	if len(r.uniques)+len(r.parents)+len(r.children)+len(r.acting) == 0 {
		return nil, nil
	}
	after, err := snapshot.Preview(edit)
	if err != nil {
		return nil, err
	}
	now, ok := after.TableByID(r.table.ID)
	if !ok {
		return nil, sqlerr.New(sqlerr.Internal, "table %q is missing", r.table.Name)
	}
	v := &verifier{rules: r, ctx: ctx, snapshot: after, names: map[string]plan.Relation{"t": r.session.engine.planTable(now)}}
	if len(r.rows) > 0 {
		v.names["n"] = &plan.Virtual{Name: "n", Source: r.added()}
		for _, u := range r.uniques {
			if err := v.unique(u); err != nil {
				return nil, err
			}
		}
		for _, p := range r.parents {
			if err := v.parent(p); err != nil {
				return nil, err
			}
		}
	}
	if len(r.children) > 0 {
		if err := v.removed(c); err != nil {
			return nil, err
		}
	}
	for _, k := range r.acting { // rows that come to refer to the old keys meanwhile would not be seen
		if child, ok := after.TableByID(k.table.ID); ok {
			v.expectRows(child)
		}
	}
	return v.expect, nil
}

// added are the rows kept, as a source of queries.
func (r *rules) added() *memoryRows {
	all := schemaOf(r.table)
	rows := &memoryRows{batches: r.rows}
	for _, p := range r.places {
		rows.schema = append(rows.schema, all[p])
	}
	return rows
}
