package exec

import (
	"bytes"
	"math"

	"github.com/tidemarkdb/tidemark/vec"
)

// foldedKeys stands for several key columns by one, the number of their combination. It pays for columns that come from
// the rows of one build side: they are dictionaries with equal codes, and a combination is looked up once a dictionary
// row, not once a row.
type foldedKeys struct {
	places  []int // of the columns folded, among all keys
	rest    []int // of the others
	combos  *keyGrouper
	dicts   []*vec.Vector // what numbers belongs to
	numbers []uint32      // by dictionary row: combination + 1, 0 when not looked up
	repeats bool          // the dictionaries have stayed for two batches
	out     []int64
	found   []uint32
	misses  []int32
	all     []*vec.Vector // every combination so far, nil when not asked for
}

const (
	// maxFoldedRows bounds the dictionaries whose rows are remembered.
	maxFoldedRows = 1 << 24
	// fewFolded is how many columns must have equal codes for folding to be worth the further lookup.
	fewFolded = 2
	// enoughRows is how many equal codes are no chance.
	enoughRows = 64
)

// foldKeys looks for columns to fold in the first rows that a grouper gets; nil when there are too few.
func foldKeys(types []vec.Type, keys []*vec.Vector, n int) *foldedKeys {
	if n == 0 {
		return nil
	}
	for i, lead := range keys {
		if !foldable(lead) {
			continue
		}
		f := &foldedKeys{}
		for k, v := range keys {
			if k >= i && foldable(v) && fromOneBuild(lead, v, n) {
				f.places = append(f.places, k)
			} else {
				f.rest = append(f.rest, k)
			}
		}
		if len(f.places) < fewFolded {
			continue
		}
		var folded []vec.Type
		for _, p := range f.places {
			folded = append(folded, types[p])
		}
		f.combos = newKeyGrouper(folded, 0)
		f.combos.chosen, f.combos.hasher.perRow = true, 0 // its rows come once an entry
		return f
	}
	return nil
}

// foldable reports a dictionary whose rows are worth remembering.
func foldable(v *vec.Vector) bool {
	return v.Form == vec.Dictionary && v.Valid == nil && v.Dict.N <= maxFoldedRows
}

func sameCodes(a, b *vec.Vector, n int) bool {
	return a.Dict.N == b.Dict.N && (&a.Index[0] == &b.Index[0] || bytes.Equal(vec.AsBytes(a.Index[:n]), vec.AsBytes(b.Index[:n])))
}

// fromOneBuild reports columns whose codes are equal for more than by chance.
func fromOneBuild(a, b *vec.Vector, n int) bool {
	return sameCodes(a, b, n) && (n >= enoughRows || &a.Index[0] == &b.Index[0])
}

// types returns the types of the keys once folded.
func (f *foldedKeys) types(all []vec.Type) []vec.Type {
	out := []vec.Type{vec.Int64Type}
	for _, p := range f.rest {
		out = append(out, all[p])
	}
	return out
}

func (f *foldedKeys) memory() int64 {
	return f.combos.memory() + int64(cap(f.numbers)*4+cap(f.out)*8+cap(f.found)*4+cap(f.misses)*4)
}

func (f *foldedKeys) reset() {
	f.combos.reset()
	f.dicts, f.all, f.repeats = f.dicts[:0], nil, false
}

// fold returns the keys with the combination in place of the folded columns, valid until the next call.
func (f *foldedKeys) fold(keys []*vec.Vector, n int) []*vec.Vector {
	folded := pickColumns(keys, f.places)
	f.out = resize(f.out, n)
	if f.remembers(folded, n) {
		f.look(folded, n)
	} else {
		f.found = resize(f.found, n)
		f.combos.assign(folded, n, f.found)
		for i, number := range f.found {
			f.out[i] = int64(number)
		}
	}
	return append([]*vec.Vector{vec.FlatOf(vec.Int64Type, f.out, nil)}, pickColumns(keys, f.rest)...)
}

// remembers reports whether numbers serves these columns, making it ready. Large dictionaries that change with every
// batch are not worth it.
func (f *foldedKeys) remembers(keys []*vec.Vector, n int) bool {
	same := len(f.dicts) == len(keys)
	for i, k := range keys {
		if !foldable(k) || i > 0 && !sameCodes(keys[0], k, n) {
			return false
		}
		same = same && f.dicts[i] == k.Dict
	}
	size := keys[0].Dict.N
	if same && f.repeats {
		return true
	}
	f.repeats = same || size <= eagerPerRow*n
	f.dicts = f.dicts[:0]
	for _, k := range keys {
		f.dicts = append(f.dicts, k.Dict)
	}
	if f.repeats {
		f.numbers = resize(f.numbers, size)
		clear(f.numbers)
	}
	return f.repeats
}

// look numbers rows by their codes, which all folded columns share.
func (f *foldedKeys) look(keys []*vec.Vector, n int) {
	const pending = ^uint32(0)
	codes := keys[0].Index[:n]
	f.misses = f.misses[:0]
	for i, c := range codes {
		if f.numbers[c] == 0 {
			f.numbers[c] = pending
			f.misses = append(f.misses, int32(i))
		}
	}
	if len(f.misses) > 0 {
		some := make([]*vec.Vector, len(keys))
		for i, k := range keys {
			some[i] = k.Select(f.misses)
		}
		f.found = resize(f.found, len(f.misses))
		f.combos.assign(some, len(f.misses), f.found)
		for i, r := range f.misses {
			f.numbers[codes[r]] = f.found[i] + 1
		}
	}
	for i, c := range codes {
		f.out[i] = int64(f.numbers[c]) - 1
	}
}

// unfold returns the keys as they were, from those that fold made.
func (f *foldedKeys) unfold(folded []*vec.Vector) []*vec.Vector {
	out := make([]*vec.Vector, len(f.places)+len(f.rest))
	for i, p := range f.rest {
		out[p] = folded[i+1]
	}
	numbers := vec.Cast[int64](folded[0].Data)
	index := make([]int32, len(numbers))
	for i, x := range numbers {
		index[i] = int32(x)
	}
	// As dictionaries with one index the columns can be folded again by whoever groups by them next.
	all := f.entries()
	for i, c := range f.combos.cols {
		if all == nil {
			out[f.places[i]] = c.rows(index)
		} else {
			out[f.places[i]] = vec.DictionaryOf(all[i], index, nil)
		}
	}
	return out
}

// entries returns the columns of every combination, nil when a vector cannot hold one.
func (f *foldedKeys) entries() []*vec.Vector {
	n := f.combos.len()
	if f.all != nil && f.all[0].N == n {
		return f.all
	}
	f.all = nil
	for _, c := range f.combos.cols {
		if len(c.data) > math.MaxInt32 {
			return nil
		}
	}
	f.all = f.combos.keys(0, n)
	return f.all
}

// rows returns the keys of the given numbers.
func (c *keyColumn) rows(numbers []int32) *vec.Vector {
	if c.offsets == nil {
		return vec.Gather(c.vector(0, c.n), numbers, nil)
	}
	out := vec.NewBuilder(c.t, len(numbers))
	for _, x := range numbers {
		if c.nulls != nil && c.nulls[x] {
			out.AppendNull()
		} else {
			out.AppendBytes(c.data[c.offsets[x]:c.offsets[x+1]])
		}
	}
	return out.Finish()
}
