package engine

import (
	"context"
	"slices"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablestore"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// insertion is one INSERT.
type insertion struct {
	session   *Session
	snapshot  *catalog.Snapshot
	table     *catalog.Table
	statement *sql.Insert
	args      []vec.Value

	changes *changes
	kept    []*vec.Batch // rows for RETURNING
}

func allColumns(int32) bool { return true }

// insert runs INSERT.
func (s *Session) insert(ctx context.Context, snapshot *catalog.Snapshot, t *sql.Insert, args []vec.Value) (*Result, error) {
	table, err := s.table(snapshot, t.Table)
	if err != nil {
		return nil, err
	}
	i := &insertion{session: s, snapshot: snapshot, table: table, statement: t, args: args, changes: s.change(table, true, s.newRules(snapshot, table, allColumns, t.OnConflict != nil))}
	defer i.changes.writer.abort()
	by, err := i.arbiters(ctx)
	if err != nil {
		return nil, err
	}
	source, err := i.bindSource(ctx, typesOf(args))
	if err != nil {
		return nil, err
	}
	if !by.none() {
		err = i.upsert(ctx, source, by)
	} else {
		err = s.eachIn(ctx, s.loadEnv(ctx), source, args, func(b *vec.Batch) error { return i.add(ctx, b) })
	}
	if err != nil {
		return nil, err
	}
	returning, returned, err := i.returning(ctx, source.Params)
	if err != nil {
		return nil, err
	}
	if err := i.changes.commit(ctx, snapshot); err != nil {
		return nil, err
	}
	return changed("INSERT 0", i.changes.affected, returning, returned), nil
}

// add adds new rows.
func (i *insertion) add(ctx context.Context, b *vec.Batch) error {
	i.keep(b)
	i.changes.affected += int64(b.N)
	return i.changes.add(ctx, b)
}

func (i *insertion) keep(b *vec.Batch) {
	if len(i.statement.Returning) > 0 && b.N > 0 {
		i.kept = append(i.kept, b)
	}
}

// bindSource binds what is inserted: every column of the table, in its type.
func (i *insertion) bindSource(ctx context.Context, params []vec.Type) (*plan.Query, error) {
	relations := i.session.relations(ctx, i.snapshot)
	defer relations.release()
	target := plan.InsertTarget{Name: i.table.Name, Columns: schemaOf(i.table), Defaults: defaultsOf(i.table), Computed: computedOf(i.table)}
	return plan.BindInsert(ctx, i.statement, target, relations, plan.Options{Params: params})
}

// returning runs RETURNING over the rows kept.
func (i *insertion) returning(ctx context.Context, params []vec.Type) (vec.Schema, []*vec.Batch, error) {
	if len(i.statement.Returning) == 0 {
		return nil, nil, nil
	}
	q, err := i.bindReturning(ctx, params)
	if err != nil {
		return nil, nil, err
	}
	var out []*vec.Batch
	err = i.session.each(ctx, q, i.args, func(b *vec.Batch) error {
		out = append(out, b)
		return nil
	})
	return q.Schema, out, err
}

func (i *insertion) bindReturning(ctx context.Context, params []vec.Type) (*plan.Query, error) {
	relations := i.session.relations(ctx, i.snapshot)
	defer relations.release()
	rows := &memoryRows{schema: schemaOf(i.table), batches: i.kept}
	return plan.BindReturning(ctx, i.statement, i.session.modifyTarget(i.table), rows, relations, plan.Options{Params: params})
}

// describe returns the columns of RETURNING and the parameters.
func (i *insertion) describe(ctx context.Context) (schema, params vec.Schema, err error) {
	source, err := i.bindSource(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	types := source.Params
	if c := i.statement.OnConflict; c != nil && len(c.Update) > 0 {
		bound, err := i.bindConflict(ctx, nil, types)
		if err != nil {
			return nil, nil, err
		}
		types = bound.Params
	}
	if len(i.statement.Returning) > 0 {
		q, err := i.bindReturning(ctx, types)
		if err != nil {
			return nil, nil, err
		}
		schema, types = q.Schema, q.Params
	}
	return schema, paramSchema(types), nil
}

// arbiters are the keys whose conflicts ON CONFLICT settles.
type arbiters struct {
	primary bool // the table's key
	uniques []uniqueKey
}

func (a arbiters) none() bool { return !a.primary && len(a.uniques) == 0 }

// arbiters returns the keys that the statement's ON CONFLICT is for: those of its columns, or all without columns.
func (i *insertion) arbiters(ctx context.Context) (a arbiters, err error) {
	c := i.statement.OnConflict
	if c == nil {
		return a, nil
	}
	if len(c.Columns) == 0 && c.Constraint.Name == "" {
		if len(c.Update) > 0 {
			return a, sqlerr.New(sqlerr.SyntaxError, "ON CONFLICT DO UPDATE requires inference specification or constraint name").
				Hintf("for example, ON CONFLICT (column_name)").At(c.Pos)
		}
		return arbiters{len(i.table.MergeKey) > 0, uniqueKeys(i.table)}, nil
	}
	named := identNames(c.Columns)
	for _, name := range c.Columns {
		if _, ok := i.table.Column(name.Name); !ok {
			return a, missingColumn(i.table, name)
		}
	}
	if c.Predicate != nil {
		if _, _, err := i.session.rowExpr(ctx, i.snapshot, i.table, c.Predicate, "ON CONFLICT predicate", true); err != nil {
			return a, err
		}
	}
	slices.Sort(named)
	matches := func(name string, ids []int32) bool {
		if c.Constraint.Name != "" {
			return name == c.Constraint.Name
		}
		columns := i.table.ColumnNames(ids)
		slices.Sort(columns)
		return slices.Equal(columns, slices.Compact(named))
	}
	if len(i.table.MergeKey) > 0 && matches(i.table.KeyConstraint(), i.table.MergeKey) {
		return arbiters{primary: true}, nil
	}
	for _, u := range uniqueKeys(i.table) {
		if (u.plain || c.Constraint.Name != "") && matches(u.name, u.columns) {
			return arbiters{uniques: []uniqueKey{u}}, nil
		}
	}
	if a.uniques, err = i.partialKeys(named, c.Predicate); err != nil || len(a.uniques) > 0 {
		return a, err
	}
	if c.Constraint.Name != "" {
		return a, sqlerr.New(sqlerr.UndefinedObject, "constraint %q for table %q does not exist", c.Constraint.Name, i.table.Name).
			Hintf("name a PRIMARY KEY or UNIQUE constraint of the table").At(c.Constraint.Pos)
	}
	return a, sqlerr.New(sqlerr.InvalidColumnReference, "there is no unique or exclusion constraint matching the ON CONFLICT specification").
		Hintf("name the columns of the table's PRIMARY KEY, or of a UNIQUE constraint or index; for a partial index repeat its predicate: ON CONFLICT (columns) WHERE predicate").At(c.Pos)
}

// upsert inserts the rows whose keys are free and updates, or leaves, those that have one taken.
func (i *insertion) upsert(ctx context.Context, source *plan.Query, by arbiters) error {
	var batches []*vec.Batch
	if err := i.session.each(ctx, source, i.args, func(b *vec.Batch) error {
		batches = append(batches, b)
		return nil
	}); err != nil {
		return err
	}
	rows, err := tablestore.Concat(i.table.Columns, batches)
	if err != nil || rows.N == 0 {
		return err
	}
	for _, place := range i.changes.notNull {
		if row := firstNull(rows.Cols[place]); row >= 0 {
			return i.changes.add(ctx, rows) // reports it
		}
	}
	if i.changes.rules != nil {
		if err := i.changes.rules.check(ctx, rows); err != nil {
			return err
		}
	}
	conflicts := newConflicts(i, rows)
	if err := conflicts.find(ctx, by); err != nil {
		return err
	}
	if i.statement.OnConflict.Replace {
		for _, p := range conflicts.all {
			if err := i.changes.kill(p); err != nil {
				return err
			}
		}
		return i.add(ctx, (&vec.Batch{N: rows.N, Cols: rows.Cols, Sel: conflicts.replace()}).Compact())
	}
	fresh, taken, err := conflicts.split(len(i.statement.OnConflict.Update) > 0)
	if err != nil {
		return err
	}
	if err := i.add(ctx, (&vec.Batch{N: rows.N, Cols: rows.Cols, Sel: some(fresh)}).Compact()); err != nil {
		return err
	}
	if len(i.statement.OnConflict.Update) == 0 || len(taken) == 0 {
		return nil
	}
	proposed := (&vec.Batch{N: rows.N, Cols: rows.Cols, Sel: taken}).Compact()
	return i.update(ctx, source.Params, proposed, pick(conflicts.tablets, taken), pick(conflicts.ordinals, taken))
}

// some returns a selection that is not nil, which would stand for all.
func some(s vec.Selection) vec.Selection {
	if s == nil {
		return vec.Selection{}
	}
	return s
}

func pick[T any](from []T, at vec.Selection) []T {
	out := make([]T, len(at))
	for i, a := range at {
		out[i] = from[a]
	}
	return out
}

// update runs DO UPDATE for proposed rows whose keys stored rows have.
func (i *insertion) update(ctx context.Context, params []vec.Type, proposed *vec.Batch, tablets []tablet.ID, rows []uint32) error {
	stored, err := i.session.engine.store.Fetch(ctx, i.table, tablets, rows, places(len(i.table.Columns)))
	if err != nil {
		return err
	}
	ordinal := i.changes.places()
	positions := make([]int64, len(rows))
	for k, row := range rows {
		positions[k] = int64(ordinal[tablets[k]])<<32 | int64(row)
	}
	cols := append([]*vec.Vector{vec.FlatOf(vec.Int64Type, positions, nil)}, stored.Cols...)
	bound, err := i.bindConflict(ctx, []*vec.Batch{vec.NewBatch(proposed.N, append(cols, proposed.Cols...)...)}, params)
	if err != nil {
		return err
	}
	return i.session.each(ctx, bound.Query, i.args, func(b *vec.Batch) error {
		i.keep(vec.NewBatch(b.N, b.Cols[plan.ChangesFixed:]...))
		return i.changes.apply(ctx, b, bound.Values)
	})
}

func (i *insertion) bindConflict(ctx context.Context, batches []*vec.Batch, params []vec.Type) (*plan.Changes, error) {
	relations := i.session.relations(ctx, i.snapshot)
	defer relations.release()
	target := i.session.modifyTarget(i.table)
	rows := &memoryRows{schema: plan.ConflictSchema(target.Table), batches: batches}
	return plan.BindConflict(ctx, i.statement, target, rows, relations, plan.Options{Params: params})
}

// places returns the first n places.
func places(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
