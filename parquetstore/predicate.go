package parquetstore

import (
	"strings"

	"github.com/tidemarkdb/tidemark/vec"
)

// Op is what a predicate asks of a column.
type Op uint8

// The operators. Rows where the comparison is NULL do not pass, as in WHERE.
const (
	Eq Op = iota
	Ne
	Lt
	Le
	Gt
	Ge
	Between // Values[0] <= column <= Values[1]
	In      // column is one of Values; NULLs among them match nothing
	Prefix  // text or bytes that begin with Values[0]
	IsNull
	IsNotNull
)

// Predicate is one condition on one column. A scan passes the rows that meet all of its predicates.
type Predicate struct {
	Column int // place in File.Columns
	Op     Op
	Values []vec.Value // of the column's type
}

// Exact reports whether scans evaluate op on columns of type t to the letter, so that nobody need do it again.
// Predicates for which it is false must not be given to a scan.
func Exact(t vec.Type, op Op) bool {
	switch t.Phys() {
	case vec.PhysList, vec.PhysStruct, vec.PhysNone:
		return false
	}
	switch op {
	case IsNull, IsNotNull:
		return true
	case Prefix:
		return t.ID == vec.Text || t.ID == vec.Bytea
	}
	return t.ID != vec.JSON && t.ID != vec.Interval
}

// mayMatch reports whether a row within b can pass: false is certain.
func (p *Predicate) mayMatch(b *bounds) bool {
	if p.Op == IsNull {
		return b.nulls != 0
	}
	if b.allNull() {
		return false
	}
	switch p.Op {
	case IsNotNull:
		return true
	case In:
		for _, v := range p.Values {
			if !v.Null && !below(b, v) && !above(b, v) {
				return true
			}
		}
		return false
	}
	for _, v := range p.Values {
		if v.Null {
			return false
		}
	}
	switch p.Op {
	case Eq:
		return !below(b, p.Values[0]) && !above(b, p.Values[0])
	case Ne:
		return !(b.hasMin && b.hasMax && vec.Compare(b.min, p.Values[0]) == 0 && vec.Compare(b.max, p.Values[0]) == 0)
	case Lt:
		return !(b.hasMin && vec.Compare(b.min, p.Values[0]) >= 0)
	case Le:
		return !above(b, p.Values[0])
	case Gt:
		return !(b.hasMax && vec.Compare(b.max, p.Values[0]) <= 0)
	case Ge:
		return !below(b, p.Values[0])
	case Between:
		return vec.Compare(p.Values[0], p.Values[1]) <= 0 && !above(b, p.Values[1]) && !below(b, p.Values[0])
	case Prefix:
		prefix := p.Values[0].S
		// A lower bound cut short may itself be a prefix of the prefix, and then says nothing.
		low := b.hasMin && b.min.S > prefix && !strings.HasPrefix(b.min.S, prefix)
		high := b.hasMax && b.max.S < prefix
		return !low && !high
	}
	return true
}

// below reports that all values of b are below v, above that all are above it.
func below(b *bounds, v vec.Value) bool { return b.hasMax && vec.Compare(b.max, v) < 0 }

func above(b *bounds, v vec.Value) bool { return b.hasMin && vec.Compare(b.min, v) > 0 }
