package vec

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

// Parse reads s as PostgreSQL's input of type t. Timestamps without a zone are read in zone (nil: UTC); 'now',
// 'today' and the like are relative to the present.
func Parse(t Type, s string, zone *time.Location) (Value, error) {
	return parseContext{zone: zone}.parse(t, s)
}

// ParseAt is [Parse] with now as the present.
func ParseAt(t Type, s string, zone *time.Location, now time.Time) (Value, error) {
	return parseContext{zone: zone, now: now}.parse(t, s)
}

type parseContext struct {
	zone *time.Location
	now  time.Time
}

func (c parseContext) present() time.Time {
	if c.now.IsZero() {
		return time.Now()
	}
	return c.now
}

func (c parseContext) parse(t Type, s string) (Value, error) {
	switch t.ID {
	case Null:
		return NullValue(t), nil
	case Bool:
		return parseBool(s)
	case Int16, Int32, Int64:
		return parseInt(t, s)
	case Float32, Float64:
		return parseFloat(t, s)
	case Decimal:
		return parseNumeric(t, s)
	case Text:
		if t.Enum != nil && t.Enum.Place(s) < 0 {
			return Value{}, sqlerr.New(sqlerr.InvalidText, "invalid input value for enum %s: %q", t.Enum.Name, s).
				Hintf("enum_range(NULL::%s) lists its labels", t.Enum.Name)
		}
		return StringValue(t, s), nil
	case JSON:
		return parseJSON(t, s)
	case Bytea:
		return parseBytea(t, s)
	case Date, Time, TimeTZ, Timestamp, TimestampTZ:
		return c.parseTemporal(t, s)
	case Interval:
		span, err := ParseInterval(s)
		return Value{Type: t, Span: span}, err
	case UUID:
		return parseUUID(t, s)
	case Array:
		return parseArray(t, s, c)
	case Struct:
		return parseRecord(t, s, c)
	}
	return Value{}, sqlerr.New(sqlerr.FeatureNotSupported, "no text form of type %s", t)
}

// textTypeName is the type's name as PostgreSQL gives it in messages about text: without parameters.
func textTypeName(t Type) string {
	if t.ID == Decimal {
		return "numeric"
	}
	return t.String()
}

func invalidText(t Type, s string) error {
	return sqlerr.New(sqlerr.InvalidText, "invalid input syntax for type %s: \"%s\"", textTypeName(t), s)
}

func outOfRange(t Type, s string) error {
	return sqlerr.New(sqlerr.NumericOutOfRange, "value \"%s\" is out of range for type %s", s, textTypeName(t))
}

func malformed(kind, s string) error {
	return sqlerr.New(sqlerr.InvalidText, "malformed %s literal: \"%s\"", kind, s)
}

func parseBool(s string) (Value, error) {
	word := strings.ToLower(strings.TrimSpace(s))
	if word != "" {
		for _, w := range [...]string{"true", "yes"} {
			if strings.HasPrefix(w, word) {
				return BoolValue(true), nil
			}
		}
		for _, w := range [...]string{"false", "no"} {
			if strings.HasPrefix(w, word) {
				return BoolValue(false), nil
			}
		}
	}
	switch word {
	case "on", "1":
		return BoolValue(true), nil
	case "off", "of", "0":
		return BoolValue(false), nil
	}
	return Value{}, invalidText(BoolType, s)
}

func parseInt(t Type, s string) (Value, error) {
	word := strings.Trim(s, " \t\n\r\v\f")
	bits := t.Phys().Width() * 8
	if strings.ContainsRune(word, '_') {
		return Value{}, invalidText(t, s)
	}
	i, err := strconv.ParseInt(word, 10, bits)
	switch {
	case err == nil:
		return IntValue(t, i), nil
	case errors.Is(err, strconv.ErrRange):
		return Value{}, outOfRange(t, s)
	}
	return Value{}, invalidText(t, s)
}

