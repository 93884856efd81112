package tablet

import (
	"cmp"
	"math"
	"strings"
)

// BoundKind says which form a [Bound] has.
type BoundKind uint8

// The forms of bounds. Booleans, integers, dates, times, timestamps and NUMERIC of up to 18 digits are IntBound;
// wider NUMERIC and UUID are Int128Bound; text, bytes and JSON are BytesBound.
const (
	NoBound BoundKind = iota // not known: anything is possible
	IntBound
	FloatBound
	Int128Bound
	BytesBound
)

// Bound is the smallest or largest value of a column in one tablet, NULL and NaN left out. Bounds compare with ==.
type Bound struct {
	Kind  BoundKind
	Exact bool   // a row has this very value; false: a limit no row passes, such as a cut-off text
	hi    int64  // IntBound, the bits of FloatBound, the high half of Int128Bound
	lo    uint64 // the low half of Int128Bound
	text  string // BytesBound
}

// MaxBoundBytes is the longest bytes bound worth keeping; writers cut longer ones with [CutLower] and [CutUpper].
const MaxBoundBytes = 64

// MakeInt returns an IntBound. Booleans are 0 and 1, decimals unscaled.
func MakeInt(v int64, exact bool) Bound { return Bound{Kind: IntBound, Exact: exact, hi: v} }

// MakeFloat returns a FloatBound. NaN gives NoBound, since it bounds nothing.
func MakeFloat(v float64, exact bool) Bound {
	if math.IsNaN(v) {
		return Bound{}
	}
	return Bound{Kind: FloatBound, Exact: exact, hi: int64(math.Float64bits(v))}
}

// MakeInt128 returns an Int128Bound of the two's complement number hi<<64 | lo.
func MakeInt128(hi int64, lo uint64, exact bool) Bound {
	return Bound{Kind: Int128Bound, Exact: exact, hi: hi, lo: lo}
}

// MakeBytes returns a BytesBound; bytes compare as unsigned.
func MakeBytes(v string, exact bool) Bound { return Bound{Kind: BytesBound, Exact: exact, text: v} }

// CutLower returns a lower bound of at most MaxBoundBytes bytes for values that are v or more.
func CutLower(v string) Bound {
	if len(v) <= MaxBoundBytes {
		return MakeBytes(strings.Clone(v), true)
	}
	return MakeBytes(strings.Clone(v[:MaxBoundBytes]), false)
}

// CutUpper returns an upper bound of at most MaxBoundBytes bytes for values that are v or less, or NoBound when
// the first MaxBoundBytes bytes are all 0xff.
func CutUpper(v string) Bound {
	if len(v) <= MaxBoundBytes {
		return MakeBytes(strings.Clone(v), true)
	}
	b := []byte(v[:MaxBoundBytes])
	for len(b) > 0 && b[len(b)-1] == 0xff {
		b = b[:len(b)-1]
	}
	if len(b) == 0 {
		return Bound{}
	}
	b[len(b)-1]++
	return MakeBytes(string(b), false)
}

// Int returns the value of an IntBound.
func (b Bound) Int() int64 { return b.hi }

// Float returns the value of a FloatBound.
func (b Bound) Float() float64 { return math.Float64frombits(uint64(b.hi)) }

// Int128 returns the halves of an Int128Bound.
func (b Bound) Int128() (hi int64, lo uint64) { return b.hi, b.lo }

// Bytes returns the value of a BytesBound.
func (b Bound) Bytes() string { return b.text }

// Known reports whether b bounds anything.
func (b Bound) Known() bool { return b.Kind != NoBound }

// Compare orders two known bounds of one kind by value, exactness left out; ok is false for bounds that do not compare.
func (b Bound) Compare(c Bound) (order int, ok bool) {
	if b.Kind != c.Kind {
		return 0, false
	}
	switch b.Kind {
	case IntBound:
		return cmp.Compare(b.hi, c.hi), true
	case FloatBound:
		return cmp.Compare(b.Float(), c.Float()), true
	case Int128Bound:
		if b.hi != c.hi {
			return cmp.Compare(b.hi, c.hi), true
		}
		return cmp.Compare(b.lo, c.lo), true
	case BytesBound:
		return strings.Compare(b.text, c.text), true
	}
	return 0, false
}
