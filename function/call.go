package function

import (
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

// call is one evaluation of a body: args are Flat or Constant, valid has the rows without a NULL argument (nil: all).
type call struct {
	ev    *extension.Eval
	args  []*vec.Vector
	valid vec.Bitmap
	n     int
}

// ok reports whether row i has no NULL argument: only such rows may fail.
func (c *call) ok(i int) bool { return c.valid == nil || c.valid.Get(i) }

// body computes n rows of a strict function.
type body func(c *call) (*vec.Vector, error)

// strict makes a kernel of b, whose results have type result.
func strict(result vec.Type, b body) extension.Kernel {
	return func(ev *extension.Eval, args []*vec.Vector, n int) (*vec.Vector, error) {
		if ev == nil {
			ev = &extension.Eval{}
		}
		constants, dictionary := 0, -1
		for i, a := range args {
			switch a.Form {
			case vec.Constant:
				if a.IsNull(0) {
					return vec.NullOf(result, n), nil
				}
				constants++
			case vec.Dictionary:
				dictionary = i
			}
		}
		switch {
		case constants == len(args) && n > 0:
			return onceForAll(b, ev, args, n)
		case dictionary >= 0 && constants == len(args)-1 && args[dictionary].Dict.N <= n && n > 0:
			if v, err := overEntries(b, ev, args, dictionary); err == nil {
				return v, nil
			}
			// An entry that no row refers to may be what failed: go by rows.
		}
		return byRows(b, ev, args, n)
	}
}

func onceForAll(b body, ev *extension.Eval, args []*vec.Vector, n int) (*vec.Vector, error) {
	v, err := b(&call{ev: ev, args: args, n: 1})
	if err != nil {
		return nil, err
	}
	c := *v
	c.Form, c.N = vec.Constant, n
	return &c, nil
}

// overEntries computes the entries of the one dictionary among constants.
func overEntries(b body, ev *extension.Eval, args []*vec.Vector, dictionary int) (*vec.Vector, error) {
	d := args[dictionary]
	entries := make([]*vec.Vector, len(args))
	copy(entries, args)
	entries[dictionary] = d.Dict
	v, err := b(&call{ev: ev, args: entries, valid: d.Dict.Valid, n: d.Dict.N})
	if err != nil {
		return nil, err
	}
	return vec.DictionaryOf(withValid(v, d.Dict.Valid, d.Dict.N), d.Index, d.Valid), nil
}

func byRows(b body, ev *extension.Eval, args []*vec.Vector, n int) (*vec.Vector, error) {
	c := &call{ev: ev, args: make([]*vec.Vector, len(args)), n: n}
	for i, a := range args {
		c.args[i] = a
		if a.Form == vec.Constant {
			continue
		}
		c.args[i] = a.Flatten()
		if a.Type.ID == vec.Null {
			c.valid = vec.NewBitmap(n)
		}
		c.valid = vec.And(c.valid, c.args[i].Valid, n)
	}
	v, err := b(c)
	if err != nil {
		return nil, err
	}
	return withValid(v, c.valid, n), nil
}

// withValid returns v with NULL where valid is 0; v is not yet shared.
func withValid(v *vec.Vector, valid vec.Bitmap, n int) *vec.Vector {
	if valid == nil {
		return v
	}
	v = v.Flatten()
	out := *v
	out.Valid = vec.And(v.Valid, valid, n)
	return &out
}

// fixed returns the values of a Flat or Constant vector and a mask: row i is values[i&mask].
func fixed[T vec.Fixed](v *vec.Vector) (values []T, mask int) {
	if v.Form == vec.Constant {
		return vec.Cast[T](v.Data), 0
	}
	return vec.Cast[T](v.Data), -1
}

// texts is the strings of a Flat or Constant vector.
type texts struct {
	data    []byte
	offsets []int32
	mask    int
}

func textsOf(v *vec.Vector) texts {
	t := texts{data: v.Data, offsets: v.Offsets, mask: -1}
	if v.Form == vec.Constant {
		t.mask = 0
	}
	return t
}

func (t *texts) at(i int) []byte {
	i &= t.mask
	return t.data[t.offsets[i]:t.offsets[i+1]]
}

func (t *texts) str(i int) string { return vec.String(t.at(i)) }

// textOut gathers the strings of a result; a row is what was appended to data since the last end.
type textOut struct {
	data    []byte
	offsets []int32
	nulls   vec.Bitmap
}

func newTextOut(n, bytes int) *textOut {
	return &textOut{data: make([]byte, 0, bytes), offsets: append(make([]int32, 0, n+1), 0)}
}

func (o *textOut) end() error {
	if len(o.data) > vec.MaxBytes {
		return resultTooLong()
	}
	o.offsets = append(o.offsets, int32(len(o.data)))
	return nil
}

// null ends a row as NULL.
func (o *textOut) null(n int) {
	if o.nulls == nil {
		o.nulls = vec.NewFullBitmap(n)
	}
	o.nulls.Clear(len(o.offsets) - 1)
	o.offsets = append(o.offsets, int32(len(o.data)))
}

func (o *textOut) vector(t vec.Type) *vec.Vector { return vec.FlatBytes(t, o.offsets, o.data, o.nulls) }

// kernelFunc shortens the contract's type where it is a parameter.
type kernelFunc = extension.Kernel
