package exec

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/vec"
)

// runtimeFilter is what the build side of a join tells scans of its probe side: which keys have a match at all. It is
// filled when the table is built, before the scan opens.
type runtimeFilter struct {
	key       int // of the join
	t         vec.Type
	filled    bool
	empty     bool // no key at all
	low, high int64
	set       vec.Bitmap // bit x-low, where keys lie close together
	bloom     []uint64   // otherwise
	shift     uint
	few       []vec.Value // the keys, when there are at most maxFewKeys
}

const (
	maxFewKeys      = 64
	maxSetBits      = 1 << 27 // 16 MiB
	maxBitsPerKey   = 512     // beyond that a Bloom filter is so much smaller that it wins although it scatters sorted keys
	smallSetBits    = 1 << 20 // 128 KiB: stays in the cache, whatever it holds
	filterTrialRows = 1 << 16 // rows after which a filter that drops little is given up
)

// offerRuntime offers filters on the equalities listed to the scans below, until restore is called.
func (c *compiler) offerRuntime(j *join, list []int) (restore func()) {
	above := c.runtime
	restore = func() { c.runtime = above }
	if !j.passesMatchesOnly() {
		if j.keep == probeAnti || j.keep == probeMark || j.keep == probeSingle || j.keep == probeOuter {
			return restore // filters from above still hold: they drop whole rows of the probe side
		}
	}
	c.runtime = offers{}
	for id, f := range above {
		c.runtime[id] = slices.Clone(f)
	}
	for _, k := range list {
		if k >= len(j.probeKeys) || j.nullSafe[k] {
			continue
		}
		ref, ok := j.probeKeys[k].(*plan.ColumnRef)
		if !ok {
			continue
		}
		switch ref.T.Phys() {
		case vec.PhysInt16, vec.PhysInt32, vec.PhysInt64:
			f := &runtimeFilter{key: k, t: ref.T}
			j.filters = append(j.filters, f)
			c.runtime[ref.ID] = append(c.runtime[ref.ID], f)
		}
	}
	return restore
}

// offers are filters by the column they test.
type offers map[plan.ColID][]*runtimeFilter

// renamed returns the offers on columns that are plain references to others, under the names of those.
func (o offers) renamed(cols []plan.Col, exprs []plan.Expr) offers {
	out := offers{}
	for i, e := range exprs {
		if ref, ok := e.(*plan.ColumnRef); ok && len(o[cols[i].ID]) > 0 {
			out[ref.ID] = append(out[ref.ID], o[cols[i].ID]...)
		}
	}
	return out
}

// below returns which offers hold for input i of n: those on columns for which dropping rows of the input drops whole
// rows of the output and changes no other.
func (o offers) below(n plan.Node, i int) offers {
	if len(o) == 0 {
		return nil
	}
	switch n := n.(type) {
	case *plan.Filter, *plan.Expand:
		return o
	case *plan.Project:
		return o.renamed(n.Columns, n.Exprs)
	case *plan.Aggregate:
		if len(n.Sets) == 0 {
			return o.renamed(n.GroupCols, n.Groups)
		}
	case *plan.Sort:
		if n.Limit < 0 && n.Offset == 0 {
			return o
		}
	case *plan.Window:
		out := offers{}
		for _, e := range n.Partition {
			if ref, ok := e.(*plan.ColumnRef); ok && len(o[ref.ID]) > 0 {
				out[ref.ID] = o[ref.ID]
			}
		}
		return out
	case *plan.SetOp:
		out := offers{}
		for k, col := range n.Args[i].Cols() {
			if f := o[n.Columns[k].ID]; len(f) > 0 {
				out[col.ID] = append(out[col.ID], f...)
			}
		}
		return out
	}
	return nil
}

// fill takes the keys of the build side.
func (f *runtimeFilter) fill(keys *vec.Vector) {
	vals := make([]int64, keys.N)
	widenInts(vals, keys, keys.N)
	if keys.MayHaveNulls() {
		kept := vals[:0]
		for i, x := range vals {
			if !keys.IsNull(i) {
				kept = append(kept, x)
			}
		}
		vals = kept
	}
	f.filled, f.empty = true, len(vals) == 0
	if f.empty {
		return
	}
	f.low, f.high = slices.Min(vals), slices.Max(vals)
	if len(vals) <= maxFewKeys {
		for _, x := range vals {
			f.few = append(f.few, vec.IntValue(f.t, x))
		}
		sortValues(f.few)
		f.few = slices.CompactFunc(f.few, func(a, b vec.Value) bool { return a.I == b.I })
	}
	if span := uint64(f.high) - uint64(f.low); span < smallSetBits || span < maxSetBits && span/maxBitsPerKey <= uint64(len(vals)) {
		f.set = vec.NewBitmap(int(span) + 1)
		for _, x := range vals {
			f.set.Set(int(uint64(x) - uint64(f.low)))
		}
		return
	}
	words := 1 << bits.Len(uint(len(vals)/4)) // 16 to 32 bits a key
	f.bloom, f.shift = make([]uint64, words), uint(64-bits.TrailingZeros(uint(words)))
	for _, x := range vals {
		word, mask := bloomBits(uint64(x), f.shift)
		f.bloom[word] |= mask
	}
}

