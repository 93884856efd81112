package exec

import "github.com/tidemarkdb/tidemark/vec"

// maxCodes bounds the combinations of dictionary codes that are numbered directly.
const maxCodes = 1 << 14

// codeTable maps combinations of dictionary codes to the numbers of keys, for as long as the dictionaries stay.
type codeTable struct {
	dicts   []*vec.Vector
	strides []int32
	numbers []uint32 // by code: number + 1, 0 when not seen
	codes   []int32
	misses  []int32
	found   []uint32
}

func (t *codeTable) memory() int64 { return int64(cap(t.numbers)*4 + cap(t.codes)*4) }

// assign numbers rows by code and reports whether it could: every key is a small dictionary or a constant. Rows in
// except get 0 where no other row has brought their key.
func (t *codeTable) assign(g *keyGrouper, keys []*vec.Vector, n int, except []int32, out []uint32) bool {
	if !t.prepare(keys) {
		return false
	}
	t.codes = resize(t.codes, n)
	t.encode(keys, n)
	t.misses = t.misses[:0]
	for i, c := range t.codes {
		ref := t.numbers[c]
		out[i] = ref - 1
		if ref == 0 {
			t.misses = append(t.misses, int32(i))
		}
	}
	if len(t.misses) > 0 {
		t.resolve(g, keys, dropRows(t.misses, except), out)
		for _, r := range except {
			out[r] = max(t.numbers[t.codes[r]], 1) - 1
		}
	}
	return true
}

// prepare makes the table fit the dictionaries of keys.
func (t *codeTable) prepare(keys []*vec.Vector) bool {
	size, same := 1, len(t.dicts) == len(keys)
	for i, k := range keys {
		d := k
		if k.Form == vec.Dictionary {
			d = k.Dict
			size *= d.N + 1
		} else if k.Form != vec.Constant {
			return false
		}
		if size > maxCodes {
			return false
		}
		// A constant's header is not kept for the next batch, so its value is not known to be the same.
		same = same && t.dicts[i] == d && k.Form == vec.Dictionary
	}
	if same {
		return true
	}
	t.dicts, t.strides = t.dicts[:0], t.strides[:0]
	stride := int32(1)
	for _, k := range keys {
		t.strides = append(t.strides, stride)
		if k.Form == vec.Dictionary {
			t.dicts = append(t.dicts, k.Dict)
			stride *= int32(k.Dict.N + 1)
		} else {
			t.dicts = append(t.dicts, k)
		}
	}
	t.numbers = resize(t.numbers, size)
	clear(t.numbers)
	return true
}

// encode writes the code of each row: 0 stands for a NULL row, entry e for e+1.
func (t *codeTable) encode(keys []*vec.Vector, n int) {
	codes := t.codes[:n]
	clear(codes)
	for i, k := range keys {
		if k.Form != vec.Dictionary {
			continue
		}
		stride := t.strides[i]
		if k.Valid == nil {
			for j, x := range k.Index[:n] {
				codes[j] += (x + 1) * stride
			}
			continue
		}
		for j, x := range k.Index[:n] {
			if k.Valid.Get(j) {
				codes[j] += (x + 1) * stride
			}
		}
	}
}

// resolve numbers the rows in misses, whose codes were not seen, one row a code.
func (t *codeTable) resolve(g *keyGrouper, keys []*vec.Vector, misses []int32, out []uint32) {
	var first []int32
	const pending = ^uint32(0)
	for _, r := range misses {
		if t.numbers[t.codes[r]] == 0 {
			t.numbers[t.codes[r]] = pending
			first = append(first, r)
		}
	}
	some := make([]*vec.Vector, len(keys))
	for i, k := range keys {
		some[i] = k.Select(first)
	}
	t.found = resize(t.found, len(first))
	g.find(some, len(first), t.found)
	for i, r := range first {
		t.numbers[t.codes[r]] = t.found[i] + 1
	}
	for i, a := range g.added {
		g.added[i] = first[a]
	}
	for _, r := range misses {
		out[r] = t.numbers[t.codes[r]] - 1
	}
}
