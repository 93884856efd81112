package parquetstore

import (
	"context"
	"slices"
	"sort"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// ReadRows returns the rows of the file with the given ordinals, in that order, duplicates included. It decodes only
// the pages they lie in.
func ReadRows(ctx context.Context, f *File, rows []uint32, columns []int) (*vec.Batch, error) {
	sorted, order := rows, []int32(nil)
	if !slices.IsSorted(rows) {
		sorted, order = sortRows(rows)
	}
	if n := len(sorted); n > 0 && int64(sorted[n-1]) >= f.rows {
		return nil, sqlerr.New(sqlerr.Internal, "row %d of Parquet file %s, which has %d", sorted[n-1], f.path, f.rows)
	}
	out := &vec.Batch{N: len(rows)}
	for _, c := range columns {
		if c < 0 || c >= len(f.schema.columns) {
			return nil, sqlerr.New(sqlerr.Internal, "Parquet file %s has no column %d", f.path, c)
		}
		v, err := f.rowsOf(ctx, c, sorted)
		if err != nil {
			return nil, err
		}
		if order != nil {
			v = vec.Gather(v, order, nil)
		}
		out.Cols = append(out.Cols, v)
	}
	return out, nil
}

// sortRows returns rows ascending, and where in that order each of them lies.
func sortRows(rows []uint32) (sorted []uint32, order []int32) {
	by := vec.Sequence(len(rows))
	slices.SortFunc(by, func(a, b int32) int { return int(int64(rows[a]) - int64(rows[b])) })
	sorted, order = make([]uint32, len(rows)), make([]int32, len(rows))
	for k, i := range by {
		sorted[k], order[i] = rows[i], int32(k)
	}
	return sorted, order
}

// rowsOf returns a column's values at ascending ordinals.
func (f *File) rowsOf(ctx context.Context, column int, rows []uint32) (*vec.Vector, error) {
	c := &f.schema.columns[column]
	pieces := []*vec.Vector{}
	for len(rows) > 0 {
		g := f.groupOf(int64(rows[0]))
		group := &f.groups[g]
		r := &Reader{f: f, scan: &Scan{}, group: g}
		cur := &cursor{column: c, page: -1}
		end := sort.Search(len(rows), func(i int) bool { return int64(rows[i]) >= group.first+int64(group.rows) })
		for within := rows[:end]; len(within) > 0; {
			first := int(int64(within[0]) - group.first)
			v, start, err := cur.whole(ctx, r, first)
			if err != nil {
				return nil, err
			}
			n := sort.Search(len(within), func(i int) bool { return int(int64(within[i])-group.first) >= start+v.N })
			places := make(vec.Selection, n)
			for i, row := range within[:n] {
				places[i] = int32(int64(row) - group.first - int64(start))
			}
			pieces = append(pieces, vec.Gather(v, places, nil))
			within = within[n:]
		}
		rows = rows[end:]
	}
	if len(pieces) == 0 {
		return vec.NewBuilder(c.Type, 0).Finish(), nil
	}
	return concat(c.Type, pieces), nil
}

// whole returns the decoded page that holds a row, or the whole nested column, and the row at which it begins.
func (c *cursor) whole(ctx context.Context, r *Reader, row int) (*vec.Vector, int, error) {
	if !c.column.flat(r.f.schema) {
		v, err := c.sliceNested(ctx, r, 0, r.f.groups[r.group].rows)
		return v, 0, err
	}
	if err := c.open(ctx, r); err != nil {
		return nil, 0, err
	}
	err := c.seek(ctx, r, row)
	return c.v, c.first, err
}

func (f *File) groupOf(row int64) int {
	return sort.Search(len(f.groups), func(g int) bool { return f.groups[g].first > row }) - 1
}

// CopySource is one file of a rewrite.
type CopySource struct {
	File    *File
	Mask    Mask        // nil: every row is live
	Columns []int       // places in File.Columns; -1 where the file has no such column
	Absent  []vec.Value // the value of each column that is -1; may be nil when there are none
}

// CopyRows calls emit with the live rows of the sources, in order: the source's place and a batch whose last vector is
// the ordinals of the rows in their file. The batch is valid during the call. It is the reading half of a rewrite.
func CopyRows(ctx context.Context, sources []CopySource, counters *Counters, emit func(source int, b *vec.Batch) error) error {
	for i := range sources {
		if err := copyFile(ctx, &sources[i], counters, func(b *vec.Batch) error { return emit(i, b) }); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(ctx context.Context, s *CopySource, counters *Counters, emit func(*vec.Batch) error) error {
	scan := &Scan{Mask: s.Mask, Position: true, Counters: counters}
	for _, c := range s.Columns {
		if c >= 0 {
			scan.Columns = append(scan.Columns, c)
		}
	}
	for _, m := range s.File.Morsels() {
		r, err := s.File.NewReader(scan, m)
		if err != nil {
			return err
		}
		for {
			b, err := r.Next(ctx)
			if err != nil {
				return err
			}
			if b == nil {
				break
			}
			if err := emit(s.complete(b)); err != nil {
				return err
			}
		}
	}
	return nil
}

// complete adds the columns the file does not have.
func (s *CopySource) complete(b *vec.Batch) *vec.Batch {
	out := &vec.Batch{N: b.N, Sel: b.Sel, Cols: make([]*vec.Vector, 0, len(s.Columns)+1)}
	at := 0
	for i, c := range s.Columns {
		if c < 0 {
			out.Cols = append(out.Cols, vec.ConstantOf(s.Absent[i].Type, s.Absent[i], b.N))
			continue
		}
		out.Cols = append(out.Cols, b.Cols[at])
		at++
	}
	out.Cols = append(out.Cols, b.Cols[at])
	return out
}
