package parquetstore

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"sort"
	"weak"

	"github.com/parquet-go/parquet-go/format"

	"github.com/tidemarkdb/tidemark/vec"
)

// directory lists the pages of a chunk.
type directory struct {
	dict  pageSpan // size 0: none
	pages []pageSpan
}

// pageSpan is one page: its bytes, header included, and its rows within the row group.
type pageSpan struct {
	offset      int64
	size        int
	first, rows int
	bounds      bounds
}

// find returns the page that holds a row of the group.
func (d *directory) find(row int) int {
	return sort.Search(len(d.pages), func(i int) bool { return d.pages[i].first > row }) - 1
}

// directory returns the chunk's pages, found at first use: from the offset index, or by walking the page headers.
func (f *File) directory(ctx context.Context, g, leaf int) (*directory, error) {
	group := &f.groups[g]
	c := &group.chunks[leaf]
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dir != nil {
		return c.dir, nil
	}
	if err := f.src.acquire(); err != nil {
		return nil, f.damaged(err)
	}
	defer f.src.release()
	var d *directory
	err := f.guard(func() (err error) {
		if c.meta.OffsetIndexLength > 0 && c.leaf.flat() {
			d, err = f.readOffsetIndex(ctx, c, group.rows)
		} else {
			d, err = f.walkPages(ctx, c, group.rows)
		}
		return err
	})
	if err != nil {
		return nil, f.damaged(fmt.Errorf("row group %d, column %q: %w", g, c.leaf.path, err))
	}
	c.dir = d
	return d, nil
}

func (f *File) readOffsetIndex(ctx context.Context, c *chunk, rows int) (*directory, error) {
	raw, err := f.src.view(ctx, c.meta.OffsetIndexOffset, int(c.meta.OffsetIndexLength))
	if err != nil {
		return nil, err
	}
	var index format.OffsetIndex
	if err := unmarshalThrift(append([]byte(nil), raw...), &index); err != nil {
		return nil, fmt.Errorf("offset index at %d: %w", c.meta.OffsetIndexOffset, err)
	}
	d := &directory{pages: make([]pageSpan, len(index.PageLocations))}
	next := c.start
	for i, p := range index.PageLocations {
		end := int64(rows)
		if i+1 < len(index.PageLocations) {
			end = index.PageLocations[i+1].FirstRowIndex
		}
		if p.Offset < next || p.CompressedPageSize <= 0 || p.Offset+int64(p.CompressedPageSize) > c.end ||
			p.FirstRowIndex < 0 || end < p.FirstRowIndex || i == 0 && p.FirstRowIndex != 0 || end > int64(rows) {
			return nil, fmt.Errorf("offset index at %d: page %d is out of place", c.meta.OffsetIndexOffset, i)
		}
		d.pages[i] = pageSpan{offset: p.Offset, size: int(p.CompressedPageSize), first: int(p.FirstRowIndex), rows: int(end - p.FirstRowIndex)}
		d.pages[i].bounds = unknownBounds
		next = p.Offset + int64(p.CompressedPageSize)
	}
	if len(d.pages) == 0 && rows > 0 {
		return nil, fmt.Errorf("offset index at %d lists no page", c.meta.OffsetIndexOffset)
	}
	if len(d.pages) > 0 && c.start < d.pages[0].offset {
		d.dict = pageSpan{offset: c.start, size: int(d.pages[0].offset - c.start)}
	}
	return d, f.readColumnIndex(ctx, c, d)
}

// readColumnIndex adds bounds to the pages, where the file has them.
func (f *File) readColumnIndex(ctx context.Context, c *chunk, d *directory) error {
	if c.meta.ColumnIndexLength <= 0 {
		return nil
	}
	raw, err := f.src.view(ctx, c.meta.ColumnIndexOffset, int(c.meta.ColumnIndexLength))
	if err != nil {
		return err
	}
	var index format.ColumnIndex
	if err := unmarshalThrift(append([]byte(nil), raw...), &index); err != nil {
		return fmt.Errorf("column index at %d: %w", c.meta.ColumnIndexOffset, err)
	}
	n := len(d.pages)
	if len(index.NullPages) != n || len(index.MinValues) != n || len(index.MaxValues) != n {
		return fmt.Errorf("column index at %d describes %d pages where the chunk has %d", c.meta.ColumnIndexOffset, len(index.NullPages), n)
	}
	for i := range d.pages {
		p := &d.pages[i]
		nulls := int64(-1)
		if len(index.NullCounts) == n {
			nulls = index.NullCounts[i]
		}
		if index.NullPages[i] {
			p.bounds = bounds{nulls: int64(p.rows), rows: int64(p.rows)}
			continue
		}
		p.bounds = c.leaf.makeBounds(index.MinValues[i], index.MaxValues[i], nulls, int64(p.rows), f.own)
	}
	return nil
}

// headerRoom is how much is read for a page header whose size is not known: statistics in it may be long.
const headerRoom = 4 << 10

