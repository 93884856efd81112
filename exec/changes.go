package exec

import (
	"bytes"

	"github.com/tidemarkdb/tidemark/vec"
)

// changes notes in out the rows whose keys differ from those of the row before.
func (o *ordering) changes(cols []*vec.Vector, out []bool) {
	for k, s := range o.specs {
		v := cols[s.place]
		switch p := v.Type.Phys(); {
		case v.Form == vec.Constant || len(out) == 0:
		case v.Form == vec.Dictionary && p == vec.PhysBytes && !v.MayHaveNulls():
			changedBytes(v, out)
		case v.Form != vec.Flat || v.Valid != nil:
			o.changedRows(k, v, out)
		case p == vec.PhysInt16:
			changed[int16](v, out)
		case p == vec.PhysInt32:
			changed[int32](v, out)
		case p == vec.PhysInt64:
			changed[int64](v, out)
		case p == vec.PhysInt128:
			changed[vec.Int128](v, out)
		default:
			o.changedRows(k, v, out)
		}
	}
}

func changed[T interface {
	comparable
	vec.Fixed
}](v *vec.Vector, out []bool) {
	x := vec.Cast[T](v.Data)[:len(out)]
	before := x[0]
	for i, now := range x {
		out[i] = out[i] || now != before
		before = now
	}
}

func changedBytes(v *vec.Vector, out []bool) {
	index := v.Index[:len(out)]
	before := index[0]
	for i, now := range index {
		if now != before && !out[i] {
			d := v.Dict
			out[i] = !bytes.Equal(d.Data[d.Offsets[now]:d.Offsets[now+1]], d.Data[d.Offsets[before]:d.Offsets[before+1]])
		}
		before = now
	}
}

// changedRows looks at key k row by row.
func (o *ordering) changedRows(k int, v *vec.Vector, out []bool) {
	for i := 1; i < len(out); i++ {
		if out[i] {
			continue
		}
		a, b := v.IsNull(i-1), v.IsNull(i)
		out[i] = a != b || !a && o.compare[k](v, i-1, v, i) != 0
	}
}
