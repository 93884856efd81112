package function

import (
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

func sequenceFamily() family {
	f := family{category: "sequence", scalars: []*extension.ScalarFunc{
		volatile(def("nextval", "Next number of a sequence", ex("nextval(NULL) IS NULL", "t")),
			onSequence(signature(textT), func(s extension.Sequences, args []vec.Value) (int64, error) { return s.Next(args[0].S) })),
		volatile(def("currval", "Number that nextval gave for a sequence last in this session", ex("currval(NULL) IS NULL", "t")),
			onSequence(signature(textT), func(s extension.Sequences, args []vec.Value) (int64, error) { return s.Current(args[0].S) })),
		volatile(def("lastval", "Number that nextval gave last in this session", ex("CASE WHEN false THEN lastval() END", "NULL")),
			onSequence(signature(), func(s extension.Sequences, _ []vec.Value) (int64, error) { return s.Last() })),
		volatile(def("setval", "Set where a sequence is: with false the given number comes next, else the one after it", ex("setval(NULL, 5) IS NULL", "t")),
			onSequence(optional(signature(textT, int8, boolT), 1), func(s extension.Sequences, args []vec.Value) (int64, error) {
				called := len(args) < 3 || args[2].I != 0
				return args[1].I, s.Set(args[0].S, args[1].I, called)
			})),
	}}
	for _, s := range f.scalars {
		s.InOrder = true
	}
	return f
}

// onSequence is an overload that asks the session's sequences once a row.
func onSequence(s extension.Signature, f func(extension.Sequences, []vec.Value) (int64, error)) extension.ScalarOverload {
	return extension.ScalarOverload{Signature: s, Strict: true, Bind: func([]extension.Argument) (vec.Type, extension.Kernel, error) {
		return int8, func(ev *extension.Eval, args []*vec.Vector, n int) (*vec.Vector, error) {
			if ev == nil || ev.Sequences == nil {
				return nil, sqlerr.New(sqlerr.FeatureNotSupported, "there are no sequences here").Hintf("use the function in a statement")
			}
			out := make([]int64, n)
			row := make([]vec.Value, len(args))
		rows:
			for i := range n {
				for j, a := range args {
					if row[j] = a.Value(i); row[j].Null {
						continue rows
					}
				}
				var err error
				if out[i], err = f(ev.Sequences, row); err != nil {
					return nil, err
				}
			}
			return vec.FlatOf(int8, out, nil), nil
		}, nil
	}}
}
