package vec

import (
	"fmt"
	"math"
)

// MaxBytes is the most bytes of strings one flat vector can hold: its offsets are 32-bit.
const MaxBytes = math.MaxInt32

// Builder makes a flat vector row by row. Append methods must match the physical form of the type; Finish hands the
// vector over and leaves the builder empty, ready for the next one. The zero Builder is not usable: call NewBuilder.
type Builder struct {
	Type    Type
	n       int
	valid   Bitmap // nil until the first NULL
	data    []byte
	offsets []int32
	kids    []*Builder
	width   int
	phys    Phys
}

// NewBuilder returns a builder with room for about capacity rows.
func NewBuilder(t Type, capacity int) *Builder {
	b := &Builder{Type: t, phys: t.Phys()}
	b.width = b.phys.Width()
	b.data = make([]byte, 0, capacity*b.width)
	switch b.phys {
	case PhysBytes, PhysList:
		b.offsets = append(make([]int32, 0, capacity+1), 0)
	}
	switch b.phys {
	case PhysList:
		b.kids = []*Builder{NewBuilder(*t.Elem, capacity)}
	case PhysStruct:
		for _, f := range t.Fields {
			b.kids = append(b.kids, NewBuilder(f.Type, capacity))
		}
	}
	return b
}

// Len returns the rows appended since the last Finish.
func (b *Builder) Len() int { return b.n }

// MemoryBytes returns the bytes held.
func (b *Builder) MemoryBytes() int64 {
	size := int64(cap(b.data) + cap(b.offsets)*4 + cap(b.valid)*8)
	for _, k := range b.kids {
		size += k.MemoryBytes()
	}
	return size
}

// advance counts one more row and its validity.
func (b *Builder) advance(ok bool) {
	if !ok && b.valid == nil {
		b.valid = NewFullBitmap(b.n + 1)
	}
	if b.valid != nil {
		if b.n/64 >= len(b.valid) {
			b.valid = append(b.valid, 0)
		}
		if ok {
			b.valid.Set(b.n)
		} else {
			b.valid.Clear(b.n)
		}
	}
	b.n++
}

// AppendNull appends a NULL.
func (b *Builder) AppendNull() {
	switch b.phys {
	case PhysBytes, PhysList:
		b.offsets = append(b.offsets, b.offsets[len(b.offsets)-1])
	case PhysStruct:
		for _, k := range b.kids {
			k.AppendNull()
		}
	default:
		var zero [16]byte
		b.data = append(b.data, zero[:b.width]...)
	}
	b.advance(false)
}

// AppendFixed appends a value whose width is that of b's type.
func AppendFixed[T Fixed](b *Builder, x T) {
	one := [1]T{x}
	b.data = append(b.data, AsBytes(one[:])...)
	b.advance(true)
}

// AppendBool appends a BOOLEAN.
func (b *Builder) AppendBool(x bool) {
	if x {
		b.data = append(b.data, 1)
	} else {
		b.data = append(b.data, 0)
	}
	b.advance(true)
}

// AppendBytes appends a byte string, copying it. It panics past [MaxBytes]: watch [Builder.BytesLen].
func (b *Builder) AppendBytes(x []byte) {
	b.data = append(b.data, x...)
	b.endBytes()
}

// AppendString appends a byte string, copying it. It panics past [MaxBytes]: watch [Builder.BytesLen].
func (b *Builder) AppendString(x string) {
	b.data = append(b.data, x...)
	b.endBytes()
}

func (b *Builder) endBytes() {
	if len(b.data) > MaxBytes {
		panic(fmt.Sprintf("vec: %d bytes of strings in one vector", len(b.data)))
	}
	b.offsets = append(b.offsets, int32(len(b.data)))
	b.advance(true)
}

// BytesLen returns the bytes of strings held, which must stay within [MaxBytes].
func (b *Builder) BytesLen() int { return len(b.data) }

// Elements returns the builder of an array's elements: append them, then call EndList.
func (b *Builder) Elements() *Builder { return b.kids[0] }

// EndList ends one array: its elements are those appended to Elements since the last EndList or AppendNull.
func (b *Builder) EndList() {
	b.offsets = append(b.offsets, int32(b.kids[0].n))
	b.advance(true)
}

// Child returns the builder of a struct's field i: append one value to each, then call EndStruct.
func (b *Builder) Child(i int) *Builder { return b.kids[i] }

// EndStruct ends one struct.
func (b *Builder) EndStruct() { b.advance(true) }

// Append appends a boxed value of b's type (its own Type field is not looked at).
func (b *Builder) Append(v Value) {
	if v.Null {
		b.AppendNull()
		return
	}
	switch b.phys {
	case PhysNone:
		b.advance(false)
	case PhysBool:
		b.AppendBool(v.I != 0)
	case PhysInt16:
		AppendFixed(b, int16(v.I))
	case PhysInt32:
		AppendFixed(b, int32(v.I))
	case PhysInt64:
		AppendFixed(b, v.I)
	case PhysFloat32:
		AppendFixed(b, float32(v.F))
	case PhysFloat64:
		AppendFixed(b, v.F)
	case PhysInt128:
		AppendFixed(b, Int128{Lo: uint64(v.I), Hi: v.Hi})
	case PhysInterval:
		AppendFixed(b, v.Span)
	case PhysBytes:
		b.AppendString(v.S)
	case PhysList:
		for _, e := range v.List {
			b.kids[0].Append(e)
		}
		b.EndList()
	case PhysStruct:
		for i, f := range v.List {
			b.kids[i].Append(f)
		}
		b.EndStruct()
	}
}

// AppendFrom appends row i of v, which must be of b's type.
func (b *Builder) AppendFrom(v *Vector, i int) {
	if v.IsNull(i) {
		b.AppendNull()
		return
	}
	p, i := v.Physical(i)
	switch {
	case b.width > 0:
		b.data = append(b.data, p.Data[i*b.width:(i+1)*b.width]...)
		b.advance(true)
	case b.phys == PhysBytes:
		b.AppendBytes(p.Data[p.Offsets[i]:p.Offsets[i+1]])
	default:
		b.Append(p.Value(i))
	}
}

// AppendVector appends the rows of sel (nil: all) of v, which must be of b's type.
func (b *Builder) AppendVector(v *Vector, sel Selection) {
	if sel == nil && v.Form == Flat && b.width > 0 && v.Valid == nil && b.valid == nil {
		b.data = append(b.data, v.Data[:v.N*b.width]...)
		b.n += v.N
		return
	}
	if sel == nil {
		for i := range v.N {
			b.AppendFrom(v, i)
		}
		return
	}
	for _, i := range sel {
		b.AppendFrom(v, int(i))
	}
}

// Finish returns the vector of the rows appended and starts the next one.
func (b *Builder) Finish() *Vector {
	v := &Vector{Type: b.Type, N: b.n, Valid: b.valid, Data: b.data, Offsets: b.offsets}
	for _, k := range b.kids {
		v.Kids = append(v.Kids, k.Finish())
	}
	b.n, b.valid, b.data, b.offsets = 0, nil, nil, nil
	switch b.phys {
	case PhysBytes, PhysList:
		b.offsets = []int32{0}
	}
	return v
}
