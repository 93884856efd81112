package vec

import (
	"math"
	"strconv"
)

// pow10 holds the powers of ten that fit 128 bits.
var pow10 = func() (t [MaxPrecision + 1]Int128) {
	t[0] = Int128From(1)
	for i := 1; i < len(t); i++ {
		t[i], _ = MulInt128Checked(t[i-1], Int128From(10))
	}
	return t
}()

// Pow10 returns 10^n for n in 0..38.
func Pow10(n int) Int128 { return pow10[n] }

// pow10Int64 holds the powers of ten that fit 64 bits.
var pow10Int64 = [19]int64{1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

// Pow10Int64 returns 10^n for n in 0..18.
func Pow10Int64(n int) int64 { return pow10Int64[n] }

// FitsPrecision reports whether the unscaled value x has at most precision digits.
func FitsPrecision(x Int128, precision int) bool {
	limit := pow10[precision]
	return CompareInt128(x, limit) < 0 && CompareInt128(x, NegInt128(limit)) > 0
}

// DivRoundInt128 returns a / b rounded half away from zero. b must not be 0.
func DivRoundInt128(a, b Int128) Int128 {
	q, r := DivInt128(a, b)
	ar, ab := absInt128(r), absInt128(b)
	// |r| >= |b| - |r| is 2|r| >= |b| without overflow.
	diff := SubInt128(Int128{Lo: ab.lo, Hi: int64(ab.hi)}, Int128{Lo: ar.lo, Hi: int64(ar.hi)})
	if ar.hi == 0 && ar.lo == 0 || CompareInt128(Int128{Lo: ar.lo, Hi: int64(ar.hi)}, diff) < 0 {
		return q
	}
	if (a.Hi < 0) != (b.Hi < 0) {
		return SubInt128(q, Int128From(1))
	}
	return AddInt128(q, Int128From(1))
}

// RescaleInt128 returns the unscaled value x moved from one scale to another, rounding half away from zero, and
// whether it fits 128 bits.
func RescaleInt128(x Int128, from, to int) (Int128, bool) {
	switch d := to - from; {
	case d == 0:
		return x, true
	case d > MaxPrecision:
		return Int128{}, x == Int128{}
	case d > 0:
		return MulInt128Checked(x, pow10[d])
	case -d > MaxPrecision:
		return Int128{}, true
	default:
		return DivRoundInt128(x, pow10[-d]), true
	}
}

// RescaleInt64 is [RescaleInt128] within 64 bits; the scales differ by at most 18.
func RescaleInt64(x int64, from, to int) (int64, bool) {
	if to >= from {
		p := MulInt64(x, pow10Int64[to-from])
		return p.Int64()
	}
	return DivRoundInt64(x, pow10Int64[from-to]), true
}

// DivRoundInt64 returns a / b rounded half away from zero, for b > 0.
func DivRoundInt64(a, b int64) int64 {
	q, r := a/b, a%b
	if r >= b-r && r > 0 {
		return q + 1
	}
	if -r >= b+r && r < 0 {
		return q - 1
	}
	return q
}

// FitDecimal returns the unscaled value x of the given scale as a value of the NUMERIC type t, rounded half away from
// zero, and whether it has no more digits than t takes.
func FitDecimal(x Int128, scale int, t Type) (Int128, bool) {
	y, ok := RescaleInt128(x, scale, int(t.Scale))
	return y, ok && FitsPrecision(y, int(t.Precision))
}

// DigitsInt128 returns how many decimal digits |x| has; 0 has one.
func DigitsInt128(x Int128) int {
	for p := 1; p <= MaxPrecision; p++ {
		if FitsPrecision(x, p) {
			return p
		}
	}
	return MaxPrecision + 1
}

// AppendDecimal appends the unscaled value x with scale digits after the point.
func AppendDecimal(dst []byte, x Int128, scale int) []byte {
	var buf [48]byte
	digits := appendUnsigned(buf[:0], absInt128(x))
	if x.Hi < 0 {
		dst = append(dst, '-')
	}
	if scale == 0 {
		return append(dst, digits...)
	}
	if len(digits) <= scale {
		dst = append(dst, '0', '.')
		for range scale - len(digits) {
			dst = append(dst, '0')
		}
		return append(dst, digits...)
	}
	point := len(digits) - scale
	dst = append(dst, digits[:point]...)
	dst = append(dst, '.')
	return append(dst, digits[point:]...)
}

func appendUnsigned(dst []byte, x uint128) []byte {
	if x.hi == 0 {
		return strconv.AppendUint(dst, x.lo, 10)
	}
	const chunk = 1e18
	q, r := divUint128(x, uint128{lo: chunk})
	dst = appendUnsigned(dst, q)
	var buf [20]byte
	low := strconv.AppendUint(buf[:0], r.lo, 10)
	for range 18 - len(low) {
		dst = append(dst, '0')
	}
	return append(dst, low...)
}

// String returns x in decimal.
func (a Int128) String() string { return string(AppendDecimal(nil, a, 0)) }

// DecimalFloat64 returns the float nearest to the unscaled value x of the given scale.
func DecimalFloat64(x Int128, scale int) float64 {
	if scale == 0 {
		return x.Float64()
	}
	if i, ok := x.Int64(); ok && scale <= 22 && i < 1<<53 && i > -1<<53 {
		return float64(i) / math.Pow10(scale) // both exact, so the quotient is the nearest float
	}
	var buf [48]byte
	f, _ := strconv.ParseFloat(String(AppendDecimal(buf[:0], x, scale)), 64)
	return f
}

// number is a decimal number as read from text: digits (leading zeros dropped) times 10^-scale.
type number struct {
	negative bool
	digits   []byte
	scale    int
}

// scanNumber reads an optional sign, digits with an optional point and an optional exponent, the whole of s.
func scanNumber(s string) (n number, ok bool) {
	i := 0
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		n.negative = s[i] == '-'
		i++
	}
	seen, point := false, false
	for ; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			seen = true
			if c != '0' || len(n.digits) > 0 {
				n.digits = append(n.digits, c)
			}
			if point {
				n.scale++
			}
			continue
		case c == '.' && !point:
			point = true
			continue
		}
		break
	}
	if !seen {
		return n, false
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		exp, err := strconv.Atoi(s[i+1:])
		if err != nil || exp > 1<<20 || exp < -1<<20 {
			return n, false
		}
		n.scale -= exp
		i = len(s)
	}
	return n, i == len(s)
}

