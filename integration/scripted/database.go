package scripted

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"sync"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// Database is a set of source tables. Any goroutine may use it.
type Database struct {
	mu     sync.Mutex
	tables map[string]*Table
	fail   func(Stage) error
}

// Stage is a point at which the source can fail.
type Stage string

// The stages.
const (
	Opening    Stage = "open"
	Checking   Stage = "check"
	Snapping   Stage = "snapshot" // when a snapshot is opened
	Copying    Stage = "copy"     // before a part of it is read
	Connecting Stage = "stream"   // when a stream is opened
	Reading    Stage = "read"     // before changes are returned
)

// NewDatabase returns one without tables.
func NewDatabase() *Database { return &Database{tables: map[string]*Table{}} }

// SetFault makes every stage ask fail, which may block; a nil fail, or a nil error of it, lets it pass.
func (d *Database) SetFault(fail func(Stage) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail = fail
}

func (d *Database) fault(s Stage) error {
	d.mu.Lock()
	fail := d.fail
	d.mu.Unlock()
	if fail == nil {
		return nil
	}
	return fail(s)
}

// Table returns a table by name, nil when there is none.
func (d *Database) Table(name string) *Table {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.tables[name]
}

// Register adds the source to a registry.
func (d *Database) Register(r *extension.Registry) { r.RegisterSource(d.Source()) }

// Source returns the registration of CREATE STREAM ... FROM SCRIPTED WITH (table = name).
func (d *Database) Source() *extension.SourceDef {
	return &extension.SourceDef{
		Def:     extension.Def{Name: "scripted", Category: "source", Description: "Changes that a test wrote"},
		Options: []extension.OptionDef{{Name: "table", Description: "name of the source table", Required: true}},
		Open: func(_ context.Context, req extension.OpenRequest) (extension.Source, error) {
			if err := d.fault(Opening); err != nil {
				return nil, err
			}
			t := d.Table(req.Options["table"])
			if t == nil {
				return nil, extension.Permanent(sqlerr.New(sqlerr.UndefinedTable, "the source has no table %q", req.Options["table"]))
			}
			return &source{database: d, table: t, spec: req.Table}, nil
		},
		FormatPosition: func(p extension.Position) string { return strconv.FormatUint(decode(p), 10) },
		ParsePosition: func(s string) (extension.Position, error) {
			n, err := strconv.ParseUint(s, 10, 64)
			return encode(n), err
		},
		ComparePosition: func(a, b extension.Position) int { return int(int64(decode(a)) - int64(decode(b))) },
		HasCommitTime:   true,
	}
}

func encode(n uint64) extension.Position { return binary.BigEndian.AppendUint64(nil, n) }

func decode(p extension.Position) uint64 {
	if len(p) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(p)
}

// Position reads a position as information_schema.streams shows it; the empty text is that before everything.
func Position(text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil && text != "" {
		panic(fmt.Sprintf("position %q is not one of a scripted source", text))
	}
	return n
}
