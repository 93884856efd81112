package parquetstore

import (
	"github.com/tidemarkdb/tidemark/vec"
)

// columnBuffer gathers one flat column of a row group: its values without the NULLs, and which rows have one.
type columnBuffer struct {
	typ     vec.Type
	phys    vec.Phys
	rows    int
	present int        // rows with a value
	valid   vec.Bitmap // nil while no row is NULL
	data    []byte     // fixed-width values, or the bytes of strings
	offsets []int32    // strings: present+1
	places  []int32    // scratch
}

func newColumnBuffer(t vec.Type) *columnBuffer {
	b := &columnBuffer{typ: t, phys: t.Phys()}
	b.reset()
	return b
}

// reset empties the buffer and keeps its memory.
func (b *columnBuffer) reset() {
	b.rows, b.present, b.valid, b.data = 0, 0, nil, b.data[:0]
	if b.phys == vec.PhysBytes {
		b.offsets = append(b.offsets[:0], 0)
	}
}

// memoryBytes returns the bytes of the values held.
func (b *columnBuffer) memoryBytes() int { return len(b.data) + len(b.offsets)*4 + len(b.valid)*8 }

// append adds the rows of sel (nil: all) of v.
func (b *columnBuffer) append(v *vec.Vector, sel vec.Selection) {
	if v.Form == vec.Flat && sel == nil && v.Valid == nil && v.Type.ID != vec.Null {
		b.appendAll(v)
		return
	}
	n := v.N
	if sel != nil {
		n = len(sel)
	}
	places := b.placesOf(v, sel, n)
	b.extend(n, len(places))
	from := v
	if v.Form == vec.Dictionary {
		from = v.Dict
	}
	b.gather(from, places)
}

// appendAll adds every row of a flat vector without NULLs.
func (b *columnBuffer) appendAll(v *vec.Vector) {
	b.extend(v.N, v.N)
	if b.phys != vec.PhysBytes {
		b.data = append(b.data, v.Data[:v.N*b.phys.Width()]...)
		return
	}
	shift := int32(len(b.data)) - v.Offsets[0]
	b.data = append(b.data, v.Data[v.Offsets[0]:v.Offsets[v.N]]...)
	for _, o := range v.Offsets[1 : v.N+1] {
		b.offsets = append(b.offsets, o+shift)
	}
}

// extend counts n more rows. When some are NULL, placesOf has set their validity already.
func (b *columnBuffer) extend(n, present int) {
	if b.valid != nil {
		for len(b.valid)*64 < b.rows+n {
			b.valid = append(b.valid, 0)
		}
		if present == n {
			setRange(b.valid, b.rows, n)
		}
	}
	b.rows += n
	b.present += present
}

// placesOf returns where the values of the n chosen rows lie in the physical vector, NULL rows left out, and marks
// the NULL rows. The result is valid until the next call.
func (b *columnBuffer) placesOf(v *vec.Vector, sel vec.Selection, n int) []int32 {
	places := b.places[:0]
	var valid vec.Bitmap
	if v.MayHaveNulls() {
		valid = v.RowValid()
	}
	nulls := 0
	for i := range n {
		row := i
		if sel != nil {
			row = int(sel[i])
		}
		if valid != nil && !valid.Get(row) {
			b.markNull(i, n, nulls == 0)
			nulls++
			continue
		}
		if nulls > 0 {
			b.valid.Set(b.rows + i)
		}
		switch v.Form {
		case vec.Constant:
			row = 0
		case vec.Dictionary:
			row = int(v.Index[row])
		}
		places = append(places, int32(row))
	}
	b.places = places
	return places
}

// markNull notes that the i-th of n rows being appended is NULL. first says that the ones before it have values.
func (b *columnBuffer) markNull(i, n int, first bool) {
	if !first {
		return
	}
	if b.valid == nil {
		b.valid = vec.NewBitmap(b.rows)
		setRange(b.valid, 0, b.rows)
	}
	for len(b.valid)*64 < b.rows+n {
		b.valid = append(b.valid, 0)
	}
	setRange(b.valid, b.rows, i)
}

func (b *columnBuffer) gather(v *vec.Vector, places []int32) {
	switch b.phys.Width() {
	case 0:
		for _, p := range places {
			b.data = append(b.data, v.Data[v.Offsets[p]:v.Offsets[p+1]]...)
			b.offsets = append(b.offsets, int32(len(b.data)))
		}
	case 1:
		b.data = appendPlaces[byte](b.data, v.Data, places)
	case 2:
		b.data = appendPlaces[int16](b.data, v.Data, places)
	case 4:
		b.data = appendPlaces[int32](b.data, v.Data, places)
	case 8:
		b.data = appendPlaces[int64](b.data, v.Data, places)
	default:
		b.data = appendPlaces[vec.Int128](b.data, v.Data, places)
	}
}

func appendPlaces[T vec.Fixed](dst, src []byte, places []int32) []byte {
	var zero [1]T
	width := len(vec.AsBytes(zero[:]))
	at := len(dst)
	dst = append(dst, make([]byte, width*len(places))...)
	from, to := vec.Cast[T](src), vec.Cast[T](dst[at:])
	for i, p := range places {
		to[i] = from[p]
	}
	return dst
}
