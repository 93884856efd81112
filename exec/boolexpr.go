package exec

import (
	"github.com/tidemarkdb/tidemark/vec"
)

// The states of a BOOLEAN in Kleene's logic.
const (
	isFalse byte = iota
	isTrue
	isUnknown
)

// triStates writes the state of each of v's n rows to dst.
func triStates(dst []byte, v *vec.Vector, n int) {
	dst = dst[:n]
	switch {
	case v.Type.ID == vec.Null:
		fill(dst, isUnknown)
		return
	case v.Form == vec.Constant:
		state := isUnknown
		if !v.IsNull(0) {
			state = v.Data[0]
		}
		fill(dst, state)
		return
	case v.Form == vec.Dictionary && v.Dict.N == 0:
		fill(dst, isUnknown)
		return
	}
	copyFixed(dst, v, nil, n)
	if v.MayHaveNulls() {
		for i := range dst {
			if v.IsNull(i) {
				dst[i] = isUnknown
			}
		}
	}
}

func fill[T any](dst []T, x T) {
	for i := range dst {
		dst[i] = x
	}
}

// boolVector makes a BOOLEAN vector of states, whose memory it takes.
func boolVector(states []byte, unknown bool) *vec.Vector {
	out := &vec.Vector{Type: vec.BoolType, N: len(states), Data: states}
	if unknown {
		out.Valid = vec.NewBitmap(len(states))
		for i, s := range states {
			if s == isUnknown {
				states[i] = 0
			} else {
				out.Valid.Set(i)
			}
		}
	}
	return out
}

// trueRows appends the rows in [0, n) for which v is TRUE to out.
func trueRows(out []int32, v *vec.Vector, n int) []int32 {
	if v.Type.ID == vec.Null {
		return out
	}
	if v.Form == vec.Constant {
		if !v.IsNull(0) && v.Data[0] != 0 {
			for i := range n {
				out = append(out, int32(i))
			}
		}
		return out
	}
	k := len(out)
	out = growTo(out, k+n)
	nulls := v.MayHaveNulls()
	if v.Form == vec.Dictionary {
		for i := range n {
			out[k] = int32(i)
			if x := v.Index[i]; int(x) < v.Dict.N && v.Dict.Data[x] != 0 && !(nulls && v.IsNull(i)) {
				k++
			}
		}
		return out[:k]
	}
	data := v.Data[:n]
	if nulls {
		for i, x := range data {
			out[k] = int32(i)
			k += int(x & byte(v.Valid[i/64]>>(uint(i)%64)&1))
		}
		return out[:k]
	}
	for i, x := range data {
		out[k] = int32(i)
		k += int(x)
	}
	return out[:k]
}

// growTo returns s with length n, its values kept.
func growTo[T any](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	grown := make([]T, n, n+n/4)
	copy(grown, s)
	return grown
}

// kleeneNode is AND (stop isFalse) or OR (stop isTrue): an argument is computed for the rows that those before it
// leave undecided.
type kleeneNode struct {
	args   []node
	stop   byte
	rest   *input
	states []byte
	arg    []byte
	rows   []int32
}

func newKleeneNode(args []node, stop byte, ids *uint64) *kleeneNode {
	return &kleeneNode{args: args, stop: stop, rest: newInput(ids)}
}

func (k *kleeneNode) eval(in *input) (*vec.Vector, error) {
	k.states, k.arg = make([]byte, in.n), resize(k.arg, in.n)
	fill(k.states, 1-k.stop)
	k.rows = k.rows[:0]
	for i := range in.n {
		k.rows = append(k.rows, int32(i))
	}
	unknown := false
	for _, a := range k.args {
		if len(k.rows) == 0 {
			break
		}
		from := in
		if len(k.rows) < in.n {
			in.narrow(k.rest, k.rows)
			from = k.rest
		}
		v, err := a.eval(from)
		if err != nil {
			return nil, err
		}
		triStates(k.arg, v, len(k.rows))
		left := 0
		for i, r := range k.rows {
			switch s := k.arg[i]; s {
			case k.stop:
				k.states[r] = s
				continue
			case isUnknown:
				k.states[r] = s
				unknown = true
			}
			k.rows[left] = r
			left++
		}
		k.rows = k.rows[:left]
	}
	return boolVector(k.states, unknown), nil
}

// notNode is NOT.
type notNode struct{ arg node }

func (x *notNode) eval(in *input) (*vec.Vector, error) {
	v, err := x.arg.eval(in)
	if err != nil {
		return nil, err
	}
	states := make([]byte, in.n)
	triStates(states, v, in.n)
	for i, s := range states {
		if s != isUnknown {
			states[i] = s ^ 1
		}
	}
	return boolVector(states, v.MayHaveNulls()), nil
}

// isNullNode is IS [NOT] NULL.
type isNullNode struct {
	arg    node
	negate bool
}

func (x *isNullNode) eval(in *input) (*vec.Vector, error) {
	v, err := x.arg.eval(in)
	if err != nil {
		return nil, err
	}
	if !v.MayHaveNulls() {
		return vec.ConstantOf(vec.BoolType, vec.BoolValue(x.negate), in.n), nil
	}
	out := make([]byte, in.n)
	for i := range out {
		out[i] = b2u(v.IsNull(i) != x.negate)
	}
	return boolVector(out, false), nil
}

// isBoolNode is IS [NOT] TRUE and IS [NOT] FALSE.
type isBoolNode struct {
	arg          node
	want, negate bool
}

func (x *isBoolNode) eval(in *input) (*vec.Vector, error) {
	v, err := x.arg.eval(in)
	if err != nil {
		return nil, err
	}
	states, want := make([]byte, in.n), b2u(x.want)
	triStates(states, v, in.n)
	for i, s := range states {
		states[i] = b2u((s == want) != x.negate)
	}
	return boolVector(states, false), nil
}

func b2u(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
