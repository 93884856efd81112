package parquetstore

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"math/bits"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// chunkEncoder turns a column's buffer into the bytes of a column chunk. It is reused from row group to row group and
// used by one goroutine at a time.
type chunkEncoder struct {
	o       *Options
	codec   format.CompressionCodec
	leaf    leafForm
	raw     []byte // scratch: encoded values
	packed  []byte // scratch: compressed values
	levels  []byte // scratch
	dict    dictionaryBuilder
	entries int // in the dictionary whose bytes are in raw

	sketch Sketch // over all row groups
	extent extent
	nulls  int64
}

// leafForm is what an encoder needs to know of its leaf.
type leafForm struct {
	path           []string
	typ            vec.Type
	form           storedForm
	maxDef, maxRep int
}

// encodedChunk is a column chunk ready to be written. Offsets in it count from the start of data.
type encodedChunk struct {
	data         []byte
	meta         format.ColumnMetaData
	offsets      format.OffsetIndex
	index        *format.ColumnIndex // nil when a page has values without bounds
	headers      []uint32
	uncompressed int64
}

// pageCut is one page to be: its rows, and its values among the dense ones.
type pageCut struct {
	row, rows   int
	from, count int
}

// encode encodes the buffered rows of a flat column.
func (c *chunkEncoder) encode(b *columnBuffer, out *encodedChunk) error {
	v := values{form: c.leaf.form, data: widenStored(b.typ, c.leaf.form, b.data)}
	if b.phys == vec.PhysBytes {
		v.offsets = b.offsets
	}
	c.start(out, int64(b.rows))
	encoding, width := c.chooseEncoding(&v, b.present)
	if out.data == nil {
		out.data = make([]byte, 0, v.bytesBetween(0, b.present)/2+1024)
	}
	if err := c.writeDictionary(out, encoding); err != nil {
		return err
	}
	total := extent{}
	for _, cut := range c.cut(b, &v, encoding, width) {
		c.levels = c.levels[:0]
		if c.leaf.maxDef > 0 {
			c.levels = appendValidity(c.levels, b.valid.Slice(cut.row, cut.rows), cut.rows)
		}
		page := v.slice(cut.from, cut.from+cut.count)
		c.raw = page.encode(c.raw[:0], encoding, width)
		e := extentOf(b, cut.from, cut.count)
		err := c.writePage(out, pageCounts{rows: cut.rows, values: cut.rows, nulls: cut.rows - cut.count, row: cut.row}, encoding, 0, len(c.levels))
		if err != nil {
			return err
		}
		c.indexPage(out, e, cut.rows, cut.count)
		total.merge(e)
	}
	c.finish(out, &total, int64(b.rows-b.present))
	return nil
}

func (c *chunkEncoder) start(out *encodedChunk, values int64) {
	*out = encodedChunk{data: out.data[:0], index: new(format.ColumnIndex)}
	out.meta = format.ColumnMetaData{Type: c.leaf.form.phys, PathInSchema: c.leaf.path, Codec: c.codec, NumValues: values}
}

// chooseEncoding picks the smallest encoding from the data. With a dictionary it sets v.codes and leaves the plain
// entries in c.raw.
func (c *chunkEncoder) chooseEncoding(v *values, n int) (format.Encoding, uint) {
	plain := v.bytesBetween(0, n)
	deltaBits := estimateDelta(v, n)
	if d := &c.dict; d.build(v, n) {
		width := max(bitWidth(uint32(d.size()-1)), 1)
		size := n*int(width)/8 + d.entries.bytesBetween(0, d.size())
		if size < plain*3/4 && (deltaBits < 0 || size <= n*deltaBits/8+n/16) {
			sketchValues(&c.sketch, &d.entries)
			v.codes = d.codes
			c.entries = d.size()
			c.raw = d.entries.encode(c.raw[:0], format.Plain, 0)
			return format.RLEDictionary, width
		}
	}
	sketchValues(&c.sketch, v)
	if deltaBits >= 0 && n*deltaBits/8 < plain*6/10 {
		return format.DeltaBinaryPacked, 0
	}
	return format.Plain, 0
}

// deltaSamples is how many stretches of 128 values the width of deltas is estimated from.
const deltaSamples = 16

// estimateDelta returns about how many bits a value takes as a delta, -1 when the form has no such encoding.
func estimateDelta(v *values, n int) int {
	switch {
	case n < 2:
		return -1
	case v.form.phys == format.Int32:
		return deltaBits(vec.Cast[int32](v.data)[:n])
	case v.form.phys == format.Int64:
		return deltaBits(vec.Cast[int64](v.data)[:n])
	}
	return -1
}

