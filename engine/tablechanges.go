package engine

import (
	"context"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablestore"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// changeColumns follow the columns of the table in the result of table_changes.
var changeColumns = vec.Schema{
	{Name: "_change_type", Type: vec.TextType}, {Name: "_commit_version", Type: vec.Int64Type},
	{Name: "_commit_timestamp", Type: vec.TimestampTZType},
} // the names of Delta Lake's change data feed

// changes finds the states that a call of table_changes names; it is extension.TableBind.Changes.
func (r *relations) changes(name string, from, to vec.Value) (extension.TableSource, error) {
	first, err := r.pinned(from)
	if err != nil {
		return nil, err
	}
	last := r.snapshot
	if tx := r.session.tx; tx != nil && tx.pin != nil {
		last = tx.pin.Snapshot // without what the transaction changed and has not committed
	}
	if !to.Null {
		if last, err = r.pinned(to); err != nil {
			return nil, err
		}
	}
	if first.Version() > last.Version() {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "the changes from version %d to version %d are asked for", first.Version(), last.Version()).
			Hintf("name the older state first")
	}
	parsed, err := sql.ParseExpr(name)
	column, ok := parsed.(*sql.Column)
	if err != nil || !ok {
		return nil, sqlerr.New(sqlerr.InvalidName, "%q is not the name of a table", name).Hintf("for instance table_changes('public.orders', 41, 42)")
	}
	table, err := r.session.table(last, unplaced(column.Name))
	if err != nil {
		return nil, err
	}
	for _, c := range changeColumns {
		if _, taken := table.Column(c.Name); taken {
			return nil, sqlerr.New(sqlerr.DuplicateColumn, "table %q has a column %q, as the result of table_changes has", table.Name, c.Name).
				Hintf("rename the column of the table")
		}
	}
	return &tableChanges{engine: r.session.engine, table: table, first: first, last: last.Version()}, nil
}

// pinned returns the snapshot of a version or of a time, held until the statement ends.
func (r *relations) pinned(at vec.Value) (*catalog.Snapshot, error) {
	var asOf plan.AsOf
	switch {
	case at.Null:
		return nil, sqlerr.New(sqlerr.NullNotAllowed, "table_changes needs a state to begin after").Hintf("pass a version or a time")
	case at.Type.ID == vec.TimestampTZ:
		asOf.Micros = at.I
	case at.I < 1:
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "invalid table version %d", at.I).Hintf("versions count from 1")
	default:
		asOf.Version = uint64(at.I)
	}
	pin, err := r.pinAsOf(&asOf)
	if err != nil {
		return nil, err
	}
	r.pins = append(r.pins, pin)
	return pin.Snapshot, nil
}

// tableChanges is a bound call of table_changes: what became of the rows of a table after one version up to another.
type tableChanges struct {
	engine *Engine
	table  *catalog.Table // as it is in the last version
	first  *catalog.Snapshot
	last   uint64
}

// Schema implements extension.TableSource.
func (c *tableChanges) Schema() vec.Schema {
	out := make(vec.Schema, 0, len(c.table.Columns)+len(changeColumns))
	for _, column := range c.table.Columns {
		v := tablestore.VecColumn(column)
		v.Nullable = true // older rows need not fulfil what was required later
		out = append(out, v)
	}
	return append(out, changeColumns...)
}

// Rows implements extension.TableSource.
func (c *tableChanges) Rows() int64 { return -1 }

// Open implements extension.TableSource.
func (c *tableChanges) Open(_ context.Context, _ *extension.Eval, projection []int) (extension.TableReader, error) {
	return &changeReader{of: c, at: c.first, projection: projection}, nil
}

// changeReader walks the log from version to version. Of one that changed rows of the table it returns what was deleted
// first, then what was inserted and updated.
type changeReader struct {
	of         *tableChanges
	at         *catalog.Snapshot // the version whose changes are being read, or were
	projection []int

	before, after *catalog.Table // around that version; nil where the table was not there
	gone, come    *rowCursor
}

// Close implements extension.TableReader.
func (r *changeReader) Close() error { return nil }

// Next implements extension.TableReader.
func (r *changeReader) Next(ctx context.Context) (*vec.Batch, error) {
	for {
		if batch, err := r.some(ctx); err != nil || batch != nil {
			return batch, err
		}
		if r.at.Version() >= r.of.last {
			return nil, nil
		}
		if err := r.step(ctx); err != nil {
			return nil, err
		}
	}
}

// step goes on to the next version.
func (r *changeReader) step(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	step, err := r.of.engine.catalog.After(ctx, r.at)
	if err != nil {
		return err
	}
	id := r.of.table.ID
	if step.ChangesRows(id) {
		r.before, _ = r.at.TableByID(id)
		r.after, _ = step.TableByID(id)
		gone, come, err := r.of.engine.store.Difference(ctx, r.before, r.after)
		if err != nil {
			return err
		}
		r.gone, r.come = &rowCursor{sets: gone, empty: len(gone) == 0}, &rowCursor{sets: come, empty: len(come) == 0}
	}
	r.at = step.Snapshot
	return nil
}

// some returns changes of the version, nil when there are no more.
func (r *changeReader) some(ctx context.Context) (*vec.Batch, error) {
	for r.gone != nil {
		if id, rows := r.gone.next(); rows != nil {
			if out, err := r.deleted(ctx, id, rows); err != nil || out != nil {
				return out, err
			}
			continue
		}
		id, rows := r.come.next()
		if rows == nil {
			r.gone, r.come = nil, nil
			break
		}
		if out, err := r.written(ctx, id, rows); err != nil || out != nil {
			return out, err
		}
	}
	return nil, nil
}

