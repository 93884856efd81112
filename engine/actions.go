package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablestore"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// movedRows are stored rows that a statement puts others in the place of.
type movedRows struct {
	tablets []tablet.ID
	rows    []uint32
	values  []*vec.Batch // the new rows, in the columns of the table
}

// moved notes rows of [plan.Changes] that take the place of stored ones, for foreign keys that act on it.
func (c *changes) move(b *vec.Batch, values int) {
	positions, actions := vec.Values[int64](b.Cols[0].Flatten()), vec.Values[int16](b.Cols[1].Flatten())
	sel := vec.Selection{}
	for i, a := range actions {
		if plan.Action(a) == plan.UpdateRow {
			sel = append(sel, int32(i))
			c.moved.tablets = append(c.moved.tablets, c.base[positions[i]>>32].ID)
			c.moved.rows = append(c.moved.rows, uint32(positions[i]))
		}
	}
	if len(sel) > 0 {
		rows := &vec.Batch{N: b.N, Cols: b.Cols[plan.ChangesFixed : plan.ChangesFixed+values], Sel: sel}
		c.moved.values = append(c.moved.values, rows.Compact())
	}
}

// gone returns the stored rows that the statement deletes, and those that it updates when updated says so.
func (c *changes) gone(deleted, updated bool) (tablets []tablet.ID, rows []uint32) {
	places := c.places()
	moved := make([]*roaring.Bitmap, len(c.base))
	for i, id := range c.moved.tablets {
		at := places[id]
		if moved[at] == nil {
			moved[at] = roaring.New()
		}
		moved[at].Add(c.moved.rows[i])
	}
	for at, dead := range c.dead {
		if dead == nil {
			continue
		}
		if moved[at] != nil && !updated {
			dead = roaring.AndNot(dead, moved[at])
		}
		if !deleted {
			if moved[at] == nil {
				continue
			}
			dead = roaring.And(dead, moved[at])
		}
		for _, row := range dead.ToArray() {
			tablets, rows = append(tablets, c.base[at].ID), append(rows, row)
		}
	}
	return tablets, rows
}

// acts reports whether a foreign key changes rows by itself.
func acts(c catalog.Constraint) bool { return c.ActsOnDelete() || c.ActsOnUpdate() }

// actsOn reports whether a statement changes a table to which a foreign key that acts refers.
func (s *Session) actsOn(snapshot *catalog.Snapshot, statement sql.Statement) bool {
	if t, ok := statement.(*sql.Insert); ok && t.OnConflict == nil {
		return false
	}
	name := targetOf(statement)
	if name == nil {
		return false
	}
	table, err := s.table(snapshot, name)
	if err != nil {
		return false
	}
	for _, id := range table.ReferencedBy {
		if child, ok := snapshot.TableByID(id); ok && slices.ContainsFunc(child.Constraints, func(c catalog.Constraint) bool {
			return c.Kind == catalog.ForeignKey && c.References == table.ID && acts(c)
		}) {
			return true
		}
	}
	return false
}

// act does what foreign keys say about the keys that the statement took away or changed. Its changes are in the open
// transaction already.
func (c *changes) act(ctx context.Context) error {
	if c.rules == nil {
		return nil
	}
	for _, k := range c.rules.acting {
		if k.constraint.ActsOnDelete() {
			if err := c.actOnDelete(ctx, k); err != nil {
				return err
			}
		}
		if k.constraint.ActsOnUpdate() && len(c.moved.rows) > 0 {
			if err := c.actOnUpdate(ctx, k); err != nil {
				return err
			}
		}
	}
	return nil
}

// keyNames are the names of the columns of a key in the relation o of an action.
func keyNames(prefix string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s%d", prefix, i+1)
	}
	return out
}

