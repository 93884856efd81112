package function

import (
	"math"
	"slices"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// expandRow appends the rows made from row i of args to the builders of the result's columns, equally many to each.
type expandRow func(ev *extension.Eval, args []*vec.Vector, i int, out []*vec.Builder) error

// expand is an overload of a set-returning function.
func expand(s extension.Signature, bind func(args []extension.Argument) (vec.Schema, expandRow, error)) extension.TableOverload {
	return extension.TableOverload{Signature: s, Expand: func(args []extension.Argument) (extension.BoundExpand, error) {
		schema, row, err := bind(args)
		if err != nil {
			return extension.BoundExpand{}, err
		}
		for i := range schema {
			schema[i].Nullable = true
		}
		return extension.BoundExpand{Schema: schema, Rows: expandRows(schema, row)}, nil
	}}
}

func expandRows(schema vec.Schema, row expandRow) func(ev *extension.Eval, args []*vec.Vector, n int) (*vec.Batch, []int32, error) {
	return func(ev *extension.Eval, args []*vec.Vector, n int) (*vec.Batch, []int32, error) {
		if ev == nil {
			ev = &extension.Eval{}
		}
		out := make([]*vec.Builder, len(schema))
		for k, c := range schema {
			out[k] = vec.NewBuilder(c.Type, n)
		}
		var from []int32
		for i := range n {
			if err := row(ev, args, i, out); err != nil {
				return nil, nil, err
			}
			for len(from) < out[0].Len() {
				from = append(from, int32(i))
			}
		}
		cols := make([]*vec.Vector, len(out))
		for k, b := range out {
			cols[k] = b.Finish()
		}
		return vec.NewBatch(len(from), cols...), from, nil
	}
}

func tableFamily() family {
	series := func(name string, closed bool) []extension.TableOverload {
		column := func(t vec.Type) vec.Schema { return vec.Schema{{Name: name, Type: t}} }
		stepped := func(t vec.Type) extension.TableOverload {
			return expand(optional(signature(t, t, t), 1), func([]extension.Argument) (vec.Schema, expandRow, error) {
				return column(t), intSeries(t, closed), nil
			})
		}
		moments := func(t vec.Type) extension.TableOverload {
			return expand(signature(t, t, intervalT), func([]extension.Argument) (vec.Schema, expandRow, error) {
				return column(t), timeSeries(t, closed), nil
			})
		}
		return []extension.TableOverload{
			stepped(int4), stepped(int8), moments(stampT), moments(stampTZ),
			expand(optional(params(decimalParam, decimalParam, decimalParam), 1), func(args []extension.Argument) (vec.Schema, expandRow, error) {
				t := args[0].Type
				for _, a := range args[1:] {
					t = extension.MergeDecimals(t, a.Type)
				}
				return column(t), decimalSeries(t, closed), nil
			}),
		}
	}
	fromZero := func(name string, closed bool) extension.TableOverload {
		return expand(signature(int8), func([]extension.Argument) (vec.Schema, expandRow, error) {
			return vec.Schema{{Name: name, Type: int8}}, func(ev *extension.Eval, args []*vec.Vector, i int, out []*vec.Builder) error {
				return intSeries(int8, closed)(ev, []*vec.Vector{vec.ConstantOf(int8, vec.Value{}, args[0].N), args[0]}, i, out)
			}, nil
		})
	}
	return family{category: "table", tables: []*extension.TableFunc{
		tableChanges(),
		{Def: def("generate_series", "Values from a start to an end, the end included", ex("SELECT sum(x) FROM generate_series(1, 4) t(x)", "10")), Overloads: append(series("generate_series", true), fromZero("generate_series", true))},
		{Def: def("range", "Values from a start to an end, the end left out", ex("SELECT sum(x) FROM range(1, 4) t(x)", "6")), Overloads: append(series("range", false), fromZero("range", false))},
		{Def: def("unnest", "Elements of an array as rows", ex("SELECT max(x) FROM unnest(ARRAY[3, 1]) t(x)", "3")), Overloads: []extension.TableOverload{
			expand(params(arrayParam), func(args []extension.Argument) (vec.Schema, expandRow, error) {
				return vec.Schema{{Name: "unnest", Type: *args[0].Type.Elem}}, unnest, nil
			}),
		}},
		{Def: def("generate_subscripts", "Places of an array's elements", ex("SELECT max(x) FROM generate_subscripts(ARRAY[5, 6], 1) t(x)", "2")), Overloads: []extension.TableOverload{
			expand(params(arrayParam, exact(int4)), func([]extension.Argument) (vec.Schema, expandRow, error) {
				return vec.Schema{{Name: "generate_subscripts", Type: int4}}, subscripts, nil
			}),
		}},
		{Def: def("regexp_split_to_table", "Parts of a text between matches of a regular expression as rows", ex("SELECT count(*) FROM regexp_split_to_table('a b c', ' ')", "3")), Overloads: []extension.TableOverload{
			expand(optional(signature(textT, textT, textT), 1), func([]extension.Argument) (vec.Schema, expandRow, error) {
				return vec.Schema{{Name: "regexp_split_to_table", Type: textT}}, splitRows, nil
			}),
		}},
		{Def: def("regexp_matches", "Groups of the matches of a regular expression as rows, with flag g of all", ex("SELECT count(*) FROM regexp_matches('a1b2', '[0-9]', 'g')", "2")), Overloads: []extension.TableOverload{
			expand(optional(signature(textT, textT, textT), 1), func([]extension.Argument) (vec.Schema, expandRow, error) {
				return vec.Schema{{Name: "regexp_matches", Type: textArrayT}}, matchRows, nil
			}),
		}},
		{Def: def("string_to_table", "Parts of a text between separators as rows", ex("SELECT count(*) FROM string_to_table('a,b', ',')", "2")), Overloads: []extension.TableOverload{
			expand(optional(signature(textT, textT, textT), 1), func([]extension.Argument) (vec.Schema, expandRow, error) {
				return vec.Schema{{Name: "string_to_table", Type: textT}}, func(_ *extension.Eval, args []*vec.Vector, i int, out []*vec.Builder) error {
					v, err := stringToArray(nil, rowValues(args, i))
					for _, e := range v.List {
						out[0].Append(e)
					}
					return err
				}, nil
			}),
		}},
	}}
}

func rowValues(args []*vec.Vector, i int) []vec.Value {
	values := make([]vec.Value, len(args))
	for k, a := range args {
		values[k] = a.Value(i)
	}
	return values
}

func anyNull(args []*vec.Vector, i int) bool {
	return slices.ContainsFunc(args, func(a *vec.Vector) bool { return a.IsNull(i) })
}

func zeroStep() error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "step size cannot equal zero")
}

