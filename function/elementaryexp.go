package function

import "math"

const perLn2 = 1 / math.Ln2

var (
	ln2   = doubled{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56}
	root2 = double(2).root()
)

// halvings is how often the argument of the series of e^x - 1 is halved, which keeps it to nine terms.
const halvings = 9

// expLess1Near is e^x - 1 for |x| < 0.4.
func expLess1Near(x doubled) doubled {
	x = x.scaled(1.0 / (1 << halvings))
	r := x.times(series(x, inverseFactorials[1:11], 5))
	for range halvings { // e^2x - 1 = (e^x - 1)^2 + 2 (e^x - 1)
		r = r.times(r).plus(r.scaled(2))
	}
	return r
}

// Powers of e and logarithms start from the nearest of 128 values that are known to all bits, and add a short series
// for the rest in doubles: 70 bits in all.
const knownSteps = 128

// knownPowers[i] is 2^(i/knownSteps).
var knownPowers = func() (out [knownSteps]doubled) {
	for i := range out {
		out[i] = expLess1Near(ln2.times(double(float64(i-knownSteps/2) / knownSteps))).plus(double(1)).times(root2)
	}
	return out
}()

// knownLogarithm is the logarithm of 1 / inverse.
type knownLogarithm struct {
	inverse float64
	log     doubled
}

// knownLogarithms[i] is for numbers near i/knownSteps.
var knownLogarithms = func() (out [2 * knownSteps]knownLogarithm) {
	for i := knownSteps / 2; i < len(out); i++ {
		inverse := knownSteps / float64(i)
		out[i] = knownLogarithm{inverse, slowLog(inverse).scaled(-1)}
	}
	return out
}()

// expOf is e^x as a number from one to two and a power of two.
func expOf(x doubled) (doubled, int) {
	k := math.Round(x.hi * (perLn2 * knownSteps))
	part := exactProduct(k, ln2.hi/knownSteps)
	r := renormalized(x.hi-part.hi, x.lo-part.lo-k*(ln2.lo/knownSteps))
	h := r.hi
	tail := h * h * (1./2 + h*(1./6+h*(1./24+h*(1./120+h*(1./720+h/5040)))))
	known := knownPowers[int(k)&(knownSteps-1)]
	more := known.times(renormalized(h, tail+(r.lo+h*r.lo)))
	sum := renormalized(known.hi, more.hi)
	return renormalized(sum.hi, sum.lo+(more.lo+known.lo)), int(k) >> 7
}

// expRange bounds the arguments whose exponential is neither 0 nor infinite for certain.
const expRange = 708

// exp is e^x.
func exp(x float64) float64 {
	if !(math.Abs(x) < expRange) {
		return math.Exp(x)
	}
	r, k := expOf(double(x))
	return timesPowerOf2(r.value(), k)
}

// timesPowerOf2 is math.Ldexp, faster where nothing is rounded.
func timesPowerOf2(x float64, k int) float64 {
	if k < -1000 || k > 1000 {
		return math.Ldexp(x, k)
	}
	return x * math.Float64frombits(uint64(k+1023)<<52)
}

// slowLog is the natural logarithm of x from 0.5 to 2, by a step of Newton's method on e^y = x.
func slowLog(x float64) doubled {
	guess := math.Log(x)
	power := expLess1Near(double(guess).scaled(0.5))
	power = power.times(power).plus(power.scaled(2))
	rest := double(x - 1).minus(power)
	return renormalized(guess, 2*rest.value()/(x+1+power.hi))
}

// logOf is the natural logarithm of x, which is positive and finite.
func logOf(x float64) doubled {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = m*2, e-1
	}
	known := &knownLogarithms[int(m*knownSteps+0.5)]
	p := exactProduct(m, known.inverse)
	r := renormalized(p.hi-1, p.lo)
	h, square := r.hi, exactProduct(r.hi, r.hi)
	tail := h * square.hi * (1./3 + h*(-1./4+h*(1./5+h*(-1./6+h*(1./7+h*(-1./8+h/9))))))
	sum := renormalized(h, -0.5*square.hi)
	out := renormalized(sum.hi, sum.lo+(tail-0.5*square.lo+(r.lo-h*r.lo)))
	if known.inverse != 1 {
		out = known.log.plus(out)
	}
	if e != 0 {
		n := exactProduct(float64(e), ln2.hi)
		out = doubled{n.hi, n.lo + float64(e)*ln2.lo}.plus(out)
	}
	return out
}

