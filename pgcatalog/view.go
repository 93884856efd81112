package pgcatalog

import (
	"strings"
	"sync"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// Session is what a View asks its session for.
type Session interface {
	User() string
	ReadOnly() bool
	Schemas() []string    // those the session sees
	SearchPath() []string // schemas of unqualified names, in order, existing or not
	Virtual() []VirtualTable
	ViewColumns(v *catalog.View) (vec.Schema, error)
	Rows(t *catalog.Table) (rows int64, known bool) // that live
	Functions() *extension.Registry
	Settings() []Setting
	Statements() []Statement
}

// VirtualTable is a relation computed when it is read, such as those of this package.
type VirtualTable struct {
	Schema, Name string
	Columns      vec.Schema
}

// Setting is one setting as SHOW ALL has it.
type Setting struct {
	Name, Value, Initial, Description string
	Server                            bool // of the server, not the session
}

// Statement is one that runs now.
type Statement struct {
	ID            int64
	User, Text    string
	StartedMicros int64 // since 1970
}

// Database is the name and number of the only database.
const (
	Database    = "tidemark"
	databaseOid = 5
)

// View is the catalog at one version as one session sees it. Any goroutine may use it.
type View struct {
	Session  Session
	Snapshot *catalog.Snapshot

	numbers  *numbers
	once     sync.Once
	classes  []*class // filled once
	byOid    map[int64]*class
	procs    sync.Once
	routined []routine // filled by procs
}

// NewView returns the view of a session.
func NewView(s Session, snapshot *catalog.Snapshot, g *Numbering) *View {
	return &View{Session: s, Snapshot: snapshot, numbers: g.of(snapshot)}
}

// class is a row of pg_class: a table, index, view, sequence or virtual table.
type class struct {
	oid          int64
	schema, name string
	kind         string // relkind: r, i, v or S
	table        *catalog.Table
	index        *index
	view         *catalog.View
	sequence     *catalog.Sequence
	columns      []tablet.Column // of what has some
}

// index is an index of a table, or what keeps a key of it.
type index struct {
	of      *class
	name    string
	unique  bool
	primary bool
	places  []int    // of each entry: the column's place from 1, 0 for an expression
	entries []string // SQL of each entry
	where   string
	comment string
}

// all returns every relation that the session sees.
func (v *View) all() []*class {
	v.once.Do(func() {
		v.addTables()
		v.addViews()
		v.addSequences()
		v.addVirtual()
		v.byOid = make(map[int64]*class, len(v.classes))
		for _, c := range v.classes {
			v.byOid[c.oid] = c
		}
	})
	return v.classes
}

func (v *View) sees(schema string) bool {
	for _, s := range v.Session.Schemas() {
		if s == schema {
			return true
		}
	}
	return false
}

func (v *View) addTables() {
	for t := range v.Snapshot.Tables("") {
		if !v.sees(t.Schema) {
			continue
		}
		c := &class{oid: v.numbers.of("class", tableKey(t)), schema: t.Schema, name: t.Name, kind: "r", table: t, columns: t.Columns}
		v.classes = append(v.classes, c)
		for _, i := range indexesOf(c) {
			columns := make([]tablet.Column, 0, len(i.places))
			for _, place := range i.places {
				if place > 0 {
					columns = append(columns, t.Columns[place-1])
				}
			}
			v.classes = append(v.classes, &class{oid: v.numbers.of("class", indexKey(t, i.name)), schema: t.Schema, name: i.name, kind: "i",
				index: i, columns: columns})
		}
	}
}

// indexesOf lists the indexes of a table: those of its keys, then those made by CREATE INDEX.
func indexesOf(c *class) []*index {
	var out []*index
	t := c.table
	key := func(k catalog.Constraint) {
		i := &index{of: c, name: k.Name, unique: true, primary: k.Kind == catalog.PrimaryKey}
		for _, id := range k.Columns {
			place := placeOf(t, id)
			i.places, i.entries = append(i.places, place), append(i.entries, QuoteIdent(t.Columns[place-1].Name))
		}
		out = append(out, i)
	}
	for _, k := range t.AllConstraints() {
		if k.Kind == catalog.PrimaryKey || k.Kind == catalog.UniqueKey {
			key(k)
		}
	}
	for _, x := range t.Indexes {
		i := &index{of: c, name: x.Name, unique: x.Unique, where: x.Where, comment: x.Comment}
		for _, e := range x.Exprs {
			place := placeOfExpr(t, e)
			if place > 0 {
				e = QuoteIdent(t.Columns[place-1].Name)
			}
			i.places, i.entries = append(i.places, place), append(i.entries, e)
		}
		out = append(out, i)
	}
	return out
}

// placeOf is the place from 1 of a column given by field id, 0 when there is none.
func placeOf(t *catalog.Table, fieldID int32) int {
	for i, c := range t.Columns {
		if c.FieldID == fieldID {
			return i + 1
		}
	}
	return 0
}

// placeOfExpr is the place from 1 of the column that an expression is, 0 for any other.
func placeOfExpr(t *catalog.Table, e string) int {
	for i, c := range t.Columns {
		if e == c.Name || e == `"`+strings.ReplaceAll(c.Name, `"`, `""`)+`"` {
			return i + 1
		}
	}
	return 0
}

func places(t *catalog.Table, fields []int32) []int {
	out := make([]int, len(fields))
	for i, id := range fields {
		out[i] = placeOf(t, id)
	}
	return out
}

func (v *View) addViews() {
	for view := range v.Snapshot.Views("") {
		if !v.sees(view.Schema) {
			continue
		}
		c := &class{oid: v.numbers.of("class", nameKey(view.Schema, view.Name)), schema: view.Schema, name: view.Name, kind: "v", view: view}
		if schema, err := v.Session.ViewColumns(view); err == nil { // a view over a table that is gone has no columns
			c.columns = columnsFrom(schema)
		}
		v.classes = append(v.classes, c)
	}
}

func (v *View) addSequences() {
	for q := range v.Snapshot.Sequences("") {
		if v.sees(q.Schema) {
			columns := []tablet.Column{{Name: "last_value", Type: vec.Int64Type}, {Name: "log_cnt", Type: vec.Int64Type}, {Name: "is_called", Type: vec.BoolType}}
			v.classes = append(v.classes, &class{oid: v.numbers.of("class", sequenceKey(q)), schema: q.Schema, name: q.Name, kind: "S",
				sequence: q, columns: columns})
		}
	}
}

func (v *View) addVirtual() {
	for nth, t := range v.Session.Virtual() {
		kind := "v"
		if t.Schema == "pg_catalog" && fixedClasses[t.Name] != 0 {
			kind = "r"
		}
		v.classes = append(v.classes, &class{oid: virtualOid(t.Schema, t.Name, nth), schema: t.Schema, name: t.Name, kind: kind, columns: columnsFrom(t.Columns)})
	}
}

func columnsFrom(schema vec.Schema) []tablet.Column {
	out := make([]tablet.Column, len(schema))
	for i, c := range schema {
		out[i] = tablet.Column{Name: c.Name, Type: c.Type, Nullable: c.Nullable}
	}
	return out
}

// QuoteIdent quotes a name where SQL needs it.
func QuoteIdent(name string) string {
	plain := name != "" && (name[0] < '0' || name[0] > '9')
	for _, r := range name {
		plain = plain && (r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	}
	if plain {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}
