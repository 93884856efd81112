package exec

import (
	"slices"
	"sync"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/function"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// operators holds the built-in functions, where RANGE frames find + and -.
var operators = sync.OnceValue(func() *extension.Registry {
	r := extension.NewRegistry()
	function.RegisterAll(r)
	return r
})

// frameBound compiles one end of a frame.
func (c *compiler) frameBound(x *window, mode plan.FrameMode, b plan.Bound) (frameBound, error) {
	out := frameBound{kind: b.Kind, before: b.Kind == plan.Preceding}
	if b.Offset == nil || b.Kind != plan.Preceding && b.Kind != plan.Following {
		return out, nil
	}
	offset := b.Offset
	if out.computed = hasColumn(offset); out.computed {
		out.offset = x.add(offset)
	} else {
		v, err := c.constant(offset)
		if err == nil {
			err = checkOffset(v)
		}
		if err != nil {
			return out, err
		}
		out.rows, offset = v.I, &plan.Const{Value: v}
	}
	if mode != plan.Range {
		return out, nil
	}
	if len(x.n.Order) != 1 {
		return out, sqlerr.New(sqlerr.Windowing, "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column")
	}
	out.seeks = true
	moved, err := movedKey(x.n.Order[0], offset, out.before)
	if err != nil {
		return out, err
	}
	out.at = x.add(moved)
	return out, nil
}

// hasColumn reports whether e is computed from columns.
func hasColumn(e plan.Expr) bool {
	if _, ok := e.(*plan.ColumnRef); ok {
		return true
	}
	return slices.ContainsFunc(e.Children(), hasColumn)
}

func checkOffset(v vec.Value) error {
	switch {
	case v.Null:
		return sqlerr.New(sqlerr.NullNotAllowed, "frame offset must not be null").Hintf("give a value, or use UNBOUNDED")
	case negative(v):
		return sqlerr.New("22013", "frame offset must not be negative").Hintf("use FOLLOWING instead of PRECEDING, or the other way round")
	}
	return nil
}

func negative(v vec.Value) bool {
	switch {
	case v.Type.IsFloat():
		return v.F < 0 || v.F != v.F
	case v.Type.Phys() == vec.PhysInt128:
		return v.Hi < 0
	case v.Type.ID == vec.Interval:
		return v.Span.Span().Hi < 0
	}
	return v.I < 0
}

// movedKey returns the ORDER BY key moved by a frame's offset: towards smaller values for PRECEDING unless the order
// descends. The moved key has a type in which small integers and times of day do not leave their range.
func movedKey(k plan.SortKey, offset plan.Expr, before bool) (plan.Expr, error) {
	op := "+"
	if before != k.Desc {
		op = "-"
	}
	key := k.Expr
	switch key.Type().ID {
	case vec.Int16, vec.Int32:
		key, offset = &plan.Cast{Arg: key, To: vec.Int64Type}, &plan.Cast{Arg: offset, To: vec.Int64Type}
	case vec.Time:
		key = &plan.Cast{Arg: key, To: vec.IntervalType}
	}
	bound, err := operators().ResolveScalar(op, []extension.Argument{{Type: key.Type()}, {Type: offset.Type()}})
	if err != nil {
		return nil, sqlerr.New(sqlerr.Windowing, "RANGE with offset is not supported for %s ordered with an offset of %s", k.Expr.Type(), offset.Type()).
			Hintf("order by a number, date or timestamp, or use ROWS")
	}
	call := &plan.Call{Bound: bound, Name: op}
	for i, e := range []plan.Expr{key, offset} {
		if !e.Type().Equal(bound.Args[i]) {
			e = &plan.Cast{Arg: e, To: bound.Args[i]}
		}
		call.Args = append(call.Args, e)
	}
	return call, nil
}

// frames is where the frame of each row of a share begins and ends, before EXCLUDE, and its peers. Places are those
// of the share.
type frames struct{ start, end []int32 }

// frame computes the frames of a call.
func (s *windowShare) frame(c *windowCall) (frames, error) {
	f := frames{start: make([]int32, s.n), end: make([]int32, s.n)}
	if err := s.edge(c, &c.start, f.start, true); err != nil {
		return f, err
	}
	if err := s.w.check(); err != nil {
		return f, err
	}
	if err := s.edge(c, &c.end, f.end, false); err != nil {
		return f, err
	}
	for i := range f.start {
		if f.end[i] < f.start[i] {
			f.end[i] = f.start[i]
		}
	}
	return f, nil
}

// edge writes where frames begin (first) or end.
func (s *windowShare) edge(c *windowCall, b *frameBound, out []int32, first bool) error {
	if b.seeks {
		return s.seek(c, b, out, first)
	}
	for p := range s.parts() {
		lo, hi := s.bounds[p], s.bounds[p+1]
		offset := b.rows
		if b.computed {
			v, err := s.offset(b, lo)
			if err != nil {
				return err
			}
			offset = v.I
		}
		offset = min(offset, int64(s.n))
		if b.before {
			offset = -offset
		}
		for i := lo; i < hi; i++ {
			at := int64(0)
			switch {
			case b.kind == plan.UnboundedPreceding:
				at = int64(lo)
			case b.kind == plan.UnboundedFollowing:
				at = int64(hi)
			case b.kind == plan.CurrentRow && c.Frame.Mode == plan.Rows:
				at = int64(i) + int64(b2i(!first))
			case b.kind == plan.CurrentRow && first:
				at = int64(s.peerStart[i])
			case b.kind == plan.CurrentRow:
				at = int64(s.peerEnd[i])
			case c.Frame.Mode == plan.Rows:
				at = int64(i) + offset + int64(b2i(!first))
			default:
				at = s.groupEdge(p, i, offset, first)
			}
			out[i] = int32(min(max(at, int64(lo)), int64(hi)))
		}
	}
	return nil
}

// offset returns the computed offset of the frames in a partition, which is that of any of its rows.
func (s *windowShare) offset(b *frameBound, row int32) (vec.Value, error) {
	v := s.cols[b.offset].Value(int(row))
	return v, checkOffset(v)
}

// groupEdge returns where the peer group that lies offset groups from row i's begins, or ends.
func (s *windowShare) groupEdge(p int, i int32, offset int64, first bool) int64 {
	g := int64(s.groupOf[i]) + offset
	low, high := int64(s.groupOf[s.bounds[p]]), int64(s.groupOf[s.bounds[p+1]-1])
	switch {
	case g < low:
		return int64(s.bounds[p])
	case g > high:
		return int64(s.bounds[p+1])
	case first:
		return int64(s.groupStart[g])
	}
	return int64(s.groupStart[g+1])
}

// seek finds the edge of RANGE frames with an offset: the first row not before the moved key, or the last not after
// it. Rows whose key is NULL have their peers for a frame, and are in no other row's.
func (s *windowShare) seek(c *windowCall, b *frameBound, out []int32, first bool) error {
	key, moved := s.cols[s.x.order.specs[s.x.keys].place], s.cols[b.at]
	if !key.Type.Equal(moved.Type) {
		kernel, err := function.Cast(key.Type, moved.Type)
		if err != nil {
			return err
		}
		if key, err = kernel(s.w.ev, []*vec.Vector{key}, s.n); err != nil {
			return err
		}
	}
	compare := function.CompareRows(moved.Type)
	sign := 1
	if s.x.n.Order[0].Desc {
		sign = -1
	}
	for p := range s.parts() {
		if err := s.w.check(); err != nil {
			return err
		}
		lo, hi := s.bounds[p], s.bounds[p+1]
		if b.computed {
			if _, err := s.offset(b, lo); err != nil {
				return err
			}
		}
		for lo < hi && key.IsNull(int(lo)) {
			out[lo] = s.peerEdge(lo, first)
			lo++
		}
		for hi > lo && key.IsNull(int(hi-1)) {
			hi--
			out[hi] = s.peerEdge(hi, first)
		}
		at := lo
		for i := lo; i < hi; i++ { // moved keys ascend with the rows, so at never goes back
			for at < hi {
				d := compare(key, int(at), moved, int(i)) * sign
				if d > 0 || first && d == 0 {
					break
				}
				at++
			}
			out[i] = at
		}
	}
	return nil
}

func (s *windowShare) peerEdge(i int32, first bool) int32 {
	if first {
		return s.peerStart[i]
	}
	return s.peerEnd[i]
}
