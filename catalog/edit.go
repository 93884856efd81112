package catalog

import "github.com/tidemarkdb/tidemark/tablet"

// Edit is one change a commit makes. The edits of a commit apply in order, all or none. An edit holds everything it
// needs to check that it still fits; the error of one that does not is an SQLSTATE the user may see: 40001 when
// another commit got in its way and the work may be done again.
type Edit interface {
	kind() string
	apply(*draft) error
}

// CreateSchema creates a schema.
type CreateSchema struct {
	Name        string `json:"name"`
	IfNotExists bool   `json:"if_not_exists,omitempty"`
}

// DropSchema drops a schema; with Cascade its tables and views go too, else it must be empty.
type DropSchema struct {
	Name     string `json:"name"`
	IfExists bool   `json:"if_exists,omitempty"`
	Cascade  bool   `json:"cascade,omitempty"`
}

// CreateTable creates an empty table. It numbers columns whose FieldID is zero, in order, from 1 on; MergeKeyNames and
// PrimaryIndexNames may name columns in place of the field ids in Definition.
type CreateTable struct {
	ID                tablet.TableID `json:"id"` // from tablet.NewTableID
	Definition        Definition     `json:"definition"`
	MergeKeyNames     []string       `json:"merge_key_names,omitempty"`
	PrimaryIndexNames []string       `json:"primary_index_names,omitempty"`
	IfNotExists       bool           `json:"if_not_exists,omitempty"`
}

// DropTable drops a table with its tablets, staging and attachment.
type DropTable struct {
	Table tablet.TableID `json:"table"`
}

// RenameTable renames a table or moves it to another schema.
type RenameTable struct {
	Table  tablet.TableID `json:"table"`
	Schema string         `json:"schema"`
	Name   string         `json:"name"`
}

// AlterColumns replaces the columns and the primary index of a table that is open to DML. Columns keep their field
// id; a new column has FieldID 0 and is numbered. It fails when the schema version is no longer FromVersion.
type AlterColumns struct {
	Table        tablet.TableID  `json:"table"`
	FromVersion  uint32          `json:"from_version"`
	Columns      []tablet.Column `json:"columns"`
	PrimaryIndex []int32         `json:"primary_index,omitempty"`

	// RowsAsOf, when not 0, is the version of the tablets whose rows were found to fit; 40001 when the table has others.
	RowsAsOf uint64 `json:"rows_as_of,omitempty"`
}

// CreateView creates a view, or replaces one.
type CreateView struct {
	View        View `json:"view"`
	OrReplace   bool `json:"or_replace,omitempty"`
	IfNotExists bool `json:"if_not_exists,omitempty"`
}

// DropView drops a view.
type DropView struct {
	Schema   string `json:"schema"`
	Name     string `json:"name"`
	IfExists bool   `json:"if_exists,omitempty"`
}

// CreateStream creates a stream. Its Loaded must be zero.
type CreateStream struct {
	Stream      Stream `json:"stream"`
	IfNotExists bool   `json:"if_not_exists,omitempty"`
}

// DropStream drops a stream that is attached to no table.
type DropStream struct {
	Name     string `json:"name"`
	IfExists bool   `json:"if_exists,omitempty"`
}

// AttachStream attaches a stream to a CDC table, paused. One stream feeds one table.
type AttachStream struct {
	Table  tablet.TableID `json:"table"`
	Stream StreamID       `json:"stream"`
}

// DetachStream ends the attachment and fences its worker; rows, staging and position stay.
type DetachStream struct {
	Table tablet.TableID `json:"table"`
}

// SetIngestState changes the state of an attachment. Failed needs a Reason and is final: only DetachStream ends it. A
// worker gives its Epoch; a user's statement leaves it zero.
type SetIngestState struct {
	Table  tablet.TableID `json:"table"`
	State  IngestState    `json:"state"`
	Reason string         `json:"reason,omitempty"`
	Epoch  uint64         `json:"epoch,omitempty"`
}

// RequestWorker asks the owner of a table's ingestion to hand it over to an engine, and sets the state to Enabled. The
// owner answers with YieldWorker; an owner that does not answer is dead, and AcquireWorker takes over at once.
type RequestWorker struct {
	Table  tablet.TableID `json:"table"`
	Engine string         `json:"engine"`
}

// YieldWorker answers a RequestWorker. Without Done the owner has heard and finishes the statement it is running; with
// Done it has stopped: the table has no owner and a new epoch, and the engine that asked may acquire it.
type YieldWorker struct {
	Table tablet.TableID `json:"table"`
	Epoch uint64         `json:"epoch"`
	Done  bool           `json:"done,omitempty"`
}

// AcquireWorker makes an engine the owner of a table's ingestion, sets the state to Enabled and raises the epoch by
// one, which fences the worker before. FromEpoch must be the epoch the caller saw. A request is settled by it.
type AcquireWorker struct {
	Table     tablet.TableID `json:"table"`
	Engine    string         `json:"engine"`
	FromEpoch uint64         `json:"from_epoch"`
}

// Progress is where a load or an append leaves the stream.
type Progress struct {
	Position     []byte `json:"position,omitempty"`
	PositionText string `json:"position_text,omitempty"`
	LastSeq      int64  `json:"last_seq,omitempty"`
	SourceMicros int64  `json:"source_micros,omitempty"` // source commit time of the newest change, Unix microseconds; 0 unknown
}

