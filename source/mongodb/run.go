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
	endBytes  int64
	endCounts counts
}

type counts struct{ inserts, updates, deletes int64 }

func (c counts) minus(d counts) counts {
	return counts{c.inserts - d.inserts, c.updates - d.updates, c.deletes - d.deletes}
}

// commit marks a boundary.
func (r *run) commit(at position) {
	r.ended, r.end, r.endRows, r.endBytes, r.endCounts = true, at, len(r.ops), r.bytes, r.counts
}

// take returns the changes up to the last boundary and keeps those after it; without a boundary it returns them all. It
// returns nil when there is neither a change nor a boundary.
func (r *run) take() *extension.Changes {
	n, counted := len(r.ops), r.counts
	if r.ended {
		n, counted = r.endRows, r.endCounts
	}
	if n == 0 && !r.ended {
		return nil
	}
	out := &extension.Changes{Ops: r.ops[:n:n], Inserts: counted.inserts, Updates: counted.updates, Deletes: counted.deletes}
	bytes := int64(0)
	rest := run{rows: r.rows, ops: append([]extension.Op(nil), r.ops[n:]...), counts: r.counts.minus(counted)}
	if r.ended {
		out.Boundary, out.Position = true, r.end.encode()
		bytes = r.bytes - r.endBytes
	}
	for _, b := range r.builders {
		v := b.Finish()
		if m := len(rest.ops); m > 0 {
			b.AppendVector(v.Slice(n, m), nil)
		}
		if v.N != n { // or more than there are whole rows, after an error
			v = v.Slice(0, n)
		}
		out.Cols = append(out.Cols, v)
	}
	*r = rest
	r.bytes = bytes
	return out
}

// takeWhole returns the changes up to the last boundary and drops what lies after it; nil when there was no boundary.
func (r *run) takeWhole() *extension.Changes {
	if !r.ended {
		return nil
	}
	r.ops, r.counts = r.ops[:r.endRows], r.endCounts
	return r.take()
}

// lastBoundary returns the position that out, which take returned, ends with.
func (r *run) lastBoundary(out *extension.Changes) position {
	at, _ := decodePosition(out.Position) // encoded a moment ago
	return at
}
