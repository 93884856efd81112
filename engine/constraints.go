package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// constraintMaker turns the constraints that a statement writes into the catalog's.
type constraintMaker struct {
	session  *Session
	ctx      context.Context
	snapshot *catalog.Snapshot
	table    *catalog.Table // as it will be; the constraints made are added to it
	key      []int32        // field ids of its PRIMARY KEY
}

// addAll makes the constraints of CREATE TABLE, without its PRIMARY KEY.
func (m *constraintMaker) addAll(t *sql.CreateTable) error {
	for _, c := range t.Columns {
		for _, k := range c.Constraints {
			if k.Kind != sql.Check {
				k.Columns = []sql.Ident{c.Name}
			}
			if err := m.add(k); err != nil {
				return err
			}
		}
		if k, ok := rangeCheck(c.Name, c.Type); ok && m.table.Kind != catalog.CDC {
			if err := m.add(k); err != nil {
				return err
			}
		}
	}
	for _, k := range t.Constraints {
		if err := m.add(k); err != nil {
			return err
		}
	}
	return nil
}

// add makes one constraint.
func (m *constraintMaker) add(k sql.Constraint) error {
	if m.table.Kind == catalog.CDC && k.Kind != sql.PrimaryKey {
		return unsupportedConstraint(k)
	}
	c := catalog.Constraint{Name: k.Name.Name}
	var err error
	switch k.Kind {
	case sql.PrimaryKey:
		if c.Name != "" {
			m.table.KeyName = c.Name
		}
		return nil
	case sql.Unique:
		c.Kind = catalog.UniqueKey
		c.Columns, err = m.columns(k.Columns, k.Pos)
	case sql.Check:
		c.Kind = catalog.CheckRows
		c.Expr, c.Columns, err = m.session.rowExpr(m.ctx, m.snapshot, m.table, k.Check, "CHECK constraint", true)
	case sql.ForeignKey:
		c.Kind = catalog.ForeignKey
		c, err = m.foreignKey(c, k)
	}
	if err != nil {
		return sqlerr.From(err).At(k.Pos)
	}
	if c.Name == "" {
		c.Name = m.name(c)
	} else if m.taken(c.Name) {
		return sqlerr.New(sqlerr.DuplicateObject, "constraint %q for relation %q already exists", c.Name, m.table.Name).
			Hintf("choose another name").At(k.Name.Pos)
	}
	m.table.Constraints = append(m.table.Constraints, c)
	return nil
}

func (m *constraintMaker) taken(name string) bool {
	_, taken := m.table.Constraint(name)
	return taken || len(m.key) > 0 && name == m.table.KeyConstraint()
}

// name gives a constraint the name that PostgreSQL would.
func (m *constraintMaker) name(c catalog.Constraint) string {
	names := m.table.ColumnNames(c.Columns)
	suffix := map[catalog.ConstraintKind]string{catalog.UniqueKey: "key", catalog.PrimaryKey: "pkey", catalog.CheckRows: "check", catalog.ForeignKey: "fkey"}[c.Kind]
	if c.Kind == catalog.PrimaryKey || c.Kind == catalog.CheckRows && len(names) > 1 {
		names = nil
	}
	parts := append(append([]string{m.table.Name}, names...), suffix)
	return catalog.FreeName(strings.Join(parts, "_"), m.taken)
}

func (m *constraintMaker) columns(names []sql.Ident, pos int) ([]int32, error) {
	var ids []int32
	for _, name := range names {
		c, ok := m.table.Column(name.Name)
		if !ok {
			return nil, sqlerr.New(sqlerr.UndefinedColumn, "column %q named in key does not exist", name.Name).
				Hintf("name columns of table %q", m.table.Name).At(name.Pos)
		}
		if slices.Contains(ids, c.FieldID) {
			return nil, sqlerr.New(sqlerr.DuplicateColumn, "column %q appears twice in the constraint", name.Name).
				Hintf("name it once").At(name.Pos)
		}
		ids = append(ids, c.FieldID)
	}
	return ids, nil
}

