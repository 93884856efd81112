package catalog

import (
	"fmt"
	"slices"
	"time"

	"github.com/tidemarkdb/tidemark/tablet"
)

// DefaultSchema is the schema every root has from its first version on.
const DefaultSchema = "public"

// Schema is a named set of tables and views. It is immutable.
type Schema struct {
	Name    string `json:"name"`
	Comment string `json:"comment,omitempty"` // of COMMENT ON SCHEMA
}

// TableKind says who keeps a table's rows.
type TableKind string

// The kinds of tables.
const (
	Managed TableKind = "managed" // rows come from DML
	CDC     TableKind = "cdc"     // rows come from a stream
)

// MergeMode says where a CDC table's superseded rows are excluded.
type MergeMode string

// The merge modes.
const (
	MergeRead  MergeMode = "read"  // when a query plans; staging and cascade
	MergeWrite MergeMode = "write" // when a batch is applied
)

// DefaultCascadeInterval is the cascade_interval of a CDC table that names none.
const DefaultCascadeInterval = time.Minute

// Definition is what CREATE TABLE and CREATE CDC TABLE say. Field ids in Columns may be zero: CreateTable numbers them.
type Definition struct {
	Schema       string          `json:"schema"`
	Name         string          `json:"name"`
	Kind         TableKind       `json:"kind"`
	Columns      []tablet.Column `json:"columns"`
	MergeKey     []int32         `json:"merge_key,omitempty"`     // field ids, in the order of the key; CDC tables
	PrimaryIndex []int32         `json:"primary_index,omitempty"` // field ids rows are sorted by; empty: the merge key

	// Of managed tables.
	KeyName     string       `json:"key_name,omitempty"`    // of the primary key's constraint, "" for the usual one
	KeyComment  string       `json:"key_comment,omitempty"` // on the primary key's constraint
	Constraints []Constraint `json:"constraints,omitempty"`
	Indexes     []Index      `json:"indexes,omitempty"`

	// Of CDC tables. Zero values mean read mode and DefaultCascadeInterval.
	MergeMode       MergeMode     `json:"merge_mode,omitempty"`
	CascadeInterval time.Duration `json:"cascade_interval,omitempty"`

	Comment string `json:"comment,omitempty"` // of COMMENT ON TABLE
}

// Table is one table at one version. It is immutable: copy it to change it.
type Table struct {
	ID tablet.TableID `json:"id"`
	Definition
	SchemaVersion uint32 `json:"schema_version"` // grows with every change of the columns
	NextFieldID   int32  `json:"next_field_id"`  // never used before
	Created       uint64 `json:"created"`        // version of the commit that created it

	// ReferencedBy are the tables whose foreign keys refer to this one, in order; it may be among them.
	ReferencedBy []tablet.TableID `json:"referenced_by,omitempty"`

	Ingest  *Ingest     `json:"ingest,omitempty"` // nil for managed tables
	Tablets *tablet.Set `json:"-"`                // never nil
}

// View is a named query. It is immutable.
type View struct {
	Schema  string   `json:"schema"`
	Name    string   `json:"name"`
	SQL     string   `json:"sql"`               // text of the query
	Columns []string `json:"columns,omitempty"` // names given in CREATE VIEW, empty for those of the query
	Comment string   `json:"comment,omitempty"` // of COMMENT ON VIEW

	// Path are the schemas in which the unqualified names of SQL are looked for, as of CREATE VIEW. Views of old have none
	// and take those of the session that reads them.
	Path []string `json:"path,omitempty"`

	ColumnComments map[string]string `json:"column_comments,omitempty"` // of COMMENT ON COLUMN, by name
}

// StreamID names a stream for its lifetime. It is made like a tablet.ID.
type StreamID uint64

// Stream is a source of changes and how to reach it. It is immutable.
type Stream struct {
	ID      StreamID `json:"id"`
	Name    string   `json:"name"`
	Kind    string   `json:"kind"` // POSTGRES, MONGODB, GENERATOR, or what an extension registered; upper case
	Options Options  `json:"options,omitempty"`

	// Loaded is the table this stream loaded last, which continues from its position when the stream is attached
	// again; zero before the first load.
	Loaded tablet.TableID `json:"loaded,omitempty"`
}

