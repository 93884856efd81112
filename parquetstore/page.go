package parquetstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/parquet-go/parquet-go/format"

	"github.com/tidemarkdb/tidemark/vec"
)

// maxPageValues bounds what one page may hold: run-length data can announce billions of values in a few bytes.
const maxPageValues = 1 << 26

// plainDictionary is what old writers call both a dictionary page's plain encoding and the codes of data pages.
const plainDictionary format.Encoding = 2

// maxRatio is the most each codec can shrink data by, roughly: a page that announces more is damaged, and believing
// it would allocate what it says.
var maxRatio = map[format.CompressionCodec]int{
	format.Uncompressed: 1, format.Snappy: 32, format.Lz4Raw: 300, format.Lz4: 300, format.Gzip: 1100,
	format.Zstd: 1 << 16, format.Brotli: 1 << 20,
}

var scratchPool = sync.Pool{New: func() any { return new([]byte) }}

// pageParts is a data page taken apart: levels as stored, values decompressed.
type pageParts struct {
	rep, def []byte
	values   []byte  // slack readable bytes behind them
	scratch  *[]byte // pooled memory of values, nil when values are the caller's to keep
}

func (p *pageParts) release() {
	if p.scratch != nil {
		scratchPool.Put(p.scratch)
		p.scratch = nil
	}
}

// open decompresses a data page's body and finds its parts, in lent where that is not nil. The caller must release
// them.
func (l *leaf) open(h *pageHeader, codec format.CompressionCodec, body []byte, lent *lentMemory) (pageParts, error) {
	var p pageParts
	if h.values > maxPageValues {
		return p, fmt.Errorf("page holds %d values, more than %d", h.values, maxPageValues)
	}
	lead := 0 // bytes before the values, guessed, so that those can be aligned
	if h.kind == format.DataPageV2 {
		p.rep, p.def = body[:h.repBytes], body[h.repBytes:h.repBytes+h.defBytes]
		body = body[h.repBytes+h.defBytes:]
		if h.raw {
			codec = format.Uncompressed
		}
	} else if l.maxDef > 0 {
		lead = 4 + len(binary.AppendUvarint(nil, uint64(h.values)<<1)) + 1
	}
	size := h.uncompressed - len(p.rep) - len(p.def)
	if limit := maxRatio[codec]; size > 1<<16 && size/max(limit, 1) > len(body) {
		return p, fmt.Errorf("page of %d bytes announces %d bytes decompressed", len(body), size)
	}
	var buf []byte
	if lead = (8 - lead%8) % 8; lent != nil {
		lent.raw = grownBytes(lent.raw, size+lead)
		buf = lent.raw[lead:]
	} else if l.borrows(h.encoding) {
		buf = newBuffer(size + lead)[lead:]
	} else {
		p.scratch = scratchPool.Get().(*[]byte)
		if cap(*p.scratch) < size+slack {
			*p.scratch = make([]byte, size+slack)
		}
		buf = (*p.scratch)[:size]
	}
	if err := decompress(codec, buf, body); err != nil {
		p.release()
		return p, err
	}
	p.values = buf
	if h.kind != format.DataPageV2 {
		if err := p.splitV1(l, h); err != nil {
			p.release()
			return p, err
		}
	}
	return p, nil
}

// borrows reports whether decoded values may go on living in the decompressed page.
func (l *leaf) borrows(e format.Encoding) bool {
	switch e {
	case format.Plain:
		return l.phys != format.ByteArray && l.phys != format.Boolean
	case format.DeltaLengthByteArray:
		return true
	}
	return false
}

// splitV1 cuts the levels off the front of a version 1 page.
func (p *pageParts) splitV1(l *leaf, h *pageHeader) error {
	cut := func() ([]byte, error) {
		if len(p.values) < 4 {
			return nil, errors.New("page ends in its levels")
		}
		n := int(binary.LittleEndian.Uint32(p.values))
		if n < 0 || n > len(p.values)-4 {
			return nil, errors.New("page ends in its levels")
		}
		levels := p.values[4 : 4+n]
		p.values = p.values[4+n:]
		return levels, nil
	}
	var err error
	if l.maxRep > 0 {
		if p.rep, err = cut(); err != nil {
			return err
		}
	}
	if l.maxDef == 0 {
		return nil
	}
	if h.defEncoding != format.RLE {
		return fmt.Errorf("definition levels in encoding %s are not supported: rewrite the file with a newer writer", h.defEncoding)
	}
	p.def, err = cut()
	return err
}

