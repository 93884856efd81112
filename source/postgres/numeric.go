package postgres

import (
	"encoding/binary"
	"errors"
	"strconv"

	"github.com/tidemarkdb/tidemark/vec"
)

// PostgreSQL sends a numeric as the number of its digits to base 10000, the exponent of the first one (weight), the
// sign and the number of decimal places shown (dscale), 16 bits each, and then the digits:
//
//	value = digit[0]*10000^weight + digit[1]*10000^(weight-1) + ...
const (
	numericHeader      = 8
	numericNegative    = 0x4000
	numericNaN         = 0xc000
	numericInfinity    = 0xd000
	numericMinInfinity = 0xf000
	numericBase        = 10000
)

var (
	errNaN      = errors.New("NUMERIC holds neither NaN nor infinity; declare the column TEXT, or change the value at the source")
	errTooLarge = errors.New("it has more digits before the point than the column holds; declare a wider NUMERIC, or TEXT")
	errTooFine  = errors.New("it has more decimal places than the column holds, and is not rounded silently; declare a larger scale, or TEXT")
	errDigits   = errors.New("its digits are damaged")
)

type numeric struct {
	weight int
	sign   uint16
	dscale int
	digits []byte // two bytes each
}

func parseNumeric(raw []byte) (numeric, error) {
	if len(raw) < numericHeader {
		return numeric{}, errWidth
	}
	n := numeric{
		weight: int(int16(binary.BigEndian.Uint16(raw[2:]))),
		sign:   binary.BigEndian.Uint16(raw[4:]),
		dscale: int(binary.BigEndian.Uint16(raw[6:]) & 0x3fff),
		digits: raw[numericHeader:],
	}
	if len(n.digits) != 2*int(binary.BigEndian.Uint16(raw)) {
		return numeric{}, errWidth
	}
	for i := 0; i < len(n.digits); i += 2 {
		if binary.BigEndian.Uint16(n.digits[i:]) >= numericBase {
			return numeric{}, errDigits
		}
	}
	return n, nil
}

func (n numeric) digit(i int) int64 { return int64(binary.BigEndian.Uint16(n.digits[2*i:])) }

func numericDecoder(target vec.Type) decodeFunc {
	switch {
	case target.ID == vec.Text:
		return decodeNumericText
	case target.Phys() == vec.PhysInt64:
		return func(b *vec.Builder, raw []byte) error {
			n, err := parseNumeric(raw)
			if err != nil {
				return err
			}
			x, err := n.unscaled64(int(target.Scale), vec.Pow10Int64(int(target.Precision)))
			if err != nil {
				return err
			}
			vec.AppendFixed(b, x)
			return nil
		}
	}
	return func(b *vec.Builder, raw []byte) error {
		n, err := parseNumeric(raw)
		if err != nil {
			return err
		}
		x, err := n.unscaled(int(target.Scale), int(target.Precision))
		if err != nil {
			return err
		}
		vec.AppendFixed(b, x)
		return nil
	}
}

// unscaled64 returns the value times 10^scale, which must lie within (-limit, limit) and be whole; limit is at most
// 10^18, so that a step of the sum never overflows.
func (n numeric) unscaled64(scale int, limit int64) (int64, error) {
	if n.sign != 0 && n.sign != numericNegative {
		return 0, errNaN
	}
	x := int64(0)
	exponent := 4*n.weight + scale // of 10, that digit i is multiplied by
	for i := 0; 2*i < len(n.digits); i++ {
		d := n.digit(i)
		if exponent < 0 {
			if err := tail(&d, exponent); err != nil {
				return 0, err
			}
			if exponent > -4 {
				if x >= limit {
					return 0, errTooLarge
				}
				x = x*vec.Pow10Int64(4+exponent) + d
			}
		} else {
			if x >= limit/1000 && x != 0 && x > (limit-1)/numericBase {
				return 0, errTooLarge
			}
			x = x*numericBase + d
		}
		exponent -= 4
	}
	if exponent += 4; exponent > 0 && x != 0 {
		if exponent > 18 || x > (limit-1)/vec.Pow10Int64(exponent) {
			return 0, errTooLarge
		}
		x *= vec.Pow10Int64(exponent)
	}
	if x >= limit {
		return 0, errTooLarge
	}
	if n.sign == numericNegative {
		x = -x
	}
	return x, nil
}

// tail cuts a digit that reaches below the unit of the result to what lies above it; the rest must be zero.
func tail(d *int64, exponent int) error {
	if exponent <= -4 {
		if *d != 0 {
			return errTooFine
		}
		return nil
	}
	unit := vec.Pow10Int64(-exponent)
	if *d%unit != 0 {
		return errTooFine
	}
	*d /= unit
	return nil
}

// unscaled is unscaled64 in 128 bits.
func (n numeric) unscaled(scale, precision int) (vec.Int128, error) {
	if n.sign != 0 && n.sign != numericNegative {
		return vec.Int128{}, errNaN
	}
	var x vec.Int128
	exponent, ok := 4*n.weight+scale, true
	for i := 0; 2*i < len(n.digits) && ok; i++ {
		d, factor := n.digit(i), int64(numericBase)
		if exponent < 0 {
			if err := tail(&d, exponent); err != nil {
				return vec.Int128{}, err
			}
			factor = vec.Pow10Int64(max(4+exponent, 0))
		}
		x, ok = vec.MulInt128Checked(x, vec.Int128From(factor))
		if ok {
			x, ok = vec.AddInt128Checked(x, vec.Int128From(d))
		}
		exponent -= 4
	}
	if exponent += 4; ok && exponent > 0 && x != (vec.Int128{}) {
		if ok = exponent <= vec.MaxPrecision; ok {
			x, ok = vec.MulInt128Checked(x, vec.Pow10(exponent))
		}
	}
	if !ok || !vec.FitsPrecision(x, precision) {
		return vec.Int128{}, errTooLarge
	}
	if n.sign == numericNegative {
		x = vec.NegInt128(x)
	}
	return x, nil
}

// decodeNumericText renders the numeric as PostgreSQL does.
func decodeNumericText(b *vec.Builder, raw []byte) error {
	n, err := parseNumeric(raw)
	if err != nil {
		return err
	}
	text, err := n.appendText(nil)
	if err != nil {
		return err
	}
	return decodeText(b, text)
}

func (n numeric) appendText(dst []byte) ([]byte, error) {
	switch n.sign {
	case numericNaN:
		return append(dst, "NaN"...), nil
	case numericInfinity:
		return append(dst, "Infinity"...), nil
	case numericMinInfinity:
		return append(dst, "-Infinity"...), nil
	case numericNegative:
		dst = append(dst, '-')
	case 0:
	default:
		return nil, errDigits
	}
	at := func(place int) int64 { // the digit of weight place
		if i := n.weight - place; i >= 0 && 2*i < len(n.digits) {
			return n.digit(i)
		}
		return 0
	}
	dst = strconv.AppendInt(dst, at(max(n.weight, 0)), 10)
	for place := n.weight - 1; place >= 0; place-- {
		dst = appendFour(dst, at(place))
	}
	if n.dscale == 0 {
		return dst, nil
	}
	dst = append(dst, '.')
	end := len(dst) + n.dscale
	for place := -1; len(dst) < end; place-- {
		dst = appendFour(dst, at(place))
	}
	return dst[:end], nil
}

func appendFour(dst []byte, d int64) []byte {
	return append(dst, byte('0'+d/1000), byte('0'+d/100%10), byte('0'+d/10%10), byte('0'+d%10))
}
