package scripted

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

// Row holds the values of one row, in the order of the table's columns.
type Row []vec.Value

// Change is one change of a source transaction.
type Change struct {
	Op  extension.Op
	Row Row // of a Delete the key columns alone need values; of a Truncate nothing
	// Moved is the row before an Update that moved the key, nil for others.
	Moved Row
	// Unchanged marks columns of an Update whose values the source leaves out of the change.
	Unchanged []int
}

// Table is one source table with its history. Any goroutine may use it.
type Table struct {
	columns []vec.Column
	key     []int

	mu      sync.Mutex
	changed chan struct{} // closed by the next commit
	log     []transaction
	rows    map[string]Row
	states  []map[string]string // after each transaction, from 0 on
	acked   uint64
	open    int // streams and snapshots not closed
}

type transaction struct {
	changes []Change
	at      time.Time
}

// Create adds an empty table.
func (d *Database) Create(name string, columns []vec.Column, key ...int) *Table {
	t := &Table{columns: columns, key: key, changed: make(chan struct{}), rows: map[string]Row{}, states: []map[string]string{{}}}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tables[name] = t
	return t
}

// Key returns the text a row's merge key goes by in [Table.At].
func (t *Table) Key(row Row) string {
	parts := make([]string, len(t.key))
	for i, k := range t.key {
		parts[i] = text(row[k])
	}
	return strings.Join(parts, "|")
}

func text(v vec.Value) string {
	if v.Null {
		return "NULL"
	}
	return vec.Format(v)
}

// Text returns a row as tests print it: its values with | between them.
func (r Row) Text() string {
	cells := make([]string, len(r))
	for i, v := range r {
		cells[i] = text(v)
	}
	return strings.Join(cells, "|")
}

// Commit makes changes one transaction, now.
func (t *Table) Commit(changes ...Change) { t.CommitAt(time.Now(), changes...) }

// CommitAt makes changes one transaction with a commit time; the zero time is that of a source which knows none.
func (t *Table) CommitAt(at time.Time, changes ...Change) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range changes {
		t.apply(&changes[i])
	}
	state := maps.Clone(t.states[len(t.states)-1])
	for _, c := range changes {
		if c.Op == extension.Truncate {
			clear(state)
			continue
		}
		if c.Moved != nil {
			delete(state, t.Key(c.Moved))
		}
		delete(state, t.Key(c.Row))
		if c.Op != extension.Delete {
			state[t.Key(c.Row)] = c.Row.Text()
		}
	}
	t.states = append(t.states, state)
	t.log = append(t.log, transaction{changes, at})
	close(t.changed)
	t.changed = make(chan struct{})
}

// apply brings the newest rows up to date and fills in what an update left unchanged. The lock is held.
func (t *Table) apply(c *Change) {
	if c.Op == extension.Truncate {
		clear(t.rows)
		return
	}
	before := c.Row
	if c.Moved != nil {
		before = c.Moved
	}
	stored, exists := t.rows[t.Key(before)]
	if len(c.Unchanged) > 0 {
		if !exists {
			panic(fmt.Sprintf("an update leaves values of row %s unchanged, which is not there", t.Key(before)))
		}
		c.Row = slices.Clone(c.Row)
		for _, i := range c.Unchanged {
			c.Row[i] = stored[i]
		}
	}
	delete(t.rows, t.Key(before))
	if c.Op != extension.Delete {
		t.rows[t.Key(c.Row)] = c.Row
	}
}

// End returns the number of transactions so far: the position of a stream that has read them all.
func (t *Table) End() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return uint64(len(t.log))
}

// At returns what the table held after so many transactions: rows as text by key. The map must not be changed.
func (t *Table) At(position uint64) map[string]string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.states[position]
}

// Rows returns the newest rows in the order of their keys' text.
func (t *Table) Rows() []Row {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []Row
	for _, key := range slices.Sorted(maps.Keys(t.rows)) {
		out = append(out, t.rows[key])
	}
	return out
}

// Acked returns the newest position a stream acknowledged.
func (t *Table) Acked() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.acked
}

// Readers returns how many snapshots and streams are open.
func (t *Table) Readers() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.open
}

func (t *Table) opened(by int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open += by
}
