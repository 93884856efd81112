package exec

import (
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/vec"
)

// quick computes the commonest window functions for all partitions of a share at once, which takes far less than asking
// the function partition by partition where those are small; false when the call is not one of them.
func (s *windowShare) quick(c *windowCall) (*vec.Vector, bool) {
	if c.Bound.Func == nil || c.Bound.Func.Category != "window" {
		return nil, false
	}
	switch c.Bound.Func.Name {
	case "row_number":
		return s.counted(func(i, lo int32) int64 { return int64(i-lo) + 1 }), true
	case "rank":
		return s.counted(func(i, lo int32) int64 { return int64(s.peerStart[i]-lo) + 1 }), true
	case "dense_rank":
		return s.counted(func(i, lo int32) int64 { return int64(s.groupOf[i]-s.groupOf[lo]) + 1 }), true
	case "lag":
		return s.shifted(c, -1)
	case "lead":
		return s.shifted(c, 1)
	}
	return nil, false
}

// counted returns f of each row and the first row of its partition.
func (s *windowShare) counted(f func(i, lo int32) int64) *vec.Vector {
	out := make([]int64, s.n)
	for p := range s.parts() {
		lo := s.bounds[p]
		for i := lo; i < s.bounds[p+1]; i++ {
			out[i] = f(i, lo)
		}
	}
	return vec.FlatOf(vec.Int64Type, out, nil)
}

// shifted returns the argument so many rows away, NULL outside the partition.
func (s *windowShare) shifted(c *windowCall, direction int64) (*vec.Vector, bool) {
	by := direction
	if len(c.Args) > 1 {
		k, ok := c.Args[1].(*plan.Const)
		if !ok || k.Value.Null {
			return nil, false
		}
		by *= k.Value.I
	}
	if c.IgnoreNulls || len(c.Args) > 2 || c.Args[0].Type().ID == vec.Null {
		return nil, false
	}
	index, valid := make([]int32, s.n), vec.NewBitmap(s.n)
	for p := range s.parts() {
		lo, hi := int64(s.bounds[p]), int64(s.bounds[p+1])
		for i := lo; i < hi; i++ {
			if at := i + by; at >= lo && at < hi {
				index[i] = int32(at)
				valid.Set(int(i))
			}
		}
	}
	return vec.DictionaryOf(s.cols[c.args[0]], index, valid), true
}
