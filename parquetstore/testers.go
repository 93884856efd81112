package parquetstore

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"github.com/tidemarkdb/tidemark/vec"
)

type tester = func(v *vec.Vector, sel, out vec.Selection) vec.Selection

func passNone(_ *vec.Vector, _, out vec.Selection) vec.Selection { return out }

// hasNullValue reports a predicate whose constant is NULL, which no row passes.
func (p *Predicate) hasNullValue() bool {
	return p.Op != In && slices.ContainsFunc(p.Values, func(v vec.Value) bool { return v.Null })
}

// closedRange returns the range of integers the predicate asks for; ok is false when there are none.
func (p *Predicate) closedRange(least, most int64) (low, high int64, ok bool) {
	low, high = least, most
	first := p.Values[0].I
	switch p.Op {
	case Eq:
		low, high = first, first
	case Lt:
		if first == math.MinInt64 {
			return 0, 0, false
		}
		high = first - 1
	case Le:
		high = first
	case Gt:
		if first == math.MaxInt64 {
			return 0, 0, false
		}
		low = first + 1
	case Ge:
		low = first
	case Between:
		low, high = first, p.Values[1].I
	}
	low, high = max(low, least), min(high, most)
	return low, high, low <= high
}

func limits[T byte | int16 | int32 | int64]() (least, most int64) {
	var zero T
	switch any(zero).(type) {
	case byte:
		return 0, math.MaxUint8
	case int16:
		return math.MinInt16, math.MaxInt16
	case int32:
		return math.MinInt32, math.MaxInt32
	}
	return math.MinInt64, math.MaxInt64
}

func intTest[T byte | int16 | int32 | int64](p Predicate) tester {
	if p.hasNullValue() {
		return passNone
	}
	switch p.Op {
	case IsNull, IsNotNull:
		return nil
	case Ne:
		not := p.Values[0].I
		return func(v *vec.Vector, sel, out vec.Selection) vec.Selection {
			return choose(vec.Cast[T](v.Data)[:v.N], sel, out, func(x T) bool { return int64(x) != not })
		}
	case In:
		has := intSet(p.Values)
		return func(v *vec.Vector, sel, out vec.Selection) vec.Selection {
			return choose(vec.Cast[T](v.Data)[:v.N], sel, out, func(x T) bool { return has(int64(x)) })
		}
	}
	low, high, ok := p.closedRange(limits[T]())
	if !ok {
		return passNone
	}
	return func(v *vec.Vector, sel, out vec.Selection) vec.Selection {
		return chooseRange(vec.Cast[T](v.Data)[:v.N], sel, out, T(low), T(high))
	}
}

// intSet returns a membership test.
func intSet(values []vec.Value) func(int64) bool {
	var all []int64
	for _, v := range values {
		if !v.Null {
			all = append(all, v.I)
		}
	}
	if len(all) <= 8 {
		return func(x int64) bool { return slices.Contains(all, x) }
	}
	set := make(map[int64]struct{}, len(all))
	for _, x := range all {
		set[x] = struct{}{}
	}
	return func(x int64) bool { _, ok := set[x]; return ok }
}

// holds reports whether a value that compares to constant i as compare says passes.
func (p *Predicate) holds(compare func(i int) int) bool {
	switch p.Op {
	case Eq:
		return compare(0) == 0
	case Ne:
		return compare(0) != 0
	case Lt:
		return compare(0) < 0
	case Le:
		return compare(0) <= 0
	case Gt:
		return compare(0) > 0
	case Ge:
		return compare(0) >= 0
	case Between:
		return compare(0) >= 0 && compare(1) <= 0
	case In:
		for i := range p.Values {
			if !p.Values[i].Null && compare(i) == 0 {
				return true
			}
		}
	}
	return false
}

// floatKey maps floats to integers of the same order: zeros are equal, NaN comes after everything.
func floatKey(x float64) int64 {
	if x != x {
		return math.MaxInt64
	}
	b := int64(math.Float64bits(x))
	return (b ^ b>>63&math.MaxInt64) + b>>63&1
}

func floatTest[T float32 | float64](p Predicate) tester {
	if p.hasNullValue() || p.Op == IsNull || p.Op == IsNotNull {
		return passNone
	}
	keys := p
	keys.Values = slices.Clone(p.Values)
	for i := range keys.Values {
		keys.Values[i].I = floatKey(keys.Values[i].F)
	}
	pass := func(int64) bool { return false }
	switch p.Op {
	case Ne:
		not := keys.Values[0].I
		pass = func(x int64) bool { return x != not }
	case In:
		pass = intSet(keys.Values)
	default:
		low, high, ok := keys.closedRange(limits[int64]())
		if !ok {
			return passNone
		}
		return func(v *vec.Vector, sel, out vec.Selection) vec.Selection {
			return choose(vec.Cast[T](v.Data)[:v.N], sel, out, func(x T) bool {
				k := floatKey(float64(x))
				return k >= low && k <= high
			})
		}
	}
	return func(v *vec.Vector, sel, out vec.Selection) vec.Selection {
		return choose(vec.Cast[T](v.Data)[:v.N], sel, out, func(x T) bool { return pass(floatKey(float64(x))) })
	}
}

func wideTest(p Predicate, t vec.Type) tester {
	if p.hasNullValue() {
		return passNone
	}
	order := vec.CompareInt128
	if t.ID == vec.UUID {
		order = func(a, b vec.Int128) int {
			return cmp.Or(cmp.Compare(uint64(a.Hi), uint64(b.Hi)), cmp.Compare(a.Lo, b.Lo))
		}
	}
	constants := make([]vec.Int128, len(p.Values))
	for i, v := range p.Values {
		constants[i] = v.Int128()
	}
	return func(v *vec.Vector, sel, out vec.Selection) vec.Selection {
		return choose(vec.Cast[vec.Int128](v.Data)[:v.N], sel, out, func(x vec.Int128) bool {
			return p.holds(func(i int) int { return order(x, constants[i]) })
		})
	}
}

func bytesTest(p Predicate) tester {
	if p.hasNullValue() {
		return passNone
	}
	pass := func(s []byte) bool {
		return p.holds(func(i int) int { return bytes.Compare(s, vec.StringBytes(p.Values[i].S)) })
	}
	switch p.Op {
	case Prefix:
		prefix := []byte(p.Values[0].S)
		pass = func(s []byte) bool { return bytes.HasPrefix(s, prefix) }
	case Eq:
		want := p.Values[0].S
		pass = func(s []byte) bool { return string(s) == want }
	case In:
		set := make(map[string]struct{}, len(p.Values))
		for _, v := range p.Values {
			if !v.Null {
				set[v.S] = struct{}{}
			}
		}
		pass = func(s []byte) bool { _, ok := set[string(s)]; return ok }
	}
	return func(v *vec.Vector, sel, out vec.Selection) vec.Selection {
		offsets := v.Offsets[:v.N]
		if sel == nil {
			for i := range offsets {
				if pass(v.Data[v.Offsets[i]:v.Offsets[i+1]]) {
					out = append(out, int32(i))
				}
			}
			return out
		}
		for _, i := range sel {
			if pass(v.Data[v.Offsets[i]:v.Offsets[i+1]]) {
				out = append(out, i)
			}
		}
		return out
	}
}