func parseFloat(t Type, s string) (Value, error) {
	word := strings.Trim(s, " \t\n\r\v\f")
	switch strings.ToLower(word) {
	case "nan":
		return FloatValue(t, math.NaN()), nil
	case "infinity", "inf", "+infinity", "+inf":
		return FloatValue(t, math.Inf(1)), nil
	case "-infinity", "-inf":
		return FloatValue(t, math.Inf(-1)), nil
	}
	if _, ok := scanNumber(word); !ok {
		return Value{}, invalidText(t, s)
	}
	f, err := strconv.ParseFloat(word, t.Phys().Width()*8)
	zero := f == 0 && strings.ContainsAny(mantissa(word), "123456789")
	if err != nil || zero {
		return Value{}, sqlerr.New(sqlerr.NumericOutOfRange, "\"%s\" is out of range for type %s", s, t)
	}
	return FloatValue(t, f), nil
}

func mantissa(s string) string {
	if e := strings.IndexAny(s, "eE"); e >= 0 {
		return s[:e]
	}
	return s
}

func parseNumeric(t Type, s string) (Value, error) {
	n, ok := scanNumber(strings.Trim(s, " \t\n\r\v\f"))
	if !ok {
		switch strings.ToLower(strings.TrimSpace(s)) {
		case "nan", "inf", "infinity", "-inf", "-infinity", "+inf", "+infinity":
			return Value{}, sqlerr.New(sqlerr.NumericOutOfRange, "%s cannot hold %s", t, strings.TrimSpace(s)).
				Hintf("Use double precision for NaN and infinity.")
		}
		return Value{}, invalidText(t, s)
	}
	x, ok := n.fit(t)
	if !ok {
		return Value{}, NumericOverflow(t)
	}
	return Int128Value(t, x), nil
}

// NumericOverflow is the error for a value with more digits than the NUMERIC type t takes.
func NumericOverflow(t Type) error {
	return sqlerr.New(sqlerr.NumericOutOfRange, "numeric field overflow").
		Detailf("A field with precision %d, scale %d must round to an absolute value less than 10^%d.",
			t.Precision, t.Scale, t.Precision-t.Scale)
}

func parseJSON(t Type, s string) (Value, error) {
	if !json.Valid(StringBytes(s)) {
		return Value{}, sqlerr.New(sqlerr.InvalidText, "invalid input syntax for type json").
			Detailf("The text is not one JSON value: %.60q", s)
	}
	return StringValue(t, s), nil
}

func parseBytea(t Type, s string) (Value, error) {
	if rest, ok := strings.CutPrefix(s, `\x`); ok {
		raw, err := hex.DecodeString(strings.Map(func(r rune) rune {
			if r == ' ' || r == '\n' || r == '\t' || r == '\r' {
				return -1
			}
			return r
		}, rest))
		if err != nil {
			return Value{}, sqlerr.New(sqlerr.InvalidParameterValue, "invalid hexadecimal data in \"%s\"", s)
		}
		return StringValue(t, string(raw)), nil
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != '\\':
			out = append(out, s[i])
		case i+1 < len(s) && s[i+1] == '\\':
			out = append(out, '\\')
			i++
		default:
			if i+4 > len(s) {
				return Value{}, invalidText(t, s)
			}
			x, err := strconv.ParseUint(s[i+1:i+4], 8, 8)
			if err != nil {
				return Value{}, invalidText(t, s)
			}
			out = append(out, byte(x))
			i += 3
		}
	}
	return StringValue(t, string(out)), nil
}

func parseUUID(t Type, s string) (Value, error) {
	word := s
	if strings.HasPrefix(word, "{") && strings.HasSuffix(word, "}") {
		word = word[1 : len(word)-1]
	}
	raw, err := hex.DecodeString(strings.ReplaceAll(word, "-", ""))
	if err != nil || len(raw) != 16 || strings.HasPrefix(word, "-") || strings.HasSuffix(word, "-") || strings.Contains(word, "--") {
		return Value{}, invalidText(t, s)
	}
	var x Int128
	for i := range 8 {
		x.Hi = x.Hi<<8 | int64(raw[i])
		x.Lo = x.Lo<<8 | uint64(raw[8+i])
	}
	return Int128Value(t, x), nil
}