// deleted returns those of the rows gone whose keys no row has now, nil for none.
func (r *changeReader) deleted(ctx context.Context, id tablet.ID, rows []uint32) (*vec.Batch, error) {
	batch, err := r.fetch(ctx, slices.Repeat([]tablet.ID{id}, len(rows)), rows)
	if err != nil {
		return nil, err
	}
	var out changeList
	successors, _, err := r.find(ctx, r.after, r.come, batch)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		if successors == nil || successors[i] == 0 {
			out.add(i, "delete")
		}
	}
	return r.finish(batch, &out), nil
}

// written returns the rows come, those that replace one of the same key behind what it was. A row written anew as it
// was is no change; nil for no change at all.
func (r *changeReader) written(ctx context.Context, id tablet.ID, rows []uint32) (*vec.Batch, error) {
	batch, err := r.fetch(ctx, slices.Repeat([]tablet.ID{id}, len(rows)), rows)
	if err != nil {
		return nil, err
	}
	predecessors, places, err := r.find(ctx, r.before, r.gone, batch)
	if err != nil {
		return nil, err
	}
	var out changeList
	if predecessors == nil {
		for i := range rows {
			out.add(i, "insert")
		}
		return r.finish(batch, &out), nil
	}
	var oldTablets []tablet.ID
	var oldRows []uint32
	for i, p := range predecessors {
		if p != 0 {
			oldTablets, oldRows = append(oldTablets, p), append(oldRows, places[i])
		}
	}
	old, err := r.fetch(ctx, oldTablets, oldRows)
	if err != nil {
		return nil, err
	}
	k := 0
	for i, p := range predecessors {
		if p == 0 {
			out.add(i, "insert")
			continue
		}
		if !sameRow(old, k, batch, i) {
			out.add(len(rows)+k, "update_preimage")
			out.add(i, "update_postimage")
		}
		k++
	}
	both, err := tablestore.Concat(r.of.table.Columns, []*vec.Batch{batch, old})
	if err != nil {
		return nil, err
	}
	return r.finish(both, &out), nil
}

// find returns the live rows with the keys of a batch in a state of the table; nil when there can be none, since the
// table has no key, was not there, or the other side of the difference is empty.
func (r *changeReader) find(ctx context.Context, in *catalog.Table, other *rowCursor, batch *vec.Batch) ([]tablet.ID, []uint32, error) {
	if in == nil || other.empty || len(in.MergeKey) == 0 {
		return nil, nil, nil
	}
	keys, err := tablestore.Fingerprint(r.of.table, batch)
	if err != nil {
		return nil, nil, err
	}
	return r.of.engine.store.Find(ctx, in, keys)
}

// fetch reads rows with all columns that the table has in the last version.
func (r *changeReader) fetch(ctx context.Context, tablets []tablet.ID, rows []uint32) (*vec.Batch, error) {
	columns := make([]int, len(r.of.table.Columns))
	for i := range columns {
		columns[i] = i
	}
	return r.of.engine.store.Fetch(ctx, r.of.table, tablets, rows, columns)
}

// finish returns the listed rows of a batch as rows of the result, nil for none.
func (r *changeReader) finish(batch *vec.Batch, list *changeList) *vec.Batch {
	n := len(list.rows)
	if n == 0 {
		return nil
	}
	out := vec.NewBatch(n)
	for _, p := range r.projection {
		var v *vec.Vector
		switch p - len(r.of.table.Columns) {
		case 0:
			b := vec.NewBuilder(vec.TextType, n)
			for _, kind := range list.kinds {
				b.AppendString(kind)
			}
			v = b.Finish()
		case 1:
			v = vec.ConstantOf(vec.Int64Type, vec.IntValue(vec.Int64Type, int64(r.at.Version())), n)
		case 2:
			v = vec.ConstantOf(vec.TimestampTZType, vec.IntValue(vec.TimestampTZType, r.at.Time().UnixMicro()), n)
		default:
			v = vec.Gather(batch.Cols[p], list.rows, nil)
		}
		out.Cols = append(out.Cols, v)
	}
	return out
}

// changeList is rows of a batch in the order of the result, each with its kind of change.
type changeList struct {
	rows  []int32
	kinds []string
}

func (l *changeList) add(row int, kind string) {
	l.rows, l.kinds = append(l.rows, int32(row)), append(l.kinds, kind)
}

// sameRow reports whether two rows of batches with the same columns are equal, NULL being equal to NULL.
func sameRow(a *vec.Batch, i int, b *vec.Batch, j int) bool {
	for c := range a.Cols {
		x, y := a.Cols[c].Value(i), b.Cols[c].Value(j)
		if x.Null != y.Null || !x.Null && vec.Compare(x, y) != 0 {
			return false
		}
	}
	return true
}

// rowCursor hands out one side of a difference, so many rows of one tablet at a time.
type rowCursor struct {
	sets   []tablestore.RowSet
	within roaring.ManyIntIterable // of the first set, nil before its first rows
	empty  bool                    // it never had any
}

// next returns the next rows, nil at the end.
func (c *rowCursor) next() (tablet.ID, []uint32) {
	for len(c.sets) > 0 {
		if c.within == nil {
			c.within = c.sets[0].Rows.ManyIterator()
		}
		rows := make([]uint32, vec.BatchRows)
		if n := c.within.NextMany(rows); n > 0 {
			return c.sets[0].Tablet, rows[:n]
		}
		c.sets, c.within = c.sets[1:], nil
	}
	return 0, nil
}