// fit returns the number's unscaled value at the scale of t, rounded half away from zero, and whether it fits t.
func (n number) fit(t Type) (Int128, bool) {
	digits, up := n.digits, false
	shift := int(t.Scale) - n.scale // digits to add (or, negative, to drop)
	if shift < 0 {
		keep := len(digits) + shift
		switch {
		case keep < 0:
			digits = nil
		default:
			up = digits[keep] >= '5'
			digits = digits[:keep]
		}
		shift = 0
	}
	if len(digits) == 0 {
		shift = 0
	}
	if len(digits)+shift > MaxPrecision {
		return Int128{}, false
	}
	x := Int128{}
	for _, c := range digits {
		x, _ = MulInt128Checked(x, Int128From(10))
		x = AddInt128(x, Int128From(int64(c-'0')))
	}
	x, _ = MulInt128Checked(x, pow10[shift])
	if up {
		x = AddInt128(x, Int128From(1))
	}
	if n.negative {
		x = NegInt128(x)
	}
	return x, FitsPrecision(x, int(t.Precision))
}

// ParseDecimal reads a decimal literal and returns its unscaled value with the narrowest NUMERIC type that holds it
// exactly; ok is false when s is no number or has more than 38 digits.
func ParseDecimal(s string) (x Int128, t Type, ok bool) {
	n, ok := scanNumber(s)
	if !ok {
		return Int128{}, Type{}, false
	}
	scale := max(n.scale, 0)
	precision := max(len(n.digits)+max(-n.scale, 0), scale, 1)
	if precision > MaxPrecision {
		return Int128{}, Type{}, false
	}
	t = DecimalType(precision, scale)
	x, ok = n.fit(t)
	return x, t, ok
}

// DecimalFromFloat returns f as an unscaled value of the NUMERIC type t and whether it fits. Like PostgreSQL it takes
// digits significant digits of f: 15 for DOUBLE PRECISION, 6 for REAL.
func DecimalFromFloat(f float64, digits int, t Type) (Int128, bool) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Int128{}, false
	}
	var buf [32]byte
	n, ok := scanNumber(String(strconv.AppendFloat(buf[:0], f, 'e', digits-1, 64)))
	if !ok {
		return Int128{}, false
	}
	return n.fit(t)
}
