package exec

import "github.com/tidemarkdb/tidemark/plan"

// maxContext bounds how many rows before or after a row a call may look at to be computed in stretches.
const maxContext = 1 << 16

// stretchKind says how a call is computed over a partition that is worked on in stretches.
type stretchKind uint8

const (
	notInStretches stretchKind = iota
	nearby                     // looks at so many rows before and after
	counting                   // counts rows or peer groups from the partition's start
	running                    // folds rows from the partition's start on: a state is carried from stretch to stretch
	overall                    // folds the whole partition: done ahead
	sized                      // depends on how many rows the partition has, which are counted ahead
	far                        // looks anywhere in the partition: at pages in a file
)

// windowNeeds is what the calls of a window look at around a row.
type windowNeeds struct {
	kinds         []stretchKind
	before, after int
	peers         bool // stretches must end between peer groups
	anywhere      bool // they need not: what depends on peers is far
}

// needs finds how every call can be computed in stretches; ok is false when one cannot. With anywhere, stretches may
// end within peer groups.
func (x *window) needs(anywhere bool) (n windowNeeds, ok bool) {
	n.anywhere = anywhere
	for i := range x.calls {
		c := &x.calls[i]
		kind := n.call(x, c)
		if kind == notInStretches && c.looksFar() {
			kind = far
		}
		if kind == notInStretches {
			return n, false
		}
		n.kinds = append(n.kinds, kind)
	}
	return n, true
}

// looksFar reports whether a call can be computed from pages.
func (c *windowCall) looksFar() bool {
	if c.Bound == nil {
		return !c.Distinct && !c.ordered()
	}
	switch c.Bound.Func.Name {
	case "first_value", "last_value", "nth_value", "lag", "lead":
		return !c.IgnoreNulls
	case "ntile":
		return true
	}
	return c.ranks()
}

// ranks reports whether a call is a function of where the row's peers lie.
func (c *windowCall) ranks() bool {
	switch c.Bound.Func.Name {
	case "rank", "dense_rank", "percent_rank", "cume_dist":
		return true
	}
	return false
}

// peering is the kind of a call that depends on peers.
func (n *windowNeeds) peering(kind stretchKind) stretchKind {
	if n.anywhere {
		return notInStretches
	}
	n.peers = true
	return kind
}

func (n *windowNeeds) call(x *window, c *windowCall) stretchKind {
	if c.Bound != nil {
		return n.function(c)
	}
	folds := !c.ordered() && c.Frame.Exclude == plan.ExcludeNoOthers
	switch {
	case wholePartition(c) && len(x.n.Order) == 0, c.start.kind == plan.UnboundedPreceding && c.end.kind == plan.UnboundedFollowing:
		if folds {
			return overall
		}
	case c.start.kind != plan.UnboundedPreceding:
		return n.frame(c)
	case !folds || c.Distinct:
	case c.end.kind == plan.CurrentRow && c.Frame.Mode != plan.Rows:
		return n.peering(running)
	case c.Frame.Mode == plan.Rows && (c.end.kind == plan.CurrentRow || n.bound(&c.end)):
		return running
	}
	return notInStretches
}

func (n *windowNeeds) function(c *windowCall) stretchKind {
	switch c.Bound.Func.Name {
	case "row_number":
		return counting
	case "rank", "dense_rank":
		return n.peering(counting)
	case "percent_rank", "cume_dist":
		return n.peering(sized)
	case "ntile":
		if _, constant := c.Args[0].(*plan.Const); constant {
			return sized
		}
	case "lag", "lead":
		offset := int64(1)
		if len(c.Args) > 1 {
			k, ok := c.Args[1].(*plan.Const)
			if !ok || k.Value.Null {
				return notInStretches
			}
			offset = max(k.Value.I, -k.Value.I)
		}
		if c.IgnoreNulls || !n.reach(offset) {
			return notInStretches
		}
		return nearby
	case "first_value", "last_value", "nth_value":
		return n.frame(c)
	}
	return notInStretches
}

// frame admits frames of ROWS that end near the row on both sides.
func (n *windowNeeds) frame(c *windowCall) stretchKind {
	if c.Frame.Mode != plan.Rows || c.Frame.Exclude == plan.ExcludeGroup || c.Frame.Exclude == plan.ExcludeTies || !n.bound(&c.start) || !n.bound(&c.end) {
		return notInStretches
	}
	return nearby
}

func (n *windowNeeds) bound(b *frameBound) bool {
	switch b.kind {
	case plan.CurrentRow:
		return true
	case plan.Preceding, plan.Following:
		return !b.computed && n.reach(b.rows)
	}
	return false
}

func (n *windowNeeds) reach(rows int64) bool {
	if rows < 0 || rows > maxContext {
		return false
	}
	n.before, n.after = max(n.before, int(rows)), max(n.after, int(rows))
	return true
}
