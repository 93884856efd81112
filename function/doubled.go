package function

import "math"

// doubled is the unevaluated sum of two DOUBLE PRECISION numbers, the second under half a unit in the last place of
// the first: about 106 bits. Elementary functions compute in it and round once, so that their results are the nearest
// double in all but one case of millions: package math misses it in one of ten, and log10(0.1) is -1.
//
// Sums and products are those of T. J. Dekker, "A floating-point technique for extending the available precision"
// (1971), with a fused multiply-add for the error of a product.
type doubled struct{ hi, lo float64 }

// double is x alone.
func double(x float64) doubled { return doubled{hi: x} }

// value is the nearest double.
func (a doubled) value() float64 { return a.hi + a.lo }

// renormalized is hi + lo where |hi| >= |lo|.
func renormalized(hi, lo float64) doubled {
	s := hi + lo
	return doubled{s, lo - (s - hi)}
}

// exactSum is x + y without an error.
func exactSum(x, y float64) doubled {
	s := x + y
	b := s - x
	return doubled{s, (x - (s - b)) + (y - b)}
}

// exactProduct is x * y without an error, unless it leaves the range of doubles.
func exactProduct(x, y float64) doubled {
	p := float64(x * y)
	return doubled{p, math.FMA(x, y, -p)}
}

func (a doubled) plus(b doubled) doubled {
	s, t := exactSum(a.hi, b.hi), exactSum(a.lo, b.lo)
	s = renormalized(s.hi, s.lo+t.hi)
	return renormalized(s.hi, s.lo+t.lo)
}

func (a doubled) minus(b doubled) doubled { return a.plus(doubled{-b.hi, -b.lo}) }

func (a doubled) times(b doubled) doubled {
	p := exactProduct(a.hi, b.hi)
	return renormalized(p.hi, p.lo+(a.hi*b.lo+a.lo*b.hi))
}

// scaled is a * f where f is a power of two.
func (a doubled) scaled(f float64) doubled { return doubled{a.hi * f, a.lo * f} }

func (a doubled) over(b doubled) doubled {
	q := a.hi / b.hi
	rest := a.minus(b.times(double(q)))
	return renormalized(q, rest.hi/b.hi)
}

// root is the square root of a, which is positive.
func (a doubled) root() doubled {
	r := math.Sqrt(a.hi)
	rest := a.minus(exactProduct(r, r))
	return renormalized(r, rest.hi/(2*r))
}

// inverseFactorials holds 1/n!.
var inverseFactorials = func() (out [28]doubled) {
	out[0] = double(1)
	for n := 1; n < len(out); n++ {
		out[n] = out[n-1].over(double(float64(n)))
	}
	return out
}()

// series is the sum of coefficients[i] * x^i; those from single on are small enough to be added as doubles.
func series(x doubled, coefficients []doubled, single int) doubled {
	var tail float64
	for i := len(coefficients) - 1; i >= single; i-- {
		tail = tail*x.hi + coefficients[i].hi
	}
	sum := double(tail)
	for i := single - 1; i >= 0; i-- {
		sum = sum.times(x).plus(coefficients[i])
	}
	return sum
}
