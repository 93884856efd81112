package parquetstore

import (
	"context"
	"slices"

	"github.com/tidemarkdb/tidemark/vec"
)

// filter narrows sel to the rows that pass every filter.
func (r *Reader) filter(ctx context.Context, from, n int, sel vec.Selection) (vec.Selection, error) {
	for _, f := range r.filters {
		var err error
		if sel, err = r.applyFilter(ctx, f, from, n, sel); err != nil || none(sel) {
			return sel, err
		}
	}
	for i := range r.runtime {
		l := &r.runtime[i]
		for _, f := range l.filters {
			var err error
			if sel, err = r.applyFilter(ctx, f, from, n, sel); err != nil || none(sel) {
				return sel, err
			}
		}
		if l.seen == nil || l.seen.Contains == nil {
			continue
		}
		v, err := r.columns[l.from.Column].slice(ctx, r, from, n, sel)
		if err != nil {
			return nil, err
		}
		r.sel = l.seen.Contains(v, sel, r.sel[:0])
		if sel = r.trim(n); none(sel) {
			return sel, nil
		}
	}
	for i := range r.scan.Filters {
		if !r.scan.Filters[i].Total {
			if sel = r.settle(n, sel); none(sel) {
				return sel, nil
			}
		}
		var err error
		if sel, err = r.selectRows(ctx, &r.scan.Filters[i], from, n, sel); err != nil || none(sel) {
			return sel, err
		}
	}
	if r.late && r.scan.Except && r.fewMissing(n, sel) {
		return nil, nil
	}
	return r.settle(n, sel), nil
}

// settle leaves out of sel (nil: all n rows) the dead rows that it still has.
func (r *Reader) settle(n int, sel vec.Selection) vec.Selection {
	if !r.late {
		return sel
	}
	r.late = false
	return r.dropDead(n, sel)
}

// fewMissing makes rows that are not in sel (nil: all n) dead in words, where they are so few that consumers do better
// with a list of them.
func (r *Reader) fewMissing(n int, sel vec.Selection) bool {
	switch {
	case sel == nil:
		return true
	case (n-len(sel))*fewFiltered > n:
		return false
	}
	r.except = sel.AppendComplement(r.except[:0], n)
	for _, row := range r.except {
		r.words[row>>6] &^= 1 << (uint(row) & 63)
	}
	return true
}

// selectRows narrows sel to the rows that pass a filter of the caller's.
func (r *Reader) selectRows(ctx context.Context, f *RowFilter, from, n int, sel vec.Selection) (vec.Selection, error) {
	if r.cols == nil {
		r.cols = make([]*vec.Vector, r.looked)
	}
	for i, c := range f.Columns {
		v, err := r.columns[c].slice(ctx, r, from, n, sel)
		if err != nil {
			return nil, err
		}
		r.cols[i] = v
	}
	sel, err := f.Select(r.cols[:len(f.Columns)], n, sel)
	if len(sel) == n {
		return nil, err
	}
	return sel, err
}

// dropDead narrows sel (nil: all n rows) to the rows that the mask leaves, by the words that live has read.
func (r *Reader) dropDead(n int, sel vec.Selection) vec.Selection {
	if sel == nil {
		r.sel = appendLive(r.sel[:0], r.words, n)
		return r.trim(n)
	}
	r.sel = slices.Grow(r.sel[:0], len(sel)) // sel may be this memory, or a filter's own
	out, at, words := r.sel[:len(sel)], 0, r.words
	for _, row := range sel {
		out[at] = row
		at += int(words[row>>6] >> (uint(row) & 63) & 1)
	}
	r.sel = out[:at]
	return r.trim(n)
}

func (r *Reader) applyFilter(ctx context.Context, f *filter, from, n int, sel vec.Selection) (vec.Selection, error) {
	v, err := r.columns[f.predicate.Column].slice(ctx, r, from, n, sel)
	if err != nil {
		return nil, err
	}
	if f.predicate.Op == IsNotNull && v.RowValid() == nil {
		return sel, nil
	}
	if sel == nil {
		r.sel = slices.Grow(r.sel[:0], n)
	}
	r.sel = f.apply(v, sel, r.sel[:0])
	return r.trim(n), nil
}

// none reports a selection of no row; nil is all of them.
func none(sel vec.Selection) bool { return sel != nil && len(sel) == 0 }

// trim returns r.sel, or nil when it holds all n rows. It is never nil when it holds none.
func (r *Reader) trim(n int) vec.Selection {
	if len(r.sel) == n {
		return nil
	}
	if r.sel == nil {
		r.sel = vec.Selection{}
	}
	return r.sel
}
