package function

import (
	"slices"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// maxRange is how many numbers one list of range may have: a longer one is better read as rows.
const maxRange = 1 << 20

// rangeList is range as a scalar function: the numbers as a list.
func rangeList(arguments int) extension.ScalarOverload {
	list := vec.ArrayType(int8)
	return on(signature(slices.Repeat([]vec.Type{int8}, arguments)...), list, boxed(list, func(_ *call, args []vec.Value) (vec.Value, error) {
		from, to, step := int64(0), args[0].I, int64(1)
		if arguments > 1 {
			from, to = args[0].I, args[1].I
		}
		if arguments > 2 {
			step = args[2].I
		}
		if step == 0 {
			return vec.Value{}, zeroStep()
		}
		out := vec.Value{Type: list, List: []vec.Value{}}
		for x := from; step > 0 && x < to || step < 0 && x > to; {
			if len(out.List) == maxRange {
				return vec.Value{}, sqlerr.New(sqlerr.ProgramLimitExceeded, "a list of range has at most %d numbers", maxRange).
					Hintf("read the numbers as rows: SELECT ... FROM range(...)")
			}
			out.List = append(out.List, vec.IntValue(int8, x))
			next := x + step
			if (next > x) != (step > 0) { // beyond 64 bits
				break
			}
			x = next
		}
		return out, nil
	}))
}
