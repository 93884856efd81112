package extension

import "github.com/tidemarkdb/tidemark/vec"

// StoredSource is a TableSource that the engine can scan as it scans its own tables: by many workers at once, pruned by
// statistics and with filters pushed down. Open stays for readers that take rows one batch after the other.
type StoredSource interface {
	TableSource
	// Statistics is what the optimizer goes by. It may be asked from any goroutine.
	Statistics() Statistics
}

// Statistics are the row counts and column statistics that the optimizer asks of a table.
type Statistics interface {
	// Rows is the number of live rows.
	Rows() int64
	// Column returns what is known of the column at that place of the table.
	Column(ordinal int) ColumnStatistics
}

// ColumnStatistics describes a column. Zero values mean unknown, except NullFraction.
type ColumnStatistics struct {
	Min, Max     vec.Value // valid when HasRange
	HasRange     bool
	Distinct     float64
	NullFraction float64
	AverageBytes float64
}
