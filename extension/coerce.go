package extension

import (
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// category groups types the way overload resolution compares them.
type category byte

const (
	catUnknown  category = 'X'
	catBool     category = 'B'
	catNumeric  category = 'N'
	catString   category = 'S'
	catDatetime category = 'D'
	catTimespan category = 'T'
	catArray    category = 'A'
	catRecord   category = 'P'
	catBytea    category = 'U'
	catUUID     category = 'I'
	catJSON     category = 'J'
)

func categoryOf(t vec.Type) category {
	switch t.ID {
	case vec.Bool:
		return catBool
	case vec.Int16, vec.Int32, vec.Int64, vec.Float32, vec.Float64, vec.Decimal:
		return catNumeric
	case vec.Text:
		return catString
	case vec.Date, vec.Time, vec.TimeTZ, vec.Timestamp, vec.TimestampTZ:
		return catDatetime
	case vec.Interval:
		return catTimespan
	case vec.Array:
		return catArray
	case vec.Struct:
		return catRecord
	case vec.Bytea:
		return catBytea
	case vec.UUID:
		return catUUID
	case vec.JSON:
		return catJSON
	}
	return catUnknown
}

// preferred reports the type of its category that a choice falls to.
func preferred(t vec.Type) bool {
	switch t.ID {
	case vec.Bool, vec.Float64, vec.Text, vec.TimestampTZ, vec.Interval:
		return true
	}
	return false
}

// implicitRank orders the types of a chain: a type casts implicitly to those of its chain with a higher rank.
var implicitRank = map[vec.ID]int{
	vec.Int16: 1, vec.Int32: 2, vec.Int64: 3, vec.Decimal: 4, vec.Float32: 5, vec.Float64: 6,
	vec.Date: 11, vec.Timestamp: 12, vec.TimestampTZ: 13,
}

// ImplicitCast reports whether a value of type from is taken where to is wanted without being asked for: along
// SMALLINT, INTEGER, BIGINT, NUMERIC, REAL, DOUBLE PRECISION and along DATE, TIMESTAMP, TIMESTAMPTZ, TIME to
// INTERVAL and TIMETZ, NULL to anything, arrays and structs by their members.
func ImplicitCast(from, to vec.Type) bool {
	if from.ID == vec.Null {
		return true
	}
	if from.ID == to.ID {
		switch from.ID {
		case vec.Array:
			return ImplicitCast(*from.Elem, *to.Elem)
		case vec.Struct:
			if len(from.Fields) != len(to.Fields) {
				return false
			}
			for i := range from.Fields {
				if !ImplicitCast(from.Fields[i].Type, to.Fields[i].Type) {
					return false
				}
			}
		}
		return true
	}
	if from.ID == vec.Time && (to.ID == vec.Interval || to.ID == vec.TimeTZ) {
		return true
	}
	f, t := implicitRank[from.ID], implicitRank[to.ID]
	return f > 0 && t > f && (f > 10) == (t > 10)
}

// DecimalOf returns the NUMERIC that holds every value of an integer or NUMERIC argument: of a constant integer as
// many digits as it has. Other types give NUMERIC(38, 9).
func DecimalOf(a Argument) vec.Type {
	if a.Type.ID == vec.Decimal && !a.Literal {
		return a.Type
	}
	if a.Const != nil && !a.Const.Null && (a.Literal || a.Type.IsInteger()) {
		text := a.Const.S
		if a.Type.IsInteger() {
			return vec.DecimalType(min(vec.DigitsInt128(a.Const.Int128()), 19), 0)
		}
		if _, t, ok := vec.ParseDecimal(text); ok {
			return t
		}
	}
	switch a.Type.ID {
	case vec.Int16:
		return vec.DecimalType(5, 0)
	case vec.Int32:
		return vec.DecimalType(10, 0)
	case vec.Int64:
		return vec.DecimalType(19, 0)
	}
	return vec.DecimalType(vec.MaxPrecision, 9)
}

// MergeDecimals returns the NUMERIC for the values of both: the wider integer part and the wider scale. Where both do
// not fit 38 digits the scale is kept: a value too large for what is left is then an error and none is rounded.
func MergeDecimals(a, b vec.Type) vec.Type {
	whole := max(int(a.Precision)-int(a.Scale), int(b.Precision)-int(b.Scale))
	scale := max(int(a.Scale), int(b.Scale))
	return vec.DecimalType(min(max(whole+scale, 1), vec.MaxPrecision), scale)
}

// unknown reports an argument whose type the context decides.
func (a Argument) unknown() bool { return a.Literal || a.Type.ID == vec.Null }

// CommonType returns the type to which all arguments of CASE, COALESCE, UNION, IN, VALUES, ARRAY[...] or a comparison
// are cast, by PostgreSQL's rules: literals follow the others, all literals give TEXT, and types of one category meet
// at the one the others cast to implicitly. The error is 42804.
func CommonType(args []Argument) (vec.Type, error) {
	best, first := vec.NullType, -1
	for i, a := range args {
		switch {
		case a.unknown():
			continue
		case first < 0:
			best, first = a.Type, i
			continue
		case a.Type.ID == vec.Array && best.ID == vec.Array:
			elem, err := CommonType(typesOnly(*best.Elem, *a.Type.Elem))
			if err != nil {
				return vec.Type{}, cannotMatch(best, a.Type)
			}
			best = vec.ArrayType(elem)
			continue
		case a.Type.ID == vec.Struct && best.ID == vec.Struct && len(a.Type.Fields) == len(best.Fields):
			merged, err := commonStruct(best, a.Type)
			if err != nil {
				return vec.Type{}, cannotMatch(best, a.Type)
			}
			best = merged
			continue
		case categoryOf(a.Type) != categoryOf(best):
			return vec.Type{}, cannotMatch(best, a.Type)
		}
		if a.Type.ID == vec.Text && !a.Type.Equal(best) { // text, or two enumerations
			best = vec.TextType
			continue
		}
		if a.Type.ID != best.ID && !preferred(best) && ImplicitCast(best, a.Type) && !ImplicitCast(a.Type, best) {
			best = a.Type
		}
	}
	if first < 0 {
		return vec.TextType, nil
	}
	if best.ID == vec.Decimal {
		best = commonDecimal(args)
	}
	for _, a := range args {
		if !a.unknown() && !ImplicitCast(a.Type, best) {
			return vec.Type{}, cannotMatch(args[first].Type, a.Type)
		}
	}
	return best, nil
}

// commonDecimal merges the NUMERICs and integers among args.
func commonDecimal(args []Argument) vec.Type {
	var out vec.Type
	for _, a := range args {
		if a.unknown() && (a.Const == nil || a.Const.Null) {
			continue
		}
		t := DecimalOf(a)
		if out.ID == vec.Null {
			out = t
		} else {
			out = MergeDecimals(out, t)
		}
	}
	return out
}

func commonStruct(a, b vec.Type) (vec.Type, error) {
	fields := make([]vec.Field, len(a.Fields))
	for i := range fields {
		t, err := CommonType(typesOnly(a.Fields[i].Type, b.Fields[i].Type))
		if err != nil {
			return vec.Type{}, err
		}
		fields[i] = vec.Field{Name: a.Fields[i].Name, Type: t}
	}
	return vec.StructType(fields...), nil
}

func typesOnly(types ...vec.Type) []Argument {
	args := make([]Argument, len(types))
	for i, t := range types {
		args[i].Type = t
	}
	return args
}

// CommonTypeOf is [CommonType] of typed operands.
func CommonTypeOf(types ...vec.Type) (vec.Type, error) { return CommonType(typesOnly(types...)) }

func cannotMatch(a, b vec.Type) error {
	return sqlerr.New(sqlerr.DatatypeMismatch, "types %s and %s cannot be matched", typeName(a), typeName(b)).
		Hintf("Cast one of them to the type of the other.")
}

// ComparisonType returns the type to which both sides of a comparison are cast; symbol is for the message. The error
// is 42883.
func ComparisonType(symbol string, a, b Argument) (vec.Type, error) {
	t, err := CommonType([]Argument{a, b})
	if err != nil {
		return vec.Type{}, sqlerr.New(sqlerr.UndefinedFunction, "operator does not exist: %s %s %s", argName(a), symbol, argName(b)).
			Hintf("No operator matches these types. Add an explicit cast to one side.")
	}
	return t, nil
}

// typeName is a type as messages about calls give it: NUMERIC without parameters.
func typeName(t vec.Type) string {
	switch t.ID {
	case vec.Decimal:
		return "numeric"
	case vec.Array:
		return typeName(*t.Elem) + "[]"
	case vec.Struct:
		return "record"
	}
	return t.String()
}

func argName(a Argument) string {
	if a.unknown() {
		return "unknown"
	}
	return typeName(a.Type)
}
