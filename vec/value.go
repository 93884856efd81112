package vec

import (
	"bytes"
	"cmp"
	"math"
)

// Value is one boxed value. Which field holds it follows from the physical form of its type: I for booleans (0 or 1)
// and everything up to 64 bits, Hi with I as the low word for 128 bits, F for floats, S for byte strings, Span for
// intervals, List for arrays (elements) and structs (fields).
type Value struct {
	Type Type
	Null bool
	I    int64
	Hi   int64
	F    float64
	S    string
	Span IntervalValue
	List []Value
}

// NullValue returns the NULL of type t.
func NullValue(t Type) Value { return Value{Type: t, Null: true} }

// BoolValue returns a BOOLEAN.
func BoolValue(b bool) Value {
	v := Value{Type: BoolType}
	if b {
		v.I = 1
	}
	return v
}

// IntValue returns a value of type t, whose form must be an integer of up to 64 bits.
func IntValue(t Type, i int64) Value { return Value{Type: t, I: i} }

// FloatValue returns a REAL or DOUBLE PRECISION.
func FloatValue(t Type, f float64) Value { return Value{Type: t, F: f} }

// StringValue returns a value of type t, whose form must be bytes.
func StringValue(t Type, s string) Value { return Value{Type: t, S: s} }

// Int128Value returns a value of type t, whose form must be 128 bits wide.
func Int128Value(t Type, x Int128) Value { return Value{Type: t, I: int64(x.Lo), Hi: x.Hi} }

// Int128 returns the 128-bit integer of v; narrower integers are sign-extended.
func (v Value) Int128() Int128 {
	if v.Type.Phys() == PhysInt128 {
		return Int128{Lo: uint64(v.I), Hi: v.Hi}
	}
	return Int128{Lo: uint64(v.I), Hi: v.I >> 63}
}

// Value returns row i boxed.
func (v *Vector) Value(i int) Value {
	if v.IsNull(i) {
		return NullValue(v.Type)
	}
	p, i := v.Physical(i)
	out := Value{Type: v.Type}
	switch v.Type.Phys() {
	case PhysBool:
		out.I = int64(p.Data[i])
	case PhysInt16:
		out.I = int64(Cast[int16](p.Data)[i])
	case PhysInt32:
		out.I = int64(Cast[int32](p.Data)[i])
	case PhysInt64:
		out.I = Cast[int64](p.Data)[i]
	case PhysFloat32:
		out.F = float64(Cast[float32](p.Data)[i])
	case PhysFloat64:
		out.F = Cast[float64](p.Data)[i]
	case PhysInt128:
		x := Cast[Int128](p.Data)[i]
		out.I, out.Hi = int64(x.Lo), x.Hi
	case PhysInterval:
		out.Span = Cast[IntervalValue](p.Data)[i]
	case PhysBytes:
		out.S = string(p.Data[p.Offsets[i]:p.Offsets[i+1]])
	case PhysList:
		out.List = []Value{}
		for c := p.Offsets[i]; c < p.Offsets[i+1]; c++ {
			out.List = append(out.List, p.Kids[0].Value(int(c)))
		}
	case PhysStruct:
		for _, k := range p.Kids {
			out.List = append(out.List, k.Value(i))
		}
	}
	return out
}

// Compare orders two values of one type as ORDER BY ... NULLS LAST does: NULL after everything, NaN above every other
// float and equal to itself, byte strings by bytes (collation "C"), intervals by their length with 30-day months.
func Compare(a, b Value) int {
	if a.Null || b.Null {
		switch {
		case a.Null && b.Null:
			return 0
		case a.Null:
			return 1
		}
		return -1
	}
	switch a.Type.Phys() {
	case PhysFloat32, PhysFloat64:
		return CompareFloat(a.F, b.F)
	case PhysInt128:
		if a.Type.ID == UUID {
			return cmp.Or(cmp.Compare(uint64(a.Hi), uint64(b.Hi)), cmp.Compare(uint64(a.I), uint64(b.I)))
		}
		return CompareInt128(a.Int128(), b.Int128())
	case PhysInterval:
		return CompareInt128(a.Span.Span(), b.Span.Span())
	case PhysBytes:
		return bytes.Compare(StringBytes(a.S), StringBytes(b.S))
	case PhysList, PhysStruct:
		for i := range min(len(a.List), len(b.List)) {
			if c := Compare(a.List[i], b.List[i]); c != 0 {
				return c
			}
		}
		return cmp.Compare(len(a.List), len(b.List))
	}
	return cmp.Compare(a.I, b.I)
}

// CompareFloat orders floats as PostgreSQL does: NaN equals NaN and exceeds everything, -0 equals 0.
func CompareFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	}
	an, bn := math.IsNaN(a), math.IsNaN(b)
	switch {
	case an && bn:
		return 0
	case an:
		return 1
	}
	return -1
}

// CompareInt128 orders signed 128-bit integers.
func CompareInt128(a, b Int128) int {
	return cmp.Or(cmp.Compare(a.Hi, b.Hi), cmp.Compare(a.Lo, b.Lo))
}

// Span returns the interval's length in microseconds with days of 24 hours and months of 30 days, by which
// PostgreSQL compares intervals.
func (s IntervalValue) Span() Int128 {
	const dayMicros = 24 * 60 * 60 * 1_000_000
	days := int64(s.Months)*30 + int64(s.Days)
	return AddInt128(MulInt64(days, dayMicros), Int128{Lo: uint64(s.Micros), Hi: s.Micros >> 63})
}