func (c *changes) actOnDelete(ctx context.Context, k childKey) error {
	tablets, rows := c.gone(true, false)
	if len(rows) == 0 {
		return nil
	}
	places := tablestore.Places(c.table, k.constraint.RefColumns)
	old, err := c.session.engine.store.Fetch(ctx, c.table, tablets, rows, places)
	if err != nil {
		return err
	}
	keys := keyNames("k", len(places))
	var still []string // a row that came in the same statement may have the key
	for i, name := range c.table.ColumnNames(k.constraint.RefColumns) {
		still = append(still, fmt.Sprintf("p.%s = o.%s", quoted(name), keys[i]))
	}
	condition := fmt.Sprintf("NOT EXISTS (SELECT 1 FROM %s AS p WHERE %s)", sql.Text(&sql.Column{Name: nameOf(c.table)}), strings.Join(still, " AND "))
	return c.runAction(ctx, k, k.constraint.OnDelete, condition, c.keyRows(places, keys), old)
}

func (c *changes) actOnUpdate(ctx context.Context, k childKey) error {
	places := tablestore.Places(c.table, k.constraint.RefColumns)
	old, err := c.session.engine.store.Fetch(ctx, c.table, c.moved.tablets, c.moved.rows, places)
	if err != nil {
		return err
	}
	rows, err := tablestore.Concat(c.table.Columns, c.moved.values)
	if err != nil {
		return err
	}
	keys, fresh := keyNames("k", len(places)), keyNames("n", len(places))
	both := vec.NewBatch(old.N, slices.Clone(old.Cols)...)
	var differ []string
	for i, p := range places {
		both.Cols = append(both.Cols, rows.Cols[p])
		differ = append(differ, fmt.Sprintf("o.%s IS DISTINCT FROM o.%s", keys[i], fresh[i]))
	}
	schema := append(c.keyRows(places, keys), c.keyRows(places, fresh)...)
	return c.runAction(ctx, k, k.constraint.OnUpdate, "("+strings.Join(differ, " OR ")+")", schema, both)
}

func (c *changes) keyRows(places []int, names []string) vec.Schema {
	var out vec.Schema
	for i, p := range places {
		out = append(out, vec.Column{Name: names[i], Type: c.table.Columns[p].Type, Nullable: true})
	}
	return out
}

// runAction changes the rows of a child table that match the keys in o, under a condition on them.
func (c *changes) runAction(ctx context.Context, k childKey, action, condition string, schema vec.Schema, rows *vec.Batch) error {
	child, err := c.session.tableNow(k.table.ID)
	if err != nil {
		return err
	}
	deleted := len(schema) == len(k.constraint.Columns) // there are no new keys
	var match, set []string
	for i, name := range child.ColumnNames(k.constraint.Columns) {
		match = append(match, fmt.Sprintf("c.%s = o.k%d", quoted(name), i+1))
		if only := k.constraint.SetColumns; deleted && len(only) > 0 && !slices.Contains(only, k.constraint.Columns[i]) {
			continue
		}
		value := map[string]string{catalog.SetNull: "NULL", catalog.SetDefault: "DEFAULT", catalog.Cascade: fmt.Sprintf("o.n%d", i+1)}[action]
		set = append(set, quoted(name)+" = "+value)
	}
	name := sql.Text(&sql.Column{Name: nameOf(child)})
	text := "UPDATE " + name + " AS c SET " + strings.Join(set, ", ") + " FROM o"
	if action == catalog.Cascade && deleted {
		text = "DELETE FROM " + name + " AS c USING o"
	}
	statement, err := sql.ParseOne(text + " WHERE " + strings.Join(append(match, condition), " AND "))
	if err != nil {
		return sqlerr.New(sqlerr.Internal, "the action of constraint %q cannot be read: %w", k.constraint.Name, err)
	}
	named, pinned := c.session.named, c.session.pinned
	defer func() { c.session.named, c.session.pinned = named, pinned }()
	source := &memoryRows{schema: schema, batches: []*vec.Batch{rows}}
	c.session.named, c.session.pinned = map[string]plan.Relation{"o": &plan.Virtual{Name: "o", Source: source}}, nil
	snapshot, release := c.session.snapshot()
	defer release()
	_, err = c.session.changeRows(ctx, snapshot, statement, nil)
	return err
}