// header reads the page header at off, which lies before end.
func (f *File) header(ctx context.Context, off, end int64) (pageHeader, error) {
	for room := int64(headerRoom); ; room *= 16 {
		raw, err := f.src.viewAhead(ctx, off, int(min(room, end-off)), end)
		if err != nil {
			return pageHeader{}, err
		}
		h, err := parsePageHeader(raw)
		if err == nil && off+int64(h.size+h.compressed) > end {
			err = fmt.Errorf("page of %d bytes reaches past its chunk", h.compressed)
		}
		if err == nil || room >= end-off {
			if err != nil {
				err = fmt.Errorf("page at offset %d: %w", off, err)
			}
			return h, err
		}
	}
}

// walkPages finds a chunk's pages by their headers. The pages of a nested leaf are one span: only its levels tell
// where rows begin.
func (f *File) walkPages(ctx context.Context, c *chunk, rows int) (*directory, error) {
	d := new(directory)
	values, first := int64(0), 0
	for off := c.start; off < c.end && values < c.meta.MetaData.NumValues; {
		h, err := f.header(ctx, off, c.end)
		if err != nil {
			return nil, err
		}
		span := pageSpan{offset: off, size: h.size + h.compressed, first: first, rows: h.values, bounds: unknownBounds}
		off += int64(span.size)
		switch h.kind {
		case format.DictionaryPage:
			if d.dict.size > 0 || len(d.pages) > 0 {
				return nil, fmt.Errorf("a dictionary at offset %d where data is due", span.offset)
			}
			d.dict = span
		case format.DataPage, format.DataPageV2:
			values += int64(h.values)
			first += h.values
			d.pages = append(d.pages, span)
		}
	}
	if values != c.meta.MetaData.NumValues || c.leaf.maxRep == 0 && first != rows {
		return nil, fmt.Errorf("its pages hold %d values where the footer says %d", values, c.meta.MetaData.NumValues)
	}
	return d, nil
}

// page reads one page and checks its sums; at is its place among the chunk's pages, -1 for the dictionary.
// The body may be mapped memory: the caller has acquired the source.
func (f *File) page(ctx context.Context, c *chunk, d *directory, at int) (h pageHeader, body []byte, err error) {
	span, place := &d.dict, c.headers
	if at >= 0 {
		span = &d.pages[at]
		if place += at; d.dict.size > 0 {
			place++
		}
	}
	raw, err := f.src.viewAhead(ctx, span.offset, span.size, c.end)
	if err != nil {
		return h, nil, err
	}
	h, err = parsePageHeader(raw)
	if err == nil {
		err = f.checkPage(&h, raw, span, at, place)
	}
	if err != nil {
		return h, nil, fmt.Errorf("page at offset %d: %w", span.offset, err)
	}
	return h, raw[h.size:span.size], nil
}

func (f *File) checkPage(h *pageHeader, raw []byte, span *pageSpan, at, place int) error {
	isDict := h.kind == format.DictionaryPage
	switch {
	case isDict != (at < 0), h.kind == format.IndexPage, h.kind > format.DataPageV2:
		return fmt.Errorf("its kind is %s", h.kind)
	case h.size+h.compressed != span.size:
		return fmt.Errorf("its header says %d bytes where there are %d", h.size+h.compressed, span.size)
	case !isDict && h.values != span.rows:
		return fmt.Errorf("it holds %d values where the index says %d", h.values, span.rows)
	}
	if f.own {
		if place >= len(f.headers) || crc32.ChecksumIEEE(raw[:h.size]) != f.headers[place] {
			return errors.New("the checksum of its header does not match")
		}
	}
	if (h.hasCRC || f.own) && crc32.ChecksumIEEE(raw[h.size:]) != h.crc {
		return errors.New("its checksum does not match")
	}
	return nil
}

// dictionary returns the chunk's decoded dictionary, nil when it has none.
func (f *File) dictionary(ctx context.Context, c *chunk, d *directory) (*vec.Vector, error) {
	if d.dict.size == 0 {
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if dict := c.dict.Value(); dict != nil {
		return dict, nil
	}
	h, body, err := f.page(ctx, c, d, -1)
	if err != nil {
		return nil, err
	}
	dict, err := c.leaf.decodeDictionary(&h, c.codec, body)
	if err == nil {
		err = f.checkText(dict)
	}
	if err != nil {
		return nil, fmt.Errorf("dictionary at offset %d: %w", d.dict.offset, err)
	}
	c.dict = weak.Make(dict)
	return dict, nil
}

// decodePage reads and decodes a page of a flat leaf, past any cache.
func (f *File) decodePage(ctx context.Context, g, leaf, at int, counters *Counters) (v *vec.Vector, err error) {
	c := &f.groups[g].chunks[leaf]
	d, err := f.directory(ctx, g, leaf)
	if err != nil {
		return nil, err
	}
	if err := f.src.acquire(); err != nil {
		return nil, f.damaged(err)
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
		if v, err = c.leaf.decodeFlat(&h, c.codec, body, dict); err == nil && v.Form == vec.Flat {
			err = f.checkText(v)
		}
		if err != nil {
			err = fmt.Errorf("page at offset %d: %w", d.pages[at].offset, err)
		}
		return err
	})
	if err != nil {
		return nil, f.damaged(fmt.Errorf("row group %d, column %q: %w", g, c.leaf.path, err))
	}
	counters.pageDecoded(v.N, d.pages[at].size)
	return v, nil
}
