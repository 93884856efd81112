package engine

import (
	"context"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablestore"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// changes is what one statement does to one table: rows that die, by tablet, and rows that are added.
type changes struct {
	session  *Session
	table    *catalog.Table
	base     []tablet.Base
	dead     []*roaring.Bitmap // by the tablet's place in base; nil: no row dies
	writer   *rowWriter
	notNull  []int  // places of the columns that must not be NULL
	rules    *rules // besides NOT NULL and the key, nil when there are none
	affected int64

	// once refuses a second change of one stored row, as MERGE must.
	once bool

	moved movedRows // when foreign keys act on it
}

// change begins a statement's changes of a table. newKeys says that rows it adds may have keys that no stored row had;
// rules may be nil.
func (s *Session) change(table *catalog.Table, newKeys bool, rules *rules) *changes {
	view := table.Tablets.View()
	c := &changes{session: s, table: table, base: view.Base, dead: make([]*roaring.Bitmap, len(view.Base)), rules: rules}
	c.writer = &rowWriter{session: s, table: table, rules: rules}
	if newKeys && len(table.MergeKey) > 0 {
		c.writer.keys = newKeyCheck(table)
	}
	for i, column := range table.Columns {
		if !column.Nullable {
			c.notNull = append(c.notNull, i)
		}
	}
	return c
}

// add takes over a batch without a selection of rows to add.
func (c *changes) add(ctx context.Context, b *vec.Batch) error {
	if b.N == 0 {
		return nil
	}
	for _, place := range c.notNull {
		if row := firstNull(b.Cols[place]); row >= 0 {
			return sqlerr.New(sqlerr.NotNullViolation, "null value in column %q of relation %q violates not-null constraint",
				c.table.Columns[place].Name, c.table.Name).Detailf("Failing row contains %s.", rowText(b, row)).
				Hintf("give the column a value, or a DEFAULT")
		}
	}
	return c.writer.add(ctx, b)
}

// apply takes over one batch of [plan.Changes] with so many value columns.
func (c *changes) apply(ctx context.Context, b *vec.Batch, values int) error {
	b = b.Compact()
	if b.N == 0 {
		return nil
	}
	c.affected += int64(b.N)
	if c.rules != nil && len(c.rules.acting) > 0 {
		c.move(b, values)
	}
	positions, actions := b.Cols[0].Flatten(), vec.Values[int16](b.Cols[1].Flatten())
	var added vec.Selection
	for i, a := range actions {
		if plan.Action(a) != plan.DeleteRow {
			added = append(added, int32(i))
		}
		if plan.Action(a) != plan.InsertRow {
			if err := c.kill(vec.Values[int64](positions)[i]); err != nil {
				return err
			}
		}
	}
	if len(added) == 0 || values == 0 {
		return nil
	}
	rows := vec.NewBatch(b.N, b.Cols[plan.ChangesFixed:plan.ChangesFixed+values]...)
	if len(added) < b.N {
		rows.Sel = added
		rows = rows.Compact()
	}
	return c.add(ctx, rows)
}

// kill marks a stored row as dead.
func (c *changes) kill(position int64) error {
	at, row := int(position>>32), uint32(position)
	if at < 0 || at >= len(c.base) {
		return sqlerr.New(sqlerr.Internal, "row position %d lies in no tablet of table %q", position, c.table.Name)
	}
	if c.dead[at] == nil {
		c.dead[at] = roaring.New()
	}
	if fresh := c.dead[at].CheckedAdd(row); !fresh && c.once {
		return sqlerr.New(sqlerr.CardinalityViolation, "MERGE command cannot affect row a second time").
			Hintf("ensure that not more than one source row matches any one target row")
	}
	return nil
}

// places returns the place of each tablet in base.
func (c *changes) places() map[tablet.ID]int {
	places := make(map[tablet.ID]int, len(c.base))
	for i, b := range c.base {
		places[b.ID] = i
	}
	return places
}

// killed reports whether the statement kills a row of a tablet.
func (c *changes) killed() func(id tablet.ID, row uint32) bool {
	places := c.places()
	return func(id tablet.ID, row uint32) bool {
		at, ok := places[id]
		return ok && c.dead[at] != nil && c.dead[at].Contains(row)
	}
}

// edit writes what is left to write and returns the edit that makes the changes, nil when there are none.
func (c *changes) edit(ctx context.Context) (*catalog.Modify, error) {
	if err := c.writer.flush(ctx); err != nil {
		return nil, err
	}
	edit := &catalog.Modify{Table: c.table.ID, SchemaVersion: c.table.SchemaVersion, Add: c.writer.out}
	if k := c.writer.keys; k != nil && len(edit.Add) > 0 {
		newest := c.session.newestTable(c.table)
		if err := k.verify(ctx, c.session.engine.store, newest, c.killed()); err != nil {
			return nil, err
		}
		edit.KeysAsOf = newest.Tablets.Version()
	}
	if c.rules != nil && len(c.rules.uniques) > 0 && len(edit.Add) > 0 {
		edit.KeysAsOf = c.session.newestTable(c.table).Tablets.Version()
	}
	if err := c.masks(ctx, edit); err != nil {
		return nil, err
	}
	if len(edit.Add)+len(edit.Masks)+len(edit.Remove) == 0 {
		return nil, nil
	}
	return edit, nil
}

// masks adds to edit what the dead rows make of the tablets' masks.
func (c *changes) masks(ctx context.Context, edit *catalog.Modify) error {
	var write []tablestore.DeadMask
	for at, dead := range c.dead {
		if dead == nil {
			continue
		}
		member := c.base[at]
		before, err := c.session.engine.store.DeadRows(ctx, c.table.ID, member)
		if err != nil {
			return err
		}
		write = append(write, tablestore.DeadMask{Member: member, Dead: roaring.Or(before, dead)})
	}
	return c.session.engine.store.ChangeMasks(ctx, edit, write)
}

// commit makes the changes, now or at the end of the transaction.
func (c *changes) commit(ctx context.Context, snapshot *catalog.Snapshot) error {
	edit, err := c.edit(ctx)
	if err != nil || edit == nil {
		return err
	}
	edits := []catalog.Edit{edit}
	if c.rules != nil {
		expect, err := c.rules.verify(ctx, c, c.session.newest(snapshot), edit)
		if err != nil {
			return err
		}
		edits = append(expect, edit)
	}
	if err := c.session.commitFrom(ctx, snapshot, edits...); err != nil {
		return err
	}
	if c.session.tx == nil {
		c.session.engine.maintenance.changed(c.table.ID)
	}
	return c.act(ctx)
}

// firstNull returns the first row that is NULL, -1 when none is.
func firstNull(v *vec.Vector) int {
	if v.Form == vec.Flat && v.Valid == nil && v.Type.ID != vec.Null {
		return -1
	}
	for i := range v.N {
		if v.IsNull(i) {
			return i
		}
	}
	return -1
}

// maxRowText bounds how much of a row an error shows.
const maxRowText = 256

// rowText returns a row as PostgreSQL shows it in errors.
func rowText(b *vec.Batch, row int) string {
	out := []byte{'('}
	for i, c := range b.Cols {
		if i > 0 {
			out = append(out, ", "...)
		}
		if c.IsNull(row) {
			out = append(out, "null"...)
		} else {
			out = vec.AppendText(out, c, row)
		}
		if len(out) > maxRowText {
			return string(out[:maxRowText]) + "...)"
		}
	}
	return string(append(out, ')'))
}
