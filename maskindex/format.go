package maskindex

import (
	"encoding/binary"
	"math/bits"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/zeebo/xxh3"
)

// A key file, little-endian:
//
//	blocks     n x 4096   block.go; keys ascend from block to block
//	meta                  checked as one by metaCheck in the footer
//	  tablets    t x 16     id u64, rows u32, 0 u32; the place in this list is the tablet's ordinal
//	  directory  n x 8      high half of each block's first key; n x 16 with the low half for 128-bit keys
//	  deletes    d bytes    portable Roaring bitmap of delete rows, only in sidecars
//	footer     96 bytes
//	    0 metaAt u64       8 blocks u32       12 tablets u32     16 deletesLen u32  20 rowBits u8
//	   21 width u8        22 version u16      24 keys u64        32 last key hi u64, lo u64
//	   48 metaCheck u64   56 zero (24 bytes)  80 footerCheck u64 88 magic "TIDEKEYS"
//
// A packed position is ordinal<<rowBits | row.
const (
	footerSize     = 96
	formatVersion  = 1
	magic          = "TIDEKEYS"
	tabletSize     = 16
	maxFileTablets = 1 << 24
)

// TabletRows names a tablet that a key file covers.
type TabletRows struct {
	ID   uint64
	Rows uint32
}

// footer is the fixed end of a key file.
type footer struct {
	metaAt           uint64
	blocks           uint32
	tablets          uint32
	deletesLen       uint32
	rowBits          uint8
	width            Width
	keys             uint64
	lastHi, lastLo   uint64
	metaCheck        uint64
	metaLen          int64 // derived
	directoryEntryAt int64 // derived: offset of the directory in meta
}

func (f *footer) directoryEntry() int64 { return int64(f.width) / 8 }

func (f *footer) encode() []byte {
	b := make([]byte, footerSize)
	binary.LittleEndian.PutUint64(b[0:], f.metaAt)
	binary.LittleEndian.PutUint32(b[8:], f.blocks)
	binary.LittleEndian.PutUint32(b[12:], f.tablets)
	binary.LittleEndian.PutUint32(b[16:], f.deletesLen)
	b[20], b[21] = f.rowBits, uint8(f.width)
	binary.LittleEndian.PutUint16(b[22:], formatVersion)
	binary.LittleEndian.PutUint64(b[24:], f.keys)
	binary.LittleEndian.PutUint64(b[32:], f.lastHi)
	binary.LittleEndian.PutUint64(b[40:], f.lastLo)
	binary.LittleEndian.PutUint64(b[48:], f.metaCheck)
	binary.LittleEndian.PutUint64(b[80:], xxh3.Hash(b[:80]))
	copy(b[88:], magic)
	return b
}

// decodeFooter reads the last footerSize bytes of a file of size bytes called name.
func decodeFooter(name string, b []byte, size int64) (footer, error) {
	at := size - footerSize
	if string(b[88:96]) != magic {
		return footer{}, damaged(name, at+88, "it does not end as a key file does")
	}
	if binary.LittleEndian.Uint64(b[80:]) != xxh3.Hash(b[:80]) {
		return footer{}, damaged(name, at, "the checksum of the footer does not match")
	}
	if v := binary.LittleEndian.Uint16(b[22:]); v != formatVersion {
		return footer{}, sqlerr.New(sqlerr.FeatureNotSupported,
			"key file %s has format version %d, this build reads version %d", name, v, formatVersion).
			Hintf("Use a newer build, or rebuild the file from its tablets.")
	}
	f := footer{
		metaAt: binary.LittleEndian.Uint64(b[0:]), blocks: binary.LittleEndian.Uint32(b[8:]),
		tablets: binary.LittleEndian.Uint32(b[12:]), deletesLen: binary.LittleEndian.Uint32(b[16:]),
		rowBits: b[20], width: Width(b[21]), keys: binary.LittleEndian.Uint64(b[24:]),
		lastHi: binary.LittleEndian.Uint64(b[32:]), lastLo: binary.LittleEndian.Uint64(b[40:]),
		metaCheck: binary.LittleEndian.Uint64(b[48:]),
	}
	if f.width != Width64 && f.width != Width128 || f.rowBits > 32 || f.tablets > maxFileTablets ||
		(f.blocks == 0) != (f.keys == 0) || f.keys < uint64(f.blocks) {
		return footer{}, damaged(name, at, "the footer is out of range")
	}
	f.directoryEntryAt = int64(f.tablets) * tabletSize
	f.metaLen = f.directoryEntryAt + int64(f.blocks)*f.directoryEntry() + int64(f.deletesLen)
	if f.metaAt != uint64(f.blocks)*BlockSize || int64(f.metaAt)+f.metaLen+footerSize != size {
		return footer{}, damaged(name, at, "the footer describes a file of another size than %d bytes", size)
	}
	return f, nil
}

func encodeTablets(dst []byte, tablets []TabletRows) []byte {
	for _, t := range tablets {
		dst = binary.LittleEndian.AppendUint64(dst, t.ID)
		dst = binary.LittleEndian.AppendUint32(dst, t.Rows)
		dst = binary.LittleEndian.AppendUint32(dst, 0)
	}
	return dst
}

func decodeTablets(b []byte) []TabletRows {
	out := make([]TabletRows, len(b)/tabletSize)
	for i := range out {
		out[i].ID = binary.LittleEndian.Uint64(b[i*tabletSize:])
		out[i].Rows = binary.LittleEndian.Uint32(b[i*tabletSize+8:])
	}
	return out
}

// rowBitsFor returns the bits that the row ordinals of all tablets fit in.
func rowBitsFor(tablets []TabletRows) uint8 {
	rows := uint32(0)
	for _, t := range tablets {
		rows = max(rows, t.Rows)
	}
	return uint8(bits.Len32(max(rows, 1) - 1))
}
