package extension

import "github.com/tidemarkdb/tidemark/vec"

// SelectiveAccumulator is an Accumulator that can leave rows out by itself. Where few rows do not count, as under a
// deletion mask, this spares the driver a copy of all the others. It is optional.
type SelectiveAccumulator interface {
	Accumulator

	// UpdateExcept is Update without the rows in except, which ascend. In these rows too args hold values of their
	// types, though unspecified ones, and groups names groups that exist.
	UpdateExcept(groups []uint32, args []*vec.Vector, n int, except []int32) error
}
