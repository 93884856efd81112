package function

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/tidemarkdb/tidemark/vec"
)

// uint192 is an unsigned integer, least significant word first.
type uint192 [3]uint64

// mul64 returns x*y modulo 2^192.
func (x uint192) mul64(y uint64) (out uint192) {
	h0, l0 := bits.Mul64(x[0], y)
	h1, l1 := bits.Mul64(x[1], y)
	_, l2 := bits.Mul64(x[2], y)
	var carry uint64
	out[0] = l0
	out[1], carry = bits.Add64(l1, h0, 0)
	out[2] = l2 + h1 + carry
	return out
}

// div64 returns x/y and the remainder.
func (x uint192) div64(y uint64) (q uint192, rest uint64) {
	for i := 2; i >= 0; i-- {
		q[i], rest = bits.Div64(rest, x[i], y)
	}
	return q, rest
}

func (x uint192) float() float64 {
	return (float64(x[2])*0x1p64+float64(x[1]))*0x1p64 + float64(x[0])
}

// sub returns x-y modulo 2^192 and whether it is negative.
func (x uint192) sub(y uint192) (out uint192, negative bool) {
	var borrow uint64
	for i := range x {
		out[i], borrow = bits.Sub64(x[i], y[i], borrow)
	}
	return out, borrow != 0
}

// sqrt returns the root rounded down, for x below 2^186. One step of Newton's from the root as a float, which is right
// to 52 bits of at most 93, leaves an error of 1 at most.
func (x uint192) sqrt() (root vec.Int128) {
	f := math.Sqrt(x.float())
	hi := math.Floor(f * 0x1p-64)
	root = vec.Int128{Hi: int64(hi), Lo: uint64(f - hi*0x1p64)}
	if f < 1 {
		return root
	}
	d, negative := x.sub(square(root))
	if negative {
		d, _ = uint192{}.sub(d)
		root = vec.SubInt128(root, vec.Int128From(int64(math.Ceil(d.float()/(2*f)))))
	} else {
		root = vec.AddInt128(root, vec.Int128From(int64(d.float()/(2*f))))
	}
	one := vec.Int128From(1)
	for {
		if _, above := x.sub(square(root)); !above {
			break
		}
		root = vec.SubInt128(root, one)
	}
	for {
		next := vec.AddInt128(root, one)
		if _, above := x.sub(square(next)); above {
			return root
		}
		root = next
	}
}

// square returns x*x for x in [0, 2^96).
func square(x vec.Int128) uint192 {
	hi := uint64(x.Hi)
	h0, l0 := bits.Mul64(x.Lo, x.Lo)
	h1, l1 := bits.Mul64(x.Lo, hi)
	out := uint192{l0, h0, 0}
	// 2*lo*hi in the middle words, hi*hi in the last.
	h1, l1 = h1<<1|l1>>63, l1<<1
	var carry uint64
	out[1], carry = bits.Add64(out[1], l1, 0)
	out[2] = h1 + hi*hi + carry
	return out
}

// spreadNarrow is spread for sums that are small, which nearly all are; ok is false for others.
func (m *moments) spreadNarrow(kind spreadKind, scale int) (x vec.Int128, ok bool) {
	sum, narrow := m.sum.Int64()
	if !narrow || m.rest != nil || m.squares[1]|m.squares[2] != 0 || scale > 9 {
		return x, false
	}
	n, magnitude := uint64(m.n), uint64(sum)
	if sum < 0 {
		magnitude = -magnitude
	}
	hi, lo := bits.Mul64(n, m.squares[0])
	subHi, subLo := bits.Mul64(magnitude, magnitude)
	lo, borrow := bits.Sub64(lo, subLo, 0)
	if hi, _ = bits.Sub64(hi, subHi, borrow); hi != 0 {
		return x, false
	}
	divisor := n
	if kind.sample {
		divisor--
	}
	over, divisor := bits.Mul64(divisor, n)
	if over != 0 {
		return x, false
	}
	if over, divisor = bits.Mul64(divisor, uint64(vec.Pow10Int64(2*scale))); over != 0 || divisor > 1<<62 {
		return x, false
	}
	const up = 1e16 // 10^minDivScale
	scaled := uint192{lo}.mul64(up)
	if !kind.root {
		q, rest := scaled.div64(divisor)
		if rest*2 >= divisor {
			q[0]++
			if q[0] == 0 {
				return x, false
			}
		}
		return vec.Int128{Lo: q[0], Hi: int64(q[1])}, q[1]>>63 == 0 && q[2] == 0
	}
	q, _ := scaled.mul64(up).mul64(100).div64(divisor)
	if q[2]>>58 != 0 {
		return x, false
	}
	root := q.sqrt() // at one digit more than the result
	tenth, digit := uint192{root.Lo, uint64(root.Hi)}.div64(10)
	out := vec.Int128{Lo: tenth[0], Hi: int64(tenth[1])}
	if digit >= 5 {
		out = vec.AddInt128(out, vec.Int128From(1))
	}
	return out, true
}

// varianceFloat is the variance of integers: to the nearest float64, or a few roundings away where the sums
// are small.
func (m *moments) varianceFloat(kind spreadKind) float64 {
	sum, narrow := m.sum.Int64()
	if narrow && m.rest == nil && m.squares[1]|m.squares[2] == 0 {
		n, magnitude := uint64(m.n), uint64(sum)
		if sum < 0 {
			magnitude = -magnitude
		}
		hi, lo := bits.Mul64(n, m.squares[0])
		subHi, subLo := bits.Mul64(magnitude, magnitude)
		lo, borrow := bits.Sub64(lo, subLo, 0)
		hi, _ = bits.Sub64(hi, subHi, borrow)
		divisor := n
		if kind.sample {
			divisor--
		}
		return (float64(hi)*(1<<64) + float64(lo)) / float64(n) / float64(divisor)
	}
	x, _ := new(big.Rat).SetFrac(m.variance(kind)).Float64()
	return x
}