func intSeries(t vec.Type, closed bool) expandRow {
	return func(_ *extension.Eval, args []*vec.Vector, i int, out []*vec.Builder) error {
		if anyNull(args, i) {
			return nil
		}
		x, end, step := args[0].Value(i).I, args[1].Value(i).I, int64(1)
		if len(args) == 3 {
			step = args[2].Value(i).I
		}
		if step == 0 {
			return zeroStep()
		}
		for step > 0 && x < end || step < 0 && x > end || closed && x == end {
			if t.ID == vec.Int32 {
				vec.AppendFixed(out[0], int32(x))
			} else {
				vec.AppendFixed(out[0], x)
			}
			if step > 0 && x > math.MaxInt64-step || step < 0 && x < math.MinInt64-step {
				return nil
			}
			x += step
		}
		return nil
	}
}

func decimalSeries(t vec.Type, closed bool) expandRow {
	return func(_ *extension.Eval, args []*vec.Vector, i int, out []*vec.Builder) error {
		if anyNull(args, i) {
			return nil
		}
		at := func(k int) (vec.Int128, bool) {
			return vec.RescaleInt128(args[k].Value(i).Int128(), int(args[k].Type.Scale), int(t.Scale))
		}
		x, ok1 := at(0)
		end, ok2 := at(1)
		step, ok3 := vec.Pow10(int(t.Scale)), true
		if len(args) == 3 {
			step, ok3 = at(2)
		}
		if !ok1 || !ok2 || !ok3 {
			return outOfRange(t)
		}
		up := vec.CompareInt128(step, vec.Int128{})
		if up == 0 {
			return zeroStep()
		}
		for c := vec.CompareInt128(end, x); c == up || closed && c == 0; c = vec.CompareInt128(end, x) {
			out[0].Append(vec.Int128Value(t, x))
			next, ok := vec.AddInt128Checked(x, step)
			if !ok || !vec.FitsPrecision(next, int(t.Precision)) {
				return nil
			}
			x = next
		}
		return nil
	}
}

