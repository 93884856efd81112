package function

import (
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

func listAggregates() []*extension.AggregateFunc {
	texts := func(t vec.Type) extension.AggregateOverload {
		return aggregate(signature(t, t), t, types(t, int4), func() extension.Accumulator { return &joined{t: t} })
	}
	list := func(result func(elem vec.Type) vec.Type, finish func(v *vec.Vector) (*vec.Vector, error)) extension.AggregateOverload {
		return aggregateBound(params(elementParam), func(args []extension.Argument) (vec.Type, []vec.Type, func() extension.Accumulator, error) {
			array := vec.ArrayType(args[0].Type)
			return result(args[0].Type), types(array), func() extension.Accumulator { return newGathered(args[0].Type, finish) }, nil
		})
	}
	return []*extension.AggregateFunc{
		{Def: also(def("string_agg", "Join strings with a separator", ex("SELECT string_agg(x, ', ' ORDER BY x) FROM (VALUES ('b'), ('a')) t(x)", "a, b")), "listagg", "group_concat"),
			Overloads: []extension.AggregateOverload{texts(textT), texts(byteaT), anyJoined()}, OrderSensitive: true, KeepsNulls: true},
		{Def: also(def("array_agg", "Collect values, NULL included, into an array", ex("SELECT array_agg(x ORDER BY x DESC) FROM (VALUES (1), (2)) t(x)", "{2,1}")), "list"),
			Overloads: []extension.AggregateOverload{list(vec.ArrayType, nil)}, OrderSensitive: true, KeepsNulls: true},
		{Def: also(def("json_agg", "Collect values, NULL included, into a JSON array", ex("SELECT json_agg(x ORDER BY x) FROM (VALUES (1), (2)) t(x)", "[1, 2]")), "json_group_array"),
			Overloads: []extension.AggregateOverload{list(func(vec.Type) vec.Type { return jsonT }, jsonArrays)}, OrderSensitive: true, KeepsNulls: true},
		{Def: also(def("json_object_agg", "Collect pairs of name and value into a JSON object", ex("SELECT json_object_agg(k, v) FROM (VALUES ('a', 1)) t(k, v)", `{ "a" : 1 }`)), "json_group_object"),
			Overloads: []extension.AggregateOverload{aggregateBound(params(anyParam, anyParam), jsonObjects(jsonPairs))}, OrderSensitive: true, KeepsNulls: true},
		{Def: def("jsonb_agg", "Collect values, NULL included, into a JSON array in the form of jsonb", ex("SELECT jsonb_agg(x ORDER BY x) FROM (VALUES (1), (2)) t(x)", "[1, 2]")),
			Overloads: []extension.AggregateOverload{list(func(vec.Type) vec.Type { return jsonT }, thenJSONB(jsonArrays))}, OrderSensitive: true, KeepsNulls: true},
		{Def: def("jsonb_object_agg", "Collect pairs of name and value into a JSON object in the form of jsonb", ex("SELECT jsonb_object_agg(k, v) FROM (VALUES ('a', 1)) t(k, v)", `{"a": 1}`)),
			Overloads: []extension.AggregateOverload{aggregateBound(params(anyParam, anyParam), jsonObjects(thenJSONB(jsonPairs)))}, OrderSensitive: true, KeepsNulls: true},
	}
}

// anyJoined joins the texts of values of any type, by default with commas.
func anyJoined() extension.AggregateOverload {
	return aggregate(optional(params(anyParam, exact(textT)), 1), textT, types(textT, int4), func() extension.Accumulator { return &joined{t: textT} })
}

// joined is string_agg. Every value is stored with its separator in front; the first one's is cut off at the end, so
// that partial results can be joined.
type joined struct {
	slots[joinedText]
	t    vec.Type
	held int64
}

type joinedText struct {
	text  []byte
	first int32 // bytes of the first separator
	seen  bool
}

func (a *joined) MemoryBytes() int64 { return a.slots.MemoryBytes() + a.held }

func (a *joined) add(g int, separator, text []byte) {
	s := &a.at[g]
	if !s.seen {
		s.seen, s.first = true, int32(len(separator))
	}
	before := cap(s.text)
	s.text = append(append(s.text, separator...), text...)
	a.held += int64(cap(s.text) - before)
}

func (a *joined) Update(groups []uint32, args []*vec.Vector, n int) error {
	var text []byte
	for i := range n {
		if args[0].IsNull(i) {
			continue
		}
		var separator []byte
		switch {
		case len(args) < 2:
			separator = []byte{','}
		case !args[1].IsNull(i):
			separator = args[1].Bytes(i)
		}
		if args[0].Type.Phys() == vec.PhysBytes {
			a.add(group(groups, i), separator, args[0].Bytes(i))
			continue
		}
		text = vec.AppendText(text[:0], args[0], i)
		a.add(group(groups, i), separator, text)
	}
	return nil
}

func (a *joined) MergeState(groups []uint32, state []*vec.Vector, n int) error {
	firsts, mask := fixed[int32](flatOrConstant(state[1]))
	for i := range n {
		if state[0].IsNull(i) {
			continue
		}
		text, first := state[0].Bytes(i), firsts[i&mask]
		a.add(group(groups, i), text[:first], text[first:])
	}
	return nil
}

func (a *joined) SaveState(from, n int) ([]*vec.Vector, error) {
	v, err := a.texts(from, n, false)
	return []*vec.Vector{v, collect(int4, n, func(i int) (int32, bool) { return a.at[from+i].first, true })}, err
}

func (a *joined) Result(from, n int) (*vec.Vector, error) { return a.texts(from, n, true) }

func (a *joined) texts(from, n int, cut bool) (*vec.Vector, error) {
	out := newTextOut(n, 0)
	for _, s := range a.at[from : from+n] {
		if !s.seen {
			out.null(n)
			continue
		}
		text := s.text
		if cut {
			text = text[s.first:]
		}
		out.data = append(out.data, text...)
		if err := out.end(); err != nil {
			return nil, err
		}
	}
	return out.vector(a.t), nil
}

// rowStore keeps all values of an aggregate in one column; groups name their rows in it.
type rowStore struct {
	t       vec.Type
	done    *vec.Vector
	builder *vec.Builder
	n       int32
}

func newRowStore(t vec.Type) *rowStore { return &rowStore{t: t, builder: vec.NewBuilder(t, 0)} }

// add appends row i of v and returns its place.
func (s *rowStore) add(v *vec.Vector, i int) int32 {
	s.builder.AppendFrom(v, i)
	s.n++
	return s.n - 1
}

// vector returns all values.
func (s *rowStore) vector() *vec.Vector {
	switch {
	case s.builder.Len() == 0 && s.done != nil:
	case s.done == nil:
		s.done = s.builder.Finish()
	default:
		all := vec.NewBuilder(s.t, int(s.n))
		all.AppendVector(s.done, nil)
		all.AppendVector(s.builder.Finish(), nil)
		s.done = all.Finish()
	}
	return s.done
}

func (s *rowStore) memoryBytes() int64 {
	size := s.builder.MemoryBytes()
	if s.done != nil {
		size += s.done.MemoryBytes()
	}
	return size
}

// rowList is one group's rows in the store.
type rowList struct {
	rows []int32
	seen bool
}

// gathered collects the values of each group in order.
type gathered struct {
	slots[rowList]
	store  *rowStore
	held   int64
	finish func(v *vec.Vector) (*vec.Vector, error) // from arrays to the result; nil: the arrays
}

func newGathered(elem vec.Type, finish func(v *vec.Vector) (*vec.Vector, error)) *gathered {
	return &gathered{store: newRowStore(elem), finish: finish}
}

func (a *gathered) MemoryBytes() int64 {
	return a.slots.MemoryBytes() + a.store.memoryBytes() + a.held
}

func (a *gathered) add(g int, v *vec.Vector, i int) {
	s := &a.at[g]
	before := cap(s.rows)
	s.rows, s.seen = append(s.rows, a.store.add(v, i)), true
	a.held += int64(cap(s.rows)-before) * 4
}

func (a *gathered) Update(groups []uint32, args []*vec.Vector, n int) error {
	for i := range n {
		a.add(group(groups, i), args[0], i)
	}
	return nil
}

func (a *gathered) MergeState(groups []uint32, state []*vec.Vector, n int) error {
	for i := range n {
		if state[0].IsNull(i) {
			continue
		}
		p, k := state[0].Physical(i)
		for e := p.Offsets[k]; e < p.Offsets[k+1]; e++ {
			a.add(group(groups, i), p.Kids[0], int(e))
		}
	}
	return nil
}

// arrays returns the groups' values as arrays, NULL for groups without any.
func (a *gathered) arrays(from, n int) *vec.Vector {
	var index []int32
	out := &vec.Vector{Type: vec.ArrayType(a.store.t), N: n, Offsets: make([]int32, 1, n+1)}
	for i, s := range a.at[from : from+n] {
		if !s.seen {
			if out.Valid == nil {
				out.Valid = vec.NewFullBitmap(n)
			}
			out.Valid.Clear(i)
		}
		index = append(index, s.rows...)
		out.Offsets = append(out.Offsets, int32(len(index)))
	}
	out.Kids = []*vec.Vector{vec.Gather(a.store.vector(), index, nil)}
	return out
}

func (a *gathered) SaveState(from, n int) ([]*vec.Vector, error) {
	return []*vec.Vector{a.arrays(from, n)}, nil
}

func (a *gathered) Result(from, n int) (*vec.Vector, error) {
	if a.finish == nil {
		return a.arrays(from, n), nil
	}
	return a.finish(a.arrays(from, n))
}

// jsonArrays writes each array as a JSON array in the layout of json_agg.
func jsonArrays(v *vec.Vector) (*vec.Vector, error) {
	out := newTextOut(v.N, v.N*8)
	for i := range v.N {
		if v.IsNull(i) {
			out.null(v.N)
			continue
		}
		out.data = append(out.data, '[')
		for e := v.Offsets[i]; e < v.Offsets[i+1]; e++ {
			if e > v.Offsets[i] {
				out.data = append(out.data, ", "...)
			}
			out.data = appendJSON(out.data, v.Kids[0].Value(int(e)), nil)
		}
		out.data = append(out.data, ']')
		if err := out.end(); err != nil {
			return nil, err
		}
	}
	return out.vector(jsonT), nil
}

// jsonObjects binds json_object_agg: pairs are kept as structs and written by write.
func jsonObjects(write func(*vec.Vector) (*vec.Vector, error)) func(args []extension.Argument) (vec.Type, []vec.Type, func() extension.Accumulator, error) {
	return func(args []extension.Argument) (vec.Type, []vec.Type, func() extension.Accumulator, error) {
		pair := vec.StructType(vec.Field{Name: "k", Type: args[0].Type}, vec.Field{Name: "v", Type: args[1].Type})
		return jsonT, types(vec.ArrayType(pair)), func() extension.Accumulator {
			return &pairs{gathered: newGathered(pair, write), pair: pair}
		}, nil
	}
}

// thenJSONB puts what write makes into the form of jsonb.
func thenJSONB(write func(*vec.Vector) (*vec.Vector, error)) func(*vec.Vector) (*vec.Vector, error) {
	return func(v *vec.Vector) (*vec.Vector, error) {
		out, err := write(v)
		if err != nil {
			return nil, err
		}
		return asJSONB(out)
	}
}

// pairs is gathered with two arguments made into one struct.
type pairs struct {
	*gathered
	pair vec.Type
}

func (a *pairs) Update(groups []uint32, args []*vec.Vector, n int) error {
	v := &vec.Vector{Type: a.pair, N: n, Kids: []*vec.Vector{args[0].Flatten(), args[1].Flatten()}}
	for i := range n {
		if args[0].IsNull(i) {
			return invalidParameter("field name must not be null")
		}
	}
	return a.gathered.Update(groups, []*vec.Vector{v}, n)
}

func jsonPairs(v *vec.Vector) (*vec.Vector, error) {
	out := newTextOut(v.N, v.N*8)
	for i := range v.N {
		if v.IsNull(i) {
			out.null(v.N)
			continue
		}
		out.data = append(out.data, "{ "...)
		for e := v.Offsets[i]; e < v.Offsets[i+1]; e++ {
			if e > v.Offsets[i] {
				out.data = append(out.data, ", "...)
			}
			pair := v.Kids[0].Value(int(e)).List
			out.data = appendJSONString(out.data, string(vec.AppendValue(nil, pair[0], nil)))
			out.data = appendJSON(append(out.data, " : "...), pair[1], nil)
		}
		out.data = append(out.data, " }"...)
		if err := out.end(); err != nil {
			return nil, err
		}
	}
	return out.vector(jsonT), nil
}
