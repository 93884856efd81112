package vec

import (
	"fmt"
	"unsafe"
)

// BatchRows is the number of rows operators aim at in one batch. A batch may hold fewer or, up to MaxBatchRows, more.
const (
	BatchRows    = 8192
	MaxBatchRows = 65536
)

// Form says how a Vector's rows map to its physical values.
type Form uint8

// The forms; the package documentation defines them.
const (
	Flat Form = iota
	Constant
	Dictionary
)

// Vector is a column of N values. See the package documentation for the forms and invariants.
type Vector struct {
	Type    Type
	Form    Form
	N       int
	Valid   Bitmap    // nil: no row NULL by itself. Constant: bit 0 counts
	Data    []byte    // fixed-width values, little-endian; or the bytes of PhysBytes
	Offsets []int32   // PhysBytes, PhysList: one more than the physical values
	Kids    []*Vector // PhysList: the elements; PhysStruct: the fields. Flat
	Index   []int32   // Dictionary: N entry numbers
	Dict    *Vector   // Dictionary: the entries, Flat
}

// Int128 is a signed 128-bit integer in two's complement, laid out as Arrow's decimal128 on a little-endian machine.
type Int128 struct {
	Lo uint64
	Hi int64
}

// IntervalValue is PostgreSQL's interval: the three parts are kept apart, as a month has no fixed length.
type IntervalValue struct {
	Months, Days int32
	Micros       int64
}

// Fixed is the set of Go types that fixed-width values take.
type Fixed interface {
	byte | int16 | int32 | int64 | float32 | float64 | Int128 | IntervalValue
}

// Values returns the physical values of a Flat or Constant vector whose form is fixed-width, without copying.
// T must have the width of v.Type.Phys(); another T is a broken invariant and panics.
func Values[T Fixed](v *Vector) []T {
	var zero T
	width := int(unsafe.Sizeof(zero))
	if w := v.Type.Phys().Width(); w != width {
		panic(fmt.Sprintf("vec: %d-byte values asked of a %s vector", width, v.Type))
	}
	return Cast[T](v.Data)
}

// Cast returns b seen as values of T, without copying; trailing bytes short of one value are left out.
func Cast[T Fixed](b []byte) []T {
	var zero T
	n := len(b) / int(unsafe.Sizeof(zero))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// AsBytes returns the memory of values, without copying.
func AsBytes[T Fixed](values []T) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(values[0])))
}

