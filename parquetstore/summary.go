package parquetstore

import (
	"context"
	"math"

	"github.com/parquet-go/parquet-go/format"

	"github.com/tidemarkdb/tidemark/vec"
)

// Summary is what a file's footer and dictionaries tell of a column.
type Summary struct {
	Rows     int64
	Nulls    int64     // -1 when some row group does not say
	Min, Max vec.Value // valid when HasRange
	HasRange bool
	Exact    bool    // Min and Max are values of the column: writers cut only what is not a whole number
	Distinct float64 // estimate, 0 when nothing is known
	Bytes    float64 // a value's encoded bytes, on average
}

// Summarize returns what is known of a column without decoding it. It reads the page headers of dictionaries.
func (f *File) Summarize(ctx context.Context, column int) (Summary, error) {
	c := &f.schema.columns[column]
	out := Summary{HasRange: true, Exact: true}
	var counts distinctCounts
	for g := range f.groups {
		group := &f.groups[g]
		out.Rows += int64(group.rows)
		for l := c.leaves[0]; l < c.leaves[1]; l++ {
			out.Bytes += float64(group.chunks[l].meta.MetaData.TotalUncompressedSize)
		}
		if !c.flat(f.schema) {
			out.HasRange, out.Nulls = false, -1
			continue
		}
		out.Exact = out.Exact && f.schema.leaves[c.leaves[0]].whole()
		ch := &group.chunks[c.leaves[0]]
		out.addBounds(&ch.bounds)
		n, err := f.distinctInChunk(ctx, ch, int64(group.rows))
		if err != nil {
			return out, f.damaged(err)
		}
		counts.add(n, float64(group.rows), &ch.bounds)
	}
	if out.Rows > 0 {
		out.Bytes /= float64(out.Rows)
	}
	out.HasRange = out.HasRange && !out.Min.Null && !out.Max.Null && out.Min.Type.ID != 0
	out.Exact = out.Exact && out.HasRange
	out.Distinct = counts.estimate(&out)
	return out, nil
}

func (s *Summary) addBounds(b *bounds) {
	if s.Nulls >= 0 && b.nulls >= 0 {
		s.Nulls += b.nulls
	} else {
		s.Nulls = -1
	}
	if b.allNull() {
		return
	}
	if !b.hasMin || !b.hasMax {
		s.HasRange = false
		return
	}
	if s.Min.Type.ID == 0 || vec.Compare(b.min, s.Min) < 0 {
		s.Min = b.min
	}
	if s.Max.Type.ID == 0 || vec.Compare(b.max, s.Max) > 0 {
		s.Max = b.max
	}
}

// distinctInChunk returns how many distinct values a chunk has, 0 when nothing tells. A dictionary that was given up
// for plain pages in between is a lower bound and counts as not known.
func (f *File) distinctInChunk(ctx context.Context, c *chunk, rows int64) (float64, error) {
	m := &c.meta.MetaData
	if n := m.Statistics.DistinctCount; n > 0 && n <= rows {
		return float64(n), nil
	}
	if m.DictionaryPageOffset != c.start || m.DataPageOffset <= c.start || rows == 0 {
		return 0, nil
	}
	for _, s := range m.EncodingStats {
		if s.PageType != format.DictionaryPage && s.Encoding != format.RLEDictionary && s.Encoding != plainDictionary {
			return 0, nil
		}
	}
	if err := f.src.acquire(); err != nil {
		return 0, err
	}
	defer f.src.release()
	var h pageHeader
	err := f.guard(func() (err error) {
		h, err = f.header(ctx, c.start, c.end)
		return err
	})
	if err != nil || h.kind != format.DictionaryPage {
		return 0, err
	}
	return float64(h.values), nil
}

// distinctCounts puts the distinct counts of row groups together.
type distinctCounts struct {
	groups, population, widths float64 // groups that tell; the sums of what they tell and of the widths of their ranges
	silent                     int     // groups that do not tell
}

func (d *distinctCounts) add(n, rows float64, b *bounds) {
	if rows == 0 {
		return
	}
	if n == 0 {
		d.silent++
		return
	}
	d.groups++
	d.population += population(n, rows)
	if w, ok := width(b.min, b.max); ok && b.hasMin && b.hasMax {
		d.widths += w
	}
}

// population returns how many values there are to draw from when rows draws gave n distinct ones.
func population(n, rows float64) float64 {
	if n > 0.98*rows {
		return n
	}
	low, high := n, rows*rows
	for range 60 {
		mid := math.Sqrt(low * high)
		if mid*-math.Expm1(-rows/mid) < n {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// estimate returns the distinct values of the whole column. Groups whose ranges overlap draw from one population,
// those that lie side by side have populations of their own.
func (d *distinctCounts) estimate(s *Summary) float64 {
	rows := float64(s.Rows)
	if s.Nulls > 0 {
		rows -= float64(s.Nulls)
	}
	span, ranged := math.Inf(1), false
	if s.HasRange {
		if w, ok := width(s.Min, s.Max); ok {
			span, ranged = w, true
		}
	}
	if d.groups > 0 && d.silent == 0 {
		overlap := d.groups
		if ranged && d.widths > 0 {
			overlap = math.Max(1, math.Min(d.groups, d.widths/span))
		}
		return math.Min(math.Min(rows, span), d.population/overlap)
	}
	if ranged {
		return math.Min(rows, span)
	}
	if d.silent > 0 && d.groups == 0 {
		return rows // writers drop dictionaries that do not pay
	}
	return math.Min(rows, math.Max(rows/10, d.population/math.Max(d.groups, 1)))
}

// width returns how many values lie between two of a type whose values can be counted.
func width(low, high vec.Value) (float64, bool) {
	if low.Type.ID != high.Type.ID {
		return 0, false
	}
	switch low.Type.Phys() {
	case vec.PhysBool, vec.PhysInt16, vec.PhysInt32, vec.PhysInt64:
		return float64(high.I) - float64(low.I) + 1, true
	}
	return 0, false
}