func deltaBits[T int32 | int64](all []T) int {
	const block = 128
	total, count := 0, 0
	step := max(len(all)/deltaSamples, block)
	for from := 0; from+1 < len(all); from += step {
		s := all[from:min(from+block+1, len(all))]
		low, high := s[1]-s[0], s[1]-s[0]
		for i := 1; i < len(s); i++ {
			d := s[i] - s[i-1] // wraps as the encoding does
			low, high = min(low, d), max(high, d)
		}
		total += bits.Len64(uint64(high) - uint64(low))
		count++
	}
	return total/count + 1
}

func (c *chunkEncoder) writeDictionary(out *encodedChunk, e format.Encoding) error {
	if e != format.RLEDictionary {
		return nil
	}
	body, err := c.compressed()
	if err != nil {
		return err
	}
	h := format.PageHeader{
		Type: format.DictionaryPage, UncompressedPageSize: int32(len(c.raw)), CompressedPageSize: int32(len(body)),
		CRC:                  int32(crc32.ChecksumIEEE(body)),
		DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: int32(c.entries), Encoding: format.Plain}),
	}
	out.meta.Encoding = append(out.meta.Encoding, format.Plain)
	out.meta.EncodingStats = append(out.meta.EncodingStats, format.PageEncodingStats{PageType: format.DictionaryPage, Encoding: format.Plain, Count: 1})
	_, err = out.append(&h, nil, body)
	return err
}

// compressed returns c.raw in the writer's codec, valid until the next call.
func (c *chunkEncoder) compressed() ([]byte, error) {
	if c.codec == format.Uncompressed {
		return c.raw, nil
	}
	packed, err := compress(c.codec, c.packed, c.raw)
	if err == nil {
		c.packed = packed
	}
	return packed, err
}

// cut divides a chunk in pages of at most PageBytes and PageRows. Pages of many rows end on a whole batch, so that
// scans need not put batches together from two pages.
func (c *chunkEncoder) cut(b *columnBuffer, v *values, e format.Encoding, width uint) []pageCut {
	var cuts []pageCut
	from := 0
	for row := 0; row < b.rows || row == 0; {
		rows := min(c.o.PageRows, b.rows-row)
		count := presentIn(b, row, rows)
		for rows > 1 && pageBytes(v, e, width, from, count) > c.o.PageBytes {
			rows = roundRows(rows / 2)
			count = presentIn(b, row, rows)
		}
		cuts = append(cuts, pageCut{row: row, rows: rows, from: from, count: count})
		row, from = row+rows, from+count
		if rows == 0 {
			break
		}
	}
	return cuts
}

// roundRows rounds down to whole batches, or to a power of two below one.
func roundRows(rows int) int {
	if rows >= vec.BatchRows {
		return rows / vec.BatchRows * vec.BatchRows
	}
	return 1 << (bits.Len(uint(rows)) - 1)
}

func presentIn(b *columnBuffer, row, rows int) int {
	if b.valid == nil {
		return rows
	}
	return b.valid.Slice(row, rows).Count(rows)
}

func pageBytes(v *values, e format.Encoding, width uint, from, count int) int {
	if e == format.RLEDictionary {
		return count * int(width) / 8
	}
	return v.bytesBetween(from, from+count)
}

// pageCounts are the numbers in a page header.
type pageCounts struct{ row, rows, values, nulls int }

// writePage appends a page of c.levels and the encoded values in c.raw, compressed where it helps.
func (c *chunkEncoder) writePage(out *encodedChunk, n pageCounts, e format.Encoding, repBytes, defBytes int) error {
	body, packed := c.raw, false
	if c.codec != format.Uncompressed && len(c.raw) > 0 {
		b, err := c.compressed()
		if err != nil {
			return err
		}
		// Decoding costs time whatever it saves: below an eighth it is not worth it.
		if len(b) < len(c.raw)*7/8 {
			body, packed = b, true
		}
	}
	crc := crc32.Update(crc32.ChecksumIEEE(c.levels), crc32.IEEETable, body)
	h := format.PageHeader{
		Type:                 format.DataPageV2,
		UncompressedPageSize: int32(len(c.levels) + len(c.raw)),
		CompressedPageSize:   int32(len(c.levels) + len(body)),
		CRC:                  int32(crc),
		DataPageHeaderV2: thrift.New(format.DataPageHeaderV2{
			NumValues: int32(n.values), NumNulls: int32(n.nulls), NumRows: int32(n.rows), Encoding: e,
			DefinitionLevelsByteLength: int32(defBytes), RepetitionLevelsByteLength: int32(repBytes),
			IsCompressed: thrift.New(packed),
		}),
	}
	if len(c.levels)+len(c.raw) > 1<<30 {
		return fmt.Errorf("column %v: a page of %d bytes is too large: store smaller values", c.leaf.path, len(c.raw))
	}
	location := format.PageLocation{Offset: int64(len(out.data)), FirstRowIndex: int64(n.row)}
	size, err := out.append(&h, c.levels, body)
	if err != nil {
		return err
	}
	location.CompressedPageSize = int32(size)
	out.offsets.PageLocations = append(out.offsets.PageLocations, location)
	stats := &out.meta.EncodingStats
	if k := len(*stats) - 1; k >= 0 && (*stats)[k].PageType == format.DataPageV2 {
		(*stats)[k].Count++
		return nil
	}
	*stats = append(*stats, format.PageEncodingStats{PageType: format.DataPageV2, Encoding: e, Count: 1})
	out.meta.Encoding = append(out.meta.Encoding, e)
	return nil
}

