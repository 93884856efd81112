package plan

import (
	"github.com/tidemarkdb/tidemark/vec"
)

// unwrapCompare rewrites CAST(x AS wider) op constant to x op constant, so that statistics of x apply and no value is
// converted. Where the constant lies between two values of x's type, an order comparison moves to the lower one.
func unwrapCompare(e *Compare, k vec.Value) Expr {
	c, ok := e.Left.(*Cast)
	if !ok || c.Try || k.Null || !monotonic(c.Arg.Type(), c.To) {
		return e
	}
	v, exact, ok := floorTo(k, c.Arg.Type())
	if !ok {
		return e
	}
	op := e.Op
	if !exact {
		switch op {
		case Lt, Le:
			op = Le
		case Gt, Ge:
			op = Gt
		default:
			return e
		}
	}
	return &Compare{Op: op, Left: c.Arg, Right: &Const{Value: v}}
}

// unwrapIn does the same for a list; values that x's type does not have cannot match and are dropped.
func unwrapIn(e *In) Expr {
	c, ok := e.Arg.(*Cast)
	if !ok || c.Try || !monotonic(c.Arg.Type(), c.To) {
		return e
	}
	out := &In{Arg: c.Arg, Negate: e.Negate}
	for _, k := range e.List {
		if k.Null {
			out.List = append(out.List, vec.NullValue(c.Arg.Type()))
			continue
		}
		v, exact, ok := floorTo(k, c.Arg.Type())
		if !ok && !(k.Type.IsInteger() && c.Arg.Type().IsInteger()) {
			return e
		}
		if ok && exact {
			out.List = append(out.List, v)
		}
	}
	if len(out.List) == 0 {
		return e
	}
	return out
}

// monotonic reports a cast that keeps order and never fails, as well as that never merges two values.
func monotonic(from, to vec.Type) bool {
	switch {
	case from.IsInteger() && to.IsInteger():
		return from.ID < to.ID
	case from.IsInteger() && to.ID == vec.Decimal:
		return int(to.Precision)-int(to.Scale) >= 19
	case from.ID == vec.Decimal && to.ID == vec.Decimal:
		return to.Scale >= from.Scale && to.Precision-to.Scale >= from.Precision-from.Scale
	case from.ID == vec.Date && to.ID == vec.Timestamp:
		return true
	}
	return false
}

// floorTo returns the greatest value of type t that is not above k, and whether it equals k; ok is false when k is out
// of t's range.
func floorTo(k vec.Value, t vec.Type) (v vec.Value, exact, ok bool) {
	switch {
	case k.Type.IsInteger() && t.IsInteger():
		return vec.IntValue(t, k.I), true, fitsInteger(k.I, t)
	case k.Type.ID == vec.Decimal && (t.IsInteger() || t.ID == vec.Decimal):
		return floorDecimal(k, t)
	case k.Type.ID == vec.Timestamp && t.ID == vec.Date:
		const dayMicros = 86_400_000_000
		day := k.I / dayMicros
		if k.I%dayMicros < 0 {
			day--
		}
		const limit = 100_000_000 // days; infinities and the far ends stay as they are
		return vec.IntValue(t, day), day*dayMicros == k.I, day > -limit && day < limit
	}
	return vec.Value{}, false, false
}

func fitsInteger(i int64, t vec.Type) bool {
	switch t.ID {
	case vec.Int16:
		return i == int64(int16(i))
	case vec.Int32:
		return i == int64(int32(i))
	}
	return true
}

func floorDecimal(k vec.Value, t vec.Type) (v vec.Value, exact, ok bool) {
	scale := int(t.Scale)
	if t.IsInteger() {
		scale = 0
	}
	drop := int(k.Type.Scale) - scale
	x := k.Int128()
	exact = true
	if drop > 0 {
		q, r := vec.DivInt128(x, vec.Pow10(drop))
		if r != (vec.Int128{}) {
			exact = false
			if r.Hi < 0 {
				q = vec.SubInt128(q, vec.Int128From(1))
			}
		}
		x = q
	} else if drop < 0 {
		scaled, fits := vec.RescaleInt128(x, int(k.Type.Scale), scale)
		if !fits {
			return vec.Value{}, false, false
		}
		x = scaled
	}
	if t.IsInteger() {
		i, fits := x.Int64()
		return vec.IntValue(t, i), exact, fits && fitsInteger(i, t)
	}
	return decimalValue(t, x), exact, vec.FitsPrecision(x, int(t.Precision))
}
