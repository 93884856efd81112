package function

import (
	"math"
	"math/big"

	"github.com/tidemarkdb/tidemark/vec"
)

// powDecimals is exact for whole exponents, otherwise right to some twenty digits.
func powDecimals(a, b, r vec.Type) body {
	return func(c *call) (*vec.Vector, error) {
		x, y, out := wide(c.args[0]), wide(c.args[1]), newDecimalOut(r, c.n)
		for i := range c.n {
			if !c.ok(i) {
				continue
			}
			v, ok := vec.Int128{}, false
			exponent, rem := vec.DivInt128(y(i), vec.Pow10(int(b.Scale)))
			if e, small := exponent.Int64(); small && rem == (vec.Int128{}) && e >= -200 && e <= 200 && x(i) != (vec.Int128{}) {
				v, ok = wholePower(x(i), int(a.Scale), e, int(r.Scale))
			} else if x(i).Hi < 0 || x(i) == (vec.Int128{}) {
				f, err := floatPower(vec.DecimalFloat64(x(i), int(a.Scale)), vec.DecimalFloat64(y(i), int(b.Scale)))
				if err != nil {
					return nil, err
				}
				v, ok = vec.DecimalFromFloat(f, 17, r)
			} else {
				v, ok = brokenPower(x(i), int(a.Scale), y(i), int(b.Scale), int(r.Scale))
			}
			if !ok || !vec.FitsPrecision(v, int(r.Precision)) {
				return nil, outOfRange(r)
			}
			out.set(i, v)
		}
		return out.vector(), nil
	}
}

// brokenPower returns (x / 10^xScale)^(y / 10^yScale), x > 0, as an unscaled value of the scale to.
func brokenPower(x vec.Int128, xScale int, y vec.Int128, yScale, to int) (vec.Int128, bool) {
	base := decimalDoubled(x, xScale)
	log := logOf(base.hi).plus(double(base.lo / base.hi))
	power, k := expOf(log.times(decimalDoubled(y, yScale)))
	switch {
	case k < -128:
		return vec.Int128{}, true
	case k > 128:
		return vec.Int128{}, false
	}
	f := new(big.Float).SetPrec(300).SetFloat64(power.hi)
	f.Add(f, new(big.Float).SetFloat64(power.lo)).SetMantExp(f, k).Mul(f, new(big.Float).SetInt(pow10Big(to)))
	half := big.NewFloat(0.5)
	whole, _ := f.Add(f, half).Int(nil)
	return fromBig(whole)
}

// decimalDoubled is x / 10^scale.
func decimalDoubled(x vec.Int128, scale int) doubled {
	hi := x.Float64()
	whole, _ := new(big.Float).SetFloat64(hi).Int(nil)
	lo, _ := new(big.Float).SetInt(whole.Sub(toBig(x), whole)).Float64()
	out := doubled{hi, lo}
	for ; scale > 0; scale -= 22 { // up to 10^22 powers of ten are exact
		out = out.over(double(math.Pow10(min(scale, 22))))
	}
	return out
}

// wholePower returns (x / 10^scale)^e as an unscaled value of the scale to.
func wholePower(x vec.Int128, scale int, e int64, to int) (vec.Int128, bool) {
	magnitude := max(e, -e)
	p := new(big.Int).Exp(toBig(x), big.NewInt(magnitude), nil)
	unit := pow10Big(scale * int(magnitude))
	if e < 0 {
		p, unit = unit, p
	}
	return fromBig(divRoundBig(p.Mul(p, pow10Big(to)), unit))
}