// Append adds the staging tablets of one append and advances the stream position in the same commit. Tablets get the
// next append number. Without tablets it advances the position alone.
type Append struct {
	Table    tablet.TableID `json:"table"`
	Epoch    uint64         `json:"epoch"`
	Tablets  []*tablet.Desc `json:"tablets,omitempty"` // in order of part
	Progress Progress       `json:"progress"`

	// FromPosition, when not nil, must be the committed position: the append continues from it.
	FromPosition []byte `json:"from_position,omitempty"`

	// Truncate says that the source truncated the table before the first change in Tablets: every tablet leaves the
	// table in this commit.
	Truncate bool `json:"truncate,omitempty"`
}

// Load replaces all rows of a table, staging included, with those of the attached stream's snapshot.
type Load struct {
	Table    tablet.TableID `json:"table"`
	Epoch    uint64         `json:"epoch"`
	Tablets  []*tablet.Desc `json:"tablets,omitempty"`
	Runs     []tablet.Run   `json:"runs,omitempty"`
	Progress Progress       `json:"progress"`
}

// MaskChange replaces the committed mask of one tablet. It fails with 40001 unless the mask is still From.
type MaskChange struct {
	Tablet tablet.ID      `json:"tablet"`
	From   tablet.MaskRef `json:"from"`
	To     tablet.MaskRef `json:"to"`
}

// Adoption moves one staging tablet into the base.
type Adoption struct {
	Staged tablet.ID      `json:"staged"`
	Mask   tablet.MaskRef `json:"mask"` // of the tablet in the base; zero for none
}

// Adopt is the result of a cascade: every staging tablet up to the append AsOf leaves staging. It stays valid when
// more appends land meanwhile, and fails with 40001 when the table was loaded or truncated, or a mask it replaces has
// changed. Each staging tablet up to AsOf must be in exactly one of Adopted and Retired.
type Adopt struct {
	Table   tablet.TableID `json:"table"`
	AsOf    uint64         `json:"as_of"`             // append number
	Adopted []Adoption     `json:"adopted,omitempty"` // moved into the base as they are
	Retired []tablet.ID    `json:"retired,omitempty"` // staging tablets no row of which lives, or that Written replaces
	Written []tablet.Base  `json:"written,omitempty"` // new base tablets: consolidated staging, with their masks
	Masks   []MaskChange   `json:"masks,omitempty"`   // of tablets already in the base
	Dropped []MaskedTablet `json:"dropped,omitempty"` // base tablets no row of which lives
	Epoch   uint64         `json:"epoch,omitempty"`   // of the worker that cascades; zero when not fenced
}

// MaskedTablet is a base tablet with the mask a rewrite saw; the edit fails with 40001 when the mask has changed.
type MaskedTablet struct {
	Tablet tablet.ID      `json:"tablet"`
	Mask   tablet.MaskRef `json:"mask"`
}

// ReplaceTablets swaps base tablets for rewritten ones of the same live rows: vacuum and merge. Masks hide, in tablets
// that stay, the rows that Add has in their place.
type ReplaceTablets struct {
	Table  tablet.TableID `json:"table"`
	Remove []MaskedTablet `json:"remove"`
	Masks  []MaskChange   `json:"masks,omitempty"`
	Add    []tablet.Base  `json:"add,omitempty"`
	Epoch  uint64         `json:"epoch,omitempty"` // of the worker that cascades; zero when not fenced
}

// Modify is one statement of DML, or one merged batch of a table in write mode: tablets added, masks set, tablets
// removed whole.
type Modify struct {
	Table         tablet.TableID `json:"table"`
	SchemaVersion uint32         `json:"schema_version"` // of the table the rows were made for; 40001 when it has changed
	Add           []tablet.Base  `json:"add,omitempty"`
	Masks         []MaskChange   `json:"masks,omitempty"`
	Remove        []MaskedTablet `json:"remove,omitempty"`

	// KeysAsOf, when not 0, is the version of the tablets that the merge keys of Add were found to be new in; 40001 when
	// the table has others.
	KeysAsOf uint64 `json:"keys_as_of,omitempty"`

	// Ingest advances the stream in the same commit, for a worker in write mode; Epoch is then its fence.
	Ingest *Progress `json:"ingest,omitempty"`
	Epoch  uint64    `json:"epoch,omitempty"`
}

// Truncate removes every tablet of a table that is open to DML.
type Truncate struct {
	Table         tablet.TableID `json:"table"`
	SchemaVersion uint32         `json:"schema_version"` // 40001 when it has changed
}

// ReplaceRuns swaps runs of the key index. It fails with 40001 when one of Remove is gone.
type ReplaceRuns struct {
	Table  tablet.TableID `json:"table"`
	Remove []tablet.ID    `json:"remove,omitempty"`
	Add    []tablet.Run   `json:"add,omitempty"`
}

// SetSetting persists a setting, or forgets it when Reset is set.
type SetSetting struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
	Reset bool   `json:"reset,omitempty"`
}

// expire moves the horizon of readable versions and forgets garbage that has been deleted. Sweep commits it.
type expire struct {
	Horizon uint64 `json:"horizon"` // versions below it are no longer readable
	Deleted uint64 `json:"deleted"` // garbage of commits up to this version is deleted
}