// decodeFlat decodes a data page of a flat leaf. dict is the chunk's dictionary or nil. The vector owns its memory,
// the dictionary's aside.
func (l *leaf) decodeFlat(h *pageHeader, codec format.CompressionCodec, body []byte, dict *vec.Vector) (*vec.Vector, error) {
	p, err := l.open(h, codec, body, nil)
	if err != nil {
		return nil, err
	}
	defer p.release()
	valid, present := vec.Bitmap(nil), h.values
	if l.maxDef > 0 {
		if valid, present, err = decodeValidity(p.def, h.values); err != nil {
			return nil, err
		}
	}
	v, err := l.decodeValues(h.encoding, p.values, present, dict)
	if err != nil {
		return nil, err
	}
	if valid != nil {
		v = scatter(v, valid, h.values)
	}
	return v, nil
}

// decodeValues decodes n values, none of them NULL. Byte strings of a dictionary stay codes.
func (l *leaf) decodeValues(e format.Encoding, src []byte, n int, dict *vec.Vector) (*vec.Vector, error) {
	if e == plainDictionary || e == format.RLEDictionary {
		return l.decodeCodes(src, n, dict)
	}
	s, err := l.decodeStored(e, src, n)
	if err != nil {
		return nil, err
	}
	return l.convert(s)
}

var errNoDictionary = errors.New("page needs a dictionary and its chunk has none")

func (l *leaf) decodeCodes(src []byte, n int, dict *vec.Vector) (*vec.Vector, error) {
	if dict == nil {
		return nil, errNoDictionary
	}
	index := make([]int32, n)
	if n > 0 {
		if len(src) == 0 {
			return nil, errRunCut
		}
		or, err := decodeHybrid(index, src[1:], uint(src[0]))
		if err != nil {
			return nil, err
		}
		if int64(or) >= int64(dict.N) {
			for _, x := range index {
				if uint32(x) >= uint32(dict.N) {
					return nil, fmt.Errorf("dictionary code %d where the dictionary has %d entries", uint32(x), dict.N)
				}
			}
		}
	}
	v := &vec.Vector{Type: l.typ, Form: vec.Dictionary, N: n, Index: index, Dict: dict}
	if l.typ.Phys() != vec.PhysBytes {
		return v.Flatten(), nil
	}
	return v, nil
}

// decodeStored decodes n values of any encoding but a dictionary's.
func (l *leaf) decodeStored(e format.Encoding, src []byte, n int) (stored, error) {
	s := stored{n: n}
	var err error
	switch {
	case e == format.Plain && l.phys == format.Boolean:
		if len(src) < (n+7)/8 {
			return s, errPlainCut
		}
		s.data = unpackBools(src, n)
	case e == format.Plain && l.phys == format.ByteArray:
		s.offsets, s.data, err = decodePlainBytes(src, n)
	case e == format.Plain:
		if s.data, err = src, nil; len(src) < n*l.storedWidth() {
			return s, errPlainCut
		}
		s.data = src[:n*l.storedWidth()]
	case e == format.RLE && l.phys == format.Boolean:
		s.data, err = decodeRunBools(src, n)
	case e == format.DeltaBinaryPacked && l.phys == format.Int32:
		out := make([]int32, n)
		_, err = decodeDelta(out, src)
		s.data = vec.AsBytes(out)
	case e == format.DeltaBinaryPacked && l.phys == format.Int64:
		out := make([]int64, n)
		_, err = decodeDelta(out, src)
		s.data = vec.AsBytes(out)
	case e == format.DeltaLengthByteArray && l.phys == format.ByteArray:
		s.offsets, s.data, err = decodeDeltaLengths(src, n)
	case e == format.DeltaByteArray && l.phys == format.ByteArray:
		s.offsets, s.data, err = decodeDeltaBytes(src, n)
	case e == format.DeltaByteArray && l.phys == format.FixedLenByteArray:
		var offsets []int32
		if offsets, s.data, err = decodeDeltaBytes(src, n); err == nil {
			err = checkFixed(offsets, l.length)
		}
	case e == format.ByteStreamSplit && l.storedWidth() > 1 && l.phys != format.Int96:
		s.data, err = joinStreams(src, n, l.storedWidth())
	default:
		err = fmt.Errorf("encoding %s of %s values is not supported: rewrite the file with another writer", e, l.phys)
	}
	return s, err
}

func checkFixed(offsets []int32, length int) error {
	for i, o := range offsets {
		if int(o) != i*length {
			return fmt.Errorf("a value is not %d bytes long", length)
		}
	}
	return nil
}

var errPlainCut = errors.New("page ends before its last value")

// decodePlainBytes reads n byte strings, each after its 4-byte length.
func decodePlainBytes(src []byte, n int) ([]int32, []byte, error) {
	total := len(src) - 4*n
	if total < 0 {
		return nil, nil, errPlainCut
	}
	offsets := make([]int32, n+1)
	data := newBuffer(total)
	in, at, end := 0, 0, len(src)
	// src and data have slack, so short strings may be copied in whole 16-byte pieces.
	fast := cap(src) >= len(src)+slack
	src = src[:cap(src)]
	over := data[:cap(data)]
	for i := range n {
		if end-in < 4 {
			return nil, nil, errPlainCut
		}
		length := int(binary.LittleEndian.Uint32(src[in:]))
		in += 4
		if length > end-in || length > total-at {
			return nil, nil, errPlainCut
		}
		if length <= 48 && fast {
			from, to := src[in:in+48], over[at:at+48]
			*(*[16]byte)(to) = *(*[16]byte)(from)
			if length > 16 {
				*(*[32]byte)(to[16:]) = *(*[32]byte)(from[16:])
			}
		} else {
			copy(data[at:], src[in:in+length])
		}
		in += length
		at += length
		offsets[i+1] = int32(at)
	}
	return offsets, data[:at], nil
}

