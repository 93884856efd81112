package exec

import "github.com/tidemarkdb/tidemark/vec"

// arena lends memory for the vectors of one evaluation. reset takes all of it back, for the next.
type arena struct {
	slabs [][]byte
	slab  int // being filled
	at    int // bytes of it lent
}

const arenaSlab = 1 << 18

func (a *arena) reset() { a.slab, a.at = 0, 0 }

// bytes lends n bytes of unspecified content, aligned to 16.
func (a *arena) bytes(n int) []byte {
	for ; a.slab < len(a.slabs); a.slab, a.at = a.slab+1, 0 {
		if s := a.slabs[a.slab]; a.at+n <= len(s) {
			out := s[a.at : a.at+n : a.at+n]
			a.at += (n + 15) &^ 15
			return out
		}
	}
	// Words of 128 bits, so that whatever is kept in them is aligned.
	s := vec.AsBytes(make([]vec.Int128, max(n+15, arenaSlab)/16))
	a.slabs = append(a.slabs, s)
	a.at = (n + 15) &^ 15
	return s[:n:n]
}

// lend lends n values of unspecified content.
func lend[T vec.Fixed](a *arena, n int) []T {
	var zero T
	width := len(vec.AsBytes([]T{zero}))
	if n == 0 {
		return nil
	}
	return vec.Cast[T](a.bytes(n * width))
}