// foreignKey finds what REFERENCES names: a key of the other table.
func (m *constraintMaker) foreignKey(c catalog.Constraint, k sql.Constraint) (catalog.Constraint, error) {
	var err error
	c.OnDelete, c.OnUpdate = k.OnDelete, k.OnUpdate
	if c.Columns, err = m.columns(k.Columns, k.Pos); err != nil {
		return c, err
	}
	parent := m.table
	if o, err := split(k.References); err != nil || o.name != m.table.Name || o.schema != "" && known(m.snapshot, o.schema) != m.table.Schema {
		if parent, err = m.session.table(m.snapshot, k.References); err != nil {
			return c, err
		}
		if parent.Kind == catalog.CDC {
			return c, sqlerr.New(sqlerr.WrongObjectType, "a FOREIGN KEY cannot refer to CDC table %q", parent.Name).
				Hintf("its rows change with the source, which knows nothing of this table").At(k.References.Position())
		}
	}
	key := parent.MergeKey
	if parent == m.table {
		key = m.key
	}
	if len(k.RefColumns) == 0 {
		if c.RefColumns = key; len(key) == 0 {
			if at := slices.IndexFunc(parent.Constraints, func(p catalog.Constraint) bool { return p.Kind == catalog.PrimaryKey }); at >= 0 {
				c.RefColumns = parent.Constraints[at].Columns
			}
		}
		if len(c.RefColumns) == 0 {
			return c, sqlerr.New(sqlerr.UndefinedObject, "there is no primary key for referenced table %q", parent.Name).
				Hintf("name the columns that are referred to").At(k.References.Position())
		}
	} else if c.RefColumns, err = (&constraintMaker{table: parent}).columns(k.RefColumns, k.Pos); err != nil {
		return c, err
	}
	c.References = parent.ID
	if len(c.Columns) != len(c.RefColumns) {
		return c, sqlerr.New(sqlerr.InvalidForeignKey, "number of referencing and referenced columns for foreign key disagree").
			Hintf("name as many columns on both sides")
	}
	if !isKey(parent, key, c.RefColumns) {
		return c, sqlerr.New(sqlerr.InvalidForeignKey, "there is no unique constraint matching given keys for referenced table %q", parent.Name).
			Hintf("refer to its PRIMARY KEY, or to columns with a UNIQUE constraint").At(k.References.Position())
	}
	return c, m.comparable(c, parent)
}

// comparable refuses a reference between columns of types that do not compare.
func (m *constraintMaker) comparable(c catalog.Constraint, parent *catalog.Table) error {
	for i, id := range c.Columns {
		from, _ := m.table.ColumnByID(id)
		to, _ := parent.ColumnByID(c.RefColumns[i])
		names := map[string]plan.Relation{
			"a": &plan.Virtual{Name: "a", Source: &memoryRows{schema: vec.Schema{{Name: "x", Type: from.Type, Nullable: true}}}},
			"b": &plan.Virtual{Name: "b", Source: &memoryRows{schema: vec.Schema{{Name: "y", Type: to.Type, Nullable: true}}}},
		}
		if _, err := m.session.bindOver(m.ctx, m.snapshot, "SELECT a.x = b.y FROM a, b", names); err != nil {
			return sqlerr.New(sqlerr.DatatypeMismatch, "foreign key constraint cannot be implemented: key columns %q and %q are of incompatible types: %s and %s",
				from.Name, to.Name, from.Type, to.Type).Hintf("give both columns one type")
		}
	}
	return nil
}

// isKey reports whether columns are, in any order, those of a table's key or of a UNIQUE constraint or index.
func isKey(t *catalog.Table, key, columns []int32) bool {
	same := func(ids []int32) bool {
		return len(ids) == len(columns) && !slices.ContainsFunc(ids, func(id int32) bool { return !slices.Contains(columns, id) })
	}
	if same(key) {
		return true
	}
	for _, u := range uniqueKeys(t) {
		if u.plain && u.where == "" && same(u.columns) {
			return true
		}
	}
	return false
}

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

// addConstraint runs ALTER TABLE ... ADD constraint: the rows there are must keep it.
func (s *Session) addConstraint(ctx context.Context, t *catalog.Table, k sql.Constraint) error {
	snapshot, release := s.snapshot()
	defer release()
	altered := *t
	altered.Constraints = slices.Clone(t.Constraints)
	m := &constraintMaker{session: s, ctx: ctx, snapshot: snapshot, table: &altered, key: t.MergeKey}
	if k.Kind == sql.PrimaryKey {
		return s.addPrimaryKey(ctx, t, m, k)
	}
	if err := m.add(k); err != nil {
		return err
	}
	if err := s.checkStored(ctx, snapshot, &altered, altered.Constraints[len(t.Constraints):], nil); err != nil {
		return err
	}
	return s.putConstraints(ctx, t, altered.KeyName, altered.Constraints, t.Indexes)
}

