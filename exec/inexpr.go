package exec

import (
	"math/bits"

	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/vec"
)

// int64Set is a set of integers: open addressing, built once and read by any goroutine.
type int64Set struct {
	slots []int64
	full  []bool
	shift uint
	n     int
}

func newInt64Set(capacity int) *int64Set {
	size := 8
	for size < capacity*2 {
		size *= 2
	}
	return &int64Set{slots: make([]int64, size), full: make([]bool, size), shift: uint(64 - bits.TrailingZeros(uint(size)))}
}

const hashMultiplier = 0x9e3779b97f4a7c15 // 2^64 / golden ratio, for multiply-shift hashing

// add inserts x. The set must not hold more than its capacity.
func (s *int64Set) add(x int64) {
	for i := uint64(x) * hashMultiplier >> s.shift; ; i = (i + 1) & uint64(len(s.slots)-1) {
		if !s.full[i] {
			s.full[i], s.slots[i] = true, x
			s.n++
			return
		}
		if s.slots[i] == x {
			return
		}
	}
}

func (s *int64Set) has(x int64) bool {
	for i := uint64(x) * hashMultiplier >> s.shift; ; i = (i + 1) & uint64(len(s.slots)-1) {
		if !s.full[i] {
			return false
		}
		if s.slots[i] == x {
			return true
		}
	}
}

// valueSet is a set of values of one type.
type valueSet struct {
	t       vec.Type
	ints    *int64Set // types of up to 64 bits that are not floats
	strings map[string]struct{}
	others  []vec.Value
	null    bool // the list had a NULL
}

func newValueSet(t vec.Type, list []vec.Value) *valueSet {
	s := &valueSet{t: t}
	switch t.Phys() {
	case vec.PhysBool, vec.PhysInt16, vec.PhysInt32, vec.PhysInt64:
		s.ints = newInt64Set(len(list))
	case vec.PhysBytes:
		s.strings = make(map[string]struct{}, len(list))
	}
	for _, v := range list {
		switch {
		case v.Null:
			s.null = true
		case s.ints != nil:
			s.ints.add(v.I)
		case s.strings != nil:
			s.strings[v.S] = struct{}{}
		default:
			s.others = append(s.others, v)
		}
	}
	return s
}

// contains writes to out whether each row of v is in the set, ignoring NULL.
func (s *valueSet) contains(v *vec.Vector, out []byte) {
	switch {
	case s.ints != nil:
		s.containsInts(v, out)
	case s.strings != nil:
		for i := range out {
			if !v.IsNull(i) {
				_, ok := s.strings[string(v.Bytes(i))]
				out[i] = b2u(ok)
			}
		}
	default:
		for i := range out {
			if v.IsNull(i) {
				continue
			}
			x := v.Value(i)
			for _, o := range s.others {
				if vec.Compare(x, o) == 0 {
					out[i] = 1
					break
				}
			}
		}
	}
}

func (s *valueSet) containsInts(v *vec.Vector, out []byte) {
	n := len(out)
	switch s.t.Phys() {
	case vec.PhysBool:
		containsAll(s.ints, flatValues[byte](v, n), out)
	case vec.PhysInt16:
		containsAll(s.ints, flatValues[int16](v, n), out)
	case vec.PhysInt32:
		containsAll(s.ints, flatValues[int32](v, n), out)
	default:
		containsAll(s.ints, flatValues[int64](v, n), out)
	}
}

func containsAll[T ordered](s *int64Set, x []T, out []byte) {
	for i, v := range x {
		out[i] = b2u(s.has(int64(v)))
	}
}

// inNode is [NOT] IN (constants).
type inNode struct {
	arg    node
	set    *valueSet
	negate bool
}

func newInNode(e *plan.In, arg node) *inNode {
	return &inNode{arg: arg, set: newValueSet(e.Arg.Type(), e.List), negate: e.Negate}
}

func (x *inNode) eval(in *input) (*vec.Vector, error) {
	v, err := x.arg.eval(in)
	if err != nil {
		return nil, err
	}
	if v.Type.ID == vec.Null || constantNull(v) {
		return vec.NullOf(vec.BoolType, in.n), nil
	}
	out := make([]byte, in.n)
	x.set.contains(v, out)
	nulls := v.MayHaveNulls()
	for i, found := range out {
		switch {
		case nulls && v.IsNull(i) || found == 0 && x.set.null:
			out[i] = isUnknown
		case x.negate:
			out[i] = found ^ 1
		}
	}
	return boolVector(out, nulls || x.set.null), nil
}
