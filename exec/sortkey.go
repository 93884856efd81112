package exec

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/tidemarkdb/tidemark/function"
	"github.com/tidemarkdb/tidemark/vec"
)

// sortSpec is one key to order by: column place of the rows being ordered.
type sortSpec struct {
	place      int
	t          vec.Type
	desc       bool
	nullsFirst bool
}

// sortEntry stands for a row while sorting: the first 16 bytes of its normalised key, as two numbers that order like
// the key, and its place.
//
//	key = for each column: a byte that places NULLs, then the value so that bytes order like values (inverted for DESC)
type sortEntry struct {
	k0, k1 uint64
	row    int32
}

// ordering orders rows by several keys.
type ordering struct {
	specs    []sortSpec
	compare  []function.RowCompare
	complete bool // 16 bytes hold every key: equal entries are equal rows
}

const entryKeyBytes = 16

func newOrdering(specs []sortSpec) *ordering {
	o := &ordering{specs: specs, complete: true}
	size := 0
	for _, s := range specs {
		o.compare = append(o.compare, function.CompareRows(s.t))
		w := s.t.Phys().Width()
		if w == 0 && s.t.ID != vec.Null {
			o.complete = false
		}
		size += 1 + w
	}
	o.complete = o.complete && size <= entryKeyBytes
	return o
}

// rows orders row i of a before (< 0) or after row j of b.
func (o *ordering) rows(a []*vec.Vector, i int, b []*vec.Vector, j int) int {
	return o.rowsFrom(0, a, i, b, j)
}

// rowsFrom orders them by the keys from one on.
func (o *ordering) rowsFrom(key int, a []*vec.Vector, i int, b []*vec.Vector, j int) int {
	for k := key; k < len(o.specs); k++ {
		s := &o.specs[k]
		x, y := a[s.place], b[s.place]
		xn, yn := x.IsNull(i), y.IsNull(j)
		if xn || yn {
			if xn && yn {
				continue
			}
			if xn == s.nullsFirst {
				return -1
			}
			return 1
		}
		if c := o.compare[k](x, i, y, j); c != 0 {
			if s.desc {
				return -c
			}
			return c
		}
	}
	return 0
}

// appendEntries appends the entries of the n first rows of cols, numbered from first.
func (o *ordering) appendEntries(dst []sortEntry, cols []*vec.Vector, n int, first int32) []sortEntry {
	at := len(dst)
	dst = growTo(dst, at+n)
	out := dst[at:]
	for i := range out {
		out[i] = sortEntry{row: first + int32(i)}
	}
	bit := 0
	for _, s := range o.specs {
		if bit >= entryKeyBytes*8 {
			break
		}
		bit = addKey(out, cols[s.place], s, bit)
	}
	return dst
}

// entries returns the entries of all n rows of cols, using the memory of dst.
func (o *ordering) entries(q *query, dst []sortEntry, cols []*vec.Vector, n int) ([]sortEntry, error) {
	dst = resize(dst, n)[:0]
	err := steps(q, n, func(from, to int) {
		part := make([]*vec.Vector, len(cols))
		for _, s := range o.specs {
			part[s.place] = cols[s.place].Slice(from, to-from)
		}
		dst = o.appendEntries(dst, part, to-from, int32(from))
	})
	return dst, err
}

// put writes the low width bits of x at the bit offset of the 128-bit key, most significant first. What lies past the
// end is cut off.
func (e *sortEntry) put(x uint64, bit, width int) {
	if bit < 64 {
		if shift := 64 - bit - width; shift >= 0 {
			e.k0 |= x << shift
		} else {
			e.k0 |= x >> -shift
			e.k1 |= x << (64 + shift)
		}
		return
	}
	if shift := 128 - bit - width; shift >= 0 {
		e.k1 |= x << shift
	} else {
		e.k1 |= x >> -shift
	}
}

// addKey adds one column to the keys at the bit offset and returns the next.
func addKey(out []sortEntry, v *vec.Vector, s sortSpec, bit int) int {
	nulls := v.MayHaveNulls()
	for i := range out {
		out[i].put(s.nullByte(nulls && v.IsNull(i)), bit, 8)
	}
	bit += 8
	width := s.t.Phys().Width() * 8
	switch s.t.Phys() {
	case vec.PhysNone:
		return bit
	case vec.PhysBool:
		addFixed(out, v, s, bit, width, func(x byte) uint64 { return uint64(x) })
	case vec.PhysInt16:
		addFixed(out, v, s, bit, width, func(x int16) uint64 { return uint64(uint16(x) ^ 1<<15) })
	case vec.PhysInt32:
		addFixed(out, v, s, bit, width, func(x int32) uint64 { return uint64(uint32(x) ^ 1<<31) })
	case vec.PhysInt64:
		addFixed(out, v, s, bit, width, func(x int64) uint64 { return uint64(x) ^ 1<<63 })
	case vec.PhysFloat32:
		addFixed(out, v, s, bit, width, func(x float32) uint64 { return float32Key(x) })
	case vec.PhysFloat64:
		addFixed(out, v, s, bit, width, float64Key)
	case vec.PhysInt128, vec.PhysInterval:
		addWide(out, v, s, bit)
	case vec.PhysBytes:
		addBytes(out, v, s, bit)
		return entryKeyBytes * 8
	default: // arrays and structs are compared in full
		return entryKeyBytes * 8
	}
	return bit + width
}

func addFixed[T vec.Fixed](out []sortEntry, v *vec.Vector, s sortSpec, bit, width int, key func(T) uint64) {
	x, nulls := flatValues[T](v, len(out)), v.MayHaveNulls()
	invert := uint64(0)
	if s.desc {
		invert = math.MaxUint64 >> (64 - width)
	}
	for i := range out {
		if nulls && v.IsNull(i) {
			continue
		}
		out[i].put(key(x[i])^invert, bit, width)
	}
}

