package plan

import "slices"

// pushLimits turns LIMIT over ORDER BY into a top-N and moves LIMIT below what keeps every row of its input.
func pushLimits(_ *optimizer, n Node) Node {
	return mapNode(n, func(n Node) Node {
		if l, ok := n.(*Limit); ok {
			return pushLimit(l)
		}
		return n
	})
}

// maxTopRows bounds top-N, whose rows are kept in memory; beyond, sorting everything can spill.
const maxTopRows = 100_000

func pushLimit(l *Limit) Node {
	count, offset, ok := constantLimit(l)
	if !ok {
		return l
	}
	if count == 0 {
		return empty(l.Cols())
	}
	switch in := l.Input.(type) {
	case *Sort:
		if in.Limit < 0 && count+offset <= maxTopRows {
			s := *in
			s.Limit, s.Offset = count, offset
			return &s
		}
	case *Project:
		c := *in
		c.Input = pushLimit(&Limit{Input: in.Input, Count: l.Count, Offset: l.Offset})
		if !slices.ContainsFunc(in.Exprs, isVolatile) {
			return &c
		}
	case *SetOp:
		if in.Kind == Union && in.All {
			c := *in
			c.Args = slices.Clone(in.Args)
			for i, arg := range in.Args {
				c.Args[i] = keepCols(pushLimit(&Limit{Input: arg, Count: intConst(count + offset)}), arg.Cols())
			}
			return &Limit{Input: &c, Count: l.Count, Offset: l.Offset}
		}
	case *Join:
		if in.Kind == Left || in.Kind == Mark || in.Kind == Single {
			c := *in
			c.Left = pushLimit(&Limit{Input: in.Left, Count: intConst(count + offset)})
			return &Limit{Input: &c, Count: l.Count, Offset: l.Offset}
		}
	case *Limit:
		if inner, innerOffset, ok := constantLimit(in); ok {
			return pushLimit(&Limit{Input: in.Input, Count: intConst(max(0, min(count, inner-offset))), Offset: intConst(offset + innerOffset)})
		}
	}
	return l
}

// constantLimit returns the numbers of a LIMIT that has a constant count.
func constantLimit(l *Limit) (count, offset int64, ok bool) {
	c, isConst := l.Count.(*Const)
	if !isConst || c.Value.Null {
		return 0, 0, false
	}
	if l.Offset != nil {
		o, isConst := l.Offset.(*Const)
		if !isConst {
			return 0, 0, false
		}
		if !o.Value.Null {
			offset = o.Value.I
		}
	}
	const limit = 1 << 40 // sums stay far from overflow
	return c.Value.I, offset, c.Value.I < limit && offset < limit
}
