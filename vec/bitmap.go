package vec

import "math/bits"

// Bitmap is a set of row numbers, bit i of word i/64, least significant first: Arrow's validity layout on a
// little-endian machine. Bits past the last row are unspecified.
type Bitmap []uint64

// NewBitmap returns a bitmap for n rows with every bit 0.
func NewBitmap(n int) Bitmap { return make(Bitmap, (n+63)/64) }

// NewFullBitmap returns a bitmap for n rows with every bit 1.
func NewFullBitmap(n int) Bitmap {
	b := NewBitmap(n)
	for i := range b {
		b[i] = ^uint64(0)
	}
	return b
}

// Get reports bit i.
func (b Bitmap) Get(i int) bool { return b[uint(i)/64]>>(uint(i)%64)&1 != 0 }

// Set makes bit i 1.
func (b Bitmap) Set(i int) { b[uint(i)/64] |= 1 << (uint(i) % 64) }

// Clear makes bit i 0.
func (b Bitmap) Clear(i int) { b[uint(i)/64] &^= 1 << (uint(i) % 64) }

// Count returns how many of the first n bits are 1.
func (b Bitmap) Count(n int) int {
	full, total := n/64, 0
	for _, w := range b[:full] {
		total += bits.OnesCount64(w)
	}
	if rest := n % 64; rest > 0 {
		total += bits.OnesCount64(b[full] & (1<<rest - 1))
	}
	return total
}

// And returns the intersection of a and b over n rows, where nil stands for all ones. The result may be a or b.
func And(a, b Bitmap, n int) Bitmap {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	out := NewBitmap(n)
	for i := range out {
		out[i] = a[i] & b[i]
	}
	return out
}

// Slice returns n bits from row from on, as a bitmap of its own. nil stays nil.
func (b Bitmap) Slice(from, n int) Bitmap {
	if b == nil {
		return nil
	}
	if from%64 == 0 {
		return b[from/64 : (from+n+63)/64]
	}
	out := NewBitmap(n)
	word, shift := from/64, uint(from%64)
	for i := range out {
		w := b[word+i] >> shift
		if word+i+1 < len(b) {
			w |= b[word+i+1] << (64 - shift)
		}
		out[i] = w
	}
	return out
}

// AppendSelection appends the rows in [0, n) whose bit is 1, in ascending order.
func (b Bitmap) AppendSelection(sel Selection, n int) Selection {
	for i, w := range b[:(n+63)/64] {
		if rest := n - i*64; rest < 64 {
			w &= 1<<rest - 1
		}
		for w != 0 {
			sel = append(sel, int32(i*64+bits.TrailingZeros64(w)))
			w &= w - 1
		}
	}
	return sel
}

// Selection lists the rows of a batch that count, strictly ascending. nil means all rows; an empty, non-nil one none.
type Selection []int32

// Sequence returns the selection 0..n-1.
func Sequence(n int) Selection {
	s := make(Selection, n)
	for i := range s {
		s[i] = int32(i)
	}
	return s
}

// AppendComplement appends the rows in [0, n) that are not in s.
func (s Selection) AppendComplement(out Selection, n int) Selection {
	// A block is looked at as one: without a gap its ends are as far apart as its length says.
	const block = 32
	next := int32(0) // the row after the one that s had last
	i := 0
	for i < len(s) {
		if i+block <= len(s) && s[i] == next && s[i+block-1] == next+block-1 {
			i, next = i+block, next+block
			continue
		}
		for ; next < s[i]; next++ {
			out = append(out, next)
		}
		i, next = i+1, next+1
	}
	for ; next < int32(n); next++ {
		out = append(out, next)
	}
	return out
}
