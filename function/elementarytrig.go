package function

import "math"

// quarter is pi/2 to 159 bits.
var quarter = [3]float64{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110}

// turnRange bounds the angles that are brought into the first octant by quarter; package math does larger ones.
const turnRange = 1 << 29

// sinSeries and cosSeries are the coefficients over the square of the angle.
var sinSeries, cosSeries = func() (sin, cos [14]doubled) {
	for i := range sin {
		sign := float64(1 - i%2*2)
		sin[i], cos[i] = inverseFactorials[2*i+1].scaled(sign), inverseFactorials[2*i].scaled(sign)
	}
	return sin, cos
}()

// known holds the sine and the cosine of i/knownAngles, to all bits.
const knownAngles = 64

var known = func() (out [knownAngles]struct{ sin, cos doubled }) {
	for i := range out {
		x := double(float64(i) / knownAngles)
		square := x.times(x)
		out[i].sin, out[i].cos = x.times(series(square, sinSeries[:], 9)), series(square, cosSeries[:], 10)
	}
	return out
}()

// firstOctant brings an angle to one of at most pi/4 and the count of right angles between them.
func firstOctant(x float64) (doubled, int64) {
	k := math.Round(x * (2 / math.Pi))
	p, q := exactProduct(k, quarter[0]), exactProduct(k, quarter[1])
	r := exactSum(x-p.hi, -p.lo)
	rest := exactSum(r.hi, -q.hi)
	return renormalized(rest.hi, r.lo+rest.lo-(q.lo+k*quarter[2])), int64(k)
}

// turned is a + b d + a cosTail + b sinTail.
func turned(a, b doubled, d, cosTail, sinTail float64) doubled {
	p := exactProduct(b.hi, d)
	s := exactSum(a.hi, p.hi)
	return renormalized(s.hi, s.lo+(p.lo+a.lo+b.lo*d+(a.hi*cosTail+b.hi*sinTail)))
}

// sinCos is the sine and the cosine of x, |x| < turnRange, to 68 bits: by the addition theorem, from the nearest known
// angle and a short series for the rest.
func sinCos(x float64) (sin, cos doubled) {
	r, k := firstOctant(x)
	negative := r.hi < 0
	if negative {
		r = r.scaled(-1)
	}
	i := int(r.hi*knownAngles + 0.5)
	near := &known[i]
	d := r.hi - float64(i)/knownAngles
	square := d * d
	sinTail := r.lo - d*square*(1./6-square*(1./120-square/5040))
	cosTail := -square*(1./2-square*(1./24-square/720)) - d*r.lo
	sin = turned(near.sin, near.cos, d, cosTail, sinTail)
	cos = turned(near.cos, near.sin.scaled(-1), d, cosTail, sinTail)
	if negative {
		sin = sin.scaled(-1)
	}
	if k&1 != 0 {
		sin, cos = cos, sin.scaled(-1)
	}
	if k&2 != 0 {
		sin, cos = sin.scaled(-1), cos.scaled(-1)
	}
	return sin, cos
}

// circular makes a function of an angle's sine and cosine.
func circular(f func(sin, cos doubled) doubled, otherwise func(float64) float64) func(float64) float64 {
	return func(x float64) float64 {
		if a := math.Abs(x); !(a > 1e-8 && a < turnRange) {
			return otherwise(x)
		}
		return f(sinCos(x)).value()
	}
}

var (
	sin = circular(func(sin, _ doubled) doubled { return sin }, math.Sin)
	cos = circular(func(_, cos doubled) doubled { return cos }, math.Cos)
	tan = circular(func(sin, cos doubled) doubled { return sin.over(cos) }, math.Tan)
)

// angle is the angle of the point (x, y), whose coordinates are finite and neither tiny nor huge.
func angle(y, x doubled) float64 {
	guess := math.Atan2(y.hi, x.hi)
	s, c := sinCos(guess)
	// The tangent of what the guess misses, which is so small that it is the angle too.
	miss := y.times(c).minus(x.times(s)).value() / x.times(c).plus(y.times(s)).value()
	return renormalized(guess, miss).value()
}

func atan2(y, x float64) float64 {
	if x == 0 || y == 0 || math.IsInf(x, 0) || math.IsInf(y, 0) || math.IsNaN(x) || math.IsNaN(y) {
		return math.Atan2(y, x)
	}
	_, e := math.Frexp(max(math.Abs(x), math.Abs(y)))
	v, u := math.Ldexp(y, -e), math.Ldexp(x, -e)
	if min(math.Abs(u), math.Abs(v)) < 1e-30 {
		return math.Atan2(y, x)
	}
	return angle(double(v), double(u))
}

func atan(x float64) float64 { return atan2(x, 1) }

// leg is the other leg of a right triangle over 1.
func leg(x float64) doubled { return exactSum(1, -x).times(exactSum(1, x)).root() }

func asin(x float64) float64 {
	if a := math.Abs(x); !(a > 1e-8 && a < 1) {
		return math.Asin(x)
	}
	return angle(double(x), leg(x))
}

func acos(x float64) float64 {
	if !(math.Abs(x) > 1e-8 && math.Abs(x) < 1) {
		return math.Acos(x)
	}
	return angle(leg(x), double(x))
}
