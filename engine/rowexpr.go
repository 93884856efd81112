package engine

import (
	"context"
	"slices"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// rowExpr checks an expression over the columns of one row and returns its text with bare names, and the columns it
// mentions.
func (s *Session) rowExpr(ctx context.Context, snapshot *catalog.Snapshot, t *catalog.Table, e sql.Expr, what string, condition bool) (text string, mentioned []int32, err error) {
	if err := s.plainExpr(e, what); err != nil {
		return "", nil, err
	}
	var missing *sqlerr.Error
	eachColumn(e, func(c *sql.Column) {
		if len(c.Name) > 1 && c.Name[0].Name == t.Name {
			c.Name = c.Name[1:]
		}
		if column, ok := t.Column(c.Name[0].Name); !ok {
			if missing == nil {
				missing = sqlerr.From(missingColumn(t, c.Name[0]))
			}
		} else if !slices.Contains(mentioned, column.FieldID) {
			mentioned = append(mentioned, column.FieldID)
		}
	})
	if missing != nil {
		return "", nil, missing
	}
	text = sql.Text(e)
	query := "SELECT (" + text + ") FROM t"
	if condition {
		query = "SELECT 1 FROM t WHERE " + text
	}
	rows := &memoryRows{schema: schemaOf(t)}
	if _, err := s.bindOver(ctx, snapshot, query, map[string]plan.Relation{"t": &plan.Virtual{Name: "t", Source: rows}}); err != nil {
		bound := *sqlerr.From(err)
		bound.Pos = e.Position()
		return "", nil, &bound
	}
	return text, mentioned, nil
}

// plainExpr refuses subqueries, aggregates, windows and parameters in an expression of one row.
func (s *Session) plainExpr(e sql.Expr, what string) error {
	var fault error
	refuse := func(code string, n sql.Node, kind string) {
		if fault == nil {
			fault = sqlerr.New(code, "cannot use %s in %s", kind, what).Hintf("it looks at one row alone").At(n.Position())
		}
	}
	sql.Walk(e, func(n sql.Node) bool {
		switch n := n.(type) {
		case *sql.Subquery, *sql.Exists, *sql.InQuery, *sql.ArrayQuery:
			refuse(sqlerr.FeatureNotSupported, n, "subquery")
		case *sql.Quantified:
			if n.Query != nil {
				refuse(sqlerr.FeatureNotSupported, n, "subquery")
			}
		case *sql.Param:
			refuse(sqlerr.UndefinedParameter, n, "a parameter")
		case *sql.FuncCall:
			name := n.Name.Last().Name
			switch {
			case n.Over != nil:
				refuse(sqlerr.Windowing, n, "window function")
			case s.engine.functions.Scalar(name) == nil && s.engine.functions.Aggregate(name) != nil:
				refuse(sqlerr.Grouping, n, "aggregate function")
			}
		}
		return fault == nil
	})
	return fault
}

// eachColumn calls fn for the references to columns in an expression.
func eachColumn(e sql.Expr, fn func(*sql.Column)) {
	sql.Walk(e, func(n sql.Node) bool {
		if c, ok := n.(*sql.Column); ok {
			fn(c)
		}
		return true
	})
}

// quoted returns a name as it is written in SQL, in quotes where it needs them.
func quoted(name string) string {
	return sql.Text(&sql.Column{Name: sql.Name{{Name: name, Quoted: true}}})
}

// qualified returns the text of an expression over bare names with alias before each of them.
func qualified(text, alias string) (string, error) {
	e, err := sql.ParseExpr(text)
	if err != nil {
		return "", sqlerr.New(sqlerr.DataCorrupted, "the expression %q of a table's definition cannot be read: %w", text, err).
			Hintf("drop the constraint or index and create it anew")
	}
	eachColumn(e, func(c *sql.Column) { c.Name = append(sql.Name{{Name: alias}}, c.Name...) })
	return sql.Text(e), nil
}

// renamed returns the text of an expression in which a column has another name.
func renamed(text, from, to string) (string, error) {
	e, err := sql.ParseExpr(text)
	if err != nil {
		return "", sqlerr.New(sqlerr.DataCorrupted, "the expression %q of a table's definition cannot be read: %w", text, err)
	}
	eachColumn(e, func(c *sql.Column) {
		if c.Name[0].Name == from {
			c.Name = slices.Clone(c.Name)
			c.Name[0] = sql.Ident{Name: to}
		}
	})
	return sql.Text(e), nil
}

// namedRelations is a catalog in which some bare names stand for relations of its own.
type namedRelations struct {
	plan.Catalog
	names map[string]plan.Relation
}

// Relation implements plan.Catalog.
func (n namedRelations) Relation(schema, name string, asOf *plan.AsOf) (plan.Relation, error) {
	if r, ok := n.names[name]; ok && schema == "" {
		return r, nil
	}
	return n.Catalog.Relation(schema, name, asOf)
}

// bindOver binds the text of a query whose bare names stand for relations of the caller.
func (s *Session) bindOver(ctx context.Context, snapshot *catalog.Snapshot, text string, names map[string]plan.Relation) (*plan.Query, error) {
	statement, err := sql.ParseOne(text)
	if err != nil {
		return nil, err
	}
	query, ok := statement.(sql.QueryExpr)
	if !ok {
		return nil, sqlerr.New(sqlerr.Internal, "%q is not a query", text)
	}
	relations := s.relations(ctx, snapshot)
	defer relations.release()
	return plan.Bind(ctx, query, namedRelations{relations, names}, plan.Options{})
}

// firstRow runs the text of a query and returns its first row as a batch, nil when it has none.
func (s *Session) firstRow(ctx context.Context, snapshot *catalog.Snapshot, text string, names map[string]plan.Relation) (*vec.Batch, error) {
	bound, err := s.bindOver(ctx, snapshot, text+" LIMIT 1", names)
	if err != nil {
		return nil, err
	}
	var first *vec.Batch
	err = s.each(ctx, bound, nil, func(b *vec.Batch) error {
		if first == nil && b.N > 0 {
			first = b
		}
		return nil
	})
	return first, err
}
