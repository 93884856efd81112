package extension

import (
	"context"
	"errors"
	"time"

	"github.com/tidemarkdb/tidemark/vec"
)

// Position is a place in a source's order of changes. Its bytes mean something to the source alone; the empty
// Position is the place before everything.
type Position []byte

// Op is what a change does to the row of its key.
type Op uint8

// The operations. Insert and Update both put the row's values in force, whether or not the key exists.
const (
	Insert Op = iota + 1
	Update
	Delete
	// Truncate removes every row that came before it; the values of its row are unspecified.
	Truncate
)

// SourceDef registers a kind of stream source.
type SourceDef struct {
	Def             // Name is the kind in lower case: CREATE STREAM s FROM <name>
	Options         []OptionDef
	Open            func(ctx context.Context, req OpenRequest) (Source, error)
	FormatPosition  func(Position) string          // for people
	ParsePosition   func(string) (Position, error) // the inverse
	ComparePosition func(a, b Position) int        // the source's order
	HasCommitTime   bool                           // changes carry the source's commit time
}

// OptionDef is one option of CREATE STREAM ... WITH (name = value).
type OptionDef struct {
	Name        string
	Description string
	Required    bool
	Secret      bool // redacted wherever it is shown
	Default     string
	// Check validates a value; nil accepts any. Its error may be a [Want].
	Check func(string) error
}

// OpenRequest is what a source is opened with.
type OpenRequest struct {
	Stream  string            // the stream's name
	Options map[string]string // every option of the SourceDef, defaults filled in
	Table   TableSpec
	// SpillDir is a folder the source may keep temporary files in, removed by the caller. MemoryBytes bounds what it
	// holds in memory.
	SpillDir    string
	MemoryBytes int64
	Log         func(msg string, args ...any) // as slog.Logger.Info
}

// TableSpec is the target table a source must fill.
type TableSpec struct {
	Columns []vec.Column // in order; a source column is matched by name
	Key     []int        // places of the merge key's columns
}

// Source reads one source table for one target table. One goroutine uses it, except where said otherwise.
type Source interface {
	// Check verifies that the source can serve the target now: that it can be reached, is set up for change capture
	// and has the columns with fitting types. Its errors say what to do; those that no retry heals are Permanent.
	Check(ctx context.Context) error
	// Snapshot starts reading the whole table as of one position, from which Stream then continues without gap or
	// overlap. It may discard what an earlier, unfinished Snapshot set up at the source.
	Snapshot(ctx context.Context) (Snapshot, error)
	// Stream starts reading changes after the position, which was returned by a Snapshot or in Changes.
	Stream(ctx context.Context, after Position) (Stream, error)
	// Drop releases what the source keeps for this stream (a replication slot). Called when the stream is dropped.
	Drop(ctx context.Context) error
	// Close ends everything; idempotent.
	Close() error
}

// Snapshot is one consistent read of a whole source table.
type Snapshot interface {
	// Position is where the stream must continue. Parts is how many parts can be read, side by side.
	Position() Position
	Parts() int
	// Read passes the rows of part i in batches (Cols as TableSpec.Columns, no selection) to fn, which owns each.
	// Different parts may be read by different goroutines at once.
	Read(ctx context.Context, part int, fn func(*vec.Batch) error) error
	// Close ends the read; idempotent.
	Close() error
}

// Stream yields changes in the source's commit order. One goroutine calls Next; Ack may be called by another.
type Stream interface {
	// Next returns the next changes, waiting for some until ctx ends or wait has passed; then it returns nil, nil.
	// It holds at most about maxRows rows. Rows of a transaction that is not known to have committed are never
	// returned. The result is the caller's.
	Next(ctx context.Context, wait time.Duration, maxRows int) (*Changes, error)
	// Ack tells the source that everything up to the position is durable here. It never blocks for long.
	Ack(Position)
	// Close ends the stream; idempotent.
	Close() error
}

// Changes is a run of consecutive changes.
type Changes struct {
	// Cols hold the new row of each change in TableSpec's order, for a Delete the key columns only.
	Cols []*vec.Vector
	Ops  []Op
	// Unchanged[c], where not nil, has bit i set when change i left column c as it was and the source did not send
	// its value (TOAST): the stored row has it. Unchanged itself is nil when nothing is missing.
	Unchanged []vec.Bitmap
	// KeyRow[i], when Unchanged is set, is the row of this batch whose key the stored row of change i has: i itself,
	// or the Delete of the old key when the change moved the key.
	KeyRow []int32
	// Inserts, Updates and Deletes count source events: a moved key is one update although it takes two rows.
	Inserts, Updates, Deletes int64
	// Boundary is true when the run ends at the end of a source transaction; Position and CommitTime are those of it.
	// A run without rows and with Boundary moves the position only. CommitTime is zero when the source has none.
	Boundary   bool
	Position   Position
	CommitTime time.Time
}

// Rows returns the number of changes.
func (c *Changes) Rows() int { return len(c.Ops) }

// Permanent marks err as one that no retry heals: the attachment stops in state error with it.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

// IsPermanent reports whether err is or wraps one marked by Permanent.
func IsPermanent(err error) bool {
	var p *permanentError
	return errors.As(err, &p)
}

type permanentError struct{ error }

func (p *permanentError) Unwrap() error { return p.error }