// unpackBools spreads n bits, least significant first, over a byte each.
func unpackBools(src []byte, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = src[i/8] >> (i % 8) & 1
	}
	return out
}

// decodeRunBools reads booleans in the hybrid encoding behind a 4-byte length.
func decodeRunBools(src []byte, n int) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	if len(src) < 4 {
		return nil, errRunCut
	}
	size := int64(binary.LittleEndian.Uint32(src))
	if size > int64(len(src)-4) {
		return nil, errRunCut
	}
	index := make([]int32, n)
	or, err := decodeHybrid(index, src[4:4+size], 1)
	if err != nil {
		return nil, err
	}
	if or > 1 {
		return nil, errors.New("a boolean is neither 0 nor 1")
	}
	out := make([]byte, n)
	for i, x := range index {
		out[i] = byte(x)
	}
	return out, nil
}

// joinStreams undoes BYTE_STREAM_SPLIT: byte k of value i lies at k*n+i.
func joinStreams(src []byte, n, width int) ([]byte, error) {
	if len(src) < n*width {
		return nil, errPlainCut
	}
	out := newBuffer(n * width)
	for k := range width {
		stream := src[k*n : (k+1)*n]
		for i, b := range stream {
			out[i*width+k] = b
		}
	}
	return out, nil
}

// decodeDictionary decodes a dictionary page.
func (l *leaf) decodeDictionary(h *pageHeader, codec format.CompressionCodec, body []byte) (*vec.Vector, error) {
	if h.encoding != format.Plain && h.encoding != plainDictionary {
		return nil, fmt.Errorf("a dictionary in encoding %s is not supported", h.encoding)
	}
	flat := leaf{path: l.path, phys: l.phys, length: l.length, conv: l.conv, typ: l.typ}
	plain := *h
	plain.encoding, plain.kind = format.Plain, format.DictionaryPage
	p, err := flat.open(&plain, codec, body, nil)
	if err != nil {
		return nil, err
	}
	defer p.release()
	return flat.decodeValues(format.Plain, p.values, h.values, nil)
}

// scatter spreads dense values over n rows, of which valid names those that have one.
func scatter(v *vec.Vector, valid vec.Bitmap, n int) *vec.Vector {
	out := &vec.Vector{Type: v.Type, Form: v.Form, N: n, Valid: valid, Dict: v.Dict, Data: v.Data}
	switch {
	case v.Form == vec.Dictionary:
		out.Index = make([]int32, n)
		spread(out.Index, v.Index, valid)
	case v.Offsets != nil:
		out.Offsets = make([]int32, n+1)
		last, next := v.Offsets[0], 1
		out.Offsets[0] = last
		for i := range n {
			if valid[uint(i)/64]>>(uint(i)%64)&1 != 0 {
				last = v.Offsets[next]
				next++
			}
			out.Offsets[i+1] = last
		}
	default:
		out.Data = scatterFixed(v, valid, n)
	}
	return out
}

func scatterFixed(v *vec.Vector, valid vec.Bitmap, n int) []byte {
	switch v.Type.Phys().Width() {
	case 1:
		return spreadBytes[byte](v.Data, valid, n)
	case 2:
		return spreadBytes[int16](v.Data, valid, n)
	case 4:
		return spreadBytes[int32](v.Data, valid, n)
	case 8:
		return spreadBytes[int64](v.Data, valid, n)
	}
	return spreadBytes[vec.Int128](v.Data, valid, n)
}

func spreadBytes[T vec.Fixed](dense []byte, valid vec.Bitmap, n int) []byte {
	out := make([]T, n)
	spread(out, vec.Cast[T](dense), valid)
	return vec.AsBytes(out)
}

// spread writes the dense values to the rows valid names.
func spread[T any](out, dense []T, valid vec.Bitmap) {
	for from := 0; from < len(out); from += 64 {
		w := valid[from/64]
		rows := out[from:min(from+64, len(out))]
		if rest := len(rows); rest < 64 {
			w &= 1<<rest - 1
		} else if w == ^uint64(0) {
			copy(rows, dense[:64])
			dense = dense[64:]
			continue
		}
		k := 0
		for i := range rows {
			if w>>i&1 != 0 {
				rows[i] = dense[k]
				k++
			}
		}
		dense = dense[k:]
	}
}
