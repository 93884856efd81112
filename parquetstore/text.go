package parquetstore

import (
	"encoding/binary"
	"errors"
	"unicode/utf8"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

var errNotUTF8 = errors.New("a text value is not valid UTF-8")

// checkText refuses text of other writers that is not UTF-8; ours checked it when it wrote.
func (f *File) checkText(v *vec.Vector) error {
	if f.own || v.Type.ID != vec.Text && v.Type.ID != vec.JSON {
		return nil
	}
	return validText(v.Data[v.Offsets[0]:v.Offsets[v.N]], v.Offsets[0], v.Offsets)
}

// checkText refuses buffered text that is not UTF-8: other programs would refuse the file.
func (b *columnBuffer) checkText() error {
	if b.typ.ID != vec.Text && b.typ.ID != vec.JSON {
		return nil
	}
	return validText(b.data, 0, b.offsets)
}

func (c *chunkEncoder) textError(err error) error {
	return sqlerr.New(sqlerr.DataException, "column %q: %w", dotted(c.leaf.path), err).
		Hintf("store bytes that are not text in a BYTEA column")
}

// validText checks all strings at once: data as a whole, and that no string begins inside a character. base is the
// offset of data[0].
func validText(data []byte, base int32, offsets []int32) error {
	if isASCII(data) {
		return nil
	}
	if !utf8.Valid(data) {
		return errNotUTF8
	}
	for _, o := range offsets {
		if at := int(o - base); at < len(data) && !utf8.RuneStart(data[at]) {
			return errNotUTF8
		}
	}
	return nil
}

func isASCII(b []byte) bool {
	const high = 0x8080808080808080
	for len(b) >= 32 {
		some := binary.LittleEndian.Uint64(b) | binary.LittleEndian.Uint64(b[8:]) |
			binary.LittleEndian.Uint64(b[16:]) | binary.LittleEndian.Uint64(b[24:])
		if some&high != 0 {
			return false
		}
		b = b[32:]
	}
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}
