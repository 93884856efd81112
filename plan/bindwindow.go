package plan

import (
	"slices"

	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// pendingWindow is a window call with its window.
type pendingWindow struct {
	partition []Expr
	order     []SortKey
	call      WindowCall
}

func (x *exprBinder) windowCall(name string, e *sql.FuncCall) Expr {
	switch {
	case x.inWindow:
		failHint(e.Pos, sqlerr.Windowing, "compute the inner one in a subquery", "window function calls cannot be nested")
	case x.inAggregate:
		failHint(e.Pos, sqlerr.Grouping, "compute the window function in a subquery", "aggregate function calls cannot contain window function calls")
	case !x.windows || x.block == nil:
		failHint(e.Pos, sqlerr.Windowing, "use QUALIFY, or filter around a subquery", "window functions are not allowed in %s", x.clause)
	}
	inner := *x
	inner.inWindow, inner.setReturning = true, false
	p := pendingWindow{call: WindowCall{Name: name, Distinct: e.Distinct, IgnoreNulls: e.NullsMode == sql.IgnoreNulls}}
	enum := inner.resolveWindowFunction(&p.call, name, e)
	if e.Filter != nil {
		if p.call.Agg == nil {
			fail(e.Pos, sqlerr.FeatureNotSupported, "FILTER is not implemented for non-aggregate window functions")
		}
		p.call.Filter = inner.boolean(inner.expr(e.Filter), "FILTER", e.Filter.Position())
	}
	w := x.resolveWindow(e.Over, nil)
	for _, part := range w.PartitionBy {
		p.partition = append(p.partition, inner.value(part))
	}
	for _, item := range w.OrderBy {
		if item.All {
			fail(e.Pos, sqlerr.SyntaxError, "ORDER BY ALL is not allowed in a window")
		}
		p.order = append(p.order, sortKey(inner.value(item.Expr), item))
	}
	p.call.Frame = inner.frame(w, p.order, e.Pos)
	return x.fromEnumCode(enum, x.block.addWindow(x.b, p))
}

// resolveWindowFunction finds the function of a call and binds its arguments. The type is that of [exprBinder.extremeOfEnum].
func (x *exprBinder) resolveWindowFunction(call *WindowCall, name string, e *sql.FuncCall) (enum vec.Type) {
	if len(e.OrderBy) > 0 {
		failHint(e.Pos, sqlerr.FeatureNotSupported, "order the window instead", "aggregate ORDER BY is not implemented for window functions")
	}
	args := x.positional(e)
	enum = x.extremeOfEnum(name, args)
	if x.b.functions.Window(name) != nil {
		bound, err := x.b.functions.ResolveWindow(name, x.b.arguments(args))
		check(err, e.Pos)
		if e.Distinct {
			fail(e.Pos, sqlerr.FeatureNotSupported, "DISTINCT is not implemented for window function %s", name)
		}
		call.Bound, call.Args = &bound, x.b.castArgs(args, bound.Args, e.Pos)
		call.Out = x.b.newCol(name, bound.Result, true)
		return enum
	}
	if x.b.functions.Aggregate(name) == nil {
		if x.b.functions.Scalar(name) != nil {
			failHint(e.Pos, sqlerr.WrongObjectType, "drop OVER",
				"OVER specified, but %s is not a window function nor an aggregate function", name)
		}
		_, err := x.b.functions.ResolveWindow(name, x.b.arguments(args))
		check(err, e.Pos)
	}
	if call.IgnoreNulls {
		fail(e.Pos, sqlerr.FeatureNotSupported, "IGNORE NULLS is not implemented for aggregate %s", name)
	}
	bound, err := x.b.functions.ResolveAggregate(name, x.b.arguments(args))
	check(err, e.Pos)
	call.Agg, call.Args = &bound, x.b.castArgs(args, bound.Args, e.Pos)
	call.Out = x.b.newCol(name, bound.Result, name != "count")
	return enum
}

// resolveWindow merges a window with the named ones it extends.
func (x *exprBinder) resolveWindow(w *sql.Window, seen []string) *sql.Window {
	if w.Base.Name == "" {
		return w
	}
	base := x.block.named[w.Base.Name]
	if base == nil || slices.Contains(seen, w.Base.Name) {
		failHint(w.Base.Pos, sqlerr.UndefinedObject, "define it in a WINDOW clause", "window %q does not exist", w.Base.Name)
	}
	base = x.resolveWindow(base, append(seen, w.Base.Name))
	if w.Reference {
		return base
	}
	switch {
	case len(w.PartitionBy) > 0:
		fail(w.Pos, sqlerr.Windowing, "cannot override PARTITION BY clause of window %q", w.Base.Name)
	case len(w.OrderBy) > 0 && len(base.OrderBy) > 0:
		fail(w.Pos, sqlerr.Windowing, "cannot override ORDER BY clause of window %q", w.Base.Name)
	case base.Frame != nil:
		fail(w.Pos, sqlerr.Windowing, "cannot copy window %q because it has a frame clause", w.Base.Name)
	}
	merged := *w
	merged.Base, merged.PartitionBy = sql.Ident{}, base.PartitionBy
	if len(merged.OrderBy) == 0 {
		merged.OrderBy = base.OrderBy
	}
	return &merged
}

func (bl *block) addWindow(b *binder, p pendingWindow) Expr {
	bl.made.add(p.call.Out.ID)
	bl.windows = append(bl.windows, p)
	return refTo(p.call.Out)
}

var (
	frameModes  = map[sql.FrameMode]FrameMode{sql.FrameRange: Range, sql.FrameRows: Rows, sql.FrameGroups: Groups}
	frameBounds = map[sql.BoundKind]BoundKind{sql.UnboundedPreceding: UnboundedPreceding, sql.OffsetPreceding: Preceding,
		sql.CurrentRow: CurrentRow, sql.OffsetFollowing: Following, sql.UnboundedFollowing: UnboundedFollowing}
	frameExclusions = map[sql.Exclusion]Exclude{sql.ExcludeNoOthers: ExcludeNoOthers, sql.ExcludeCurrentRow: ExcludeCurrentRow,
		sql.ExcludeGroup: ExcludeGroup, sql.ExcludeTies: ExcludeTies}
)

func (x *exprBinder) frame(w *sql.Window, order []SortKey, pos int) Frame {
	out := Frame{Mode: Range, Start: Bound{Kind: UnboundedPreceding}, End: Bound{Kind: CurrentRow}}
	if w.Frame == nil {
		if len(order) == 0 { // every row is a peer: the whole partition
			out.End.Kind = UnboundedFollowing
		}
		return out
	}
	f := w.Frame
	if f.Pos != 0 {
		pos = f.Pos
	}
	out.Mode, out.Exclude = frameModes[f.Mode], frameExclusions[f.Exclude]
	out.Start.Kind, out.End.Kind = frameBounds[f.Start.Kind], frameBounds[f.End.Kind]
	switch {
	case out.Start.Kind == UnboundedFollowing:
		fail(pos, sqlerr.Windowing, "frame start cannot be UNBOUNDED FOLLOWING")
	case out.End.Kind == UnboundedPreceding:
		fail(pos, sqlerr.Windowing, "frame end cannot be UNBOUNDED PRECEDING")
	case out.Start.Kind == CurrentRow && out.End.Kind == Preceding:
		fail(pos, sqlerr.Windowing, "frame starting from current row cannot have preceding rows")
	case out.Start.Kind == Following && (out.End.Kind == Preceding || out.End.Kind == CurrentRow):
		fail(pos, sqlerr.Windowing, "frame starting from following row cannot have preceding rows")
	case out.Mode == Groups && len(order) == 0:
		failHint(pos, sqlerr.Windowing, "add ORDER BY to the window", "GROUPS mode requires an ORDER BY clause")
	}
	out.Start.Offset = x.frameOffset(f.Start, out.Mode, order, pos)
	out.End.Offset = x.frameOffset(f.End, out.Mode, order, pos)
	return out
}

func (x *exprBinder) frameOffset(fb sql.FrameBound, mode FrameMode, order []SortKey, pos int) Expr {
	if fb.Kind != sql.OffsetPreceding && fb.Kind != sql.OffsetFollowing {
		return nil
	}
	t := vec.Int64Type
	if mode == Range {
		if len(order) != 1 {
			failHint(pos, sqlerr.Windowing, "order by one column", "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column")
		}
		switch key := order[0].Expr.Type(); {
		case key.IsTemporal():
			t = vec.IntervalType
		case key.IsNumeric() || key.ID == vec.Interval:
			t = key
		default:
			failHint(pos, sqlerr.FeatureNotSupported, "use ROWS or GROUPS", "RANGE with offset PRECEDING/FOLLOWING is not supported for column type %s", key)
		}
	}
	e := x.expr(fb.Offset)
	if used := refs(e); !used.empty() {
		failHint(pos, sqlerr.InvalidColumnReference, "write a constant or a parameter", "argument of a frame must not contain variables")
	}
	e = x.b.assign(e, t, "frame offset", fb.Offset.Position())
	if c, ok := e.(*Const); ok && (c.Value.Null || t.ID == vec.Int64 && c.Value.I < 0) {
		fail(pos, "22013", "frame starting and ending offset must not be null or negative")
	}
	return e
}