func timeSeries(t vec.Type, closed bool) expandRow {
	return func(ev *extension.Eval, args []*vec.Vector, i int, out []*vec.Builder) error {
		if anyNull(args, i) {
			return nil
		}
		x, end, step := args[0].Value(i).I, args[1].Value(i).I, args[2].Value(i).Span
		up := vec.CompareInt128(step.Span(), vec.Int128{})
		if up == 0 {
			return zeroStep()
		}
		if !vec.FiniteMicros(x) || !vec.FiniteMicros(end) {
			return invalidParameter("the bounds of a series must be finite")
		}
		c := &call{ev: ev}
		for up > 0 && x < end || up < 0 && x > end || closed && x == end {
			vec.AppendFixed(out[0], x)
			var err error
			if t.ID == vec.TimestampTZ {
				x, err = addToMoment(c, x, step)
			} else {
				x, err = addToLocal(x, step)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

func unnest(_ *extension.Eval, args []*vec.Vector, i int, out []*vec.Builder) error {
	if args[0].IsNull(i) {
		return nil
	}
	p, k := args[0].Physical(i)
	for e := p.Offsets[k]; e < p.Offsets[k+1]; e++ {
		out[0].AppendFrom(p.Kids[0], int(e))
	}
	return nil
}

func subscripts(_ *extension.Eval, args []*vec.Vector, i int, out []*vec.Builder) error {
	if anyNull(args, i) || args[1].Value(i).I != 1 {
		return nil
	}
	p, k := args[0].Physical(i)
	for e := range p.Offsets[k+1] - p.Offsets[k] {
		vec.AppendFixed(out[0], e+1)
	}
	return nil
}

func flagsOf(args []*vec.Vector, i int) string {
	if len(args) < 3 {
		return ""
	}
	return string(args[2].Bytes(i))
}

func splitRows(_ *extension.Eval, args []*vec.Vector, i int, out []*vec.Builder) error {
	if anyNull(args, i) {
		return nil
	}
	re, err := compileRegex(string(args[1].Bytes(i)), flagsOf(args, i))
	if err != nil {
		return err
	}
	for _, part := range splitRegex(re, string(args[0].Bytes(i))) {
		out[0].AppendString(part)
	}
	return nil
}

func matchRows(_ *extension.Eval, args []*vec.Vector, i int, out []*vec.Builder) error {
	if anyNull(args, i) {
		return nil
	}
	flags, s, limit := flagsOf(args, i), string(args[0].Bytes(i)), 1
	re, err := compileRegex(string(args[1].Bytes(i)), flags)
	if err != nil {
		return err
	}
	if slices.Contains([]byte(flags), 'g') {
		limit = -1
	}
	for _, at := range re.FindAllStringSubmatchIndex(s, limit) {
		appendGroups(out[0], s, at)
	}
	return nil
}

// sortedValues returns a sorted copy: ascending with NULL last, or the reverse.
func sortedValues(list []vec.Value, backward bool) []vec.Value {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b vec.Value) int {
		if backward {
			return vec.Compare(b, a)
		}
		return vec.Compare(a, b)
	})
	return list
}
