package parquetstore

import (
	"math"

	"github.com/parquet-go/parquet-go/format"

	"github.com/tidemarkdb/tidemark/vec"
)

// bounds is what is known of the values of a column in a stretch of rows.
type bounds struct {
	min, max       vec.Value
	hasMin, hasMax bool
	nulls          int64 // NULL rows, -1 when not known
	rows           int64
}

var unknownBounds = bounds{nulls: -1, rows: -1}

// allNull reports that every row is certainly NULL.
func (b *bounds) allNull() bool { return b.nulls >= 0 && b.nulls == b.rows }

// ordered reports whether stored statistics of the leaf order values as vec.Compare does.
func (l *leaf) ordered() bool {
	switch l.conv {
	case impala96, half, intervalMillis, intervalMicros:
		return false
	}
	return l.typ.ID != vec.JSON
}

// bound decodes one stored bound.
func (l *leaf) bound(b []byte) (vec.Value, bool) {
	s := stored{n: 1, data: b}
	if width := l.storedWidth(); width == 0 {
		s.offsets = []int32{0, int32(len(b))}
	} else if len(b) != width {
		return vec.Value{}, false
	}
	if l.conv == keep && l.phys != format.ByteArray {
		s.data = append([]byte(nil), b...)
	}
	v, err := l.convert(s)
	if err != nil {
		return vec.Value{}, false
	}
	return v.Value(0), true
}

// makeBounds decodes a pair of bounds. trusted says that our writer made them: a float column of another writer may
// hold NaN, which sorts above every number, without its bounds telling.
func (l *leaf) makeBounds(low, high []byte, nulls, rows int64, trusted bool) bounds {
	b := bounds{nulls: nulls, rows: rows}
	if !l.ordered() {
		return b
	}
	if low != nil {
		b.min, b.hasMin = l.bound(low)
	}
	if high != nil {
		b.max, b.hasMax = l.bound(high)
	}
	if l.typ.IsFloat() {
		b.hasMin = b.hasMin && !math.IsNaN(b.min.F)
		b.hasMax = b.hasMax && !math.IsNaN(b.max.F) && trusted
	}
	return b
}

// chunkBounds reads the statistics of a column chunk.
func (l *leaf) chunkBounds(s *format.Statistics, rows int64, trusted bool) bounds {
	low, high := s.MinValue, s.MaxValue
	if low == nil && high == nil && l.signed() {
		low, high = s.Min, s.Max
	}
	nulls := s.NullCount
	if nulls == 0 && !trusted && l.maxDef > 0 {
		nulls = -1 // the decoder does not tell absent from 0
	}
	if l.maxDef == 0 {
		nulls = 0
	}
	return l.makeBounds(low, high, nulls, rows, trusted)
}

// signed reports whether the deprecated statistics, which compare signed, order the leaf rightly.
func (l *leaf) signed() bool {
	switch l.phys {
	case format.Int32, format.Int64, format.Float, format.Double, format.Boolean:
		return l.conv != unsigned32 && l.conv != unsigned64 && l.conv != half
	}
	return false
}

// whole reports whether values are stored as whole numbers, whose bounds no writer has a reason to widen.
func (l *leaf) whole() bool {
	switch l.phys {
	case format.Boolean, format.Int32, format.Int64:
		return l.ordered()
	}
	return false
}
