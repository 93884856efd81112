package function

import (
	"math"
	"math/bits"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

type integer interface {
	int16 | int32 | int64
}

type float interface {
	float32 | float64
}

// addInts and subInts compute every row and look for the ones that overflowed only if the signs say there are any.
func addInts[T integer](t vec.Type) body {
	return func(c *call) (*vec.Vector, error) {
		a, am := fixed[T](c.args[0])
		b, bm := fixed[T](c.args[1])
		out := make([]T, c.n)
		var wrapped T
		switch {
		case am == 0 || bm == 0:
			if am == 0 {
				a, b, am, bm = b, a, bm, am
			}
			if y := b[0]; am != 0 {
				for i, x := range a[:len(out)] {
					r := x + y
					out[i] = r
					wrapped |= (x ^ r) & (y ^ r)
				}
				break
			}
			fallthrough
		default:
			if am&bm == -1 {
				a, b = a[:len(out)], b[:len(out)]
				for i, x := range a {
					r := x + b[i]
					out[i] = r
					wrapped |= (x ^ r) & (b[i] ^ r)
				}
				break
			}
			for i := range out {
				x, y := a[i&am], b[i&bm]
				r := x + y
				out[i] = r
				wrapped |= (x ^ r) & (y ^ r)
			}
		}
		if wrapped < 0 {
			for i, r := range out {
				if x, y := a[i&am], b[i&bm]; (x^r)&(y^r) < 0 && c.ok(i) {
					return nil, outOfRange(t)
				}
			}
		}
		return vec.FlatOf(t, out, nil), nil
	}
}

func subInts[T integer](t vec.Type) body {
	return func(c *call) (*vec.Vector, error) {
		a, am := fixed[T](c.args[0])
		b, bm := fixed[T](c.args[1])
		out := make([]T, c.n)
		var wrapped T
		for i := range out {
			x, y := a[i&am], b[i&bm]
			r := x - y
			out[i] = r
			wrapped |= (x ^ y) & (x ^ r)
		}
		if wrapped < 0 {
			for i, r := range out {
				if x, y := a[i&am], b[i&bm]; (x^y)&(x^r) < 0 && c.ok(i) {
					return nil, outOfRange(t)
				}
			}
		}
		return vec.FlatOf(t, out, nil), nil
	}
}

// mulNarrow multiplies 16- and 32-bit integers by way of 64 bits.
func mulNarrow[T int16 | int32](t vec.Type) body {
	return func(c *call) (*vec.Vector, error) {
		a, am := fixed[T](c.args[0])
		b, bm := fixed[T](c.args[1])
		out := make([]T, c.n)
		wrapped := int64(0)
		for i := range out {
			p := int64(a[i&am]) * int64(b[i&bm])
			out[i] = T(p)
			wrapped |= p ^ int64(T(p))
		}
		if wrapped != 0 {
			for i, r := range out {
				if int64(a[i&am])*int64(b[i&bm]) != int64(r) && c.ok(i) {
					return nil, outOfRange(t)
				}
			}
		}
		return vec.FlatOf(t, out, nil), nil
	}
}

func mulInt64(c *call) (*vec.Vector, error) {
	a, am := fixed[int64](c.args[0])
	b, bm := fixed[int64](c.args[1])
	out := make([]int64, c.n)
	wrapped := int64(0)
	for i := range out {
		p := vec.MulInt64(a[i&am], b[i&bm])
		out[i] = int64(p.Lo)
		wrapped |= p.Hi ^ int64(p.Lo)>>63
	}
	if wrapped != 0 {
		for i := range out {
			if _, ok := vec.MulInt64(a[i&am], b[i&bm]).Int64(); !ok && c.ok(i) {
				return nil, outOfRange(vec.Int64Type)
			}
		}
	}
	return vec.FlatOf(vec.Int64Type, out, nil), nil
}

func divInts[T integer](t vec.Type) body {
	return func(c *call) (*vec.Vector, error) {
		a, am := fixed[T](c.args[0])
		b, bm := fixed[T](c.args[1])
		out := make([]T, c.n)
		for i := range out {
			x, y := a[i&am], b[i&bm]
			if y == 0 || y == -1 {
				if y == 0 {
					if c.ok(i) {
						return nil, divisionByZero()
					}
					continue
				}
				if out[i] = -x; x != 0 && out[i] == x && c.ok(i) {
					return nil, outOfRange(t)
				}
				continue
			}
			out[i] = x / y
		}
		return vec.FlatOf(t, out, nil), nil
	}
}

func modInts[T integer](t vec.Type) body {
	return func(c *call) (*vec.Vector, error) {
		a, am := fixed[T](c.args[0])
		b, bm := fixed[T](c.args[1])
		out := make([]T, c.n)
		for i := range out {
			x, y := a[i&am], b[i&bm]
			switch y {
			case 0:
				if c.ok(i) {
					return nil, divisionByZero()
				}
			case -1:
			default:
				out[i] = x % y
			}
		}
		return vec.FlatOf(t, out, nil), nil
	}
}

func negInts[T integer](t vec.Type) body {
	return func(c *call) (*vec.Vector, error) {
		a, am := fixed[T](c.args[0])
		out := make([]T, c.n)
		for i := range out {
			x := a[i&am]
			if out[i] = -x; x != 0 && out[i] == x && c.ok(i) {
				return nil, outOfRange(t)
			}
		}
		return vec.FlatOf(t, out, nil), nil
	}
}

func absInts[T integer](t vec.Type) body {
	return func(c *call) (*vec.Vector, error) {
		a, am := fixed[T](c.args[0])
		out := make([]T, c.n)
		for i := range out {
			x := a[i&am]
			if x < 0 {
				if x = -x; x < 0 && c.ok(i) {
					return nil, outOfRange(t)
				}
			}
			out[i] = x
		}
		return vec.FlatOf(t, out, nil), nil
	}
}

// The float operations. Each body computes all rows and then checks the ones that overflowed or underflowed, which
// PostgreSQL refuses.
func addFloats[T float](t vec.Type) body {
	return floats(t, func(out, a, b []T, am, bm int) {
		for i := range out {
			out[i] = a[i&am] + b[i&bm]
		}
	}, func(T, T) bool { return false })
}

func subFloats[T float](t vec.Type) body {
	return floats(t, func(out, a, b []T, am, bm int) {
		for i := range out {
			out[i] = a[i&am] - b[i&bm]
		}
	}, func(T, T) bool { return false })
}

func mulFloats[T float](t vec.Type) body {
	return floats(t, func(out, a, b []T, am, bm int) {
		for i := range out {
			out[i] = a[i&am] * b[i&bm]
		}
	}, func(x, y T) bool { return x != 0 && y != 0 })
}

func divFloats[T float](t vec.Type) body {
	divide := floats(t, func(out, a, b []T, am, bm int) {
		for i := range out {
			out[i] = a[i&am] / b[i&bm]
		}
	}, func(x, y T) bool { return x != 0 && !math.IsInf(float64(y), 0) })
	return func(c *call) (*vec.Vector, error) {
		a, am := fixed[T](c.args[0])
		b, bm := fixed[T](c.args[1])
		for i := range c.n {
			if b[i&bm] == 0 && a[i&am] == a[i&am] && c.ok(i) {
				return nil, divisionByZero()
			}
		}
		return divide(c)
	}
}

// floats runs loop and then checks the results: infinite from finite operands is an overflow, zero where nonZero says
// it cannot be an underflow.
func floats[T float](t vec.Type, loop func(out, a, b []T, am, bm int), nonZero func(x, y T) bool) body {
	return func(c *call) (*vec.Vector, error) {
		a, am := fixed[T](c.args[0])
		b, bm := fixed[T](c.args[1])
		out := make([]T, c.n)
		loop(out, a, b, am, bm)
		for i, r := range out {
			if r != 0 && r-r == 0 {
				continue
			}
			x, y := a[i&am], b[i&bm]
			switch {
			case r-r != 0 && x-x == 0 && y-y == 0 && c.ok(i):
				return nil, outOfRange(t)
			case r == 0 && nonZero(x, y) && c.ok(i):
				return nil, sqlerr.New(sqlerr.NumericOutOfRange, "value out of range: underflow")
			}
		}
		return vec.FlatOf(t, out, nil), nil
	}
}

// shiftInts shifts by the low bits of the second argument, as the hardware PostgreSQL runs on does.
func shiftInts[T integer](t vec.Type, left bool) body {
	return func(c *call) (*vec.Vector, error) {
		a, am := fixed[T](c.args[0])
		b, bm := fixed[int32](c.args[1])
		width := uint(t.Phys().Width() * 8)
		if width < 32 {
			width = 32
		}
		out := make([]T, c.n)
		for i := range out {
			by := uint(b[i&bm]) & (width - 1)
			if left {
				out[i] = a[i&am] << by
			} else {
				out[i] = a[i&am] >> by
			}
		}
		return vec.FlatOf(t, out, nil), nil
	}
}

// bitwise makes a body of one of & | #.
func bitwise[T integer](t vec.Type, op byte) body {
	return func(c *call) (*vec.Vector, error) {
		a, am := fixed[T](c.args[0])
		b, bm := fixed[T](c.args[1])
		out := make([]T, c.n)
		for i := range out {
			x, y := a[i&am], b[i&bm]
			switch op {
			case '&':
				out[i] = x & y
			case '|':
				out[i] = x | y
			default:
				out[i] = x ^ y
			}
		}
		return vec.FlatOf(t, out, nil), nil
	}
}

// gcd returns the greatest common divisor of magnitudes.
func gcd(a, b uint64) uint64 {
	if a == 0 || b == 0 {
		return a | b
	}
	shift := bits.TrailingZeros64(a | b)
	a >>= bits.TrailingZeros64(a)
	for b != 0 {
		b >>= bits.TrailingZeros64(b)
		if a > b {
			a, b = b, a
		}
		b -= a
	}
	return a << shift
}
