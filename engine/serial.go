package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
)

// serialTypes are the types of columns that are numbered by a sequence of their own.
var serialTypes = map[string]string{
	"smallserial": "smallint", "serial2": "smallint", "serial": "integer", "serial4": "integer", "bigserial": "bigint", "serial8": "bigint",
}

// serialColumns returns CREATE TABLE with columns of a serial type and identity columns as what they stand for: a
// number by default from a sequence that goes with the table. The edits make the sequences.
func (s *Session) serialColumns(snapshot *catalog.Snapshot, t *sql.CreateTable, o object, id tablet.TableID) (*sql.CreateTable, []catalog.Edit, error) {
	if t.CDC || !slices.ContainsFunc(t.Columns, isSerial) {
		return t, nil, nil
	}
	out := *t
	out.Columns = slices.Clone(t.Columns)
	var edits []catalog.Edit
	for i, c := range out.Columns {
		if !isSerial(c) {
			continue
		}
		edit, err := numberColumn(snapshot, &out.Columns[i], o, id)
		if err != nil {
			return nil, nil, err
		}
		edits = append(edits, edit)
	}
	return &out, edits, nil
}

func isSerial(c sql.ColumnDef) bool { return c.Identity || serialTypes[c.Type.Name] != "" }

// addedSerial is serialColumns for a column that ALTER TABLE adds.
func (s *Session) addedSerial(t *catalog.Table, c sql.ColumnDef) (sql.ColumnDef, catalog.Edit, error) {
	if !isSerial(c) {
		return c, nil, nil
	}
	snapshot, release := s.snapshot()
	defer release()
	edit, err := numberColumn(snapshot, &c, object{t.Schema, t.Name}, t.ID)
	return c, edit, err
}

// numberColumn gives a column the default and the type that its serial type or IDENTITY stands for.
func numberColumn(snapshot *catalog.Snapshot, c *sql.ColumnDef, o object, id tablet.TableID) (catalog.Edit, error) {
	if c.Default != nil {
		return nil, sqlerr.New(sqlerr.SyntaxError, "multiple default values specified for column %q of table %q", c.Name.Name, o.name).
			Hintf("leave DEFAULT out: the column has its numbers").At(c.Name.Pos)
	}
	typ := serialTypes[c.Type.Name]
	if typ == "" {
		typ = c.Type.Name
	} else {
		c.Type = sql.TypeName{Name: typ, Pos: c.Type.Pos}
	}
	name := catalog.FreeName(o.name+"_"+c.Name.Name+"_seq", func(name string) bool {
		_, _, err := snapshot.Relation(o.schema, name)
		return err == nil || sqlerr.Code(err) == sqlerr.WrongObjectType
	})
	q := catalog.Sequence{ID: tablet.NewID(), Schema: o.schema, Name: name, Type: "bigint", Increment: 1, Owner: id}
	options := c.Sequence
	if options.Type == nil {
		options.Type = &sql.TypeName{Name: typ}
	}
	if err := sequenceOptions(&q, options, true); err != nil {
		return nil, sqlerr.From(err).At(c.Name.Pos)
	}
	q.Last = q.Start
	c.NotNull = true
	c.Default = &sql.FuncCall{Name: sql.Name{{Name: "nextval"}}, Args: []sql.Arg{{Value: &sql.String{Value: sequenceName(&q)}}}}
	return &catalog.CreateSequence{Sequence: q}, nil
}

// owned returns the sequences that go with a table.
func owned(snapshot *catalog.Snapshot, t *catalog.Table) []*catalog.Sequence {
	var out []*catalog.Sequence
	for _, c := range t.Columns {
		if !strings.Contains(c.Default, "val(") {
			continue
		}
		e, err := sql.ParseExpr(c.Default)
		if err != nil {
			continue
		}
		_ = sequenceCalls(e, func(text *sql.String) error {
			name, err := parseName(text.Value)
			if err != nil {
				return nil
			}
			if q, err := findSequence(snapshot, nil, name); err == nil && q.Owner == t.ID {
				out = append(out, q)
			}
			return nil
		})
	}
	return out
}

// restart returns the edits that let the sequences of a table begin anew.
func (s *Session) restart(ctx context.Context, snapshot *catalog.Snapshot, t *catalog.Table) ([]catalog.Edit, error) {
	var edits []catalog.Edit
	for _, q := range owned(snapshot, t) {
		at, err := s.engine.sequences.settle(ctx, q)
		if err != nil {
			return nil, err
		}
		anew := *at
		anew.Last, anew.Called = anew.Start, false
		edits = append(edits, &catalog.AlterSequence{Sequence: anew})
	}
	return edits, nil
}
