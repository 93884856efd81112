package function

import (
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// window is an overload of a window function.
func window(s extension.Signature, result func(args []extension.Argument) vec.Type, eval func(p *extension.Partition, args []*vec.Vector) (*vec.Vector, error)) extension.WindowOverload {
	return extension.WindowOverload{Signature: s, Bind: func(args []extension.Argument) (extension.BoundWindow, error) {
		return extension.BoundWindow{Result: result(args), Eval: func(_ *extension.Eval, p *extension.Partition, args []*vec.Vector) (*vec.Vector, error) {
			return eval(p, args)
		}}, nil
	}}
}

// amongRows is the example of a function that also says what a row would get, were it among those of a group.
func amongRows(name, result string) extension.Example {
	return ex("SELECT "+name+"(2) WITHIN GROUP (ORDER BY x) FROM (VALUES (1), (1), (3), (4)) t(x)", result)
}

func windowFamily() family {
	numbered := func(name, description, result string, f func(p *extension.Partition, out []int64), more ...extension.Example) *extension.WindowFunc {
		over := ex("SELECT max(r) FROM (SELECT "+name+"() OVER (ORDER BY x) AS r FROM (VALUES (1), (1), (2)) t(x)) u", result)
		return &extension.WindowFunc{Def: def(name, description, append([]extension.Example{over}, more...)...),
			Overloads: []extension.WindowOverload{window(signature(), resultOf(int8), func(p *extension.Partition, _ []*vec.Vector) (*vec.Vector, error) {
				out := make([]int64, p.N)
				f(p, out)
				return vec.FlatOf(int8, out, nil), nil
			})}}
	}
	share := func(name, description, result string, f func(p *extension.Partition, i int) float64, more ...extension.Example) *extension.WindowFunc {
		over := ex("SELECT max(r) FROM (SELECT "+name+"() OVER (ORDER BY x) AS r FROM (VALUES (1), (2)) t(x)) u", result)
		return &extension.WindowFunc{Def: def(name, description, append([]extension.Example{over}, more...)...),
			Overloads: []extension.WindowOverload{window(signature(), resultOf(float8), func(p *extension.Partition, _ []*vec.Vector) (*vec.Vector, error) {
				return collect(float8, p.N, func(i int) (float64, bool) { return f(p, i), true }), nil
			})}}
	}
	in := " OVER (ORDER BY x) AS r FROM (VALUES (1), (2), (3)) t(x)) u"
	return family{category: "window", windows: []*extension.WindowFunc{
		numbered("row_number", "Number of the row in its partition, from 1", "3", func(_ *extension.Partition, out []int64) {
			for i := range out {
				out[i] = int64(i) + 1
			}
		}),
		numbered("rank", "Rank with gaps; with WITHIN GROUP the one that a row of the values given would have", "3", func(p *extension.Partition, out []int64) {
			for i := range out {
				out[i] = int64(p.PeerStart[i]) + 1
			}
		}, amongRows("rank", "3")),
		numbered("dense_rank", "Rank without gaps; with WITHIN GROUP the one that a row of the values given would have", "2", func(p *extension.Partition, out []int64) {
			rank := int64(0)
			for i := range out {
				if int(p.PeerStart[i]) == i {
					rank++
				}
				out[i] = rank
			}
		}, amongRows("dense_rank", "2")),
		share("percent_rank", "Relative rank: (rank - 1) / (rows - 1); with WITHIN GROUP the one that a row of the values given would have", "1", func(p *extension.Partition, i int) float64 {
			if p.Rows() == 1 {
				return 0
			}
			return float64(p.Before+int64(p.PeerStart[i])) / float64(p.Rows()-1)
		}, amongRows("percent_rank", "0.5")),
		share("cume_dist", "Share of rows up to the current one's peers; with WITHIN GROUP the one that a row of the values given would have", "1", func(p *extension.Partition, i int) float64 {
			return float64(p.Before+int64(p.PeerEnd[i])) / float64(p.Rows())
		}, amongRows("cume_dist", "0.6")),
		{Def: def("ntile", "Number of the bucket when the partition is split into n", ex("SELECT max(r) FROM (SELECT ntile(2)"+in, "2")),
			Overloads: []extension.WindowOverload{window(signature(int4), resultOf(int4), ntile)}},
		{Def: def("lag", "Value some rows before, by default one", ex("SELECT max(r) FROM (SELECT lag(x)"+in, "2")), Overloads: shifted(-1)},
		{Def: def("lead", "Value some rows after, by default one", ex("SELECT max(r) FROM (SELECT lead(x)"+in, "3")), Overloads: shifted(1)},
		{Def: also(def("first_value", "Value of the frame's first row", ex("SELECT max(r) FROM (SELECT first_value(x)"+in, "1"))), Overloads: []extension.WindowOverload{
			window(params(elementParam), resultOfArg(0), func(p *extension.Partition, args []*vec.Vector) (*vec.Vector, error) {
				return inFrame(p, args[0], func(int) (int64, bool, error) { return 1, true, nil })
			})}},
		{Def: def("last_value", "Value of the frame's last row", ex("SELECT max(r) FROM (SELECT last_value(x)"+in, "3")), Overloads: []extension.WindowOverload{
			window(params(elementParam), resultOfArg(0), func(p *extension.Partition, args []*vec.Vector) (*vec.Vector, error) {
				return inFrame(p, args[0], func(int) (int64, bool, error) { return -1, true, nil })
			})}},
		{Def: def("nth_value", "Value of the frame's n-th row", ex("SELECT max(r) FROM (SELECT nth_value(x, 2)"+in, "2")), Overloads: []extension.WindowOverload{
			window(params(elementParam, exact(int4)), resultOfArg(0), func(p *extension.Partition, args []*vec.Vector) (*vec.Vector, error) {
				return inFrame(p, args[0], func(i int) (int64, bool, error) {
					if args[1].IsNull(i) {
						return 0, false, nil
					}
					n := args[1].Value(i).I
					if n < 1 {
						return 0, false, NthNotPositive()
					}
					return n, true, nil
				})
			})}},
	}}
}

// NthNotPositive is the error of nth_value with a number below 1.
func NthNotPositive() error {
	return sqlerr.New("22016", "argument of nth_value must be greater than zero").Hintf("rows of a frame are counted from 1")
}

func ntile(p *extension.Partition, args []*vec.Vector) (*vec.Vector, error) {
	if p.N == 0 || args[0].IsNull(0) {
		return vec.NullOf(int4, p.N), nil
	}
	n := args[0].Value(0).I
	if n < 1 {
		return nil, sqlerr.New("22014", "argument of ntile must be greater than zero")
	}
	size, larger := p.Rows()/n, p.Rows()%n // the first buckets have one row more
	return collect(int4, p.N, func(i int) (int32, bool) {
		row := p.Before + int64(i)
		if row < larger*(size+1) {
			return int32(row/(size+1)) + 1, true
		}
		return int32(larger+(row-larger*(size+1))/size) + 1, true
	}), nil
}

// shifted is lag (direction -1) and lead (1): value, offset, default.
func shifted(direction int64) []extension.WindowOverload {
	eval := func(p *extension.Partition, args []*vec.Vector) (*vec.Vector, error) {
		out := vec.NewBuilder(args[0].Type, p.N)
		for i := range p.N {
			offset := int64(1)
			if len(args) > 1 {
				if args[1].IsNull(i) {
					out.AppendNull()
					continue
				}
				offset = args[1].Value(i).I
			}
			at, ok := shiftedRow(p, args[0], i, offset*direction)
			switch {
			case ok:
				out.AppendFrom(args[0], at)
			case len(args) > 2:
				out.AppendFrom(args[2], i)
			default:
				out.AppendNull()
			}
		}
		return out.Finish(), nil
	}
	return []extension.WindowOverload{
		window(params(elementParam), resultOfArg(0), eval),
		window(params(elementParam, exact(int4)), resultOfArg(0), eval),
		window(params(elementParam, exact(int4), elementParam), resultOfArg(0), eval),
	}
}

// shiftedRow finds the row by rows away from i, with IGNORE NULLS counting only rows that are not NULL.
func shiftedRow(p *extension.Partition, v *vec.Vector, i int, by int64) (int, bool) {
	if !p.IgnoreNulls || by == 0 {
		at := int64(i) + by
		return int(at), at >= 0 && at < int64(p.N)
	}
	step, left := 1, by
	if by < 0 {
		step, left = -1, -by
	}
	for at := i + step; at >= 0 && at < p.N; at += step {
		if v.IsNull(at) {
			continue
		}
		if left--; left == 0 {
			return at, true
		}
	}
	return 0, false
}

// inFrame takes the value of row number n of each row's frame, counted from 1 or, with -1, the last; ok false is NULL.
func inFrame(p *extension.Partition, v *vec.Vector, nth func(i int) (n int64, ok bool, err error)) (*vec.Vector, error) {
	index, valid := make([]int32, p.N), vec.NewBitmap(p.N)
	for i := range p.N {
		n, ok, err := nth(i)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if row, found := frameRow(p, v, i, n); found {
			index[i] = int32(row)
			valid.Set(i)
		}
	}
	return vec.Gather(v, index, valid), nil
}

func frameRow(p *extension.Partition, v *vec.Vector, i int, n int64) (int, bool) {
	start, end := int(p.FrameStart[i]), int(p.FrameEnd[i])
	if p.Excluded == nil && !p.IgnoreNulls {
		if n < 0 {
			return end - 1, end > start
		}
		row := int64(start) + n - 1
		return int(row), row < int64(end)
	}
	row, step, left := start, 1, n
	if n < 0 {
		row, step, left = end-1, -1, 1
	}
	for ; row >= start && row < end; row += step {
		if p.Excluded != nil && p.Excluded(i, row) || p.IgnoreNulls && v.IsNull(row) {
			continue
		}
		if left--; left == 0 {
			return row, true
		}
	}
	return 0, false
}
