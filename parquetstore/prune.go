package parquetstore

import (
	"context"
)

// prune finds, at the first call and whenever a runtime filter has published, the rows that page bounds leave.
func (r *Reader) prune(ctx context.Context) error {
	changed := !r.started
	for i := range r.runtime {
		l := &r.runtime[i]
		if b := l.from.bounds.Load(); b != l.seen {
			changed, l.seen, l.filters = true, b, nil
			t := r.f.schema.columns[l.from.Column].Type
			for _, p := range b.predicates(l.from.Column) {
				if Exact(t, p.Op) {
					l.filters = append(l.filters, newFilter(p, t))
				}
			}
		}
	}
	if !changed {
		return nil
	}
	predicates := r.scan.current()
	r.spans = [][2]int{{r.at, r.to}}
	if r.allDead() || !r.f.groupMayMatch(r.group, predicates) {
		r.spans, r.started = nil, true
		return nil
	}
	if excluded, err := r.bloomPrune(ctx); err != nil || excluded {
		return err
	}
	for i := range predicates {
		spans, err := r.pageSpans(ctx, &predicates[i])
		if err != nil {
			return err
		}
		r.spans = intersect(r.spans, spans)
	}
	return nil
}

// allDead reports whether no row that is yet to be read lives.
func (r *Reader) allDead() bool {
	if r.settled != nil {
		return r.liveIn(r.at, r.to-r.at) == 0
	}
	first := r.f.groups[r.group].first + int64(r.at)
	return r.mask != nil && r.mask.AllDead(uint32(first), uint32(r.to-r.at))
}

// bloomPrune asks, at the first call, the row group's bloom filters.
func (r *Reader) bloomPrune(ctx context.Context) (excluded bool, err error) {
	if r.started {
		return false, nil
	}
	r.started = true
	for i := range r.scan.Predicates {
		excluded, err = r.f.bloomExcludes(ctx, r.group, &r.scan.Predicates[i])
		if err != nil || excluded {
			break
		}
	}
	if excluded {
		r.spans = nil
		if c := r.scan.Counters; c != nil {
			c.GroupsPruned.Add(1)
		}
	}
	return excluded, err
}

// pageSpans returns the rows of the pages that may hold a row that passes p.
func (r *Reader) pageSpans(ctx context.Context, p *Predicate) ([][2]int, error) {
	c := &r.f.schema.columns[p.Column]
	whole := [][2]int{{r.at, r.to}}
	if !c.flat(r.f.schema) {
		return whole, nil
	}
	d, err := r.f.directory(ctx, r.group, c.leaves[0])
	if err != nil {
		return nil, err
	}
	var out [][2]int
	for i := range d.pages {
		page := &d.pages[i]
		if !p.mayMatch(&page.bounds) {
			continue
		}
		if k := len(out) - 1; k >= 0 && out[k][1] == page.first {
			out[k][1] += page.rows
		} else {
			out = append(out, [2]int{page.first, page.first + page.rows})
		}
	}
	return intersect(whole, out), nil
}

// intersect returns the rows in both of two ascending lists.
func intersect(a, b [][2]int) [][2]int {
	var out [][2]int
	for i, k := 0, 0; i < len(a) && k < len(b); {
		from, to := max(a[i][0], b[k][0]), min(a[i][1], b[k][1])
		if from < to {
			out = append(out, [2]int{from, to})
		}
		if a[i][1] < b[k][1] {
			i++
		} else {
			k++
		}
	}
	return out
}

// countSkipped counts, once a morsel is done, its pages that were never decoded.
func (r *Reader) countSkipped() {
	if r.scan.Counters == nil || r.at < 0 {
		return
	}
	r.at = -1
	r.spans = nil
	for _, c := range r.columns {
		if c != nil {
			r.scan.Counters.PagesPruned.Add(int64(c.skipped(r)))
		}
	}
}
