package mongodb

import (
	"encoding/binary"
	"math"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/tidemarkdb/tidemark/vec"
)

// number is a finite number: coefficient * 10^exponent.
type number struct {
	coefficient vec.Int128
	exponent    int
}

// class says whether a number is finite.
type class uint8

const (
	finite class = iota
	notANumber
	infinite
	minusInfinite
)

func (c class) String() string {
	return [...]string{"", "NaN", "Infinity", "-Infinity"}[c]
}

// toNumber reads an int32, int64, double or Decimal128. A double stands for the shortest decimal that reads back as it,
// which is how it is printed everywhere.
func toNumber(v value) (number, class) {
	switch v.kind {
	case bson.TypeDouble:
		return fromFloat(v.float64())
	case bson.TypeDecimal128:
		return fromDecimal128(binary.LittleEndian.Uint64(v.data[8:]), binary.LittleEndian.Uint64(v.data))
	}
	return number{coefficient: vec.Int128From(v.int64())}, finite
}

func fromFloat(f float64) (number, class) {
	switch {
	case math.IsNaN(f):
		return number{}, notANumber
	case math.IsInf(f, 1):
		return number{}, infinite
	case math.IsInf(f, -1):
		return number{}, minusInfinite
	}
	var buf [32]byte
	text := strconv.AppendFloat(buf[:0], f, 'e', -1, 64) // d.ddde±dd, at most 17 digits
	var coefficient int64
	exponent, point, negative := 0, false, false
	for i, c := range text {
		switch {
		case c == '-':
			negative = true
		case c == '.':
			point = true
		case c == 'e':
			e, _ := strconv.Atoi(string(text[i+1:]))
			exponent += e
			if negative {
				coefficient = -coefficient
			}
			return number{vec.Int128From(coefficient), exponent}, finite
		default:
			coefficient = coefficient*10 + int64(c-'0')
			if point {
				exponent--
			}
		}
	}
	return number{}, notANumber // AppendFloat always writes an exponent
}

// The parts of an IEEE 754-2008 decimal128 in the binary integer encoding.
const (
	decimalBias      = 6176
	decimalNegative  = 1 << 63
	decimalSpecial   = 0x7800000000000000 // infinity, or NaN with the next bit
	decimalNaN       = 0x7c00000000000000
	decimalLargeForm = 0x6000000000000000 // coefficients beyond 34 digits, which count as 0
)

var decimalLimit = vec.Pow10(34)

func fromDecimal128(high, low uint64) (number, class) {
	switch {
	case high&decimalNaN == decimalNaN:
		return number{}, notANumber
	case high&decimalSpecial == decimalSpecial && high&decimalNegative != 0:
		return number{}, minusInfinite
	case high&decimalSpecial == decimalSpecial:
		return number{}, infinite
	case high&decimalLargeForm == decimalLargeForm:
		return number{exponent: int(high>>47&0x3fff) - decimalBias}, finite
	}
	out := number{vec.Int128{Hi: int64(high & (1<<49 - 1)), Lo: low}, int(high>>49&0x3fff) - decimalBias}
	if vec.CompareInt128(out.coefficient, decimalLimit) >= 0 {
		out.coefficient = vec.Int128{}
	}
	if high&decimalNegative != 0 {
		out.coefficient = vec.NegInt128(out.coefficient)
	}
	return out, finite
}

// scaled returns n * 10^scale when that is a whole number of 128 bits.
func (n number) scaled(scale int) (vec.Int128, bool) {
	if n.coefficient == (vec.Int128{}) {
		return n.coefficient, true
	}
	switch shift := n.exponent + scale; {
	case shift > vec.MaxPrecision || shift < -vec.MaxPrecision:
		return vec.Int128{}, false
	case shift >= 0:
		return vec.MulInt128Checked(n.coefficient, vec.Pow10(shift))
	default:
		quotient, remainder := vec.DivInt128(n.coefficient, vec.Pow10(-shift))
		return quotient, remainder == vec.Int128{}
	}
}

// whole returns n when it is a whole number of 64 bits.
func (n number) whole() (int64, bool) {
	x, ok := n.scaled(0)
	return int64(x.Lo), ok && x == vec.Int128From(int64(x.Lo))
}

// plain returns n without zeros at the end of its coefficient, so that equal numbers are equal.
func (n number) plain() number {
	if n.coefficient == (vec.Int128{}) {
		return number{}
	}
	for {
		quotient, remainder := vec.DivInt128(n.coefficient, vec.Int128From(10))
		if remainder != (vec.Int128{}) {
			return n
		}
		n.coefficient, n.exponent = quotient, n.exponent+1
	}
}

// float returns the double that prints as n does; false when there is none.
func (n number) float() (float64, bool) {
	f, err := strconv.ParseFloat(string(n.append(nil)), 64)
	if err != nil {
		return 0, false
	}
	back, _ := fromFloat(f)
	return f, back.plain() == n.plain()
}

// append writes n, always in the same form for equal numbers: digits with at most 38 zeros or decimals, else with an
// exponent.
func (n number) append(dst []byte) []byte {
	const plainDigits = vec.MaxPrecision
	n = n.plain()
	if n.coefficient.Hi < 0 {
		dst, n.coefficient = append(dst, '-'), vec.NegInt128(n.coefficient)
	}
	switch {
	case n.exponent > plainDigits || n.exponent < -plainDigits:
		dst = append(vec.AppendDecimal(dst, n.coefficient, 0), 'E')
		return strconv.AppendInt(dst, int64(n.exponent), 10)
	case n.exponent >= 0:
		dst = vec.AppendDecimal(dst, n.coefficient, 0)
		for range n.exponent {
			dst = append(dst, '0')
		}
		return dst
	}
	return vec.AppendDecimal(dst, n.coefficient, -n.exponent)
}
