package parquetstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/parquet-go/parquet-go/format"

	"github.com/tidemarkdb/tidemark/vec"
)

// lentPage is the page of a flat column that a scan with Borrow has reached. Its body stays as it was decompressed;
// rows are decoded a window at a time, when they are asked for and only those, into memory that the next window takes
// over. What the columns of a batch need so fits in the processor's caches, and no page leaves garbage behind.
//
// Windows ascend. Pages with NULLs and rare encodings are decoded whole, and windows are slices of them.
type lentPage struct {
	memory *lentMemory
	first  int // row of the group at which the page begins
	rows   int // 0: no page
	leaf   *leaf
	whole  *vec.Vector // set for a page that is decoded whole
	dict   *vec.Vector
	values []byte // plain values, slack behind them
	codes  hybridReader
	coded  bool
	at     int // rows passed
	in     int // bytes of values passed, where values are byte strings
	start  int // in at the beginning of the window

	from, n int // the window that last is
	last    *vec.Vector
	partial bool // last has the rows of a selection only
}

// lentMemory is what one column of one reader uses again and again.
type lentMemory struct {
	raw     []byte // a page's body decompressed
	data    []byte // values of a window
	index   []int32
	offsets []int32
}

var lentPool = sync.Pool{New: func() any { return new(lentMemory) }}

// grown returns s with length n, its content lost.
func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}

// grownBytes returns n bytes with slack behind them.
func grownBytes(s []byte, n int) []byte { return grown(s, n+slack)[:n] }

// lend returns what slice does, in memory that is lent until the reader's next batch.
func (c *cursor) lend(ctx context.Context, r *Reader, from, n int, sel vec.Selection) (*vec.Vector, error) {
	p := &c.dir.pages[c.dir.find(from)]
	if p.first+p.rows >= from+n {
		return c.window(ctx, r, from, n, sel)
	}
	var pieces []*vec.Vector
	for at := from; at < from+n; {
		p := &c.dir.pages[c.dir.find(at)]
		take := min(p.first+p.rows, from+n) - at
		if !wanted(sel, at-from, take) {
			pieces = append(pieces, vec.NullOf(c.column.Type, take))
			at += take
			continue
		}
		v, err := c.window(ctx, r, at, take, nil)
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, owned(v)) // the next page takes its memory
		at += take
	}
	c.joined, c.joinedFrom = concat(c.column.Type, pieces), from
	return c.joined, nil
}

// owned returns a copy of a window that borrows nothing but its dictionary.
func owned(v *vec.Vector) *vec.Vector {
	out := *v
	out.Index, out.Data, out.Offsets = slices.Clone(v.Index), slices.Clone(v.Data), slices.Clone(v.Offsets)
	return &out
}

// window returns rows of one page.
func (c *cursor) window(ctx context.Context, r *Reader, from, n int, sel vec.Selection) (*vec.Vector, error) {
	if c.lent == nil {
		c.lent = &lentPage{memory: lentPool.Get().(*lentMemory)}
	}
	at := c.dir.find(from)
	page := &c.dir.pages[at]
	if !c.lent.has(from) {
		if err := r.f.lendPage(ctx, r.group, c.column.leaves[0], at, c.lent, r.scan.Counters); err != nil {
			return nil, err
		}
		c.lent.first, c.lent.rows = page.first, page.rows
		c.passed++
	}
	var v *vec.Vector
	err := r.f.guard(func() (err error) {
		if v, err = c.lent.window(from-page.first, n, sel); err == nil && !c.lent.coded && c.lent.whole == nil {
			err = r.f.checkText(v)
		}
		return err
	})
	if err != nil {
		return nil, r.f.pageError(r.group, c.column.leaves[0], page.offset, err)
	}
	return v, nil
}

// has reports whether the page holds a row of the group.
func (p *lentPage) has(row int) bool { return p != nil && row >= p.first && row < p.first+p.rows }

// giveBack ends what was lent.
func (c *cursor) giveBack() {
	if c.lent != nil {
		lentPool.Put(c.lent.memory)
		c.lent, c.joined = nil, nil
	}
}

// lendPage reads and decompresses a page of a flat leaf.
func (f *File) lendPage(ctx context.Context, g, leaf, at int, to *lentPage, counters *Counters) error {
	c := &f.groups[g].chunks[leaf]
	d, err := f.directory(ctx, g, leaf)
	if err != nil {
		return err
	}
	if err := f.src.acquire(); err != nil {
		return f.damaged(err)
	}
	defer f.src.release()
	err = f.guard(func() error {
		dict, err := f.dictionary(ctx, c, d)
		if err != nil {
			return err
		}
		h, body, err := f.page(ctx, c, d, at)
		if err != nil {
			return err
		}
		if err = to.open(c, &h, body, dict); err == nil && to.whole != nil && to.whole.Form == vec.Flat {
			err = f.checkText(to.whole)
		}
		return err
	})
	if err != nil {
		return f.pageError(g, leaf, d.pages[at].offset, err)
	}
	counters.pageDecoded(d.pages[at].rows, d.pages[at].size)
	return nil
}

// pageError says which page an error is about.
func (f *File) pageError(g, leaf int, offset int64, err error) error {
	return f.damaged(fmt.Errorf("row group %d, column %q: page at offset %d: %w", g, f.schema.leaves[leaf].path, offset, err))
}

