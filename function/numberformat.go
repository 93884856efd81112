package function

import (
	"strings"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// toNumberType is the result of to_number, whose template is read too late to fix the scale.
var toNumberType = vec.DecimalType(vec.MaxPrecision, 9)

// numberToChar is to_char of numbers with the patterns 9 0 . D , G S MI PL SG PR $ L and FM, or RN.
func numberToChar(c *call) (*vec.Vector, error) {
	v, formats := c.args[0], textsOf(c.args[1])
	return toText(textT, func(_ *call, dst []byte, i int) ([]byte, error) {
		if lower, fill, ok := romanFormat(formats.str(i)); ok {
			return appendRoman(dst, wholeNumber(v, i), lower, fill), nil
		}
		x := vec.Int128{}
		scale := 0
		switch v.Type.ID {
		case vec.Decimal:
			x, scale = wide(v)(i), int(v.Type.Scale)
		case vec.Int32, vec.Int64:
			x = wide(v)(i)
		default:
			t := vec.DecimalType(vec.MaxPrecision, 9)
			var ok bool
			if x, ok = vec.DecimalFromFloat(floatsOf(v)(i), 15, t); !ok {
				return nil, outOfRange(t)
			}
			scale = 9
		}
		return appendPicture(dst, x, scale, formats.str(i))
	})(c)
}

// picture is a number format taken apart.
type picture struct {
	whole, fraction           []byte // 9 0 and group separators; 9 and 0
	fill, trailingSign        bool
	leadingSign, minus, plus  bool
	angle, currency, hasPoint bool
}

func readPicture(format string) (picture, error) {
	var p picture
	for i := 0; i < len(format); {
		rest := strings.ToUpper(format[i:])
		switch {
		case strings.HasPrefix(rest, "FM"):
			p.fill = true
			i += 2
		case strings.HasPrefix(rest, "MI"), strings.HasPrefix(rest, "SG"):
			p.minus = rest[0] == 'M'
			p.trailingSign = p.trailingSign || rest[0] == 'S' && len(p.whole) > 0
			p.leadingSign = p.leadingSign || rest[0] == 'S' && len(p.whole) == 0
			i += 2
		case strings.HasPrefix(rest, "PL"):
			p.plus = true
			i += 2
		case strings.HasPrefix(rest, "PR"):
			p.angle = true
			i += 2
		case rest[0] == 'S':
			p.leadingSign, p.trailingSign = len(p.whole) == 0, len(p.whole) > 0
			i++
		case rest[0] == '9' || rest[0] == '0':
			if p.hasPoint {
				p.fraction = append(p.fraction, rest[0])
			} else {
				p.whole = append(p.whole, rest[0])
			}
			i++
		case rest[0] == '.' || rest[0] == 'D':
			if p.hasPoint {
				return p, sqlerr.New(sqlerr.SyntaxError, "multiple decimal points")
			}
			p.hasPoint = true
			i++
		case rest[0] == ',' || rest[0] == 'G':
			p.whole = append(p.whole, ',')
			i++
		case rest[0] == '$' || rest[0] == 'L':
			p.currency = true
			i++
		default:
			return p, sqlerr.New(sqlerr.FeatureNotSupported, "the number format has \"%s\", which is not supported", format[i:i+1]).
				Hintf("Patterns are 9 0 . , D G S MI PL SG PR $ L and FM, or RN alone.")
		}
	}
	return p, nil
}

func appendPicture(dst []byte, x vec.Int128, scale int, format string) ([]byte, error) {
	p, err := readPicture(format)
	if err != nil {
		return nil, err
	}
	rounded, ok := vec.RescaleInt128(x, scale, len(p.fraction))
	if !ok {
		return nil, outOfRange(toNumberType)
	}
	negative := rounded.Hi < 0
	if negative {
		rounded = vec.NegInt128(rounded)
	}
	whole, fraction, _ := strings.Cut(string(vec.AppendDecimal(nil, rounded, len(p.fraction))), ".")
	places := len(p.whole) - strings.Count(string(p.whole), ",")
	if whole == "0" && places > 0 && strings.IndexByte(string(p.whole), '0') < 0 && p.hasPoint && len(fraction) > 0 {
		whole = "" // .5, not 0.5
	}
	body := p.digits(whole, places)
	if p.hasPoint {
		body += "." + p.decimals(fraction)
	}
	return append(dst, p.signed(body, negative)...), nil
}

// digits lays the whole digits into the picture, # where they do not fit.
func (p *picture) digits(whole string, places int) string {
	if len(whole) > places {
		return strings.ReplaceAll(strings.ReplaceAll(string(p.whole), "9", "#"), "0", "#")
	}
	out := make([]byte, 0, len(p.whole)+1)
	padded := strings.Repeat(" ", places-len(whole)) + whole
	started, k := false, 0
	for _, c := range p.whole {
		if c == ',' {
			if started {
				out = append(out, ',')
			} else {
				out = append(out, ' ')
			}
			continue
		}
		d := padded[k]
		k++
		if d == ' ' && (c == '0' || started) {
			d = '0'
		}
		started = started || d != ' '
		out = append(out, d)
	}
	return string(out)
}

// decimals is the fraction; after FM trailing zeros that the picture has as 9 are dropped.
func (p *picture) decimals(fraction string) string {
	if !p.fill {
		return fraction
	}
	end := len(fraction)
	for end > 0 && fraction[end-1] == '0' && p.fraction[end-1] == '9' {
		end--
	}
	return fraction[:end]
}

// signed puts the sign where the picture has it, by default before the first digit.
func (p *picture) signed(body string, negative bool) string {
	number := strings.TrimLeft(body, " ")
	blanks := body[:len(body)-len(number)]
	sign := map[bool]string{true: "-", false: " "}[negative]
	anchored := map[bool]string{true: "-", false: "+"}[negative]
	if p.currency {
		number = "$" + number
	}
	switch {
	case p.angle && negative:
		body = blanks + "<" + number + ">"
	case p.angle:
		body = " " + blanks + number + " "
	case p.trailingSign:
		body = blanks + number + anchored
	case p.leadingSign:
		body = blanks + anchored + number
	case p.minus:
		body = blanks + number + sign
	case p.plus:
		body = map[bool]string{true: " ", false: "+"}[negative] + blanks + sign + number
	default:
		body = blanks + sign + number
	}
	if p.fill {
		body = strings.Trim(body, " ")
	}
	return body
}

func toNumber(_ *call, args []vec.Value) (vec.Value, error) {
	s := strings.TrimSpace(args[0].S)
	negative := strings.ContainsAny(s, "-<")
	digits := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r == '.' {
			return r
		}
		return -1
	}, s)
	if _, err := readPicture(args[1].S); err != nil {
		return vec.Value{}, err
	}
	if digits == "" {
		return vec.Value{}, sqlerr.New(sqlerr.InvalidText, "invalid input syntax for type numeric: \"%s\"", args[0].S)
	}
	if negative {
		digits = "-" + digits
	}
	return vec.Parse(toNumberType, digits, nil)
}
