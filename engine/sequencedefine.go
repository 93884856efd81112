package engine

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
)

// createSequence runs CREATE SEQUENCE.
func (s *Session) createSequence(ctx context.Context, snapshot *catalog.Snapshot, t *sql.CreateSequence) error {
	o, err := s.newRelation(ctx, snapshot, t.Name, t.Temp)
	if err != nil {
		return err
	}
	q := catalog.Sequence{ID: tablet.NewID(), Schema: o.schema, Name: o.name, Type: "bigint", Increment: 1}
	if err := sequenceOptions(&q, t.Options, true); err != nil {
		return sqlerr.From(err).At(t.Pos)
	}
	if q.Last = q.Start; t.Options.OwnedBy != nil {
		if q.Owner, err = s.sequenceOwner(snapshot, t.Options.OwnedBy); err != nil {
			return err
		}
	}
	return s.commit(ctx, &catalog.CreateSequence{Sequence: q, IfNotExists: t.IfNotExists, OrReplace: t.OrReplace})
}

// sequenceOwner returns the table of OWNED BY table.column.
func (s *Session) sequenceOwner(snapshot *catalog.Snapshot, n sql.Name) (tablet.TableID, error) {
	if len(n) < 2 {
		return 0, sqlerr.New(sqlerr.SyntaxError, "invalid OWNED BY option").Hintf("specify OWNED BY table.column or OWNED BY NONE").At(n.Position())
	}
	t, err := s.table(snapshot, n[:len(n)-1])
	if err != nil {
		return 0, err
	}
	if _, ok := t.Column(n.Last().Name); !ok {
		return 0, missingColumn(t, n.Last())
	}
	return t.ID, nil
}

// sequenceOptions applies what a statement says to a sequence.
func sequenceOptions(q *catalog.Sequence, o sql.SequenceOptions, fresh bool) error {
	limits := map[string][2]int64{"smallint": {math.MinInt16, math.MaxInt16}, "integer": {math.MinInt32, math.MaxInt32}, "bigint": {math.MinInt64, math.MaxInt64}}
	if o.Type != nil {
		name := map[string]string{"smallint": "smallint", "int2": "smallint", "integer": "integer", "int": "integer", "int4": "integer", "bigint": "bigint", "int8": "bigint"}[o.Type.Name]
		if name == "" {
			return sqlerr.New(sqlerr.InvalidParameterValue, "sequence type must be smallint, integer, or bigint").Hintf("use BIGINT")
		}
		q.Type = name
	}
	limit := limits[q.Type]
	if o.Increment != nil {
		q.Increment = *o.Increment
	}
	retyped := !fresh && o.Type != nil
	if o.Min != nil {
		q.Min = *o.Min
	} else if fresh || o.NoMin || retyped {
		if q.Min = 1; q.Increment < 0 {
			q.Min = limit[0]
		}
	}
	if o.Max != nil {
		q.Max = *o.Max
	} else if fresh || o.NoMax || retyped {
		if q.Max = limit[1]; q.Increment < 0 {
			q.Max = -1
		}
	}
	if q.Min < limit[0] || q.Max > limit[1] {
		return sqlerr.New(sqlerr.InvalidParameterValue, "MINVALUE (%d) or MAXVALUE (%d) is out of range for sequence data type %s", q.Min, q.Max, q.Type).
			Hintf("use AS BIGINT, or a narrower range")
	}
	if o.Cycle != nil {
		q.Cycle = *o.Cycle
	}
	switch {
	case o.Start != nil:
		q.Start = *o.Start
	case fresh && q.Increment > 0:
		q.Start = q.Min
	case fresh:
		q.Start = q.Max
	}
	if fresh {
		return nil
	}
	if o.Restart {
		if q.Last, q.Called = q.Start, false; o.RestartAt != nil {
			q.Last = *o.RestartAt
		}
	}
	if q.Last < q.Min || q.Last > q.Max {
		return sqlerr.New(sqlerr.InvalidParameterValue, "RESTART value (%d) is not between MINVALUE (%d) and MAXVALUE (%d)", q.Last, q.Min, q.Max).
			Hintf("RESTART WITH a number of the range")
	}
	return nil
}

// alterSequence runs ALTER SEQUENCE with options.
func (s *Session) alterSequence(ctx context.Context, snapshot *catalog.Snapshot, t *sql.AlterSequence) error {
	found, err := findSequence(snapshot, s.searchPath(), t.Name)
	if err != nil {
		if t.IfExists && missingOK(err) {
			return nil
		}
		return sqlerr.From(err).At(t.Name.Position())
	}
	at, err := s.engine.sequences.settle(ctx, found)
	if err != nil {
		return err
	}
	q := *found
	q.Last, q.Called = at.Last, at.Called
	if err := sequenceOptions(&q, t.Options, false); err != nil {
		return sqlerr.From(err).At(t.Pos)
	}
	if len(t.Options.OwnedBy) > 0 {
		if q.Owner, err = s.sequenceOwner(snapshot, t.Options.OwnedBy); err != nil {
			return err
		}
	}
	return s.commit(ctx, &catalog.AlterSequence{Sequence: q})
}