func (s *Session) putConstraints(ctx context.Context, t *catalog.Table, keyName string, constraints []catalog.Constraint, indexes []catalog.Index) error {
	return s.commit(ctx, &catalog.SetConstraints{Table: t.ID, FromVersion: t.SchemaVersion, KeyName: keyName,
		Constraints: constraints, Indexes: indexes, RowsAsOf: s.rowsAsOf(t)})
}

// addPrimaryKey adds a key to a table that has none: a constraint beside the columns' NOT NULL.
func (s *Session) addPrimaryKey(ctx context.Context, t *catalog.Table, m *constraintMaker, k sql.Constraint) error {
	if t.Kind == catalog.CDC || len(t.MergeKey) > 0 || slices.ContainsFunc(t.Constraints, func(c catalog.Constraint) bool { return c.Kind == catalog.PrimaryKey }) {
		return sqlerr.New(sqlerr.InvalidTableDefinition, "multiple primary keys for table %q are not allowed", t.Name).
			Hintf("it has one: add a UNIQUE constraint").At(k.Pos)
	}
	columns, err := m.columns(k.Columns, k.Pos)
	if err != nil {
		return err
	}
	c := catalog.Constraint{Name: k.Name.Name, Kind: catalog.PrimaryKey, Columns: columns}
	if c.Name == "" {
		c.Name = m.name(c)
	}
	snapshot, release := s.snapshot()
	defer release()
	if err := s.checkStored(ctx, snapshot, t, []catalog.Constraint{c}, nil); err != nil {
		return err
	}
	if err := s.putConstraints(ctx, t, t.KeyName, append(slices.Clone(t.Constraints), c), t.Indexes); err != nil {
		return err
	}
	for _, id := range columns {
		now, err := s.tableNow(t.ID)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(now.Columns, func(c tablet.Column) bool { return c.FieldID == id })
		if now.Columns[at].Nullable {
			if err := s.setNotNull(ctx, now, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// dropConstraint runs ALTER TABLE ... DROP CONSTRAINT.
func (s *Session) dropConstraint(ctx context.Context, t *catalog.Table, action sql.AlterAction) error {
	at := slices.IndexFunc(t.Constraints, func(c catalog.Constraint) bool { return c.Name == action.Column.Name })
	switch {
	case at >= 0:
	case len(t.MergeKey) > 0 && action.Column.Name == t.KeyConstraint():
		if t.Kind == catalog.CDC {
			return sqlerr.New(sqlerr.FeatureNotSupported, "the key of CDC table %q cannot be dropped", t.Name).
				Hintf("it says which row a change is of").At(action.Column.Pos)
		}
		return s.dropKey(ctx, t, action.Cascade)
	case action.IfExists:
		return nil
	default:
		return sqlerr.New(sqlerr.UndefinedObject, "constraint %q of relation %q does not exist", action.Column.Name, t.Name).
			Hintf("information_schema.table_constraints lists those that do").At(action.Column.Pos)
	}
	if c := t.Constraints[at]; c.Kind == catalog.UniqueKey || c.Kind == catalog.PrimaryKey {
		if err := s.releaseKey(ctx, t, c.Name, c.Columns, action.Cascade); err != nil {
			return err
		}
	}
	now, err := s.tableNow(t.ID) // its own foreign keys may have gone
	if err != nil {
		return err
	}
	kept := slices.DeleteFunc(slices.Clone(now.Constraints), func(c catalog.Constraint) bool { return c.Name == action.Column.Name })
	return s.putConstraints(ctx, now, now.KeyName, kept, now.Indexes)
}

// releaseKey drops the foreign keys that refer to columns, or refuses.
func (s *Session) releaseKey(ctx context.Context, t *catalog.Table, name string, columns []int32, cascade bool) error {
	for _, id := range t.ReferencedBy {
		by, err := s.tableNow(id)
		if err != nil {
			return err
		}
		kept := slices.DeleteFunc(slices.Clone(by.Constraints), func(c catalog.Constraint) bool {
			return c.Kind == catalog.ForeignKey && c.References == t.ID && !slices.ContainsFunc(c.RefColumns, func(id int32) bool { return !slices.Contains(columns, id) })
		})
		if len(kept) == len(by.Constraints) {
			continue
		}
		if !cascade {
			return sqlerr.New(sqlerr.DependentObjects, "cannot drop constraint %s on table %s because other objects depend on it", name, t.Name).
				Detailf("a foreign key of table %s depends on it", by.Name).Hintf("use DROP ... CASCADE to drop the dependent objects too")
		}
		if err := s.putConstraints(ctx, by, by.KeyName, kept, by.Indexes); err != nil {
			return err
		}
	}
	return nil
}
