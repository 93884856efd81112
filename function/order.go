package function

import (
	"bytes"
	"cmp"

	"github.com/tidemarkdb/tidemark/vec"
)

// RowCompare orders row i of a against row j of b, both of one type and in any form: below 0, 0 or above. NULL is
// after everything and equal to NULL; floats, strings and the rest order as [vec.Compare] says.
type RowCompare func(a *vec.Vector, i int, b *vec.Vector, j int) int

// CompareRows returns the order of rows of type t.
func CompareRows(t vec.Type) RowCompare {
	values := compareValues(t)
	return func(a *vec.Vector, i int, b *vec.Vector, j int) int {
		if a.MayHaveNulls() || b.MayHaveNulls() {
			switch an, bn := a.IsNull(i), b.IsNull(j); {
			case an && bn:
				return 0
			case an:
				return 1
			case bn:
				return -1
			}
		}
		a, i = a.Physical(i)
		b, j = b.Physical(j)
		return values(a, i, b, j)
	}
}

// compareValues orders physical values that are not NULL.
func compareValues(t vec.Type) RowCompare {
	switch t.Phys() {
	case vec.PhysNone:
		return func(*vec.Vector, int, *vec.Vector, int) int { return 0 }
	case vec.PhysBool:
		return func(a *vec.Vector, i int, b *vec.Vector, j int) int { return cmp.Compare(a.Data[i], b.Data[j]) }
	case vec.PhysInt16:
		return compareFixed[int16]
	case vec.PhysInt32:
		return compareFixed[int32]
	case vec.PhysInt64:
		return compareFixed[int64]
	case vec.PhysFloat32:
		return func(a *vec.Vector, i int, b *vec.Vector, j int) int {
			return vec.CompareFloat(float64(vec.Cast[float32](a.Data)[i]), float64(vec.Cast[float32](b.Data)[j]))
		}
	case vec.PhysFloat64:
		return func(a *vec.Vector, i int, b *vec.Vector, j int) int {
			return vec.CompareFloat(vec.Cast[float64](a.Data)[i], vec.Cast[float64](b.Data)[j])
		}
	case vec.PhysInt128:
		return compareInt128Rows(t)
	case vec.PhysInterval:
		return func(a *vec.Vector, i int, b *vec.Vector, j int) int {
			return vec.CompareInt128(vec.Cast[vec.IntervalValue](a.Data)[i].Span(), vec.Cast[vec.IntervalValue](b.Data)[j].Span())
		}
	case vec.PhysBytes:
		return func(a *vec.Vector, i int, b *vec.Vector, j int) int {
			return bytes.Compare(a.Data[a.Offsets[i]:a.Offsets[i+1]], b.Data[b.Offsets[j]:b.Offsets[j+1]])
		}
	case vec.PhysList:
		return compareLists(CompareRows(*t.Elem))
	}
	return compareStructs(t)
}

func compareFixed[T int16 | int32 | int64](a *vec.Vector, i int, b *vec.Vector, j int) int {
	return cmp.Compare(vec.Cast[T](a.Data)[i], vec.Cast[T](b.Data)[j])
}

func compareInt128Rows(t vec.Type) RowCompare {
	if t.ID == vec.UUID {
		return func(a *vec.Vector, i int, b *vec.Vector, j int) int {
			x, y := vec.Cast[vec.Int128](a.Data)[i], vec.Cast[vec.Int128](b.Data)[j]
			return cmp.Or(cmp.Compare(uint64(x.Hi), uint64(y.Hi)), cmp.Compare(x.Lo, y.Lo))
		}
	}
	return func(a *vec.Vector, i int, b *vec.Vector, j int) int {
		return vec.CompareInt128(vec.Cast[vec.Int128](a.Data)[i], vec.Cast[vec.Int128](b.Data)[j])
	}
}

func compareLists(element RowCompare) RowCompare {
	return func(a *vec.Vector, i int, b *vec.Vector, j int) int {
		x, xe := int(a.Offsets[i]), int(a.Offsets[i+1])
		y, ye := int(b.Offsets[j]), int(b.Offsets[j+1])
		for ; x < xe && y < ye; x, y = x+1, y+1 {
			if c := element(a.Kids[0], x, b.Kids[0], y); c != 0 {
				return c
			}
		}
		return cmp.Compare(xe-x, ye-y)
	}
}

func compareStructs(t vec.Type) RowCompare {
	fields := make([]RowCompare, len(t.Fields))
	for i, f := range t.Fields {
		fields[i] = CompareRows(f.Type)
	}
	return func(a *vec.Vector, i int, b *vec.Vector, j int) int {
		for k, f := range fields {
			if c := f(a.Kids[k], i, b.Kids[k], j); c != 0 {
				return c
			}
		}
		return 0
	}
}

// RowEqual reports whether row i of a and row j of b are not distinct: NULL equals NULL, NaN equals NaN.
type RowEqual func(a *vec.Vector, i int, b *vec.Vector, j int) bool

// EqualRows returns the equality of rows of type t, in any form.
func EqualRows(t vec.Type) RowEqual {
	switch t.Phys() {
	case vec.PhysInt16:
		return equalFixed[int16]
	case vec.PhysInt32:
		return equalFixed[int32]
	case vec.PhysInt64:
		return equalFixed[int64]
	case vec.PhysInt128:
		return equalFixed[vec.Int128]
	case vec.PhysBytes:
		return func(a *vec.Vector, i int, b *vec.Vector, j int) bool {
			if a.MayHaveNulls() || b.MayHaveNulls() {
				if an, bn := a.IsNull(i), b.IsNull(j); an || bn {
					return an && bn
				}
			}
			return string(a.Bytes(i)) == string(b.Bytes(j))
		}
	}
	order := CompareRows(t)
	return func(a *vec.Vector, i int, b *vec.Vector, j int) bool { return order(a, i, b, j) == 0 }
}

func equalFixed[T int16 | int32 | int64 | vec.Int128](a *vec.Vector, i int, b *vec.Vector, j int) bool {
	if a.MayHaveNulls() || b.MayHaveNulls() {
		if an, bn := a.IsNull(i), b.IsNull(j); an || bn {
			return an && bn
		}
	}
	a, i = a.Physical(i)
	b, j = b.Physical(j)
	return vec.Cast[T](a.Data)[i] == vec.Cast[T](b.Data)[j]
}
