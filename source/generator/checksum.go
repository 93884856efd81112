package generator

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"

	"github.com/tidemarkdb/tidemark/vec"
)

// Checksum is a digest of a set of rows in which their order and their division into batches do not count. Two tables
// of equal checksums hold the same rows (odds of a miss about 1 in 2^64), counting duplicates.
type Checksum struct {
	Rows int64
	Sum  uint64 // of the rows' hashes
}

// Add adds the rows of b that count.
func (c *Checksum) Add(b *vec.Batch) {
	b = b.Compact()
	hashes := make([]uint64, b.N)
	for place, col := range b.Cols {
		addColumn(hashes, col.Flatten(), uint64(place)+1)
	}
	for _, h := range hashes {
		c.Sum += scramble(h)
	}
	c.Rows += int64(b.N)
}

// addColumn folds a flat column into the rows' hashes.
func addColumn(hashes []uint64, v *vec.Vector, salt uint64) {
	width := v.Type.Phys().Width()
	var scratch []byte
	for i := range hashes {
		h := uint64(0x9e37)
		switch {
		case v.IsNull(i):
		case width > 0 && width <= 8:
			var x [8]byte
			copy(x[:], v.Data[i*width:(i+1)*width])
			h = scramble(binary.LittleEndian.Uint64(x[:]))
		case width > 0:
			h = xxh3.Hash(v.Data[i*width : (i+1)*width])
		case v.Type.Phys() == vec.PhysBytes:
			h = xxh3.Hash(v.Bytes(i))
		default:
			scratch = appendValue(scratch[:0], v.Value(i))
			h = xxh3.Hash(scratch)
		}
		hashes[i] = hash(hashes[i], h, salt)
	}
}

// appendValue appends an injective encoding of a nested value.
func appendValue(b []byte, v vec.Value) []byte {
	if v.Null {
		return append(b, 0)
	}
	b = append(b, 1)
	switch v.Type.Phys() {
	case vec.PhysList, vec.PhysStruct:
		b = binary.AppendUvarint(b, uint64(len(v.List)))
		for _, e := range v.List {
			b = appendValue(b, e)
		}
		return b
	case vec.PhysBytes:
		return append(binary.AppendUvarint(b, uint64(len(v.S))), v.S...)
	}
	one := vec.NewBuilder(v.Type, 1)
	one.Append(v)
	return append(b, one.Finish().Data...)
}