// sequenceCalls calls fn for the names of sequences that the functions of an expression are given as literals.
func sequenceCalls(e sql.Expr, fn func(*sql.String) error) (err error) {
	sql.Walk(e, func(n sql.Node) bool {
		call, ok := n.(*sql.FuncCall)
		if !ok || len(call.Args) == 0 || err != nil {
			return err == nil
		}
		switch call.Name.Last().Name {
		case "nextval", "currval", "setval":
			arg := call.Args[0].Value
			if c, ok := arg.(*sql.Cast); ok {
				arg = c.Operand
			}
			if text, ok := arg.(*sql.String); ok {
				err = fn(text)
			}
		}
		return err == nil
	})
	return err
}

// pinSequences gives the sequences that a default takes numbers of their full names.
func (s *Session) pinSequences(snapshot *catalog.Snapshot, e sql.Expr) error {
	return sequenceCalls(e, func(text *sql.String) error {
		name, err := parseName(text.Value)
		if err != nil {
			return err
		}
		q, err := findSequence(snapshot, s.searchPath(), name)
		if err != nil {
			return sqlerr.From(err).At(text.Pos)
		}
		text.Value = sequenceName(q)
		return nil
	})
}

func sequenceName(q *catalog.Sequence) string {
	return sql.Text(&sql.Column{Name: sql.Name{{Name: q.Schema, Quoted: true}, {Name: q.Name, Quoted: true}}})
}

// users returns the columns whose defaults take numbers of a sequence, by table.
func users(snapshot *catalog.Snapshot, q *catalog.Sequence) map[*catalog.Table][]string {
	out := map[*catalog.Table][]string{}
	name := sequenceName(q)
	for t := range snapshot.Tables("") {
		for _, c := range t.Columns {
			if !strings.Contains(c.Default, "val(") {
				continue
			}
			if e, err := sql.ParseExpr(c.Default); err == nil {
				_ = sequenceCalls(e, func(text *sql.String) error {
					if text.Value == name {
						out[t] = append(out[t], c.Name)
					}
					return nil
				})
			}
		}
	}
	return out
}

// dropSequences runs DROP SEQUENCE. With CASCADE the defaults that use it go too.
func (s *Session) dropSequences(ctx context.Context, t *sql.Drop) error {
	return s.atomically(ctx, func() error {
		for _, name := range t.Names {
			if err := s.dropSequence(ctx, t, name); err != nil {
				return sqlerr.From(err).At(name.Position())
			}
		}
		return nil
	})
}

func (s *Session) dropSequence(ctx context.Context, t *sql.Drop, name sql.Name) error {
	snapshot, release := s.snapshot()
	defer release()
	q, err := findSequence(snapshot, s.searchPath(), name)
	if err != nil {
		if t.IfExists && missingOK(err) {
			return nil
		}
		return err
	}
	for table, names := range users(snapshot, q) {
		if !t.Cascade {
			return sqlerr.New(sqlerr.DependentObjects, "cannot drop sequence %s because other objects depend on it", q.Name).
				Detailf("default value for column %s of table %s depends on sequence %s", names[0], table.Name, q.Name).
				Hintf("use DROP SEQUENCE ... CASCADE to drop the default too")
		}
		columns := slices.Clone(table.Columns)
		for i := range columns {
			if slices.Contains(names, columns[i].Name) {
				columns[i].Default = ""
			}
		}
		if err := s.putColumns(ctx, table, columns, table.PrimaryIndex, 0); err != nil {
			return err
		}
	}
	return s.commit(ctx, &catalog.DropSequence{Schema: q.Schema, Name: q.Name})
}

// renameSequence runs ALTER SEQUENCE ... RENAME TO and SET SCHEMA, in the defaults that use it too.
func (s *Session) renameSequence(ctx context.Context, t *sql.Alter) error {
	snapshot, release := s.snapshot()
	defer release()
	found, err := findSequence(snapshot, s.searchPath(), t.Name)
	if err != nil {
		return sqlerr.From(err).At(t.Name.Position())
	}
	moved := *found
	if action := t.Actions[0]; action.Kind == sql.SetSchema {
		moved.Schema = action.NewName.Name
	} else {
		moved.Name = action.NewName.Name
	}
	at, err := s.engine.sequences.settle(ctx, found)
	if err != nil {
		return err
	}
	moved.Last, moved.Called = at.Last, at.Called
	for table := range users(snapshot, found) {
		columns := slices.Clone(table.Columns)
		for i := range columns {
			e, err := sql.ParseExpr(columns[i].Default)
			if err != nil {
				continue
			}
			_ = sequenceCalls(e, func(text *sql.String) error {
				if text.Value == sequenceName(found) {
					text.Value = sequenceName(&moved)
				}
				return nil
			})
			columns[i].Default = sql.Text(e)
		}
		if err := s.putColumns(ctx, table, columns, table.PrimaryIndex, 0); err != nil {
			return err
		}
	}
	return s.commit(ctx, &catalog.AlterSequence{Sequence: moved})
}
