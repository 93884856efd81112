package parquetstore

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// Field types of Thrift's compact protocol
// (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md).
const (
	tStop   = 0
	tTrue   = 1
	tFalse  = 2
	tByte   = 3
	tI16    = 4
	tI32    = 5
	tI64    = 6
	tDouble = 7
	tBinary = 8
	tList   = 9
	tSet    = 10
	tMap    = 11
	tStruct = 12
)

// maxThriftDepth bounds nesting, so that hostile bytes cannot exhaust the stack; Parquet's own metadata stays under 10.
const maxThriftDepth = 32

var errThrift = errors.New("metadata is cut off or malformed")

// compact reads Thrift's compact protocol from bytes nobody vouches for. After the first fault every read gives zero
// values and ok stays false.
type compact struct {
	b   []byte
	pos int
	bad bool
}

func (r *compact) fail() { r.bad, r.pos = true, len(r.b) }

func (r *compact) byte() byte {
	if r.pos >= len(r.b) {
		r.fail()
		return 0
	}
	r.pos++
	return r.b[r.pos-1]
}

func (r *compact) uvarint() uint64 {
	v, n := binary.Uvarint(r.b[r.pos:])
	if n <= 0 {
		r.fail()
		return 0
	}
	r.pos += n
	return v
}

func (r *compact) zigzag() int64 {
	v := r.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

func (r *compact) int32() int32 {
	v := r.zigzag()
	if int64(int32(v)) != v {
		r.fail()
	}
	return int32(v)
}

// field reads the header of the next field of a struct whose last field was id.
func (r *compact) field(id int16) (next int16, kind byte) {
	h := r.byte()
	if kind = h & 15; kind == tStop {
		return 0, tStop
	}
	if delta := h >> 4; delta != 0 {
		return id + int16(delta), kind
	}
	return int16(r.zigzag()), kind
}

// skip passes over a value of a field type; element says that it lies in a list, where booleans take a byte.
func (r *compact) skip(kind byte, element bool, depth int) {
	if depth > maxThriftDepth {
		r.fail()
	}
	if r.bad {
		return
	}
	switch kind {
	case tTrue, tFalse:
		if element {
			r.byte()
		}
	case tByte:
		r.byte()
	case tI16, tI32, tI64:
		r.uvarint()
	case tDouble:
		r.advance(8)
	case tBinary:
		r.advance(r.uvarint())
	case tList, tSet:
		r.skipList(depth)
	case tMap:
		n := r.uvarint()
		if n == 0 {
			return
		}
		kinds := r.byte()
		for i := uint64(0); i < n && !r.bad; i++ {
			r.skip(kinds>>4, true, depth+1)
			r.skip(kinds&15, true, depth+1)
		}
	case tStruct:
		for id, k := r.field(0); k != tStop && !r.bad; id, k = r.field(id) {
			r.skip(k, false, depth+1)
		}
	default:
		r.fail()
	}
}

func (r *compact) skipList(depth int) {
	h := r.byte()
	n := uint64(h >> 4)
	if n == 15 {
		n = r.uvarint()
	}
	if n > uint64(len(r.b)-r.pos) { // an element takes a byte at least
		r.fail()
	}
	for i := uint64(0); i < n && !r.bad; i++ {
		r.skip(h&15, true, depth+1)
	}
}

func (r *compact) advance(n uint64) {
	if n > uint64(len(r.b)-r.pos) {
		r.fail()
		return
	}
	r.pos += int(n)
}

// unmarshalThrift decodes b into a metadata struct. It walks the bytes first: the decoder allocates what lists and
// strings announce, so none may announce more than there is.
func unmarshalThrift(b []byte, into any) error {
	r := compact{b: b}
	r.skip(tStruct, false, 0)
	if r.bad {
		return errThrift
	}
	return thrift.Unmarshal(new(thrift.CompactProtocol), b, into)
}

func marshalThrift(v any) ([]byte, error) { return thrift.Marshal(new(thrift.CompactProtocol), v) }

// pageHeader is what the decoder needs of a Parquet page header, whatever its version.
type pageHeader struct {
	kind         format.PageType
	encoding     format.Encoding
	size         int // bytes of the header itself
	uncompressed int
	compressed   int
	crc          uint32
	hasCRC       bool
	values       int // NULLs included
	nulls        int // v2 only
	defBytes     int // v2 only
	repBytes     int // v2 only
	defEncoding  format.Encoding
	raw          bool // v2: the values are not compressed
}

// parsePageHeader reads the page header at the start of b.
func parsePageHeader(b []byte) (pageHeader, error) {
	r := compact{b: b}
	h := pageHeader{defEncoding: format.RLE}
	seen := 0
	for id, kind := r.field(0); kind != tStop && !r.bad; id, kind = r.field(id) {
		switch {
		case id == 1 && kind == tI32:
			h.kind = format.PageType(r.int32())
			seen++
		case id == 2 && kind == tI32:
			h.uncompressed = int(r.int32())
			seen++
		case id == 3 && kind == tI32:
			h.compressed = int(r.int32())
			seen++
		case id == 4 && kind == tI32:
			h.crc, h.hasCRC = uint32(r.int32()), true
		case (id == 5 || id == 7) && kind == tStruct:
			r.pageV1(&h)
		case id == 8 && kind == tStruct:
			r.pageV2(&h)
		default:
			r.skip(kind, false, 0)
		}
	}
	h.size = r.pos
	if r.bad || seen < 3 {
		return h, errors.New("page header is cut off or malformed")
	}
	if h.uncompressed < 0 || h.compressed < 0 || h.values < 0 || h.nulls < 0 || h.defBytes < 0 || h.repBytes < 0 {
		return h, errors.New("page header has a negative size")
	}
	if h.defBytes+h.repBytes > min(h.compressed, h.uncompressed) || h.nulls > h.values {
		return h, fmt.Errorf("page header has %d bytes of levels in a page of %d", h.defBytes+h.repBytes, h.compressed)
	}
	return h, nil
}

// pageV1 reads a DataPageHeader or a DictionaryPageHeader: their first two fields agree.
func (r *compact) pageV1(h *pageHeader) {
	for id, kind := r.field(0); kind != tStop && !r.bad; id, kind = r.field(id) {
		switch {
		case id == 1 && kind == tI32:
			h.values = int(r.int32())
		case id == 2 && kind == tI32:
			h.encoding = format.Encoding(r.int32())
		case id == 3 && kind == tI32:
			h.defEncoding = format.Encoding(r.int32())
		default:
			r.skip(kind, false, 1)
		}
	}
}

func (r *compact) pageV2(h *pageHeader) {
	for id, kind := r.field(0); kind != tStop && !r.bad; id, kind = r.field(id) {
		switch {
		case id == 1 && kind == tI32:
			h.values = int(r.int32())
		case id == 2 && kind == tI32:
			h.nulls = int(r.int32())
		case id == 4 && kind == tI32:
			h.encoding = format.Encoding(r.int32())
		case id == 5 && kind == tI32:
			h.defBytes = int(r.int32())
		case id == 6 && kind == tI32:
			h.repBytes = int(r.int32())
		case id == 7:
			h.raw = kind == tFalse
			r.skip(kind, false, 1)
		default:
			r.skip(kind, false, 1)
		}
	}
}
