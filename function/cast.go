package function

import (
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// Level says where a cast between two types is allowed.
type Level uint8

// The levels, each including those below it.
const (
	NoCast     Level = iota
	Explicit         // CAST(x AS t), x::t
	Assignment       // also in INSERT, UPDATE
	Implicit         // everywhere
)

// CastLevel returns how freely from casts to to.
func CastLevel(from, to vec.Type) Level {
	switch {
	case extension.ImplicitCast(from, to):
		return Implicit
	case from.ID == vec.Array && to.ID == vec.Array:
		return CastLevel(*from.Elem, *to.Elem)
	case from.ID == vec.Struct && to.ID == vec.Struct && len(from.Fields) == len(to.Fields):
		level := Implicit
		for i := range from.Fields {
			level = min(level, CastLevel(from.Fields[i].Type, to.Fields[i].Type))
		}
		return level
	case to.Enum != nil:
		return NoCast // only text casts, which ImplicitCast knows
	case to.ID == vec.Text:
		return Assignment
	case from.IsNumeric() && to.IsNumeric():
		return Assignment
	case from.ID == vec.Text:
		return Explicit
	case from.ID == vec.Bool && to.IsInteger(), from.IsInteger() && to.ID == vec.Bool:
		return Explicit
	case from.ID == vec.Timestamp && to.ID == vec.TimeTZ:
		return NoCast
	case (from.ID == vec.Timestamp || from.ID == vec.TimestampTZ) && to.IsTemporal():
		return Assignment
	case from.ID == vec.TimeTZ && to.ID == vec.Time:
		return Assignment
	case from.ID == vec.Interval && to.ID == vec.Time:
		return Assignment
	case from.ID == vec.JSON && (to.IsNumeric() || to.ID == vec.Bool):
		return Explicit
	}
	return NoCast
}

// Cast returns the kernel of the explicit cast from one type to another, which takes one argument in any form. The
// error, 42846, says that there is none.
func Cast(from, to vec.Type) (extension.Kernel, error) { return castKernel(from, to, false) }

// TryCast is [Cast] with NULL for the values that cannot be cast.
func TryCast(from, to vec.Type) (extension.Kernel, error) { return castKernel(from, to, true) }

// CastValue casts one boxed value.
func CastValue(ev *extension.Eval, v vec.Value, to vec.Type) (vec.Value, error) {
	if v.Null {
		return vec.NullValue(to), nil
	}
	kernel, err := Cast(v.Type, to)
	if err != nil {
		return vec.Value{}, err
	}
	out, err := kernel(ev, []*vec.Vector{vec.ConstantOf(v.Type, v, 1)}, 1)
	if err != nil {
		return vec.Value{}, err
	}
	return out.Value(0), nil
}

func castKernel(from, to vec.Type, try bool) (extension.Kernel, error) {
	switch {
	case from.Equal(to):
		return func(_ *extension.Eval, args []*vec.Vector, _ int) (*vec.Vector, error) { return args[0], nil }, nil
	case from.ID == vec.Null:
		return func(_ *extension.Eval, _ []*vec.Vector, n int) (*vec.Vector, error) { return vec.NullOf(to, n), nil }, nil
	}
	b, err := castBody(from, to)
	if err != nil {
		return nil, err
	}
	return strict(to, func(c *call) (*vec.Vector, error) {
		x := &conversion{call: c, from: from, to: to, try: try}
		v, err := b(x)
		if err != nil {
			return nil, err
		}
		return withValid(v, x.good, c.n), nil
	}), nil
}

// conversion is one evaluation of a cast.
type conversion struct {
	*call
	from, to vec.Type
	try      bool
	good     vec.Bitmap // rows TryCast could cast; nil: all
}

// fail settles row i, which cannot be cast: NULL for TryCast and rows without a value, else the error to return.
func (x *conversion) fail(i int, err error) error {
	if !x.ok(i) {
		return nil
	}
	if !x.try {
		return err
	}
	if x.good == nil {
		x.good = vec.NewFullBitmap(x.n)
	}
	x.good.Clear(i)
	return nil
}

type conversionBody func(x *conversion) (*vec.Vector, error)

func noCast(from, to vec.Type) error {
	return sqlerr.New(sqlerr.CannotCoerce, "cannot cast type %s to %s", from, to).
		Hintf("Cast to text first if the text form is what you mean.")
}

// castBody returns what converts values from one type to a different one.
func castBody(from, to vec.Type) (conversionBody, error) {
	if CastLevel(from, to) == NoCast || from.ID == vec.Date && to.ID == vec.Time {
		return nil, noCast(from, to)
	}
	switch {
	case from.ID == vec.Array && to.ID == vec.Array, from.ID == vec.Struct && to.ID == vec.Struct:
		return castNested(from, to)
	case from.ID == vec.JSON && to.ID == vec.Text:
		return relabel, nil
	case to.Enum != nil:
		return castToEnum, nil
	case from.ID == vec.Text && to.ID == vec.Text: // of an enumeration
		return relabel, nil
	case to.ID == vec.Text:
		return castToText, nil
	case from.ID == vec.Text:
		return castFromText, nil
	case from.ID == vec.JSON:
		return castFromJSON, nil
	case from.ID == vec.Bool:
		return castFromBool, nil
	case to.ID == vec.Bool:
		return castToBool, nil
	case from.IsNumeric() && to.IsNumeric():
		return castNumeric(from, to), nil
	}
	return castTemporal, nil
}

func relabel(x *conversion) (*vec.Vector, error) {
	v := *x.args[0]
	v.Type = x.to
	return &v, nil
}

func castToText(x *conversion) (*vec.Vector, error) {
	out := newTextOut(x.n, x.n*8)
	v := x.args[0]
	for i := range x.n {
		if x.ok(i) {
			if x.from.ID == vec.Bool {
				out.data = append(out.data, boolWord(v, i)...)
			} else {
				out.data = vec.AppendTextIn(out.data, v, i, x.ev.Zone)
			}
		}
		if err := out.end(); err != nil {
			return nil, err
		}
	}
	return out.vector(x.to), nil
}

// boolWord is the text a BOOLEAN casts to, which is not its output form.
func boolWord(v *vec.Vector, i int) string {
	if p, k := v.Physical(i); p.Data[k] != 0 {
		return "true"
	}
	return "false"
}

func castFromText(x *conversion) (*vec.Vector, error) {
	in, out := textsOf(x.args[0]), vec.NewBuilder(x.to, x.n)
	for i := range x.n {
		if !x.ok(i) {
			out.AppendNull()
			continue
		}
		v, err := vec.ParseAt(x.to, string(in.at(i)), x.ev.Zone, x.ev.Now)
		if err != nil {
			if err = x.fail(i, err); err != nil {
				return nil, err
			}
			v = vec.NullValue(x.to)
		}
		out.Append(v)
	}
	return out.Finish(), nil
}

func castFromJSON(x *conversion) (*vec.Vector, error) {
	in, out := textsOf(x.args[0]), vec.NewBuilder(x.to, x.n)
	for i := range x.n {
		if !x.ok(i) {
			out.AppendNull()
			continue
		}
		v, err := vec.Parse(x.to, string(in.at(i)), nil)
		if err != nil {
			kind := jsonKind(in.at(i))
			if err = x.fail(i, sqlerr.New(sqlerr.InvalidParameterValue, "cannot cast json %s to type %s", kind, x.to)); err != nil {
				return nil, err
			}
			v = vec.NullValue(x.to)
		}
		out.Append(v)
	}
	return out.Finish(), nil
}

func castFromBool(x *conversion) (*vec.Vector, error) {
	a, mask := fixed[byte](x.args[0])
	out := vec.NewBuilder(x.to, x.n)
	for i := range x.n {
		out.Append(vec.Value{I: int64(a[i&mask])})
	}
	return out.Finish(), nil
}

func castToBool(x *conversion) (*vec.Vector, error) {
	zero, out := vec.ConstantOf(x.from, vec.Value{}, x.n), make([]byte, x.n)
	compareInto(Ne, x.from, x.args[0], zero, out)
	return vec.FlatOf(vec.BoolType, out, nil), nil
}

// castNested casts the members of arrays and structs.
func castNested(from, to vec.Type) (conversionBody, error) {
	var pairs [][2]vec.Type
	if from.ID == vec.Array {
		pairs = append(pairs, [2]vec.Type{*from.Elem, *to.Elem})
	} else {
		for i := range from.Fields {
			pairs = append(pairs, [2]vec.Type{from.Fields[i].Type, to.Fields[i].Type})
		}
	}
	for _, p := range pairs {
		if _, err := Cast(p[0], p[1]); err != nil {
			return nil, noCast(from, to)
		}
	}
	return func(x *conversion) (*vec.Vector, error) {
		v := *x.args[0].Flatten()
		v.Type, v.Kids = to, nil
		for i, k := range x.args[0].Flatten().Kids {
			kernel, err := castKernel(pairs[i][0], pairs[i][1], x.try)
			if err != nil {
				return nil, err
			}
			kid, err := kernel(x.ev, []*vec.Vector{k}, k.N)
			if err != nil {
				return nil, err
			}
			v.Kids = append(v.Kids, kid.Flatten())
			if x.try {
				x.dropFailed(x.args[0].Flatten(), k, v.Kids[i])
			}
		}
		return &v, nil
	}, nil
}

// dropFailed makes the rows of v NULL in which a member that had a value has none after the cast.
func (x *conversion) dropFailed(v, before, after *vec.Vector) {
	for i := range x.n {
		from, to := int32(i), int32(i)+1
		if v.Type.ID == vec.Array {
			from, to = v.Offsets[i], v.Offsets[i+1]
		}
		for k := int(from); k < int(to); k++ {
			if after.IsNull(k) && !before.IsNull(k) {
				x.null(i)
				break
			}
		}
	}
}