// logarithmBy is the logarithm to the base b, given 1 / ln b.
func logarithmBy(per doubled) func(float64) float64 {
	return func(x float64) float64 {
		if !(x > 0) || math.IsInf(x, 1) {
			return math.Log(x)
		}
		return logOf(x).times(per).value()
	}
}

var (
	ln   = logarithmBy(double(1))
	log2 = logarithmBy(doubled{0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56})
)

// The logarithm of 2 to the base 10, split so that products of the first part with an exponent are exact.
const log10Of2, log10Of2Rest = 0x1.34413509f6p-2, 0x1.9fef311f12b36p-42

// log10 goes the way of C libraries, whose last digit is then the same: from ln in doubles.
func log10(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) {
		return math.Log10(x)
	}
	m, e := math.Frexp(x) // in [0.5, 1)
	if e > 0 {
		m, e = m*2, e-1
	}
	n := float64(e)
	return n*log10Of2Rest + 0x1.bcb7b1526e50ep-2*ln(m) + n*log10Of2
}

// pow is x^y.
func pow(x, y float64) float64 {
	switch {
	case y == 2:
		return x * x
	case y == -1:
		return 1 / x
	case x == 0, math.IsInf(x, 0), math.IsNaN(x), x < 0 && y != math.Trunc(y), y == 0.5, !(math.Abs(y) < 1<<62):
		return math.Pow(x, y)
	}
	exponent := logOf(math.Abs(x)).times(double(y))
	if !(math.Abs(exponent.hi) < expRange) {
		return math.Pow(x, y)
	}
	r, k := expOf(exponent)
	if v := timesPowerOf2(r.value(), k); x > 0 || math.Mod(y, 2) == 0 {
		return v
	} else {
		return -v
	}
}

// expLess1 is e^x - 1 for |x| < expRange.
func expLess1(x float64) float64 {
	if math.Abs(x) < 0.35 {
		return expLess1Near(double(x)).value()
	}
	r, k := expOf(double(x))
	return r.scaled(math.Ldexp(1, k)).minus(double(1)).value()
}

// hyperbolicRange is from where on the smaller exponential is beyond the digits of the larger.
const hyperbolicRange = 22

// sinh, cosh and tanh go the way of C libraries, from e^x - 1 in doubles, so that their last digit is mostly the same.
func sinh(x float64) float64 {
	a := math.Abs(x)
	if !(a > 1e-8 && a < expRange) {
		return math.Sinh(x)
	}
	r := 0.5 * exp(a)
	if a < hyperbolicRange {
		e := expLess1(a)
		if r = 0.5 * (e + e/(e+1)); a < 1 {
			r = 0.5 * (2*e - e*e/(e+1))
		}
	}
	return math.Copysign(r, x)
}

func cosh(x float64) float64 {
	a := math.Abs(x)
	switch {
	case a < math.Ln2/2:
		e := expLess1(a)
		return 1 + e*e/(2*(1+e))
	case a < hyperbolicRange:
		e := exp(a)
		return 0.5*e + 0.5/e
	case a < expRange:
		return 0.5 * exp(a)
	}
	return math.Cosh(x)
}

func tanh(x float64) float64 {
	a := math.Abs(x)
	if !(a > 1e-8 && a < hyperbolicRange) {
		return math.Tanh(x)
	}
	if a < 1 {
		e := expLess1(-2 * a)
		return math.Copysign(-e/(e+2), x)
	}
	return math.Copysign(1-2/(expLess1(2*a)+2), x)
}

func asinh(x float64) float64 {
	if a := math.Abs(x); a > 2 && a < 1<<28 {
		return math.Copysign(ln(2*a+1/(math.Sqrt(a*a+1)+a)), x)
	}
	return math.Asinh(x)
}

func acosh(x float64) float64 {
	if x > 2 && x < 1<<28 {
		return ln(2*x - 1/(x+math.Sqrt(x*x-1)))
	}
	return math.Acosh(x)
}

func cbrt(x float64) float64 {
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return x
	}
	m, e := math.Frexp(x)
	rest := ((e % 3) + 3) % 3
	m = math.Ldexp(m, rest)
	guess := math.Cbrt(m)
	over := exactProduct(guess, guess).times(double(guess)).minus(double(m))
	return math.Ldexp(renormalized(guess, -over.hi/(3*guess*guess)).value(), (e-rest)/3)
}
