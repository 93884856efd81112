package catalog

import (
	"iter"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
)

// Sequence is a generator of numbers. It is immutable: edits replace it.
type Sequence struct {
	ID        tablet.ID `json:"id"` // from tablet.NewID
	Schema    string    `json:"schema"`
	Name      string    `json:"name"`
	Type      string    `json:"type"` // smallint, integer or bigint
	Start     int64     `json:"start"`
	Increment int64     `json:"increment"` // not 0
	Min       int64     `json:"min"`
	Max       int64     `json:"max"`
	Cycle     bool      `json:"cycle,omitempty"`

	// Last is the last number taken, or with Called false the next one to be taken. Numbers are taken in blocks, so it
	// may be ahead of what was given out.
	Last   int64 `json:"last"`
	Called bool  `json:"called,omitempty"`

	// Owner is the table the sequence was made for and goes with: of SERIAL and IDENTITY columns. Zero for none.
	Owner tablet.TableID `json:"owner,omitempty"`

	Comment string `json:"comment,omitempty"` // of COMMENT ON SEQUENCE
}

// CreateSequence creates a sequence.
type CreateSequence struct {
	Sequence    Sequence `json:"sequence"`
	IfNotExists bool     `json:"if_not_exists,omitempty"`
	OrReplace   bool     `json:"or_replace,omitempty"`
}

// DropSequence drops a sequence.
type DropSequence struct {
	Schema string `json:"schema"`
	Name   string `json:"name"`
}

// AlterSequence replaces a sequence of the same identity, its name included.
type AlterSequence struct {
	Sequence Sequence `json:"sequence"`
}

// TakeNumbers moves a sequence on. Unless Force is set it fails with 40001 when the sequence is no longer where From
// and FromCalled say.
type TakeNumbers struct {
	ID         tablet.ID `json:"id"`
	Schema     string    `json:"schema"`
	Name       string    `json:"name"`
	From       int64     `json:"from"`
	FromCalled bool      `json:"from_called,omitempty"`
	Last       int64     `json:"last"`
	Called     bool      `json:"called,omitempty"`
	Force      bool      `json:"force,omitempty"`
}

func (*CreateSequence) kind() string { return "create_sequence" }
func (*DropSequence) kind() string   { return "drop_sequence" }
func (*AlterSequence) kind() string  { return "alter_sequence" }
func (*TakeNumbers) kind() string    { return "take_numbers" }

func (e *CreateSequence) validate() error { return validateSequence(e.Sequence) }

func (e *AlterSequence) validate() error { return validateSequence(e.Sequence) }

func validateSequence(q Sequence) error {
	if q.ID == 0 {
		return broken("sequence %q has no identity", q.Name)
	}
	invalid := func(format string, args ...any) *sqlerr.Error {
		return sqlerr.New(sqlerr.InvalidParameterValue, format, args...)
	}
	switch {
	case q.Increment == 0:
		return invalid("INCREMENT must not be zero").Hintf("use 1 or more, or -1 or less")
	case q.Min >= q.Max:
		return invalid("MINVALUE (%d) must be less than MAXVALUE (%d)", q.Min, q.Max).Hintf("give a wider range")
	case q.Start < q.Min:
		return invalid("START value (%d) cannot be less than MINVALUE (%d)", q.Start, q.Min).Hintf("start within the range")
	case q.Start > q.Max:
		return invalid("START value (%d) cannot be greater than MAXVALUE (%d)", q.Start, q.Max).Hintf("start within the range")
	}
	return validateName("sequence", q.Name)
}

func (e *CreateSequence) apply(d *draft) error {
	q := e.Sequence
	if _, ok := d.schemas.get(q.Schema); !ok {
		return d.current().noSchema(q.Schema)
	}
	if r, taken := d.relations.get(keyFor(q.Schema, q.Name)); taken {
		switch {
		case r.sequence != nil && e.IfNotExists:
			return nil
		case r.sequence == nil || !e.OrReplace:
			return duplicate(q.Schema, q.Name)
		}
	}
	d.relations.set(keyFor(q.Schema, q.Name), relation{sequence: &q})
	return nil
}

func (e *DropSequence) apply(d *draft) error {
	if _, err := d.current().Sequence(e.Schema, e.Name); err != nil {
		return err
	}
	d.relations.remove(keyFor(e.Schema, e.Name))
	return nil
}

func (e *AlterSequence) apply(d *draft) error {
	for key, r := range d.relations.freeze().All() {
		if r.sequence == nil || r.sequence.ID != e.Sequence.ID {
			continue
		}
		q := e.Sequence
		if to := keyFor(q.Schema, q.Name); to != key {
			if _, ok := d.schemas.get(q.Schema); !ok {
				return d.current().noSchema(q.Schema)
			}
			if _, taken := d.relations.get(to); taken {
				return duplicate(q.Schema, q.Name)
			}
			d.relations.remove(key)
		}
		d.relations.set(keyFor(q.Schema, q.Name), relation{sequence: &q})
		return nil
	}
	return outdated("sequence %q was dropped", e.Sequence.Name)
}

func (e *TakeNumbers) apply(d *draft) error {
	r, ok := d.relations.get(keyFor(e.Schema, e.Name))
	if !ok || r.sequence == nil || r.sequence.ID != e.ID {
		return outdated("sequence %q was dropped or renamed", e.Name)
	}
	if !e.Force && !d.replaying && (r.sequence.Last != e.From || r.sequence.Called != e.FromCalled) {
		return outdated("sequence %q gave out numbers", e.Name)
	}
	q := *r.sequence
	q.Last, q.Called = e.Last, e.Called
	d.relations.set(keyFor(q.Schema, q.Name), relation{sequence: &q})
	return nil
}

// Sequence returns a sequence by name. The error is 3F000, 42P01, or 42809 when the name is another object's.
func (s *Snapshot) Sequence(schema, name string) (*Sequence, error) {
	r, ok := s.relations.Get(keyFor(schema, name))
	switch {
	case ok && r.sequence != nil:
		return r.sequence, nil
	case ok:
		return nil, sqlerr.New(sqlerr.WrongObjectType, "%q is not a sequence", name).Hintf("name a sequence")
	case !s.HasSchema(schema):
		return nil, s.noSchema(schema)
	}
	return nil, s.noRelation(schema, name)
}

// Sequences yields the sequences of a schema in name order; of all schemas, ordered by schema, when schema is "".
func (s *Snapshot) Sequences(schema string) iter.Seq[*Sequence] {
	return func(yield func(*Sequence) bool) {
		for r := range s.relationsOf(schema) {
			if r.sequence != nil && !yield(r.sequence) {
				return
			}
		}
	}
}
