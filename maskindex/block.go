package maskindex

import (
	"encoding/binary"
	"math/bits"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/zeebo/xxh3"
)

// BlockSize is the size of a block in bytes.
const BlockSize = 4096

// A block, little-endian (format.go has the file around it):
//
//	   0  base      u64   high half of the first key
//	   8  minPos    u64   least packed position
//	  16  number    u32   ordinal of the block in the file
//	  20  count     u16   entries
//	  22  shift     u8    a slot spans 1<<shift keys; the remainder of an entry has shift bits
//	  23  posBits   u8    bits of (packed position - minPos)
//	  24  slots     65 x u16  first entry of each slot of (hi-base)>>shift, then count
//	 160  low       count x u64, only in files of 128-bit keys
//	   .  remainder count x shift bits, LSB first, then padding to a byte
//	   .  position  count x posBits bits, LSB first
//	4088  checksum  u64   xxh3 of the 4088 bytes before
//
// Entries ascend by (hi, low). A block chooses its widths for its own keys, so dense and random keys pack equally
// well and a file is written in one pass.
const (
	blockSlots    = 64
	slotsAt       = 24
	blockDataAt   = 160
	blockCheckAt  = BlockSize - 8
	maxShift      = 58
	blockDataBits = (blockCheckAt - blockDataAt) * 8
)

type block = [BlockSize]byte

// entry is one key with its packed position.
type entry struct {
	hi, lo, pos uint64
}

// slotShift returns the least shift that maps spread, the distance of the last key from the first, to a slot.
func slotShift(spread uint64) int { return max(0, bits.Len64(spread)-6) }

// fits reports whether count entries of these widths fit a block.
func fits(count, shift, posBits int, wide bool) bool {
	n := roundUp8(count*shift) + roundUp8(count*posBits)
	if wide {
		n += count * 64
	}
	return n <= blockDataBits
}

func roundUp8(n int) int { return (n + 7) &^ 7 }

// encodeBlock fills b with entries, which ascend and fit.
func encodeBlock(b *block, number uint32, entries []entry, minPos, maxPos uint64, wide bool) {
	clear(b[:])
	base := entries[0].hi
	shift := slotShift(entries[len(entries)-1].hi - base)
	posBits := bits.Len64(maxPos - minPos)
	binary.LittleEndian.PutUint64(b[0:], base)
	binary.LittleEndian.PutUint64(b[8:], minPos)
	binary.LittleEndian.PutUint32(b[16:], number)
	binary.LittleEndian.PutUint16(b[20:], uint16(len(entries)))
	b[22], b[23] = uint8(shift), uint8(posBits)

	at := blockDataAt
	if wide {
		for _, e := range entries {
			binary.LittleEndian.PutUint64(b[at:], e.lo)
			at += 8
		}
	}
	rem := bitWriter{b: b, at: at}
	slot := 0
	for i, e := range entries {
		for s := int((e.hi - base) >> shift); slot <= s; slot++ {
			binary.LittleEndian.PutUint16(b[slotsAt+2*slot:], uint16(i))
		}
		rem.put((e.hi-base)&(1<<shift-1), shift)
	}
	for ; slot <= blockSlots; slot++ {
		binary.LittleEndian.PutUint16(b[slotsAt+2*slot:], uint16(len(entries)))
	}
	pos := bitWriter{b: b, at: rem.flush()}
	for _, e := range entries {
		pos.put(e.pos-minPos, posBits)
	}
	pos.flush()
	binary.LittleEndian.PutUint64(b[blockCheckAt:], xxh3.Hash(b[:blockCheckAt]))
}

// bitWriter appends bit fields to a block, least significant bit first.
type bitWriter struct {
	b   *block
	at  int // next byte
	acc uint64
	n   int // bits in acc, below 64
}

func (w *bitWriter) put(v uint64, width int) {
	w.acc |= v << w.n
	w.n += width
	if w.n < 64 {
		return
	}
	binary.LittleEndian.PutUint64(w.b[w.at:], w.acc)
	w.at += 8
	w.n -= 64
	w.acc = v >> (width - w.n)
}

// flush writes what is left, padded to a byte, and returns the next byte.
func (w *bitWriter) flush() int {
	for ; w.n > 0; w.n -= 8 {
		w.b[w.at] = byte(w.acc)
		w.acc >>= 8
		w.at++
	}
	return w.at
}