// bloomBits returns the word of x in a bloom filter of 1<<(64-shift) words and its three bits there.
func bloomBits(x uint64, shift uint) (word, mask uint64) {
	h := x * hashMultiplier
	word = h >> shift // 0 for a shift by 64
	h ^= h >> 32
	return word, 1<<(h&63) | 1<<(h>>6&63) | 1<<(h>>12&63)
}

// scanFilter returns the filter for the column at that place of a scan, nil when it is of no use.
func (f *runtimeFilter) scanFilter(place int, workers int) *ScanFilter {
	if !f.filled {
		return nil
	}
	low, high := vec.IntValue(f.t, f.low), vec.IntValue(f.t, f.high)
	p := &Predicate{Column: place, Low: &low, High: &high}
	if f.empty || f.few != nil {
		p = &Predicate{Column: place, Op: PredIn, Values: f.few}
	}
	var rows, kept atomic.Int64
	outs := make([][]int32, workers)
	wides := make([][]int64, workers)
	return &ScanFilter{
		Columns: []int{place}, Simple: p, Runtime: true, Total: true,
		Select: func(worker int, cols []*vec.Vector, n int, sel vec.Selection) (vec.Selection, error) {
			out := resize(outs[worker], n)
			outs[worker] = out
			if seen := rows.Load(); seen > filterTrialRows && kept.Load()*10 > seen*9 {
				if sel != nil {
					return sel, nil
				}
				for i := range out {
					out[i] = int32(i)
				}
				return out, nil
			}
			wides[worker] = resize(wides[worker], n)
			in := n
			if sel != nil {
				in = len(sel)
			}
			k := f.choose(cols[place], wides[worker], n, sel, out)
			rows.Add(int64(in))
			kept.Add(int64(k))
			return out[:k], nil
		},
	}
}

// choose writes the rows of sel (nil: all n) whose key may have a match to out.
func (f *runtimeFilter) choose(v *vec.Vector, wide []int64, n int, sel vec.Selection, out []int32) int {
	if f.empty {
		return 0
	}
	var k int
	switch {
	case v.Form != vec.Flat || v.Type.Phys() == vec.PhysInt16:
		widenInts(wide, v, n)
		k = chooseKeys(f, wide, sel, out)
	case v.Type.Phys() == vec.PhysInt64:
		k = chooseKeys(f, vec.Cast[int64](v.Data)[:n], sel, out)
	default:
		k = chooseKeys(f, vec.Cast[int32](v.Data)[:n], sel, out)
	}
	if !v.MayHaveNulls() {
		return k
	}
	kept := 0
	for _, row := range out[:k] {
		out[kept] = row
		kept += b2i(!v.IsNull(int(row)))
	}
	return kept
}

// chooseKeys is choose for keys in memory, those of NULL rows included. It has no branch on what a key is: which keys
// match is as good as random.
func chooseKeys[T int32 | int64](f *runtimeFilter, keys []T, sel vec.Selection, out []int32) (k int) {
	if f.set != nil {
		return chooseBits(f, keys, sel, out)
	}
	low, span := uint64(f.low), uint64(f.high)-uint64(f.low)
	bloom, shift := f.bloom, f.shift
	test := func(x T) int {
		word, mask := bloomBits(uint64(int64(x)), shift)
		return b2i(uint64(int64(x))-low <= span && bloom[word]&mask == mask)
	}
	if sel == nil {
		for i, x := range keys {
			out[k] = int32(i)
			k += test(x)
		}
		return k
	}
	for _, row := range sel {
		out[k] = row
		k += test(keys[row])
	}
	return k
}

// chooseBits is chooseKeys for keys in a bitmap.
func chooseBits[T int32 | int64](f *runtimeFilter, keys []T, sel vec.Selection, out []int32) (k int) {
	low, span := uint64(f.low), uint64(f.high)-uint64(f.low)
	set := f.set[:span/64+1]
	if sel == nil {
		for i, x := range keys {
			d := uint64(int64(x)) - low
			at := min(d, span)
			out[k] = int32(i)
			k += int(set[at/64]>>(at%64)&1) & b2i(d <= span)
		}
		return k
	}
	for _, row := range sel {
		d := uint64(int64(keys[row])) - low
		at := min(d, span)
		out[k] = row
		k += int(set[at/64]>>(at%64)&1) & b2i(d <= span)
	}
	return k
}
