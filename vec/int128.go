package vec

import (
	"math"
	"math/bits"
)

// Int128From returns x sign-extended.
func Int128From(x int64) Int128 { return Int128{Lo: uint64(x), Hi: x >> 63} }

// AddInt128 returns a + b, wrapping on overflow.
func AddInt128(a, b Int128) Int128 {
	lo, carry := bits.Add64(a.Lo, b.Lo, 0)
	hi, _ := bits.Add64(uint64(a.Hi), uint64(b.Hi), carry)
	return Int128{Lo: lo, Hi: int64(hi)}
}

// SubInt128 returns a - b, wrapping on overflow.
func SubInt128(a, b Int128) Int128 {
	lo, borrow := bits.Sub64(a.Lo, b.Lo, 0)
	hi, _ := bits.Sub64(uint64(a.Hi), uint64(b.Hi), borrow)
	return Int128{Lo: lo, Hi: int64(hi)}
}

// AddInt128Checked returns a + b and whether it fits.
func AddInt128Checked(a, b Int128) (Int128, bool) {
	s := AddInt128(a, b)
	return s, (a.Hi^s.Hi)&(b.Hi^s.Hi) >= 0
}

// NegInt128 returns -a, wrapping for the least value.
func NegInt128(a Int128) Int128 { return SubInt128(Int128{}, a) }

// MulInt64 returns the full product of two 64-bit integers.
func MulInt64(a, b int64) Int128 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	h := int64(hi)
	if a < 0 {
		h -= b
	}
	if b < 0 {
		h -= a
	}
	return Int128{Lo: lo, Hi: h}
}

// MulInt128Checked returns a * b and whether it fits.
func MulInt128Checked(a, b Int128) (Int128, bool) {
	negative := (a.Hi < 0) != (b.Hi < 0)
	x, y := absInt128(a), absInt128(b)
	if x.hi != 0 && y.hi != 0 {
		return Int128{}, false
	}
	hi, lo := bits.Mul64(x.lo, y.lo)
	c1, m1 := bits.Mul64(x.hi, y.lo)
	c2, m2 := bits.Mul64(x.lo, y.hi)
	hi, carry1 := bits.Add64(hi, m1, 0)
	hi, carry2 := bits.Add64(hi, m2, 0)
	if c1|c2|carry1|carry2 != 0 {
		return Int128{}, false
	}
	if negative {
		if hi > 1<<63 || hi == 1<<63 && lo != 0 {
			return Int128{}, false
		}
		return NegInt128(Int128{Lo: lo, Hi: int64(hi)}), true
	}
	if hi >= 1<<63 {
		return Int128{}, false
	}
	return Int128{Lo: lo, Hi: int64(hi)}, true
}

type uint128 struct{ hi, lo uint64 }

func absInt128(a Int128) uint128 {
	if a.Hi < 0 {
		a = NegInt128(a)
	}
	return uint128{hi: uint64(a.Hi), lo: a.Lo}
}

// DivInt128 returns the quotient of a by b truncated toward zero and the remainder, which has a's sign. b must not be 0.
func DivInt128(a, b Int128) (quotient, remainder Int128) {
	x, y := absInt128(a), absInt128(b)
	q, r := divUint128(x, y)
	quotient, remainder = Int128{Lo: q.lo, Hi: int64(q.hi)}, Int128{Lo: r.lo, Hi: int64(r.hi)}
	if (a.Hi < 0) != (b.Hi < 0) {
		quotient = NegInt128(quotient)
	}
	if a.Hi < 0 {
		remainder = NegInt128(remainder)
	}
	return quotient, remainder
}

func divUint128(x, y uint128) (q, r uint128) {
	if y.hi == 0 {
		q.hi = x.hi / y.lo
		q.lo, r.lo = bits.Div64(x.hi%y.lo, x.lo, y.lo)
		return q, r
	}
	// y >= 2^64, so the quotient fits 64 bits. Dividing by the normalised top word of y estimates it
	// (Hacker's Delight, section 9-5); the estimate is at most one too high after halving x.
	shift := uint(bits.LeadingZeros64(y.hi))
	top := y.hi<<shift | y.lo>>1>>(63-shift)
	estimate, _ := bits.Div64(x.hi>>1, x.hi<<63|x.lo>>1, top)
	estimate = estimate >> (63 - shift)
	if estimate != 0 {
		estimate--
	}
	q.lo = estimate
	hi, lo := bits.Mul64(q.lo, y.lo)
	hi += q.lo * y.hi
	var borrow uint64
	r.lo, borrow = bits.Sub64(x.lo, lo, 0)
	r.hi, _ = bits.Sub64(x.hi, hi, borrow)
	if r.hi > y.hi || r.hi == y.hi && r.lo >= y.lo {
		q.lo++
		r.lo, borrow = bits.Sub64(r.lo, y.lo, 0)
		r.hi, _ = bits.Sub64(r.hi, y.hi, borrow)
	}
	return q, r
}

// Float64 returns the nearest float of a.
func (a Int128) Float64() float64 {
	if a.Hi == int64(a.Lo)>>63 {
		return float64(int64(a.Lo))
	}
	if a.Hi < 0 {
		n := NegInt128(a)
		return -(float64(uint64(n.Hi))*math.Exp2(64) + float64(n.Lo))
	}
	return float64(a.Hi)*math.Exp2(64) + float64(a.Lo)
}

// Int64 returns a and whether it fits 64 bits.
func (a Int128) Int64() (int64, bool) { return int64(a.Lo), a.Hi == int64(a.Lo)>>63 }
