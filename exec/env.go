package exec

import (
	"context"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/vec"
)

// Env is what a query runs with.
type Env struct {
	Storage Storage
	// Eval is the template of what kernels may use; every worker gets a copy with its own Ctx and Random.
	Eval *extension.Eval
	// Threads is how many workers a pipeline gets; 0 is the number of CPUs the process may use.
	Threads int
	// MemoryBytes bounds what blocking operators hold together; 0 is no bound.
	MemoryBytes int64
	// SpillDir is the folder for temporary files; "" forbids spilling, so that the bound is an error.
	SpillDir string
	// Usage, unless nil, is kept up to date with what the query holds and spills.
	Usage *Usage
}

// Storage reads stored tables.
type Storage interface {
	// Scan opens a read. The request is valid until the source is closed.
	Scan(ctx context.Context, req *ScanRequest) (ScanSource, error)
}

// ScanRequest says what to read.
type ScanRequest struct {
	Table *plan.Table
	// Ordinals are the places in Table.Columns of the columns wanted, in order; -1 is the row's position (tablet
	// ordinal << 32 | row) as a BIGINT.
	Ordinals []int
	// Filters are the conjuncts to apply, cheapest first as far as known.
	Filters []*ScanFilter
	// Workers is how many workers will call Next, numbered from 0.
	Workers int
	// Except lets batches say in vec.Batch.Except which rows do not count.
	Except bool
}

// ScanFilter is one conjunct over the columns of a request. A source uses Simple to prune and Select to apply it
// exactly before it decodes the columns that no filter needs.
type ScanFilter struct {
	// Columns are the places in ScanRequest.Ordinals of what Select looks at.
	Columns []int
	// Simple is the conjunct, or something it implies, in a form to prune with; nil when there is none. Exact is set
	// when it is the conjunct itself.
	Simple *Predicate
	Exact  bool
	// Runtime marks a filter from the build side of a join: applying it is optional.
	Runtime bool
	// Total is set when Select cannot fail: it may then see rows that do not count.
	Total bool
	// Select returns the rows of sel (nil: all n) for which the conjunct is TRUE. cols is indexed like Ordinals; only
	// those in Columns need be there. The result, never nil, is valid until the same worker's next call.
	Select func(worker int, cols []*vec.Vector, n int, sel vec.Selection) (vec.Selection, error)
}

// PredicateOp is what a [Predicate] tests.
type PredicateOp uint8

// The tests. NULL satisfies PredIsNull alone.
const (
	PredRange   PredicateOp = iota // Low <= x <= High, either bound open with LowOpen, HighOpen or absent (nil)
	PredIn                         // x is one of Values
	PredNotEq                      // x <> Values[0]
	PredIsNull                     // x IS NULL
	PredNotNull                    // x IS NOT NULL
)

// Predicate is a test of one column that statistics can decide.
type Predicate struct {
	Column            int // place in ScanRequest.Ordinals
	Op                PredicateOp
	Low, High         *vec.Value
	LowOpen, HighOpen bool
	Values            []vec.Value // without NULLs, ascending
}

// ScanSource hands out the rows of a scan.
type ScanSource interface {
	// Applied reports for each filter of the request whether Next applies it exactly.
	Applied() []bool
	// Next returns the next batch for a worker, nil at the end. The workers call it at once, each with its own number.
	// A batch is valid until the worker's next call; rows that masks or filters left out are outside its selection.
	// Vector headers are fresh for every batch (their buffers need not be), and a dictionary stays unchanged for as
	// long as it is referenced.
	Next(ctx context.Context, worker int) (*vec.Batch, error)
	// Counters returns pruning counters for EXPLAIN ANALYZE, in the order to show. Called after the last Next.
	Counters() []Counter
	// Close releases the source; idempotent. No Next runs or follows.
	Close() error
}

// Counter is a named number of an operator.
type Counter struct {
	Name  string
	Value int64
}
