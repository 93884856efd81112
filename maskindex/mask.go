package maskindex

import (
	"slices"
	"sync/atomic"
	"weak"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// Mask is the dead rows of one tablet. It is immutable and safe for concurrent use; a nil *Mask has no dead row and
// knows no rows.
//
// A scan asks AllDead before it decodes a page, and turns the rest into its selection with Live (bit i set: row
// from+i counts) or Dead. Words are little-endian bit order, as vec.Bitmap, and bits past n are 0.
type Mask struct {
	rows uint32
	dead uint32
	bm   *roaring.Bitmap // nil: no row is dead, or all are when dead == rows
	// The dense form is rebuilt when the collector took it: it costs microseconds, and many scans of one tablet share it.
	dense atomic.Pointer[weak.Pointer[denseWords]]
	list  atomic.Pointer[weak.Pointer[deadList]] // of a sparse mask, likewise
}

type denseWords struct{ words []uint64 }

// deadList is the dead rows, ascending, in blocks: those of block b are rows[starts[b]:starts[b+1]], counted from the
// block's first row, so that the list of a block can be lent as it is.
type deadList struct {
	rows   []int32
	starts []uint32
}

// listBlock is how many rows a block of a deadList has: those of a batch.
const listBlock = vec.BatchRows

// sparse is how many rows there are to one dead row, at least, for dead rows to be listed.
const sparse = 8

// NewMask returns the mask of a tablet of rows rows, of which those in dead, which may be nil, are dead. It keeps
// dead, which must not change later. A bitmap with rows beyond the tablet is an error.
func NewMask(dead *roaring.Bitmap, rows uint32) (*Mask, error) {
	if dead == nil || dead.IsEmpty() {
		return &Mask{rows: rows}, nil
	}
	if m := dead.Maximum(); m >= rows {
		return nil, sqlerr.New(sqlerr.DataCorrupted, "a deletion mask marks row %d of a tablet of %d rows", m, rows).
			Hintf("The mask belongs to another tablet: run flightsrv check on the data root.")
	}
	n := uint32(dead.GetCardinality())
	if n == rows {
		return fullMask(rows), nil
	}
	return &Mask{rows: rows, dead: n, bm: dead}, nil
}

func fullMask(rows uint32) *Mask { return &Mask{rows: rows, dead: rows} }

// Rows returns the rows of the tablet, dead ones included.
func (m *Mask) Rows() uint32 {
	if m == nil {
		return 0
	}
	return m.rows
}

// Dead returns the number of dead rows.
func (m *Mask) Dead() uint32 {
	if m == nil {
		return 0
	}
	return m.dead
}

// Version returns a comparable value that two masks of one tablet share only if the same rows are dead.
func (m *Mask) Version() any {
	if m == nil || m.bm == nil {
		return [2]uint32{m.Rows(), m.Dead()}
	}
	return m.bm
}

// Live returns the number of live rows.
func (m *Mask) Live() uint32 { return m.Rows() - m.Dead() }

// None reports that no row is dead.
func (m *Mask) None() bool { return m.Dead() == 0 }

// All reports that every row of the tablet is dead, and that there is one.
func (m *Mask) All() bool { return m != nil && m.rows > 0 && m.dead == m.rows }

// Contains reports whether the row is dead.
func (m *Mask) Contains(row uint32) bool {
	switch {
	case m.None():
		return false
	case m.bm == nil:
		return row < m.rows
	}
	return m.bm.Contains(row)
}

// Count returns the number of dead rows in [from, from+n).
func (m *Mask) Count(from, n uint32) uint32 {
	if m.None() || from >= m.rows {
		return 0
	}
	n = min(n, m.rows-from)
	if m.bm == nil {
		return n
	}
	return uint32(m.bm.CardinalityInRange(uint64(from), uint64(from)+uint64(n)))
}

// AnyDead reports whether a row in [from, from+n) is dead.
func (m *Mask) AnyDead(from, n uint32) bool {
	if m.None() || from >= m.rows || n == 0 {
		return false
	}
	return m.bm == nil || m.bm.IntersectsWithInterval(uint64(from), uint64(from)+uint64(n))
}

// AllDead reports whether every row in [from, from+n) is dead, rows past the tablet not counted.
func (m *Mask) AllDead(from, n uint32) bool {
	if m.None() || from >= m.rows {
		return false
	}
	return m.Count(from, n) == min(n, m.rows-from)
}

// Bitmap returns the dead rows as a Roaring bitmap, which the caller must not change.
func (m *Mask) Bitmap() *roaring.Bitmap {
	switch {
	case m.None():
		return roaring.New()
	case m.bm == nil:
		b := roaring.New()
		b.AddRange(0, uint64(m.rows))
		return b
	}
	return m.bm
}

// DeadWords sets bit i where row from+i is dead. dst is reused when it is large enough.
func (m *Mask) DeadWords(dst []uint64, from, n uint32) []uint64 {
	dst = sized(dst, n)
	if m.None() || from >= m.rows {
		clear(dst)
		return dst
	}
	if m.bm == nil {
		clear(dst)
		setRange(dst, 0, min(n, m.rows-from))
		return dst
	}
	m.copyBits(dst, from)
	trim(dst, n)
	return dst
}

// LiveWords sets bit i where row from+i is live, rows past the tablet not being live. dst is reused when it is large
// enough.
func (m *Mask) LiveWords(dst []uint64, from, n uint32) []uint64 {
	dst = m.DeadWords(dst, from, n)
	for i := range dst {
		dst[i] = ^dst[i]
	}
	trim(dst, n)
	if rows := m.Rows(); m != nil && uint64(from)+uint64(n) > uint64(rows) {
		trim(dst, max(rows, from)-from)
	}
	return dst
}

// DeadRows returns the dead rows in [from, from+n), counted from from on, in dst or in memory of the mask's own, which
// the caller must not change; false when they are too many to list.
func (m *Mask) DeadRows(dst []int32, from, n uint32) ([]int32, bool) {
	dst = dst[:0]
	switch {
	case m.None() || from >= m.rows:
		return dst, true
	case uint64(m.dead)*sparse > uint64(m.rows):
		return nil, false
	}
	d := m.listed()
	n = min(n, m.rows-from)
	block := from / listBlock
	if from%listBlock == 0 && n <= listBlock {
		rows := d.block(block)
		if n < listBlock {
			end, _ := slices.BinarySearch(rows, int32(n))
			rows = rows[:end]
		}
		return slices.Clip(rows), true
	}
	for ; uint64(block)*listBlock < uint64(from)+uint64(n); block++ {
		first := int64(block)*listBlock - int64(from)
		for _, r := range d.block(block) {
			if row := first + int64(r); row >= 0 && row < int64(n) {
				dst = append(dst, int32(row))
			}
		}
	}
	return dst, true
}

func (d *deadList) block(b uint32) []int32 { return d.rows[d.starts[b]:d.starts[b+1]] }

// listed returns the dead rows of the whole mask.
func (m *Mask) listed() *deadList {
	if p := m.list.Load(); p != nil {
		if d := p.Value(); d != nil {
			return d
		}
	}
	rows := m.Bitmap().ToArray()
	d := &deadList{rows: make([]int32, len(rows)), starts: make([]uint32, 1, m.rows/listBlock+2)}
	for i, r := range rows {
		for uint32(len(d.starts)) <= r/listBlock {
			d.starts = append(d.starts, uint32(i))
		}
		d.rows[i] = int32(r % listBlock)
	}
	for uint32(len(d.starts)) <= (m.rows-1)/listBlock+1 {
		d.starts = append(d.starts, uint32(len(rows)))
	}
	w := weak.Make(d)
	m.list.Store(&w)
	return d
}

// copyBits fills dst with the dense bits from row from on.
func (m *Mask) copyBits(dst []uint64, from uint32) {
	dense := m.expanded()
	at, shift := int(from/64), from%64
	if shift == 0 {
		k := copy(dst, dense[at:])
		clear(dst[k:])
		return
	}
	for i := range dst {
		w := uint64(0)
		if at+i < len(dense) {
			w = dense[at+i] >> shift
		}
		if at+i+1 < len(dense) {
			w |= dense[at+i+1] << (64 - shift)
		}
		dst[i] = w
	}
}

// expanded returns the dense form of the whole mask, one bit a row, set where the row is dead.
func (m *Mask) expanded() []uint64 {
	if p := m.dense.Load(); p != nil {
		if d := p.Value(); d != nil {
			return d.words
		}
	}
	d := &denseWords{words: make([]uint64, (int(m.rows)+63)/64)}
	expand(m.bm, d.words, m.rows)
	w := weak.Make(d)
	m.dense.Store(&w)
	return d.words
}

// expand writes bm, all of whose values are below rows, to dst, which is zero.
func expand(bm *roaring.Bitmap, dst []uint64, rows uint32) {
	if bm == nil || bm.IsEmpty() {
		return
	}
	if bm.Maximum() >= rows {
		bm = bm.Clone()
		bm.RemoveRange(uint64(rows), 1<<32)
	}
	if !bm.IsEmpty() {
		bm.WriteDenseTo(dst)
	}
}

func sized(dst []uint64, n uint32) []uint64 {
	words := (int(n) + 63) / 64
	if cap(dst) < words {
		return make([]uint64, words)
	}
	return dst[:words]
}

// trim clears the bits of dst from n on.
func trim(dst []uint64, n uint32) {
	w := int(n / 64)
	if w >= len(dst) {
		return
	}
	dst[w] &= 1<<(n%64) - 1
	clear(dst[w+1:])
}

func setRange(dst []uint64, from, to uint32) {
	for r := from; r < to; {
		if r%64 == 0 && to-r >= 64 {
			dst[r/64] = ^uint64(0)
			r += 64
			continue
		}
		dst[r/64] |= 1 << (r % 64)
		r++
	}
}
