package mongodb

import (
	"github.com/tidemarkdb/tidemark/extension"
)

// run collects the changes that the next call of Next returns.
type run struct {
	*rows
	ops    []extension.Op
	counts counts

	// The last boundary in the run: what lies before is whole.
	ended     bool
	end       position
	endRows   int
	endCounts counts
}

type counts struct{ inserts, updates, deletes int64 }

// commit marks a boundary.
func (r *run) commit(at position) {
	r.ended, r.end, r.endRows, r.endCounts = true, at, len(r.ops), r.counts
}

// take returns the changes collected, only those up to the last boundary when wholeOnly is set, and starts the next run.
// It returns nil when there are none and no boundary was met.
func (r *run) take(wholeOnly bool) *extension.Changes {
	n, counted := len(r.ops), r.counts
	if wholeOnly {
		n, counted = r.endRows, r.endCounts
	}
	if n == 0 && !r.ended {
		r.clear()
		return nil
	}
	out := &extension.Changes{Ops: r.ops[:n:n], Cols: r.finish(n), Inserts: counted.inserts, Updates: counted.updates, Deletes: counted.deletes}
	if r.ended && n == r.endRows {
		out.Boundary, out.Position = true, r.end.encode()
	}
	r.clear()
	return out
}

// clear starts the next run.
func (r *run) clear() {
	for _, b := range r.builders {
		if b.Len() > 0 {
			b.Finish()
		}
	}
	r.bytes = 0
	*r = run{rows: r.rows, ops: make([]extension.Op, 0, cap(r.ops))}
}

// lastBoundary returns the position that out, which take returned, ends with.
func (r *run) lastBoundary(out *extension.Changes) position {
	at, _ := decodePosition(out.Position) // encoded a moment ago
	return at
}
