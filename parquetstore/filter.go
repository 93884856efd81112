package parquetstore

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"github.com/tidemarkdb/tidemark/vec"
)

// filter evaluates one predicate. It belongs to one goroutine: it remembers the answer for a dictionary's entries.
type filter struct {
	predicate Predicate
	typ       vec.Type
	test      func(v *vec.Vector, sel, out vec.Selection) vec.Selection // of a flat vector; ignores NULLs
	dict      *vec.Vector
	pass      []byte // of dict's entries, 1 or 0
}

// newFilter prepares a predicate for which [Exact] holds.
func newFilter(p Predicate, t vec.Type) *filter {
	f := &filter{predicate: p, typ: t}
	switch t.Phys() {
	case vec.PhysBool:
		f.test = intTest[byte](p)
	case vec.PhysInt16:
		f.test = intTest[int16](p)
	case vec.PhysInt32:
		f.test = intTest[int32](p)
	case vec.PhysInt64:
		f.test = intTest[int64](p)
	case vec.PhysFloat32:
		f.test = floatTest[float32](p)
	case vec.PhysFloat64:
		f.test = floatTest[float64](p)
	case vec.PhysBytes:
		f.test = bytesTest(p)
	default:
		f.test = wideTest(p, t)
	}
	return f
}

// mergeRanges joins the comparisons of one column of integers into one range, which takes one pass over the rows.
func mergeRanges(predicates []Predicate, columns []Column) []Predicate {
	var out []Predicate
	at := map[int]int{} // place in out of a column's range
	for _, p := range predicates {
		t := columns[p.Column].Type
		i, seen := at[p.Column]
		if !p.isRange(t) {
			out = append(out, p)
			continue
		}
		if !seen {
			at[p.Column] = len(out)
			out = append(out, p)
			continue
		}
		a, b, okA := out[i].closedRange(limits[int64]())
		c, d, okB := p.closedRange(limits[int64]())
		low, high := max(a, c), min(b, d)
		if !okA || !okB {
			low, high = 1, 0
		}
		out[i] = Predicate{Column: p.Column, Op: Between, Values: []vec.Value{vec.IntValue(t, low), vec.IntValue(t, high)}}
	}
	return out
}

// isRange reports a comparison with integers that closedRange understands.
func (p *Predicate) isRange(t vec.Type) bool {
	switch t.Phys() {
	case vec.PhysInt16, vec.PhysInt32, vec.PhysInt64:
		return p.Op <= Between && p.Op != Ne && !p.hasNullValue()
	}
	return false
}

// apply appends to out the rows of sel (nil: all) of v that pass. out must not overlap sel unless it starts where
// sel does: the kernels write behind where they read.
func (f *filter) apply(v *vec.Vector, sel, out vec.Selection) vec.Selection {
	switch f.predicate.Op {
	case IsNull:
		return selectNulls(v, sel, out, true)
	case IsNotNull:
		return selectNulls(v, sel, out, false)
	}
	switch v.Form {
	case vec.Dictionary:
		return f.applyDictionary(v, sel, out)
	case vec.Constant:
		v = v.Flatten()
	}
	if v.Valid != nil {
		sel = selectNulls(v, sel, make(vec.Selection, 0, v.N), false)
	}
	return f.test(v, sel, out)
}

func (f *filter) applyDictionary(v *vec.Vector, sel, out vec.Selection) vec.Selection {
	if f.dict != v.Dict {
		f.dict, f.pass = v.Dict, make([]byte, v.Dict.N)
		for _, i := range f.apply(v.Dict, nil, nil) {
			f.pass[i] = 1
		}
	}
	if v.Valid != nil {
		sel = selectNulls(v, sel, make(vec.Selection, 0, v.N), false)
	}
	return chooseCodes(v.Index, f.pass, sel, out)
}

// chooseCodes appends the rows whose code's entry passes.
func chooseCodes(codes []int32, pass []byte, sel, out vec.Selection) vec.Selection {
	n := len(codes)
	if sel != nil {
		n = len(sel)
	}
	at := len(out)
	out = slices.Grow(out, n)[:at+n]
	if sel == nil {
		for i, code := range codes {
			out[at] = int32(i)
			at += int(pass[code])
		}
		return out[:at]
	}
	for _, i := range sel {
		out[at] = i
		at += int(pass[codes[i]])
	}
	return out[:at]
}

// selectNulls appends the rows that are NULL, or those that are not.
func selectNulls(v *vec.Vector, sel, out vec.Selection, null bool) vec.Selection {
	valid := v.RowValid()
	switch {
	case valid == nil && null:
		return out
	case valid == nil && sel == nil:
		return append(out, vec.Sequence(v.N)...)
	case valid == nil:
		return append(out, sel...)
	case sel == nil && !null:
		return valid.AppendSelection(out, v.N)
	case sel == nil:
		sel = vec.Sequence(v.N)
	}
	for _, i := range sel {
		if valid.Get(int(i)) != null {
			out = append(out, i)
		}
	}
	return out
}

// choose appends the rows whose value passes, without branches on the outcome.
func choose[T any](values []T, sel, out vec.Selection, pass func(T) bool) vec.Selection {
	n := len(values)
	if sel != nil {
		n = len(sel)
	}
	at := len(out)
	out = slices.Grow(out, n)[:at+n]
	if sel == nil {
		for i, x := range values {
			out[at] = int32(i)
			at += toInt(pass(x))
		}
		return out[:at]
	}
	for _, i := range sel {
		out[at] = i
		at += toInt(pass(values[i]))
	}
	return out[:at]
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// chooseRange appends the rows whose value lies in [low, high].
func chooseRange[T byte | int16 | int32 | int64](values []T, sel, out vec.Selection, low, high T) vec.Selection {
	n := len(values)
	if sel != nil {
		n = len(sel)
	}
	at := len(out)
	out = slices.Grow(out, n)[:at+n]
	width := uint64(high) - uint64(low)
	if sel == nil {
		for i, x := range values {
			out[at] = int32(i)
			at += toInt(uint64(x)-uint64(low) <= width)
		}
		return out[:at]
	}
	for _, i := range sel {
		out[at] = i
		at += toInt(uint64(values[i])-uint64(low) <= width)
	}
	return out[:at]
}

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