// append adds a page and returns its size, header included.
func (out *encodedChunk) append(h *format.PageHeader, levels, body []byte) (int, error) {
	header, err := marshalThrift(h)
	if err != nil {
		return 0, fmt.Errorf("encoding a page header: %w", err)
	}
	out.headers = append(out.headers, crc32.ChecksumIEEE(header))
	out.data = append(append(append(out.data, header...), levels...), body...)
	out.uncompressed += int64(len(header)) + int64(h.UncompressedPageSize)
	return len(header) + len(levels) + len(body), nil
}

// indexPage adds a page to the column index.
func (c *chunkEncoder) indexPage(out *encodedChunk, e extent, rows, present int) {
	if out.index == nil {
		return
	}
	// A page with NaN has no bounds that every reader understands, and an index must bound every page.
	if present > 0 && (!e.known || e.nans > 0) {
		out.index = nil
		return
	}
	index := out.index
	low, high := []byte{}, []byte{}
	if present > 0 {
		low, high = encodeBound(c.leaf.typ, e.min), encodeBound(c.leaf.typ, e.max)
		if c.leaf.form.phys == format.ByteArray {
			low = []byte(tablet.CutLower(e.min.S).Bytes())
			upper := tablet.CutUpper(e.max.S)
			if !upper.Known() {
				out.index = nil
				return
			}
			high = []byte(upper.Bytes())
		}
	}
	index.NullPages = append(index.NullPages, present == 0)
	index.MinValues = append(index.MinValues, low)
	index.MaxValues = append(index.MaxValues, high)
	index.NullCounts = append(index.NullCounts, int64(rows-present))
}

// finish completes the chunk's metadata and counts it in the column's.
func (c *chunkEncoder) finish(out *encodedChunk, e *extent, nulls int64) {
	m := &out.meta
	m.TotalCompressedSize, m.TotalUncompressedSize = int64(len(out.data)), out.uncompressed
	m.Encoding = append(m.Encoding, format.RLE)
	m.DataPageOffset = out.offsets.PageLocations[0].Offset
	m.Statistics.NullCount = nulls
	if e.known && e.nans == 0 {
		low, high := encodeBound(c.leaf.typ, e.min), encodeBound(c.leaf.typ, e.max)
		// Readers may take these for real values, so long strings are not cut but left out.
		if len(low) <= tablet.MaxBoundBytes && len(high) <= tablet.MaxBoundBytes {
			m.Statistics.MinValue, m.Statistics.MaxValue = low, high
		}
	}
	if out.index != nil {
		out.index.BoundaryOrder = c.boundaryOrder(out.index)
	}
	c.extent.merge(*e)
	c.nulls += nulls
}

// boundaryOrder reports whether the pages' bounds ascend or descend.
func (c *chunkEncoder) boundaryOrder(index *format.ColumnIndex) format.BoundaryOrder {
	l := leaf{phys: c.leaf.form.phys, length: c.leaf.form.length, typ: c.leaf.typ}
	ascending, descending := true, true
	last := -1
	for i := range index.NullPages {
		if index.NullPages[i] {
			continue
		}
		if last >= 0 {
			low, high := l.compareStored(index.MinValues[last], index.MinValues[i]), l.compareStored(index.MaxValues[last], index.MaxValues[i])
			ascending = ascending && low <= 0 && high <= 0
			descending = descending && low >= 0 && high >= 0
		}
		last = i
	}
	switch {
	case ascending:
		return format.Ascending
	case descending:
		return format.Descending
	}
	return format.Unordered
}

// compareStored orders two bounds as written by encodeBound.
func (l *leaf) compareStored(a, b []byte) int {
	if l.phys == format.ByteArray || l.typ.ID == vec.UUID {
		return bytes.Compare(a, b)
	}
	l.conv = keep
	switch {
	case l.phys == format.FixedLenByteArray:
		l.conv = bigEndian128
	case l.typ.ID == vec.Int16:
		l.conv = narrow16
	}
	x, okX := l.bound(a)
	y, okY := l.bound(b)
	if !okX || !okY {
		return 0
	}
	return vec.Compare(x, y)
}
