package engine

import (
	"context"
	"strings"
	"time"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// define runs a statement that changes definitions.
func (s *Session) define(ctx context.Context, statement sql.Statement, text string) (*Result, error) {
	snapshot, release := s.snapshot()
	defer release()
	switch t := statement.(type) {
	case *sql.CreateSchema:
		o, err := split(t.Name)
		if err != nil {
			return nil, err
		}
		return done("CREATE SCHEMA"), s.commit(ctx, &catalog.CreateSchema{Name: o.name, IfNotExists: t.IfNotExists})
	case *sql.CreateTable:
		return s.createTable(ctx, snapshot, t)
	case *sql.CreateSequence:
		return done("CREATE SEQUENCE"), s.createSequence(ctx, snapshot, t)
	case *sql.CreateType:
		return done("CREATE TYPE"), s.createType(ctx, snapshot, t)
	case *sql.AlterEnum:
		return done("ALTER TYPE"), s.alterEnum(ctx, snapshot, t)
	case *sql.AlterSequence:
		return done("ALTER SEQUENCE"), s.alterSequence(ctx, snapshot, t)
	case *sql.CreateView:
		return s.createView(ctx, snapshot, t)
	case *sql.Drop:
		return s.drop(ctx, snapshot, t)
	case *sql.Alter:
		return s.alter(ctx, t)
	case *sql.CreateIndex:
		return done("CREATE INDEX"), s.createIndex(ctx, t)
	}
	return done("COMMENT"), s.comment(ctx, snapshot, statement)
}

// createTable runs CREATE TABLE and CREATE CDC TABLE.
func (s *Session) createTable(ctx context.Context, snapshot *catalog.Snapshot, t *sql.CreateTable) (*Result, error) {
	o, err := s.newRelation(ctx, snapshot, t.Name, t.Temp)
	if err != nil {
		return nil, err
	}
	if t.Temp { // the schema for it may have been made just now
		var release func()
		snapshot, release = s.snapshot()
		defer release()
	}
	if t.As != nil {
		return s.createTableAs(ctx, snapshot, t, o)
	}
	tag := "CREATE TABLE"
	if t.CDC {
		tag = "CREATE CDC TABLE"
	}
	if _, _, err := snapshot.Relation(o.schema, o.name); err == nil && t.IfNotExists {
		return done(tag), nil
	}
	edit := &catalog.CreateTable{ID: tablet.NewTableID(), IfNotExists: t.IfNotExists, PrimaryIndexNames: identNames(t.PrimaryIndex)}
	if t, err = s.expandLikes(snapshot, t); err != nil {
		return nil, err
	}
	t, numbered, err := s.serialColumns(snapshot, t, o, edit.ID)
	if err != nil {
		return nil, err
	}
	if len(numbered) > 0 {
		if snapshot, err = snapshot.Preview(numbered...); err != nil {
			return nil, err
		}
	}
	edit.Definition, err = s.definition(ctx, snapshot, t, o, edit.ID)
	if err != nil {
		return nil, err
	}
	edits := append(s.replacing(snapshot, t, o), numbered...)
	return done(tag), s.commit(ctx, append(edits, edit)...)
}

// newRelation returns where a relation to be made goes; a temporary one to the session's own schema.
func (s *Session) newRelation(ctx context.Context, snapshot *catalog.Snapshot, name sql.Name, temp bool) (object, error) {
	if !temp {
		return s.target(snapshot, name)
	}
	o, err := split(name)
	if err != nil {
		return o, err
	}
	if o.schema != "" && o.schema != "pg_temp" && o.schema != "temp" {
		return o, sqlerr.New(sqlerr.InvalidTableDefinition, "cannot create temporary relation in non-temporary schema").
			Hintf("leave the schema out").At(name.Position())
	}
	o.schema, err = s.temporarySchema(ctx)
	return o, err
}

// replacing returns the edit that OR REPLACE needs first.
func (s *Session) replacing(snapshot *catalog.Snapshot, t *sql.CreateTable, o object) []catalog.Edit {
	if !t.OrReplace {
		return nil
	}
	old, err := snapshot.Table(o.schema, o.name)
	if err != nil {
		return nil
	}
	edits := []catalog.Edit{&catalog.DropTable{Table: old.ID}}
	for _, q := range owned(snapshot, old) {
		edits = append(edits, &catalog.DropSequence{Schema: q.Schema, Name: q.Name})
	}
	return edits
}

// definition turns the syntax of CREATE TABLE into the catalog's definition.
func (s *Session) definition(ctx context.Context, snapshot *catalog.Snapshot, t *sql.CreateTable, o object, id tablet.TableID) (catalog.Definition, error) {
	d := catalog.Definition{Schema: o.schema, Name: o.name, Kind: catalog.Managed}
	if len(t.Columns) == 0 {
		return d, sqlerr.New(sqlerr.InvalidTableDefinition, "table %q has no columns", o.name).
			Hintf("list them in parentheses, or use CREATE TABLE ... AS").At(t.Name.Position())
	}
	for i, c := range t.Columns {
		column, err := s.columnOf(c)
		if err != nil {
			return d, err
		}
		if c.Default != nil {
			if err := s.pinSequences(snapshot, c.Default); err != nil {
				return d, err
			}
			if err := s.checkDefault(ctx, column, c.Default); err != nil {
				return d, err
			}
			column.Default = sql.Text(c.Default)
		}
		column.FieldID = int32(i + 1)
		d.Columns = append(d.Columns, column)
	}
	keys, err := primaryKey(t)
	if err != nil {
		return d, err
	}
	if t.CDC {
		d.Kind = catalog.CDC
		if err := cdcOptions(&d, t); err != nil {
			return d, err
		}
	} else if len(t.Options) > 0 {
		return d, unknownOption(t.Options[0], "a table")
	}
	table := &catalog.Table{ID: id, Definition: d}
	for i, c := range t.Columns {
		if c.Generated == nil {
			continue
		}
		if t.CDC {
			return d, sqlerr.New(sqlerr.FeatureNotSupported, "column %q of a CDC table cannot be generated", c.Name.Name).
				Hintf("its rows are the source's: compute it in a view").At(c.Name.Pos)
		}
		if err := s.generate(ctx, snapshot, table, i, c.Generated); err != nil {
			return d, err
		}
	}
	m := &constraintMaker{session: s, ctx: ctx, snapshot: snapshot, table: table}
	if m.key, err = m.columns(keys, 0); err != nil {
		return d, err
	}
	table.MergeKey = m.key
	if err = m.addAll(t); err != nil {
		return d, err
	}
	for i := range t.Indexes {
		if err := s.addIndex(ctx, snapshot, table, &t.Indexes[i]); err != nil {
			return d, err
		}
	}
	return table.Definition, nil
}

func (s *Session) columnOf(c sql.ColumnDef) (tablet.Column, error) {
	column := tablet.Column{Name: c.Name.Name, Nullable: !c.NotNull, Comment: c.Comment}
	var err error
	if c.Type.Name != "" { // else the type is that of the expression that generates it
		if column.Type, err = s.typeOf(c.Type); err != nil {
			return column, err
		}
	}
	if c.Generated != nil && c.Default != nil {
		return column, sqlerr.New(sqlerr.SyntaxError, "both default and generation expression specified for column %q", c.Name.Name).
			Hintf("leave DEFAULT out: every value is computed").At(c.Name.Pos)
	}
	if c.Identity {
		column.Identity = "by default"
		if c.Always {
			column.Identity = "always"
		}
	}
	for _, k := range c.Constraints {
		switch k.Kind {
		case sql.PrimaryKey:
			column.Nullable = false
		}
	}
	if c.Default != nil {
		column.Default = sql.Text(c.Default)
	}
	return column, nil
}

func unsupportedConstraint(k sql.Constraint) error {
	kind := map[sql.ConstraintKind]string{sql.Unique: "UNIQUE", sql.Check: "CHECK", sql.ForeignKey: "FOREIGN KEY"}[k.Kind]
	return sqlerr.New(sqlerr.FeatureNotSupported, "a CDC table cannot have a %s constraint", kind).
		Hintf("its rows are the source's: let the source enforce it").At(k.Pos)
}

// primaryKey returns the columns of PRIMARY KEY. A CDC table needs one, and it must say NOT ENFORCED.
func primaryKey(t *sql.CreateTable) ([]sql.Ident, error) {
	var keys []sql.Ident
	found := 0
	add := func(k sql.Constraint, columns []sql.Ident) error {
		if k.Kind != sql.PrimaryKey {
			return nil
		}
		found++
		if t.CDC && !k.NotEnforced {
			return sqlerr.New(sqlerr.InvalidTableDefinition, "the PRIMARY KEY of a CDC table must be NOT ENFORCED").
				Hintf("the key is trusted, not checked: write PRIMARY KEY (%s) NOT ENFORCED", strings.Join(identNames(columns), ", ")).At(k.Pos)
		}
		keys = columns
		return nil
	}
	for _, c := range t.Columns {
		for _, k := range c.Constraints {
			if k.Kind == sql.PrimaryKey {
				if err := add(k, []sql.Ident{c.Name}); err != nil {
					return nil, err
				}
			}
		}
	}
	for _, k := range t.Constraints {
		if err := add(k, k.Columns); err != nil {
			return nil, err
		}
	}
	switch {
	case found > 1:
		return nil, sqlerr.New(sqlerr.InvalidTableDefinition, "multiple primary keys for table %q are not allowed", t.Name.Last().Name).
			Hintf("name all key columns in one PRIMARY KEY (...)").At(t.Name.Position())
	case found == 0 && t.CDC:
		return nil, sqlerr.New(sqlerr.InvalidTableDefinition, "a CDC table needs a merge key").
			Hintf("add PRIMARY KEY (...) NOT ENFORCED with the columns that identify a row at the source").At(t.Name.Position())
	}
	return keys, nil
}

// cdcOptions reads WITH (merge_mode = ..., cascade_interval = ...).
func cdcOptions(d *catalog.Definition, t *sql.CreateTable) error {
	for _, o := range t.Options {
		value, err := optionText(o)
		if err != nil {
			return err
		}
		switch strings.ToLower(o.Name.Name) {
		case "merge_mode":
			switch mode := catalog.MergeMode(strings.ToLower(value)); mode {
			case catalog.MergeRead, catalog.MergeWrite:
				d.MergeMode = mode
			default:
				return sqlerr.New(sqlerr.InvalidParameterValue, "merge_mode %q is not known", value).
					Hintf("it is 'read' (the default) or 'write'").At(o.Name.Pos)
			}
		case "cascade_interval":
			interval, err := ParseDuration(value)
			if err != nil || interval < time.Millisecond {
				return sqlerr.New(sqlerr.InvalidParameterValue, "cascade_interval %q is not a length of time", value).
					Hintf("write, for instance, cascade_interval = '60 seconds'").At(o.Name.Pos)
			}
			d.CascadeInterval = interval
		default:
			return unknownOption(o, "a CDC table")
		}
	}
	return nil
}

func unknownOption(o sql.Option, of string) error {
	err := sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized parameter %q of %s", o.Name.Name, of).At(o.Name.Pos)
	if near := sqlerr.Nearest(o.Name.Name, []string{"merge_mode", "cascade_interval"}); near != "" {
		return err.Hintf("did you mean %s?", near)
	}
	return err.Hintf("a CDC table has merge_mode and cascade_interval")
}

// optionText returns an option's value as text.
func optionText(o sql.Option) (string, error) {
	switch v := o.Value.(type) {
	case *sql.String:
		return v.Value, nil
	case *sql.Number:
		return v.Text, nil
	case *sql.Bool:
		if v.Value {
			return "true", nil
		}
		return "false", nil
	}
	return "", sqlerr.New(sqlerr.InvalidParameterValue, "parameter %q needs a value", o.Name.Name).
		Hintf("write %s = '...'", o.Name.Name).At(o.Name.Pos)
}

func identNames(idents []sql.Ident) []string {
	var names []string
	for _, i := range idents {
		names = append(names, i.Name)
	}
	return names
}

// temporarySchema returns the session's schema of temporary tables, made at first use.
func (s *Session) temporarySchema(ctx context.Context) (string, error) {
	if s.temp != "" {
		return s.temp, nil
	}
	name := "pg_temp_" + tablet.NewID().String()
	if s.engine.options.ReadOnly {
		return "", readOnlyEngine()
	}
	if _, err := s.engine.catalog.Commit(ctx, &catalog.CreateSchema{Name: name}); err != nil {
		return "", err
	}
	if s.tx != nil && len(s.tx.edits) == 0 { // the schema must be in what the transaction sees
		if s.tx.pin != nil {
			s.tx.pin.Release()
		}
		s.tx.pin = nil
	}
	s.temp = name
	return name, nil
}

func (s *Session) dropTemporary() {
	if s.temp == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if _, err := s.engine.catalog.Commit(ctx, &catalog.DropSchema{Name: s.temp, IfExists: true, Cascade: true}); err != nil {
		s.engine.log.Warn("dropping a session's temporary tables", "schema", s.temp, "error", err)
	}
	s.temp = ""
}

// schemaOf returns a table's columns as queries see them.
func schemaOf(t *catalog.Table) vec.Schema {
	out := make(vec.Schema, len(t.Columns))
	for i, c := range t.Columns {
		out[i] = vec.Column{Name: c.Name, Type: c.Type, Nullable: c.Nullable}
	}
	return out
}
