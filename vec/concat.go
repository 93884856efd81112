package vec

// Concat returns the rows of vectors one after the other as one vector: the only one itself, else a flat copy. All
// have type t. With byte strings the total must stay within [MaxBytes]; see [BytesTotal].
func Concat(t Type, vectors []*Vector) *Vector {
	if len(vectors) == 1 {
		return vectors[0]
	}
	n := 0
	flat := make([]*Vector, len(vectors))
	for i, v := range vectors {
		flat[i] = v.Flatten()
		n += v.N
	}
	out := &Vector{Type: t, N: n, Valid: concatValid(flat, n)}
	switch p := t.Phys(); p {
	case PhysNone:
	case PhysBytes, PhysList:
		concatOffsets(out, flat, p)
	case PhysStruct:
		for k := range t.Fields {
			kids := make([]*Vector, len(flat))
			for i, v := range flat {
				kids[i] = v.Kids[k]
			}
			out.Kids = append(out.Kids, Concat(t.Fields[k].Type, kids))
		}
	default:
		w := p.Width()
		out.Data = make([]byte, 0, n*w)
		for _, v := range flat {
			out.Data = append(out.Data, v.Data[:v.N*w]...)
		}
	}
	return out
}

// BytesTotal returns the bytes of strings that the rows of v hold, each row counted.
func BytesTotal(v *Vector) int64 {
	if v.Type.Phys() != PhysBytes || v.N == 0 {
		return 0
	}
	switch v.Form {
	case Constant:
		return int64(v.N) * int64(v.Offsets[1]-v.Offsets[0])
	case Dictionary:
		total := int64(0)
		for _, x := range v.Index {
			if v.Dict.N > 0 {
				total += int64(v.Dict.Offsets[x+1] - v.Dict.Offsets[x])
			}
		}
		return total
	}
	return int64(v.Offsets[v.N] - v.Offsets[0])
}

func concatValid(flat []*Vector, n int) Bitmap {
	nulls := false
	for _, v := range flat {
		nulls = nulls || v.Valid != nil || v.Type.ID == Null
	}
	if !nulls {
		return nil
	}
	out, row := NewBitmap(n), 0
	for _, v := range flat {
		for i := range v.N {
			if v.Type.ID != Null && (v.Valid == nil || v.Valid.Get(i)) {
				out.Set(row + i)
			}
		}
		row += v.N
	}
	return out
}

func concatOffsets(out *Vector, flat []*Vector, p Phys) {
	out.Offsets = append(make([]int32, 0, out.N+1), 0)
	var kids []*Vector
	end := int32(0)
	for _, v := range flat {
		if v.N == 0 {
			continue
		}
		from, to := v.Offsets[0], v.Offsets[v.N]
		for _, o := range v.Offsets[1 : v.N+1] {
			out.Offsets = append(out.Offsets, end+o-from)
		}
		end += to - from
		if p == PhysBytes {
			out.Data = append(out.Data, v.Data[from:to]...)
		} else {
			kids = append(kids, v.Kids[0].Slice(int(from), int(to-from)))
		}
	}
	if p == PhysList {
		out.Kids = []*Vector{Concat(*out.Type.Elem, kids)}
		if len(kids) == 0 {
			out.Kids[0] = NewBuilder(*out.Type.Elem, 0).Finish()
		}
	}
}
