package vec

// Gather returns the flat vector whose row i is row index[i] of v, NULL where valid (which may be nil) is 0.
// Index values of rows that valid clears are not looked at.
func Gather(v *Vector, index []int32, valid Bitmap) *Vector {
	if v.Form != Flat {
		d := DictionaryOf(v, append([]int32(nil), index...), valid)
		if d.Form != Dictionary {
			return d.Flatten()
		}
		v, index, valid = d.Dict, d.Index, d.Valid
	}
	out := &Vector{Type: v.Type, N: len(index)}
	if v.N == 0 { // every row is NULL
		valid, index = NewBitmap(len(index)), make([]int32, len(index))
		v = NullOf(v.Type, 1)
		v.Form = Flat
	} else if valid != nil {
		index = zeroInvalid(index, valid)
	}
	out.Valid = gatherValid(v, index, valid)
	switch v.Type.Phys() {
	case PhysBool:
		out.Data = gatherFixed[byte](v, index)
	case PhysInt16:
		out.Data = gatherFixed[int16](v, index)
	case PhysInt32, PhysFloat32:
		out.Data = gatherFixed[int32](v, index)
	case PhysInt64, PhysFloat64:
		out.Data = gatherFixed[int64](v, index)
	case PhysInt128, PhysInterval:
		out.Data = gatherFixed[Int128](v, index)
	case PhysBytes:
		out.Offsets, out.Data = gatherBytes(v, index, out.Valid)
	case PhysList:
		gatherList(out, v, index)
	case PhysStruct:
		for _, k := range v.Kids {
			out.Kids = append(out.Kids, Gather(k, index, nil))
		}
	}
	return out
}

// zeroInvalid returns index with 0 at the rows valid clears, so that loops need not look at valid.
func zeroInvalid(index []int32, valid Bitmap) []int32 {
	safe := make([]int32, len(index))
	for i, x := range index {
		if valid.Get(i) {
			safe[i] = x
		}
	}
	return safe
}

func gatherValid(v *Vector, index []int32, valid Bitmap) Bitmap {
	if v.Valid == nil {
		return valid
	}
	out := NewBitmap(len(index))
	for i, x := range index {
		if v.Valid.Get(int(x)) && (valid == nil || valid.Get(i)) {
			out.Set(i)
		}
	}
	return out
}

func gatherFixed[T Fixed](v *Vector, index []int32) []byte {
	from, to := Cast[T](v.Data), make([]T, len(index))
	for i, x := range index {
		to[i] = from[x]
	}
	return AsBytes(to)
}

func gatherBytes(v *Vector, index []int32, valid Bitmap) ([]int32, []byte) {
	offsets := make([]int32, len(index)+1)
	total := 0
	for i, x := range index {
		if valid == nil || valid.Get(i) {
			total += int(v.Offsets[x+1] - v.Offsets[x])
		}
		offsets[i+1] = int32(total)
	}
	data := make([]byte, total)
	for i, x := range index {
		if offsets[i+1] > offsets[i] {
			copy(data[offsets[i]:], v.Data[v.Offsets[x]:v.Offsets[x+1]])
		}
	}
	return offsets, data
}

func gatherList(out, v *Vector, index []int32) {
	out.Offsets = make([]int32, len(index)+1)
	var children []int32
	for i, x := range index {
		if out.Valid == nil || out.Valid.Get(i) {
			for c := v.Offsets[x]; c < v.Offsets[x+1]; c++ {
				children = append(children, c)
			}
		}
		out.Offsets[i+1] = int32(len(children))
	}
	out.Kids = []*Vector{Gather(v.Kids[0], children, nil)}
}
