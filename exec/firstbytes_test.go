package exec

import (
	"encoding/binary"
	"testing"
)

// TestFirstBytes checks strings of every length, at the end of their data and before other bytes.
func TestFirstBytes(t *testing.T) {
	data := []byte("\xff\x01abcdefghijklmnopqrstuvwxyz\x80\xff")
	for from := range data {
		for to := from; to <= len(data); to++ {
			var want [entryKeyBytes]byte
			copy(want[:], data[from:to])
			hi, lo := firstBytes(data, from, to)
			if hi != binary.BigEndian.Uint64(want[:]) || lo != binary.BigEndian.Uint64(want[8:]) {
				t.Fatalf("[%d:%d]: %x %x, want %x", from, to, hi, lo, want)
			}
		}
	}
}