// float64Key orders like x, with NaN above everything and -0 equal to 0.
func float64Key(x float64) uint64 {
	if math.IsNaN(x) {
		return math.MaxUint64
	}
	b := math.Float64bits(x + 0) // -0 + 0 is 0
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}

func float32Key(x float32) uint64 {
	if x != x {
		return math.MaxUint32
	}
	b := math.Float32bits(x + 0)
	if b>>31 != 0 {
		return uint64(^b)
	}
	return uint64(b | 1<<31)
}

// addWide adds 128-bit values: the high half in full, of the low half what has room.
func addWide(out []sortEntry, v *vec.Vector, s sortSpec, bit int) {
	for i := range out {
		if v.IsNull(i) {
			continue
		}
		p, r := v.Physical(i)
		var x vec.Int128
		if s.t.Phys() == vec.PhysInterval {
			x = vec.Cast[vec.IntervalValue](p.Data)[r].Span()
		} else {
			x = vec.Cast[vec.Int128](p.Data)[r]
		}
		hi, lo := uint64(x.Hi), x.Lo
		if s.t.ID != vec.UUID {
			hi ^= 1 << 63
		}
		if s.desc {
			hi, lo = ^hi, ^lo
		}
		out[i].put(hi, bit, 64)
		if bit+64 < entryKeyBytes*8 {
			out[i].put(lo, bit+64, 64)
		}
	}
}

// addBytes adds the first bytes of strings, zeros after their end.
func addBytes(out []sortEntry, v *vec.Vector, s sortSpec, bit int) {
	nulls, p := v.MayHaveNulls(), v
	if v.Form == vec.Dictionary {
		p = v.Dict
	}
	for i := range out {
		if nulls && v.IsNull(i) {
			continue
		}
		row := i
		switch v.Form {
		case vec.Dictionary:
			row = int(v.Index[i])
		case vec.Constant:
			row = 0
		}
		hi, lo := firstBytes(p.Data, int(p.Offsets[row]), int(p.Offsets[row+1]))
		if s.desc {
			hi, lo = ^hi, ^lo
		}
		out[i].put(hi, bit, 64)
		if bit+64 < entryKeyBytes*8 {
			out[i].put(lo, bit+64, 64)
		}
	}
}

// firstBytes returns the first bytes of data[from:to], big endian, zeros after the end.
func firstBytes(data []byte, from, to int) (hi, lo uint64) {
	n := to - from
	if from+entryKeyBytes > len(data) {
		var buf [entryKeyBytes]byte
		copy(buf[:], data[from:to])
		return binary.BigEndian.Uint64(buf[:]), binary.BigEndian.Uint64(buf[8:])
	}
	b := data[from : from+entryKeyBytes]
	hi, lo = binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])
	switch { // a shift by 64 gives 0
	case n < 8:
		return hi &^ (^uint64(0) >> (8 * n)), 0
	case n < entryKeyBytes:
		return hi, lo &^ (^uint64(0) >> (8 * (n - 8)))
	}
	return hi, lo
}

// sort orders entries of rows of cols, which come in the order of the rows; equal rows keep it. scratch is memory to
// use, returned for reuse.
func (o *ordering) sort(q *query, entries, scratch []sortEntry, cols []*vec.Vector) ([]sortEntry, []sortEntry, error) {
	entries, scratch, err := radixSort(q, entries, scratch)
	if err != nil || o.complete {
		return entries, scratch, err
	}
	scratch, err = o.sortTies(q, entries, scratch, cols, o.undecided())
	return entries, scratch, err
}

// radixSort orders entries by their keys, stable, least significant byte first. Bytes that all keys share are skipped.
func radixSort(q *query, from, to []sortEntry) (sorted, spare []sortEntry, err error) {
	if len(from) < 256 {
		slices.SortFunc(from, compareInOrder)
		return from, to, nil
	}
	to = resize(to, len(from))
	var differ0, differ1 uint64 // bits in which some key differs from the first
	for _, e := range from {
		differ0 |= e.k0 ^ from[0].k0
		differ1 |= e.k1 ^ from[0].k1
	}
	for b := range entryKeyBytes {
		differ, shift := differ1, uint(8*(b%8))
		if b >= 8 {
			differ = differ0
		}
		if differ>>shift&0xff == 0 {
			continue
		}
		if err := q.check(); err != nil {
			return nil, nil, err
		}
		radixPass(from, to, b)
		from, to = to, from
	}
	return from, to, nil
}

func radixPass(from, to []sortEntry, b int) {
	shift := uint(8 * (b % 8))
	var count [256]uint32
	if b >= 8 {
		for i := range from {
			count[byte(from[i].k0>>shift)]++
		}
	} else {
		for i := range from {
			count[byte(from[i].k1>>shift)]++
		}
	}
	at := uint32(0)
	for i, n := range count {
		count[i] = at
		at += n
	}
	if b >= 8 {
		for _, e := range from {
			d := byte(e.k0 >> shift)
			to[count[d]] = e
			count[d]++
		}
		return
	}
	for _, e := range from {
		d := byte(e.k1 >> shift)
		to[count[d]] = e
		count[d]++
	}
}

func compareEntries(a, b sortEntry) int {
	switch {
	case a.k0 < b.k0 || a.k0 == b.k0 && a.k1 < b.k1:
		return -1
	case a.k0 == b.k0 && a.k1 == b.k1:
		return 0
	}
	return 1
}
