package sql

// CreateSequence is CREATE [TEMP] SEQUENCE.
type CreateSequence struct {
	Name        Name
	OrReplace   bool
	Temp        bool
	IfNotExists bool
	Options     SequenceOptions
	Pos         int
}

// AlterSequence is ALTER SEQUENCE name options.
type AlterSequence struct {
	Name     Name
	IfExists bool
	Options  SequenceOptions
	Pos      int
}

// SequenceOptions are what a statement says of a sequence; nil where it says nothing.
type SequenceOptions struct {
	Type      *TypeName
	Increment *int64
	Min, Max  *int64
	NoMin     bool
	NoMax     bool
	Start     *int64
	Restart   bool   // RESTART was written, of ALTER
	RestartAt *int64 // RESTART WITH
	Cycle     *bool
	OwnedBy   Name // empty with OWNED BY NONE
}

// CreateType is CREATE TYPE name AS ENUM (labels).
type CreateType struct {
	Name        Name
	IfNotExists bool
	Labels      []string
	Pos         int
}

// AlterEnum is ALTER TYPE name ADD VALUE, RENAME VALUE, RENAME TO or SET SCHEMA.
type AlterEnum struct {
	Name        Name
	RenameTo    Ident
	SetSchema   Ident
	Label       string // to be added, or the new name
	Old         string // of RENAME VALUE, else ""
	IfNotExists bool
	Before      string // the label that a new one comes before or after, "" for the end
	After       string
	Pos         int
}

func (s *CreateSequence) statement() {}
func (s *AlterSequence) statement()  {}
func (s *CreateType) statement()     {}
func (s *AlterEnum) statement()      {}

// Position implements [Node].
func (s *CreateSequence) Position() int { return s.Pos }

// Position implements [Node].
func (s *AlterSequence) Position() int { return s.Pos }

// Position implements [Node].
func (s *CreateType) Position() int { return s.Pos }

// Position implements [Node].
func (s *AlterEnum) Position() int { return s.Pos }
