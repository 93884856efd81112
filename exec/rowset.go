package exec

import (
	"math/bits"
	"slices"

	"github.com/tidemarkdb/tidemark/vec"
)

// rowSet is n rows of which all count but the few in except: what a mask leaves of a batch. Vectors are kept whole and
// rows are left out where they are folded, so that nothing is copied.
type rowSet struct {
	n      int
	except []int32
	rows   []int32 // those that count, once asked for
	listed bool
	own    []int32 // memory of except, where the batch does not lend it
	keys   []picker
	ids    []uint32
}

// How small a share of a batch's rows may be left out for the batch to be kept whole: one in this many. Where a
// selection says which rows count, the others must first be found, which costs more than it saves when they are many.
const (
	fewest     = 6
	fewestGaps = 32
)

// reset makes the set those rows of b that count, and reports whether b is to be kept whole.
func (s *rowSet) reset(b *vec.Batch) bool {
	s.n, s.listed = b.N, false
	switch {
	case b.Except != nil:
		s.except = b.Except
	case b.Sel != nil && (b.N-len(b.Sel))*fewestGaps <= b.N:
		s.own = b.Sel.AppendComplement(s.own[:0], b.N)
		s.except = s.own
	default:
		return false
	}
	return len(s.except) > 0
}

// whole makes the set n rows that all count.
func (s *rowSet) whole(n int) *rowSet {
	s.n, s.except, s.listed = n, nil, false
	return s
}

// live returns the rows that count, ascending.
func (s *rowSet) live() []int32 {
	if !s.listed {
		s.rows, s.listed = appendOthers(s.rows[:0], s.except, s.n), true
	}
	return s.rows
}

// without returns the rows that do not count or are NULL in v, in dst, and whether they are few enough for the others
// to be kept whole.
func (s *rowSet) without(v *vec.Vector, except, dst []int32) ([]int32, bool) {
	if v.Form != vec.Flat || v.Valid == nil {
		return nil, false
	}
	nulls := s.n - v.Valid.Count(s.n)
	if nulls*fewest > s.n {
		return nil, false
	}
	dst = slices.Grow(dst[:0], nulls+len(except))
	for w, word := range v.Valid[:(s.n+63)/64] {
		gone := ^word
		if left := s.n - w*64; left < 64 {
			gone &= 1<<left - 1
		}
		for ; gone != 0; gone &= gone - 1 {
			row := int32(w*64 + bits.TrailingZeros64(gone))
			for ; len(except) > 0 && except[0] < row; except = except[1:] {
				dst = append(dst, except[0])
			}
			if len(except) > 0 && except[0] == row {
				except = except[1:]
			}
			dst = append(dst, row)
		}
	}
	return append(dst, except...), true
}

// assign numbers the keys of the rows that count. The others get the number of some key that is there: whoever folds
// them leaves them out.
func (s *rowSet) assign(g grouper, keys []*vec.Vector, out []uint32) {
	if k, ok := g.(*keyGrouper); ok && k.assignCodes(keys, s.n, s.except, out) {
		return
	}
	live := s.live()
	if len(s.keys) < len(keys) {
		s.keys = make([]picker, len(keys))
	}
	some := make([]*vec.Vector, len(keys))
	for i, k := range keys {
		some[i] = s.keys[i].gather(k, live)
	}
	s.ids = resize(s.ids, len(live))
	g.assign(some, len(live), s.ids)
	from, at := 0, 0
	for _, e := range s.except {
		at += copy(out[from:e], s.ids[at:])
		out[e] = 0
		from = int(e) + 1
	}
	copy(out[from:s.n], s.ids[at:])
}

// appendOthers appends the rows in [0, n) that are not in except, which ascends.
func appendOthers(out []int32, except []int32, n int) []int32 {
	at := len(out)
	out = growTo(out, at+n)
	from := int32(0)
	for _, e := range except {
		for ; from < e; from++ {
			out[at] = from
			at++
		}
		from = e + 1
	}
	for ; from < int32(n); from++ {
		out[at] = from
		at++
	}
	return out[:at]
}

// dropRows removes the rows in except from sel, in its memory. Both ascend.
func dropRows(sel, except []int32) []int32 {
	if len(except) == 0 {
		return sel
	}
	kept := sel[:0]
	for _, r := range sel {
		for len(except) > 0 && except[0] < r {
			except = except[1:]
		}
		if len(except) == 0 || except[0] != r {
			kept = append(kept, r)
		}
	}
	return kept
}
