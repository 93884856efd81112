package peer

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
)

// patience is how long a statement may take on a system that answers are compared with.
const patience = 10 * time.Second

// ErrTooSlow is the error of a statement that such a system did not answer in time: it says nothing about the answer.
var ErrTooSlow = errors.New("no answer in time")

// Peer is one session of a system.
type Peer interface {
	// Name is what tests call the system: tidemark, postgresql or duckdb.
	Name() string
	// Run runs one statement. The error is the statement's: a system that is gone fails the test instead.
	Run(statement string) (*Answer, error)
}

// Kind says how the values of a column are compared.
type Kind uint8

// The kinds of column.
const (
	Text  Kind = iota // to the letter
	Exact             // as numbers
	Float             // as numbers, to nine digits
)

// Answer is the result of a statement; one without columns has no result.
type Answer struct {
	Kinds []Kind
	Rows  [][]*string // nil is NULL
}

// Compare says how two answers differ, "" when they do not. Rows are compared as multisets unless ordered.
func (a *Answer) Compare(b *Answer, ordered bool) string {
	if len(a.Kinds) != len(b.Kinds) {
		return fmt.Sprintf("%d columns, not %d", len(a.Kinds), len(b.Kinds))
	}
	if len(a.Rows) != len(b.Rows) {
		return fmt.Sprintf("%d rows, not %d", len(a.Rows), len(b.Rows))
	}
	kinds := make([]Kind, len(a.Kinds))
	for i := range kinds {
		kinds[i] = common(a.Kinds[i], b.Kinds[i])
	}
	x, y := a.Rows, b.Rows
	if !ordered {
		x, y = sorted(kinds, x), sorted(kinds, y)
	}
	for i := range x {
		for j, kind := range kinds {
			if !kind.equal(x[i][j], y[i][j]) {
				return fmt.Sprintf("row %d: %s, not %s", i+1, Line(x[i]), Line(y[i]))
			}
		}
	}
	return ""
}

// common is the looser of two kinds: one system's NUMERIC is another's DOUBLE.
func common(a, b Kind) Kind {
	if a == Text || b == Text {
		return Text
	}
	return max(a, b)
}

func (k Kind) equal(a, b *string) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b || k != Text && k.compare(*a, *b) == 0
}

// compare orders two values; numbers that are equal by the kind compare as 0.
func (k Kind) compare(a, b string) int {
	if k != Text {
		x, errX := strconv.ParseFloat(a, 64)
		y, errY := strconv.ParseFloat(b, 64)
		if errX == nil && errY == nil {
			if k == Exact {
				p, okP := new(big.Rat).SetString(a)
				q, okQ := new(big.Rat).SetString(b)
				if okP && okQ {
					return p.Cmp(q)
				}
			}
			switch {
			case x == y, math.IsNaN(x) && math.IsNaN(y), math.Abs(x-y) <= 1e-9*max(math.Abs(x), math.Abs(y), 1e-3):
				return 0
			case x < y:
				return -1
			}
			return 1
		}
	}
	return strings.Compare(a, b)
}

// sorted orders rows by the columns that are compared exactly before those that are not.
func sorted(kinds []Kind, rows [][]*string) [][]*string {
	var places []int
	for _, inexact := range []bool{false, true} {
		for i, k := range kinds {
			if (k == Float) == inexact {
				places = append(places, i)
			}
		}
	}
	out := slices.Clone(rows)
	slices.SortStableFunc(out, func(a, b []*string) int {
		for _, i := range places {
			switch x, y := a[i], b[i]; {
			case x == nil && y == nil:
			case x == nil:
				return -1
			case y == nil:
				return 1
			default:
				if c := kinds[i].compare(*x, *y); c != 0 {
					return c
				}
			}
		}
		return 0
	})
	return out
}

// Line prints a row, values with | between them.
func Line(row []*string) string {
	cells := make([]string, len(row))
	for i, v := range row {
		cells[i] = "NULL"
		if v != nil {
			cells[i] = *v
		}
	}
	return strings.Join(cells, "|")
}
