package function

import (
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// maxAssignedPlace is how far out an assignment may lengthen an array.
const maxAssignedPlace = 1 << 20

func arrayAssignment() *extension.ScalarFunc {
	return immutable(def("array_assign", "An array with another element at a place, lengthened with NULLs up to it: what UPDATE ... SET c[i] = x computes",
		ex("array_assign(ARRAY[1, 2], 2, 5)", "{1,5}"), ex("array_assign(ARRAY[1], 3, 5)", "{1,NULL,5}")),
		arrays(params(arrayParam, exact(int8), elementParam), resultOfArg(0), func(_ *extension.Eval, args []vec.Value) (vec.Value, error) {
			if args[1].Null {
				return vec.Value{}, sqlerr.New(sqlerr.NullNotAllowed, "array subscript in assignment must not be null")
			}
			place, old := args[1].I, args[0].List
			switch {
			case place < 1:
				return vec.Value{}, sqlerr.New(sqlerr.ArraySubscript, "array subscript out of range").Hintf("places count from 1")
			case place > maxAssignedPlace && place > int64(len(old)):
				return vec.Value{}, sqlerr.New(sqlerr.ProgramLimitExceeded, "an assignment to place %d would make the array too long", place).
					Hintf("append elements with ||")
			case len(old) == 0 && place > 1: // PostgreSQL's would begin at that place
				return vec.Value{}, sqlerr.New(sqlerr.FeatureNotSupported, "arrays begin at place 1").
					Hintf("assign to place 1 of an empty array first, or assign a whole value")
			}
			out := make([]vec.Value, max(int64(len(old)), place))
			copy(out, old)
			for i := len(old); i < len(out); i++ {
				out[i] = vec.NullValue(args[2].Type)
			}
			out[place-1] = args[2]
			return vec.Value{List: out}, nil
		}))
}