// blockView is the decoded header of a verified block.
type blockView struct {
	b        *block
	base     uint64
	minPos   uint64
	count    int
	shift    int
	posBits  int
	remAt    int // byte at which the remainders start
	posAt    int // byte at which the positions start
	wideKeys bool
}

func viewBlock(b *block, wide bool) blockView {
	v := blockView{
		b: b, base: binary.LittleEndian.Uint64(b[0:]), minPos: binary.LittleEndian.Uint64(b[8:]),
		count: int(binary.LittleEndian.Uint16(b[20:])), shift: int(b[22]), posBits: int(b[23]),
		remAt: blockDataAt, wideKeys: wide,
	}
	if wide {
		v.remAt += 8 * v.count
	}
	v.posAt = v.remAt + roundUp8(v.count*v.shift)/8
	return v
}

// bitField returns field i of width bits in the array that starts at byte at. Blocks end with 8 bytes of checksum, so
// the two loads stay inside.
func bitField(b *block, at, i, width int) uint64 {
	bit := i * width
	o, s := at+bit>>3, bit&7
	v := binary.LittleEndian.Uint64(b[o:]) >> s
	if s+width > 64 {
		v |= uint64(b[o+8]) << (64 - s)
	}
	return v & (1<<width - 1)
}

func (v *blockView) slot(s int) int { return int(binary.LittleEndian.Uint16(v.b[slotsAt+2*s:])) }

func (v *blockView) pos(i int) uint64 { return v.minPos + bitField(v.b, v.posAt, i, v.posBits) }

func (v *blockView) low(i int) uint64 { return binary.LittleEndian.Uint64(v.b[blockDataAt+8*i:]) }

// find returns the entry of the key, or -1. [from, end) are the entries of the key's slot, rem is its remainder.
func (v *blockView) find(from, end int, rem, lo uint64) int {
	to := end
	for to-from > 8 {
		mid := int(uint(from+to) >> 1)
		if bitField(v.b, v.remAt, mid, v.shift) < rem {
			from = mid + 1
		} else {
			to = mid + 1
		}
	}
	for ; from < end; from++ {
		r := bitField(v.b, v.remAt, from, v.shift)
		if r < rem {
			continue
		}
		if r > rem {
			return -1
		}
		if !v.wideKeys || v.low(from) == lo {
			return from
		}
	}
	return -1
}

// decode appends the entries of the block to dst.
func (v *blockView) decode(dst []entry) []entry {
	for s := range blockSlots {
		hi := v.base + uint64(s)<<v.shift
		for i, end := v.slot(s), v.slot(s+1); i < end; i++ {
			e := entry{hi: hi + bitField(v.b, v.remAt, i, v.shift), pos: v.pos(i)}
			if v.wideKeys {
				e.lo = v.low(i)
			}
			dst = append(dst, e)
		}
	}
	return dst
}

// checkBlock verifies the checksum of block number and everything that later reads rely on to stay inside it.
func checkBlock(b *block, number uint32, wide bool) string {
	if binary.LittleEndian.Uint64(b[blockCheckAt:]) != xxh3.Hash(b[:blockCheckAt]) {
		return "the checksum does not match"
	}
	if n := binary.LittleEndian.Uint32(b[16:]); n != number {
		return "another block lies in its place"
	}
	v := viewBlock(b, wide)
	if v.count == 0 || v.shift > maxShift || v.posBits > 64 || !fits(v.count, v.shift, v.posBits, wide) {
		return "its header is out of range"
	}
	if v.slot(0) != 0 || v.slot(blockSlots) != v.count {
		return "its slots do not cover its entries"
	}
	for s := range blockSlots {
		if v.slot(s) > v.slot(s+1) {
			return "its slots do not ascend"
		}
	}
	return ""
}

// damaged is the error of a file whose content is not what was written.
func damaged(name string, offset int64, format string, args ...any) error {
	return sqlerr.New(sqlerr.DataCorrupted, "key file %s is damaged at offset %d: "+format,
		append([]any{name, offset}, args...)...).
		Hintf("Restore the file from a copy, or rebuild it from its tablets.")
}
