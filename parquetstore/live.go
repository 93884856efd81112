package parquetstore

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/tidemarkdb/tidemark/vec"
)

// sequence is the numbers from 0 on: a run of live rows is a copy of a piece of it.
var sequence = vec.Sequence(vec.BatchRows)

// setBitsOf holds, for every byte, the places of its set bits as int32 in pairs, the lower one in the low half.
var setBitsOf = func() (table [256][4]uint64) {
	for b := range table {
		at := 0
		for i := range 8 {
			if b>>i&1 != 0 {
				table[b][at/2] |= uint64(i) << (32 * (at % 2))
				at++
			}
		}
	}
	return table
}()

// sparseDead is how many dead rows among 64 are few: then the runs between them are copied.
const sparseDead = 2

// appendLive appends those of the first n rows, at most vec.BatchRows, whose bit is set. Masks are mostly either full
// words or sprinkled with dead rows: full words join into runs, which are copied, others go through a table a byte at
// a time.
func appendLive(sel vec.Selection, words []uint64, n int) vec.Selection {
	const over = 8 // the table writes 8 numbers, needed or not
	sel = slices.Grow(sel, n+over)
	out, at := sel[len(sel):len(sel)+n+over], 0
	from := 0 // first row of the run that is open
	for w, word := range words[:(n+63)/64] {
		row := w * 64
		if left := n - row; left < 64 {
			word &= 1<<left - 1
		}
		dead := ^word
		if dead == 0 {
			continue
		}
		if bits.OnesCount64(dead) > sparseDead {
			at += copy(out[at:], sequence[from:max(row, from)])
			at = appendWord(out, at, word, row)
			from = row + 64
			continue
		}
		for ; dead != 0; dead &= dead - 1 {
			end := row + bits.TrailingZeros64(dead)
			at += copy(out[at:], sequence[from:end])
			from = end + 1
		}
	}
	if from < n {
		at += copy(out[at:], sequence[from:n])
	}
	return sel[:len(sel)+at]
}

// appendWord writes row plus the place of every set bit of word from out[at] on and returns where it ended. out has
// room for 8 numbers more than it needs.
func appendWord(out vec.Selection, at int, word uint64, row int) int {
	for base := uint64(row) | uint64(row)<<32; word != 0; word >>= 8 {
		to := out[at : at+8]
		places := &setBitsOf[byte(word)]
		p := (*[4]uint64)(unsafe.Pointer(unsafe.SliceData(to)))
		p[0], p[1], p[2], p[3] = places[0]+base, places[1]+base, places[2]+base, places[3]+base
		at += bits.OnesCount8(byte(word))
		base += 8 | 8<<32
	}
	return at
}

// appendDead appends those of the first n rows whose bit is not set, dead of them.
func appendDead(out vec.Selection, words []uint64, n, dead int) vec.Selection {
	at := len(out)
	out = slices.Grow(out, dead)[:at+dead]
	to := out[at:]
	at = 0
	for w, word := range words[:(n+63)/64] {
		gone := ^word
		if left := n - w*64; left < 64 {
			gone &= 1<<left - 1
		}
		row := int32(w * 64)
		for ; gone != 0 && at < len(to); gone &= gone - 1 {
			to[at] = row + int32(bits.TrailingZeros64(gone))
			at++
		}
	}
	return out
}
