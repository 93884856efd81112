package function

import (
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

// overlapsFunction is what (a, b) OVERLAPS (c, d) calls; an end given as an interval was added to its start.
func overlapsFunction() *extension.ScalarFunc {
	f := immutable(def("overlaps", "Whether two stretches of time, each given by its ends or by its start and an interval, share a moment",
		ex("(date '2001-02-16', date '2001-12-21') OVERLAPS (date '2001-10-30', interval '1 year')", "t")))
	for _, t := range []vec.Type{dateT, timeT, timeTZ, stampT, stampTZ} {
		f.Overloads = append(f.Overloads, arrays(signature(t, t, t, t), resultOf(boolT), func(_ *extension.Eval, args []vec.Value) (vec.Value, error) {
			return stretchesOverlap(stretchOf(args[0], args[1]), stretchOf(args[2], args[3])), nil
		}))
	}
	return f
}

// stretch is from start until before end, or a single moment; a missing end is NULL.
type stretch struct{ start, end vec.Value }

// stretchOf orders the ends; where one is NULL the other is the start.
func stretchOf(a, b vec.Value) stretch {
	if a.Null || !b.Null && b.I < a.I {
		return stretch{b, a}
	}
	return stretch{a, b}
}

// stretchesOverlap is NULL where an end that is NULL could decide.
func stretchesOverlap(a, b stretch) vec.Value {
	if a.start.Null || b.start.Null {
		return null()
	}
	if b.start.I < a.start.I {
		a, b = b, a
	}
	switch {
	case a.start.I == b.start.I:
		if a.end.Null || b.end.Null {
			return null()
		}
		return vec.BoolValue(true)
	case a.end.Null:
		return null()
	case b.start.I < a.end.I:
		return vec.BoolValue(true)
	case b.end.Null:
		return null()
	}
	return vec.BoolValue(false)
}
