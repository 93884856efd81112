package exec

import (
	"cmp"
	"slices"

	"github.com/tidemarkdb/tidemark/vec"
)

// Rows whose entries are equal are ordered by what the entries leave out. Many of them get new entries, of the next keys
// or of the next bytes of a string, and are sorted by those; a few are compared row by row.
//
//	entry of a string = | NULL or not | pieceBytes bytes | how many there were, pieceMore when more follow |

const (
	pieceBytes = entryKeyBytes - 2
	pieceMore  = pieceBytes + 1
	fewTies    = 24   // up to so many rows, comparing beats making entries
	radixTies  = 4096 // from so many on, radix sort beats comparing entries
)

// tiePlace is from where on keys are not compared yet: a key, and of a string the bytes from off on.
type tiePlace struct{ key, off int }

// undecided returns the first key that the entries of appendEntries do not hold in full.
func (o *ordering) undecided() tiePlace {
	bit := 0
	for i, s := range o.specs {
		width := s.t.Phys().Width()
		if bit += 8 + 8*width; width == 0 && s.t.ID != vec.Null || bit > 8*entryKeyBytes {
			return tiePlace{key: i}
		}
	}
	return tiePlace{key: len(o.specs)}
}

// sortTies orders every run of equal entries by the keys from a place on. scratch is memory to use, returned for reuse.
func (o *ordering) sortTies(q *query, entries, scratch []sortEntry, cols []*vec.Vector, at tiePlace) (_ []sortEntry, err error) {
	for from := 0; from < len(entries); {
		to := from + 1
		for to < len(entries) && entries[to].k0 == entries[from].k0 && entries[to].k1 == entries[from].k1 {
			to++
		}
		ties := entries[from:to]
		switch {
		case len(ties) == 1:
		case len(ties) <= fewTies || !o.makesEntries(at):
			err = o.compareTies(q, ties, cols, at.key)
		default:
			k0, k1 := ties[0].k0, ties[0].k1
			scratch, err = o.sortMany(q, ties, scratch, cols, at)
			for i := range ties { // merging compares the first entries
				ties[i].k0, ties[i].k1 = k0, k1
			}
		}
		if err != nil {
			return nil, err
		}
		from = to
	}
	return scratch, nil
}

// sortMany orders rows whose keys are equal up to a place by new entries.
func (o *ordering) sortMany(q *query, ties, scratch []sortEntry, cols []*vec.Vector, at tiePlace) ([]sortEntry, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	var next tiePlace
	if o.specs[at.key].t.Phys() == vec.PhysBytes {
		next = o.addPieces(ties, cols, at)
	} else {
		next = o.addKeys(ties, cols, at)
	}
	if len(ties) < radixTies {
		slices.SortFunc(ties, compareInOrder)
	} else {
		sorted, spare, err := radixSort(q, ties, scratch)
		if err != nil {
			return nil, err
		}
		if scratch = spare; &sorted[0] != &ties[0] {
			copy(ties, sorted)
			scratch = sorted
		}
	}
	if next.off == 0 {
		if next.key == len(o.specs) {
			return scratch, nil
		}
		return o.sortTies(q, ties, scratch, cols, next)
	}
	// Strings that end within the piece are done with; of longer ones the next piece decides.
	for from := 0; from < len(ties); {
		ended, to := o.ended(ties[from], at.key), from+1
		for to < len(ties) && o.ended(ties[to], at.key) == ended {
			to++
		}
		place := next
		if ended {
			place = tiePlace{key: at.key + 1}
		}
		if place.key < len(o.specs) {
			var err error
			if scratch, err = o.sortTies(q, ties[from:to], scratch, cols, place); err != nil {
				return nil, err
			}
		}
		from = to
	}
	return scratch, nil
}

// makesEntries reports whether the key at a place can be put into entries.
func (o *ordering) makesEntries(at tiePlace) bool {
	t := o.specs[at.key].t
	return t.Phys() == vec.PhysBytes || fitsEntry(t, 0)
}

// fitsEntry reports whether an entry holds values of the type in full after the bits taken.
func fitsEntry(t vec.Type, bit int) bool {
	width := t.Phys().Width()
	return width > 0 && width <= 8 && bit+8+8*width <= 8*entryKeyBytes
}

// addKeys makes entries of as many keys from a place on as they hold, and returns the next place.
func (o *ordering) addKeys(ties []sortEntry, cols []*vec.Vector, at tiePlace) tiePlace {
	index := make([]int32, len(ties))
	for i := range ties {
		index[i] = ties[i].row
		ties[i].k0, ties[i].k1 = 0, 0
	}
	bit, key := 0, at.key
	for ; key < len(o.specs) && fitsEntry(o.specs[key].t, bit); key++ {
		s := o.specs[key]
		bit = addKey(ties, vec.Gather(cols[s.place], index, nil), s, bit)
	}
	return tiePlace{key: key}
}

// addPieces makes entries of the next piece of strings, and returns the place of the piece after it.
func (o *ordering) addPieces(ties []sortEntry, cols []*vec.Vector, at tiePlace) tiePlace {
	s := o.specs[at.key]
	v := cols[s.place]
	for i := range ties {
		e := &ties[i]
		if v.IsNull(int(e.row)) {
			e.k0, e.k1 = s.nullByte(true)<<56, 0
			continue
		}
		p, row := v.Physical(int(e.row))
		from, to := int(p.Offsets[row]), int(p.Offsets[row+1])
		from = min(from+at.off, to)
		length := uint64(min(to-from, pieceMore))
		hi, lo := firstBytes(p.Data, from, min(to, from+pieceBytes))
		if s.desc {
			hi, lo, length = ^hi, ^lo, ^length
		}
		e.k0, e.k1 = s.nullByte(false)<<56|hi>>8, hi<<56|lo>>8&^0xff|length&0xff
	}
	return tiePlace{at.key, at.off + pieceBytes}
}

// ended reports whether the string in an entry of addPieces, or its NULL, is there in full.
func (o *ordering) ended(e sortEntry, key int) bool {
	s := o.specs[key]
	length := byte(e.k1)
	if s.desc {
		length = ^length
	}
	return e.k0>>56 == s.nullByte(true) || length < pieceMore
}

// nullByte is what places NULLs among values.
func (s sortSpec) nullByte(null bool) uint64 { return uint64(b2i(null != s.nullsFirst)) }

// compareTies orders rows by comparing their keys from one on.
func (o *ordering) compareTies(q *query, ties []sortEntry, cols []*vec.Vector, key int) (err error) {
	steps := 0
	slices.SortFunc(ties, func(a, b sortEntry) int {
		if steps++; steps%(1<<14) == 0 && err == nil {
			err = q.check()
		}
		if err != nil { // cancelled: let the sort run out without comparing rows
			return 0
		}
		if c := o.rowsFrom(key, cols, int(a.row), cols, int(b.row)); c != 0 {
			return c
		}
		return cmp.Compare(a.row, b.row)
	})
	return err
}

// compareInOrder is compareEntries that tells equal entries apart by their rows, so that any sort keeps their order.
func compareInOrder(a, b sortEntry) int {
	if c := compareEntries(a, b); c != 0 {
		return c
	}
	return cmp.Compare(a.row, b.row)
}
