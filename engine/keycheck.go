package engine

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/maskindex"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablestore"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// keyCheck gathers the keys of rows that a statement adds, and finds those that are there already.
type keyCheck struct {
	table  *catalog.Table
	places []int // of the key columns
	keys   maskindex.Keys
	values [][]*vec.Vector // of each key column, for messages
	adds   int
}

func newKeyCheck(table *catalog.Table) *keyCheck {
	places := tablestore.Places(table, table.MergeKey)
	return &keyCheck{table: table, places: places, values: make([][]*vec.Vector, len(places))}
}

// add enters the rows of a batch whose columns begin with the table's and returns their keys. Two rows of one key in
// the batch are an error with SQLSTATE 23505.
func (k *keyCheck) add(b *vec.Batch) (*maskindex.Keys, error) {
	values := make([]*vec.Vector, len(k.places))
	for i, place := range k.places {
		values[i] = b.Cols[place]
	}
	return k.addKeys(values, b.N)
}

// addKeys is add for the key columns alone.
func (k *keyCheck) addKeys(values []*vec.Vector, n int) (*maskindex.Keys, error) {
	keys, err := fingerprints(k.table, values, n)
	if err != nil {
		return nil, err
	}
	if row := repeated(keys); row >= 0 {
		return nil, k.duplicate(values, row)
	}
	k.keys.Hi = append(k.keys.Hi, keys.Hi...)
	if keys.Lo != nil {
		k.keys.Lo = append(k.keys.Lo, keys.Lo...)
	}
	for i, v := range values {
		k.values[i] = append(k.values[i], v)
	}
	k.adds++
	return keys, nil
}

// verify fails with SQLSTATE 23505 when two of the rows have one key, or when a row of t that killed does not name has
// the key of one of them.
func (k *keyCheck) verify(ctx context.Context, store *tablestore.Store, t *catalog.Table, killed func(tablet.ID, uint32) bool) error {
	values := make([]*vec.Vector, len(k.values))
	for i, pieces := range k.values {
		values[i] = vec.Concat(k.table.Columns[k.places[i]].Type, pieces)
	}
	if k.adds > 1 {
		if row := repeated(&k.keys); row >= 0 {
			return k.duplicate(values, row)
		}
	}
	tablets, rows, err := store.Find(ctx, t, &k.keys)
	if err != nil {
		return err
	}
	for i, id := range tablets {
		if id != 0 && !killed(id, rows[i]) {
			return k.duplicate(values, i)
		}
	}
	return nil
}

// fingerprints returns the keys of n rows of key columns.
func fingerprints(t *catalog.Table, values []*vec.Vector, n int) (*maskindex.Keys, error) {
	layout, err := tablestore.KeyLayout(t)
	if err != nil {
		return nil, err
	}
	keys := new(maskindex.Keys)
	return keys, layout.Fingerprint(values, n, keys)
}

func (k *keyCheck) duplicate(values []*vec.Vector, row int) error {
	var names, texts []string
	for i, place := range k.places {
		names = append(names, k.table.Columns[place].Name)
		texts = append(texts, string(vec.AppendText(nil, values[i], row)))
	}
	return duplicateKey(k.table, names, texts)
}

func duplicateKey(t *catalog.Table, names, values []string) error {
	return sqlerr.New(sqlerr.UniqueViolation, "duplicate key value violates unique constraint %q", t.Name+"_pkey").
		Detailf("Key (%s)=(%s) already exists.", strings.Join(names, ", "), strings.Join(values, ", ")).
		Hintf("use ON CONFLICT (%s) DO UPDATE or DO NOTHING to keep one row of a key", strings.Join(names, ", "))
}

// repeated returns a row whose key an earlier row has, -1 when all differ.
func repeated(keys *maskindex.Keys) int {
	order := vec.Sequence(keys.Len())
	compare := func(a, b int32) int {
		if c := cmp.Compare(keys.Hi[a], keys.Hi[b]); c != 0 || keys.Lo == nil {
			return c
		}
		return cmp.Compare(keys.Lo[a], keys.Lo[b])
	}
	slices.SortFunc(order, compare)
	for i := 1; i < len(order); i++ {
		if compare(order[i-1], order[i]) == 0 {
			return int(max(order[i-1], order[i]))
		}
	}
	return -1
}

// keyOf is a key as a map takes it.
type keyOf struct{ hi, lo uint64 }

func keyAt(keys *maskindex.Keys, i int) keyOf {
	if keys.Lo == nil {
		return keyOf{hi: keys.Hi[i]}
	}
	return keyOf{keys.Hi[i], keys.Lo[i]}
}