// String returns b as a string without copying: valid while b is not changed.
func String(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// StringBytes returns the bytes of s without copying: never change them.
func StringBytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// FlatOf returns a flat vector over values, which it takes over. valid may be nil.
func FlatOf[T Fixed](t Type, values []T, valid Bitmap) *Vector {
	v := &Vector{Type: t, N: len(values), Valid: valid, Data: AsBytes(values)}
	if w := t.Phys().Width(); w == 0 || len(values) > 0 && len(v.Data) != w*len(values) {
		panic(fmt.Sprintf("vec: values of the wrong width for %s", t))
	}
	return v
}

// FlatBytes returns a flat vector of byte strings: value i is data[offsets[i]:offsets[i+1]]. It takes both over.
func FlatBytes(t Type, offsets []int32, data []byte, valid Bitmap) *Vector {
	return &Vector{Type: t, N: len(offsets) - 1, Valid: valid, Data: data, Offsets: offsets}
}

// ConstantOf returns a vector of n times value, which must be of type t or NULL.
func ConstantOf(t Type, value Value, n int) *Vector {
	b := NewBuilder(t, 1)
	b.Append(value)
	v := b.Finish()
	v.Form, v.N = Constant, n
	return v
}

// NullOf returns a vector of n NULLs of type t.
func NullOf(t Type, n int) *Vector { return ConstantOf(t, Value{Null: true}, n) }

// DictionaryOf returns the vector whose row i is entries' row index[i]; it takes index over. When entries is itself
// a dictionary or a constant the two steps are folded into one. valid may be nil.
func DictionaryOf(entries *Vector, index []int32, valid Bitmap) *Vector {
	switch entries.Form {
	case Constant:
		c := *entries
		c.N = len(index)
		if valid == nil {
			return &c
		}
		one := c
		one.Form, one.N = Flat, 1
		return &Vector{Type: c.Type, Form: Dictionary, N: len(index), Valid: valid, Index: make([]int32, len(index)), Dict: &one}
	case Dictionary:
		folded := make([]int32, len(index))
		for i, x := range index {
			folded[i] = entries.Index[x]
		}
		if entries.Valid != nil {
			outer := valid
			valid = NewBitmap(len(index))
			for i, x := range index {
				if entries.Valid.Get(int(x)) && (outer == nil || outer.Get(i)) {
					valid.Set(i)
				}
			}
		}
		return &Vector{Type: entries.Type, Form: Dictionary, N: len(index), Valid: valid, Index: folded, Dict: entries.Dict}
	}
	return &Vector{Type: entries.Type, Form: Dictionary, N: len(index), Valid: valid, Index: index, Dict: entries}
}

// IsNull reports whether row i is NULL, whatever the form.
func (v *Vector) IsNull(i int) bool {
	switch v.Form {
	case Constant:
		return v.Type.ID == Null || v.Valid != nil && !v.Valid.Get(0)
	case Dictionary:
		if v.Valid != nil && !v.Valid.Get(i) {
			return true
		}
		return v.Dict.IsNull(int(v.Index[i]))
	}
	return v.Type.ID == Null || v.Valid != nil && !v.Valid.Get(i)
}

// MayHaveNulls reports whether a row can be NULL; false is certain.
func (v *Vector) MayHaveNulls() bool {
	return v.Type.ID == Null || v.Valid != nil || v.Form == Dictionary && v.Dict.MayHaveNulls()
}

// Physical returns the vector that holds row i's value and the value's place in it.
func (v *Vector) Physical(i int) (*Vector, int) {
	switch v.Form {
	case Constant:
		return v, 0
	case Dictionary:
		return v.Dict, int(v.Index[i])
	}
	return v, i
}

// Bytes returns row i of a PhysBytes vector, borrowed. For a NULL row the result is unspecified.
func (v *Vector) Bytes(i int) []byte {
	p, i := v.Physical(i)
	return p.Data[p.Offsets[i]:p.Offsets[i+1]]
}

// RowValid returns the validity of every row with that of dictionary entries folded in; nil when no row is NULL.
func (v *Vector) RowValid() Bitmap {
	switch {
	case v.Type.ID == Null:
		return NewBitmap(v.N)
	case v.Form == Flat:
		return v.Valid
	case v.Form == Constant:
		if v.Valid == nil || v.Valid.Get(0) {
			return nil
		}
		return NewBitmap(v.N)
	case v.Dict.Valid == nil:
		return v.Valid
	}
	out := NewBitmap(v.N)
	for i, x := range v.Index {
		if v.Dict.Valid.Get(int(x)) && (v.Valid == nil || v.Valid.Get(i)) {
			out.Set(i)
		}
	}
	return out
}

// Flatten returns v in Flat form: v itself when it is.
func (v *Vector) Flatten() *Vector {
	if v.Form == Flat {
		return v
	}
	if v.Form == Constant {
		return Gather(&Vector{Type: v.Type, N: 1, Valid: v.Valid, Data: v.Data, Offsets: v.Offsets, Kids: v.Kids}, make([]int32, v.N), nil)
	}
	return Gather(v.Dict, v.Index, v.Valid)
}

// Select returns the rows of sel as a vector of their own; nil sel returns v. Strings and nested values come back as
// a dictionary over v, fixed-width ones are copied.
func (v *Vector) Select(sel Selection) *Vector {
	if sel == nil {
		return v
	}
	switch {
	case v.Form == Constant:
		c := *v
		c.N = len(sel)
		return &c
	case v.Form == Flat && v.Type.Phys().Width() > 0:
		return Gather(v, sel, nil)
	case v.Type.ID == Null:
		return NullOf(v.Type, len(sel))
	}
	index := make([]int32, len(sel))
	copy(index, sel)
	return DictionaryOf(v, index, nil)
}

// Slice returns rows [from, from+n), borrowing v's memory where the form allows it.
func (v *Vector) Slice(from, n int) *Vector {
	if from == 0 && n == v.N {
		return v
	}
	s := *v
	s.N = n
	if v.Form == Constant {
		return &s
	}
	s.Valid = v.Valid.Slice(from, n)
	if v.Form == Dictionary {
		s.Index = v.Index[from : from+n]
		return &s
	}
	switch p := v.Type.Phys(); p {
	case PhysBytes, PhysList:
		s.Offsets = v.Offsets[from : from+n+1]
	case PhysStruct:
		s.Kids = make([]*Vector, len(v.Kids))
		for i, k := range v.Kids {
			s.Kids[i] = k.Slice(from, n)
		}
	case PhysNone:
	default:
		w := p.Width()
		s.Data = v.Data[from*w : (from+n)*w]
	}
	return &s
}

// MemoryBytes returns the bytes v's own buffers take; those of a dictionary are counted with it.
func (v *Vector) MemoryBytes() int64 {
	size := int64(cap(v.Valid)*8 + cap(v.Data) + cap(v.Offsets)*4 + cap(v.Index)*4)
	for _, k := range v.Kids {
		size += k.MemoryBytes()
	}
	if v.Dict != nil {
		size += v.Dict.MemoryBytes()
	}
	return size
}
