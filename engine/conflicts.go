package engine

import (
	"context"
	"strings"

	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablestore"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// conflicts finds which of the rows that an INSERT proposes have a key that is taken.
type conflicts struct {
	*insertion
	rows     *vec.Batch
	tablets  []tablet.ID // of the stored row that has a key of a proposed one; 0 when none has
	ordinals []uint32
	all      []int64                               // positions of all stored rows that have a key of a proposed one
	keys     []func(row int) (key string, ok bool) // by arbiter; ok is false for keys that are never taken
}

func newConflicts(i *insertion, rows *vec.Batch) *conflicts {
	return &conflicts{insertion: i, rows: rows, tablets: make([]tablet.ID, rows.N), ordinals: make([]uint32, rows.N)}
}

func (c *conflicts) find(ctx context.Context, by arbiters) error {
	if by.primary {
		if err := c.findPrimary(ctx); err != nil {
			return err
		}
	}
	for _, u := range by.uniques {
		if err := c.findUnique(ctx, u); err != nil {
			return err
		}
	}
	return nil
}

// findPrimary looks the rows up in the key index.
func (c *conflicts) findPrimary(ctx context.Context) error {
	keys, err := tablestore.Fingerprint(c.table, c.rows)
	if err != nil {
		return err
	}
	tablets, ordinals, err := c.session.engine.store.Find(ctx, c.table, keys)
	if err != nil {
		return err
	}
	copy(c.tablets, tablets)
	copy(c.ordinals, ordinals)
	places := c.changes.places()
	for row, id := range tablets {
		if id != 0 {
			c.all = append(c.all, int64(places[id])<<32|int64(ordinals[row]))
		}
	}
	c.keys = append(c.keys, func(row int) (string, bool) {
		key := keyAt(keys, row)
		var b [16]byte
		for i := range 8 {
			b[i], b[8+i] = byte(key.hi>>(8*i)), byte(key.lo>>(8*i))
		}
		return string(b[:]), true
	})
	return nil
}

// proposedRow is the column with the number of a proposed row beside its values.
const proposedRow = "proposed row"

// findUnique joins the rows with the stored ones on a key.
func (c *conflicts) findUnique(ctx context.Context, u uniqueKey) error {
	numbers := make([]int64, c.rows.N)
	for i := range numbers {
		numbers[i] = int64(i)
	}
	cols := append(append([]*vec.Vector(nil), c.rows.Cols...), vec.FlatOf(vec.Int64Type, numbers, nil))
	schema := append(schemaOf(c.table), vec.Column{Name: proposedRow, Type: vec.Int64Type})
	source := &memoryRows{schema: schema, batches: []*vec.Batch{vec.NewBatch(c.rows.N, cols...)}}
	names := map[string]plan.Relation{"n": &plan.Virtual{Name: "n", Source: source}}
	stored, storedWhere, err := u.over("t")
	if err != nil {
		return err
	}
	added, addedWhere, err := u.over("n")
	if err != nil {
		return err
	}
	if err := c.keysOf(ctx, added, addedWhere, names); err != nil {
		return err
	}
	var conditions []string
	for i := range stored {
		conditions = append(conditions, "("+stored[i]+") = ("+added[i]+")")
	}
	if u.where != "" {
		conditions = append(conditions, "("+storedWhere+")", "("+addedWhere+")")
	}
	on, err := sql.ParseExpr(strings.Join(conditions, " AND "))
	if err != nil {
		return err
	}
	relations := c.session.relations(ctx, c.snapshot)
	defer relations.release()
	number := &sql.Column{Name: sql.Name{{Name: "n"}, {Name: proposedRow}}}
	bound, err := plan.BindMatches(ctx, c.session.modifyTarget(c.table), sql.Ident{Name: "t"}, &sql.Table{Name: sql.Name{{Name: "n"}}}, on,
		[]sql.SelectItem{{Expr: number}}, namedRelations{relations, names}, plan.Options{})
	if err != nil {
		return err
	}
	return c.session.each(ctx, bound, nil, func(b *vec.Batch) error {
		positions, rows := vec.Values[int64](b.Cols[0].Flatten()), vec.Values[int64](b.Cols[1].Flatten())
		for i, p := range positions {
			if at := int(p >> 32); at >= len(c.changes.base) {
				return sqlerr.New(sqlerr.Internal, "row position %d lies in no tablet of table %q", p, c.table.Name)
			}
			c.tablets[rows[i]], c.ordinals[rows[i]] = c.changes.base[p>>32].ID, uint32(p)
			c.all = append(c.all, p)
		}
		return nil
	})
}

// keysOf adds the keys of the proposed rows, as texts.
func (c *conflicts) keysOf(ctx context.Context, exprs []string, where string, names map[string]plan.Relation) error {
	text := "SELECT n." + quoted(proposedRow) + ", " + strings.Join(exprs, ", ") + " FROM n"
	if where != "" {
		text += " WHERE " + where
	}
	bound, err := c.session.bindOver(ctx, c.snapshot, text, names)
	if err != nil {
		return err
	}
	keys := map[int]string{}
	err = c.session.each(ctx, bound, nil, func(b *vec.Batch) error {
		rows := vec.Values[int64](b.Cols[0].Flatten())
		for i, row := range rows {
			key, ok := []byte(nil), true
			for _, v := range b.Cols[1:] {
				if v.IsNull(i) {
					ok = false
					break
				}
				key = append(vec.AppendText(key, v, i), 0)
			}
			if ok {
				keys[int(row)] = string(key)
			}
		}
		return nil
	})
	c.keys = append(c.keys, func(row int) (string, bool) {
		key, ok := keys[row]
		return key, ok
	})
	return err
}

// replace returns the rows to insert when they take the place of the stored ones that have a key of theirs: of several
// with one key the last.
func (c *conflicts) replace() vec.Selection {
	last := make([]map[string]int, len(c.keys))
	for i := range last {
		last[i] = map[string]int{}
	}
	gone := make([]bool, c.rows.N)
	for row := range c.rows.N {
		for i, key := range c.keys {
			k, ok := key(row)
			if !ok {
				continue
			}
			if before, again := last[i][k]; again {
				gone[before] = true
			}
			last[i][k] = row
		}
	}
	kept := vec.Selection{}
	for row, out := range gone {
		if !out {
			kept = append(kept, int32(row))
		}
	}
	return kept
}

// split returns the rows to insert and those whose stored row has their key. A later row with a key of an earlier one
// is left out; with updates it is an error.
func (c *conflicts) split(updates bool) (fresh, taken vec.Selection, err error) {
	seen := make([]map[string]struct{}, len(c.keys))
	for i := range seen {
		seen[i] = make(map[string]struct{}, c.rows.N)
	}
	for row := range c.rows.N {
		again := false
		for i, key := range c.keys {
			if k, ok := key(row); ok {
				_, before := seen[i][k]
				again = again || before
			}
		}
		if again && updates {
			return nil, nil, sqlerr.New(sqlerr.CardinalityViolation, "ON CONFLICT DO UPDATE command cannot affect row a second time").
				Hintf("ensure that no rows proposed for insertion within the same command have the same key")
		}
		if again {
			continue
		}
		if c.tablets[row] != 0 {
			taken = append(taken, int32(row))
			if !updates {
				continue // its other keys stay free
			}
		} else {
			fresh = append(fresh, int32(row))
		}
		for i, key := range c.keys {
			if k, ok := key(row); ok {
				seen[i][k] = struct{}{}
			}
		}
	}
	return fresh, taken, nil
}