// IngestState is the persisted state of an attachment.
type IngestState string

// The ingest states. A table without a stream has state "".
const (
	Enabled IngestState = "enabled"
	Paused  IngestState = "paused"
	Failed  IngestState = "error"
)

// Ingest is the durable side of a CDC table's ingestion. It is immutable.
type Ingest struct {
	Stream StreamID    `json:"stream,omitempty"` // attached stream, zero when none
	State  IngestState `json:"state,omitempty"`  // "" when none is attached
	Reason string      `json:"reason,omitempty"` // why State is Failed

	Owner string `json:"owner,omitempty"` // engine that acquired the worker last
	Epoch uint64 `json:"epoch,omitempty"` // grows with every acquire, attach and detach: a fence for edits of the past

	// Wanted is the engine that asked to take the worker over, "" when none did; Yielding says that the owner has heard
	// and will hand over when the statement it is running ends.
	Wanted   string `json:"wanted,omitempty"`
	Yielding bool   `json:"yielding,omitempty"`

	// LoadedBy is the stream whose initial load filled the table, zero before the first. The load is done when it
	// equals Stream.
	LoadedBy StreamID `json:"loaded_by,omitempty"`

	Position     []byte `json:"position,omitempty"`      // of LoadedBy, opaque
	PositionText string `json:"position_text,omitempty"` // the same to be read by people

	LastSeq       int64  `json:"last_seq,omitempty"`       // largest last_seq given to a change
	LastAppend    uint64 `json:"last_append,omitempty"`    // number of the newest append
	AdoptedAppend uint64 `json:"adopted_append,omitempty"` // every append up to this one is in the base

	SourceMicros     int64 `json:"source_micros,omitempty"`      // source commit time of the newest change applied; 0 unknown
	BaseSourceMicros int64 `json:"base_source_micros,omitempty"` // the same of the newest change in the base; 0 unknown
	CommitMicros     int64 `json:"commit_micros,omitempty"`      // when the newest load or append committed; 0 before
}

// Attached reports whether a stream is attached.
func (i *Ingest) Attached() bool { return i != nil && i.Stream != 0 }

// LoadDone reports whether the attached stream has loaded the table, so that ingestion continues from Position.
func (i *Ingest) LoadDone() bool { return i.Attached() && i.LoadedBy == i.Stream }

// QualifiedName returns schema.name, for messages and labels.
func (t *Table) QualifiedName() string { return t.Schema + "." + t.Name }

// Column returns the column of a name.
func (t *Table) Column(name string) (tablet.Column, bool) {
	i := slices.IndexFunc(t.Columns, func(c tablet.Column) bool { return c.Name == name })
	if i < 0 {
		return tablet.Column{}, false
	}
	return t.Columns[i], true
}

// ColumnByID returns the column of a field id.
func (t *Table) ColumnByID(fieldID int32) (tablet.Column, bool) {
	i := slices.IndexFunc(t.Columns, func(c tablet.Column) bool { return c.FieldID == fieldID })
	if i < 0 {
		return tablet.Column{}, false
	}
	return t.Columns[i], true
}

// SortColumns returns the field ids rows are sorted by: the primary index, else the merge key, else none.
func (t *Table) SortColumns() []int32 {
	if len(t.PrimaryIndex) > 0 {
		return t.PrimaryIndex
	}
	return t.MergeKey
}

// OpenToDML reports whether INSERT, UPDATE, DELETE, MERGE, TRUNCATE and column changes are allowed: not on CDC tables in
// read mode, whose state belongs to the ingest worker.
func (t *Table) OpenToDML() bool { return t.Kind == Managed || t.MergeMode == MergeWrite }

// String returns 16 hexadecimal digits.
func (id StreamID) String() string { return fmt.Sprintf("%016x", uint64(id)) }

// NewStreamID returns a StreamID nothing else has.
func NewStreamID() StreamID { return StreamID(tablet.NewID()) }

// MarshalText writes the form of [StreamID.String].
func (id StreamID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads the form of [StreamID.String].
func (id *StreamID) UnmarshalText(text []byte) error {
	n, err := tablet.ParseID(string(text))
	*id = StreamID(n)
	return err
}
