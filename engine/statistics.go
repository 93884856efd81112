package engine

import (
	"sync"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/parquetstore"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// statsCache keeps the statistics of tables by set version. The zero value is ready.
type statsCache struct {
	mu    sync.Mutex
	known map[tablet.TableID]*tableStats
}

// of returns the statistics of a table; they are computed when first asked for, column by column.
func (c *statsCache) of(t *catalog.Table) plan.Statistics {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.known[t.ID]; s != nil && s.version == t.Tablets.Version() && s.schema == t.SchemaVersion {
		return s
	}
	s := &tableStats{table: t, version: t.Tablets.Version(), schema: t.SchemaVersion, columns: map[int]plan.ColumnStatistics{}}
	if c.known == nil {
		c.known = map[tablet.TableID]*tableStats{}
	}
	c.known[t.ID] = s
	return s
}

func (c *statsCache) forget(id tablet.TableID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, id)
}

// tableStats sums up what the descriptions of tablets know.
type tableStats struct {
	table   *catalog.Table
	version uint64
	schema  uint32

	mu      sync.Mutex
	columns map[int]plan.ColumnStatistics
}

// Rows implements plan.Statistics. Staged rows are counted whole: how many base rows they supersede is not known
// before their masks are resolved, so the sum may be above the truth until the next cascade.
func (s *tableStats) Rows() int64 {
	totals := s.table.Tablets.Totals()
	return totals.BaseRows - totals.MaskedRows + totals.StagingRows/2
}

// Column implements plan.Statistics.
func (s *tableStats) Column(ordinal int) plan.ColumnStatistics {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.columns[ordinal]; ok {
		return c
	}
	c := s.compute(s.table.Columns[ordinal])
	s.columns[ordinal] = c
	return c
}

// maxSketches bounds how many tablets' sketches are merged for one column: a sample is enough for an estimate.
const maxSketches = 64

func (s *tableStats) compute(column tablet.Column) plan.ColumnStatistics {
	out := plan.ColumnStatistics{HasRange: true}
	var lowest, highest tablet.Bound
	var sketch *parquetstore.Sketch
	var rows, nulls int64
	view := s.table.Tablets.View()
	tablets := 0
	add := func(d *tablet.Desc) {
		c, ok := d.Stats.Column(column.FieldID)
		if !ok {
			out.HasRange = false
			return
		}
		rows += d.Rows
		nulls += c.NullCount
		if c.NullCount < d.Rows-c.NaNCount {
			lowest, out.HasRange = widen(lowest, c.Min, -1, out.HasRange)
			highest, out.HasRange = widen(highest, c.Max, 1, out.HasRange)
		}
		if tablets < maxSketches && c.Distinct != nil {
			if parsed, err := parquetstore.ParseSketch(c.Distinct); err == nil {
				if sketch == nil {
					sketch = parsed
				} else {
					sketch.Merge(parsed)
				}
			}
		}
		tablets++
	}
	for _, b := range view.Base {
		add(b.Desc)
	}
	for _, t := range view.Staging {
		add(t.Desc)
	}
	if rows > 0 {
		out.NullFraction = float64(nulls) / float64(rows)
	}
	if sketch != nil {
		out.Distinct = sketch.Estimate()
	}
	if out.HasRange = out.HasRange && lowest.Known() && highest.Known(); out.HasRange {
		out.Min, out.Max = boundValue(column.Type, lowest), boundValue(column.Type, highest)
	}
	return out
}

// widen returns the outer of two bounds in a direction; known turns false when they do not compare.
func widen(have, next tablet.Bound, direction int, known bool) (tablet.Bound, bool) {
	if !next.Known() {
		return have, false
	}
	if !have.Known() {
		return next, known
	}
	order, ok := next.Compare(have)
	if !ok {
		return have, false
	}
	if order*direction > 0 {
		return next, known
	}
	return have, known
}

// boundValue returns a bound as a value of the column's type.
func boundValue(t vec.Type, b tablet.Bound) vec.Value {
	switch b.Kind {
	case tablet.IntBound:
		return vec.IntValue(t, b.Int())
	case tablet.FloatBound:
		return vec.FloatValue(t, b.Float())
	case tablet.Int128Bound:
		hi, lo := b.Int128()
		return vec.Int128Value(t, vec.Int128{Hi: hi, Lo: lo})
	}
	return vec.StringValue(t, b.Bytes())
}