// open makes p the page of a header and body.
func (p *lentPage) open(c *chunk, h *pageHeader, body []byte, dict *vec.Vector) error {
	*p = lentPage{memory: p.memory, leaf: c.leaf, dict: dict}
	parts, err := c.leaf.open(h, c.codec, body, p.memory)
	if err != nil {
		return err
	}
	valid, present := vec.Bitmap(nil), h.values
	if c.leaf.maxDef > 0 {
		if valid, present, err = decodeValidity(parts.def, h.values); err != nil {
			return err
		}
	}
	p.values = parts.values
	switch {
	case valid != nil:
	case h.encoding == plainDictionary || h.encoding == format.RLEDictionary:
		return p.openCodes(h.values)
	case h.encoding == format.Plain && (c.leaf.phys == format.ByteArray && c.leaf.conv == keep):
		return nil
	case h.encoding == format.Plain && c.leaf.phys != format.ByteArray && c.leaf.phys != format.Boolean:
		if len(p.values) < h.values*c.leaf.storedWidth() {
			return errPlainCut
		}
		return nil
	}
	v, err := c.leaf.decodeValues(h.encoding, p.values, present, dict)
	if err != nil {
		return err
	}
	if valid != nil {
		v = scatter(v, valid, h.values)
	}
	p.whole = v
	return nil
}

func (p *lentPage) openCodes(n int) error {
	p.coded = true
	if p.dict == nil {
		return errNoDictionary
	}
	if n > 0 && len(p.values) == 0 {
		return errRunCut
	}
	if n > 0 {
		p.codes = hybridReader{src: p.values[1:], width: uint(p.values[0]), left: n}
	}
	if p.codes.width > 32 {
		return errRunBits
	}
	return nil
}

// window decodes n rows from row from on, or at least those of sel (nil: all).
func (p *lentPage) window(from, n int, sel vec.Selection) (*vec.Vector, error) {
	if p.whole != nil {
		return p.whole.Slice(from, n), nil
	}
	again := p.last != nil && p.from == from && p.n == n
	if again && (!p.partial || sel != nil) { // a selection only shrinks from one call to the next
		return p.last, nil
	}
	if !again && from < p.at {
		return nil, errors.New("rows are asked for a second time") // our mistake, not the file's
	}
	var v *vec.Vector
	var err error
	switch {
	case p.coded:
		if !again {
			err = p.readCodes(from-p.at, n)
		}
		if err == nil {
			v, err = p.decodeCodes(n, sel)
		}
	case p.leaf.phys == format.ByteArray && again:
		p.in = p.start
		v, err = p.decodeStrings(0, n, sel)
	case p.leaf.phys == format.ByteArray:
		v, err = p.decodeStrings(from-p.at, n, sel)
	default:
		width := p.leaf.storedWidth()
		v, err = p.leaf.convert(stored{n: n, data: p.values[from*width : (from+n)*width : (from+n)*width]})
	}
	if err != nil {
		return nil, err
	}
	p.at, p.from, p.n, p.last, p.partial = from+n, from, n, v, sel != nil
	return v, nil
}

// readCodes reads the codes of n rows after skip others.
func (p *lentPage) readCodes(skip, n int) error {
	if err := p.codes.skip(skip); err != nil {
		return err
	}
	p.memory.index = grown(p.memory.index, n)
	return p.codes.read(p.memory.index)
}

// decodeCodes returns the rows whose codes were read. Byte strings stay codes.
func (p *lentPage) decodeCodes(n int, sel vec.Selection) (*vec.Vector, error) {
	index := p.memory.index
	if p.leaf.typ.Phys() == vec.PhysBytes {
		return &vec.Vector{Type: p.leaf.typ, Form: vec.Dictionary, N: n, Index: index, Dict: p.dict}, checkCodes(index, p.dict.N)
	}
	if len(sel)*4 > n*3 {
		sel = nil
	}
	width := p.leaf.typ.Phys().Width()
	p.memory.data = grownBytes(p.memory.data, n*width)
	out := &vec.Vector{Type: p.leaf.typ, N: n, Data: p.memory.data}
	ok := false
	switch width {
	case 1:
		ok = lookUp[byte](out, p.dict, index, sel)
	case 2:
		ok = lookUp[int16](out, p.dict, index, sel)
	case 4:
		ok = lookUp[int32](out, p.dict, index, sel)
	case 8:
		ok = lookUp[int64](out, p.dict, index, sel)
	default:
		ok = lookUp[vec.Int128](out, p.dict, index, sel)
	}
	if !ok {
		return nil, checkCodes(index, p.dict.N)
	}
	return out, nil
}

// checkCodes refuses codes that name no entry of n.
func checkCodes(index []int32, n int) error {
	most := uint32(0)
	for _, x := range index {
		most = max(most, uint32(x))
	}
	if len(index) > 0 && int64(most) >= int64(n) {
		return fmt.Errorf("dictionary code %d where the dictionary has %d entries", most, n)
	}
	return nil
}

// lookUp writes the entries that codes name to the rows of sel (nil: all) of out; false when one names none.
func lookUp[T vec.Fixed](out, dict *vec.Vector, index []int32, sel vec.Selection) bool {
	entries, to := vec.Cast[T](dict.Data), vec.Cast[T](out.Data)
	if sel == nil {
		to = to[:len(index)]
		for i, x := range index {
			if uint(uint32(x)) >= uint(len(entries)) {
				return false
			}
			to[i] = entries[uint32(x)]
		}
		return true
	}
	for _, row := range sel {
		x := uint32(index[row])
		if uint(x) >= uint(len(entries)) {
			return false
		}
		to[row] = entries[x]
	}
	return true
}
