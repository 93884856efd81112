package sql

// DeclareCursor is DECLARE name CURSOR FOR query.
type DeclareCursor struct {
	Name   Ident
	Scroll bool // SCROLL: rows already read may be fetched again
	Hold   bool // WITH HOLD: outlives its transaction
	Query  QueryExpr
	Pos    int
}

// Direction is which rows [Fetch] takes.
type Direction uint8

// The directions.
const (
	FetchForward  Direction = iota // the next Count rows, all that are left with All
	FetchBackward                  // those before
	FetchAbsolute                  // row number Count, from the end when negative
	FetchRelative                  // the row Count further
)

// Fetch is FETCH [direction] [FROM] cursor, or with Move MOVE, which returns no rows.
type Fetch struct {
	Cursor    Ident
	Direction Direction
	Count     int64
	All       bool
	Move      bool
	Pos       int
}

// CloseCursor is CLOSE name or, without a name, CLOSE ALL.
type CloseCursor struct {
	Name Ident
	Pos  int
}

// Position returns the position of the node.
func (s *DeclareCursor) Position() int { return s.Pos }

// Position returns the position of the node.
func (s *Fetch) Position() int { return s.Pos }

// Position returns the position of the node.
func (s *CloseCursor) Position() int { return s.Pos }

func (s *DeclareCursor) statement() {}
func (s *Fetch) statement()         {}
func (s *CloseCursor) statement()   {}
