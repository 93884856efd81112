package extension

import (
	"context"
	"time"

	"github.com/tidemarkdb/tidemark/vec"
)

// Def names and documents one registration.
type Def struct {
	Name        string
	Aliases     []string
	Category    string // the documentation page's section: "math", "string", ...
	Description string // one line, imperative
	Examples    []Example
}

// Example is one executed example: SQL is an expression or query, Result its first value in PostgreSQL's text form
// ("NULL" for NULL).
type Example struct{ SQL, Result string }

// Volatility says when two calls with equal arguments give equal results.
type Volatility uint8

// The volatilities, as PostgreSQL defines them.
const (
	Immutable Volatility = iota // always: calls on constants are folded
	Stable                      // within one statement
	Volatile                    // never
)

// ParamKind says which argument types a parameter takes.
type ParamKind uint8

// The kinds of parameter.
const (
	Exact       ParamKind = iota // Param.Type itself, or what casts to it implicitly
	AnyType                      // anything, unrelated to other parameters
	AnyElement                   // anything, the same for every AnyElement and the element of every AnyArray
	AnyArray                     // an array of AnyElement
	AnyDecimal                   // NUMERIC of any precision and scale, kept
	AnyStruct                    // any struct
	AnyNonArray                  // anything but an array
)

// Param is one parameter of a signature.
type Param struct {
	Name string
	Kind ParamKind
	Type vec.Type // for Exact
}

// Signature is one overload.
type Signature struct {
	Params   []Param
	Variadic bool // the last parameter may repeat, once or more
	Optional int  // how many trailing parameters may be left out
}

// Argument is one argument of a call to resolve.
type Argument struct {
	Type    vec.Type
	Literal bool       // an untyped string literal, NULL or parameter: takes the type the call needs
	Const   *vec.Value // the value, when it is known at bind time
}

// Eval is what a kernel may use beside its arguments. One Eval serves one worker of one statement.
type Eval struct {
	Ctx       context.Context
	Now       time.Time                         // start of the transaction: now(), current_date
	Zone      *time.Location                    // the session's time zone
	Random    func() uint64                     // uniform; seeded per session by setseed
	Seed      func(float64)                     // what setseed does: Random begins anew from it; nil where it cannot
	Setting   func(name string) (string, error) // a session setting by its name in lower case; nil where there are none
	Query     string                            // the text of the statement
	User      string
	Database  string
	Schema    string    // the first schema of the search path
	Sequences Sequences // nil where there are none
	Objects   Objects   // nil where there are none
}

// Sequences are the sequences of a session. Names are SQL text, looked up along the search path when unqualified. The
// methods may be called from any goroutine.
type Sequences interface {
	// Next takes the next number of a sequence. What is taken stays taken, whatever becomes of the transaction.
	Next(name string) (int64, error)
	// Current returns the number that Next gave last in this session for a sequence, Last for any.
	Current(name string) (int64, error)
	Last() (int64, error)
	// Set makes value the number taken last or, unless called, the next one.
	Set(name string, value int64, called bool) error
}

// Kernel computes one vector from others. Arguments have n rows each, any form, of the types the resolution asked
// for; the result has n rows (or is Constant). Arguments are borrowed, the result is the caller's. With a strict
// overload, rows with a NULL argument are NULL in the result whatever the kernel leaves there, and the kernel must
// not fail on them.
type Kernel func(ev *Eval, args []*vec.Vector, n int) (*vec.Vector, error)

// ScalarFunc is a function of one row.
type ScalarFunc struct {
	Def
	Volatility Volatility
	// InOrder says that a call's value depends on the calls before it (nextval): a query with one runs on one thread, so
	// that rows get their values in the order in which they are read.
	InOrder   bool
	Overloads []ScalarOverload
}

// ScalarOverload is one signature of a ScalarFunc.
type ScalarOverload struct {
	Signature
	Strict bool // NULL in any argument gives NULL
	// Bind returns the result type and the kernel for concrete argument types (after casts). args[i].Const is set
	// for constants, so that a regular expression, say, is compiled once.
	Bind func(args []Argument) (vec.Type, Kernel, error)
}

// BoundScalar is a resolved call: cast the arguments to Args and run Kernel.
type BoundScalar struct {
	Func   *ScalarFunc
	Args   []vec.Type
	Result vec.Type
	Strict bool
	Kernel Kernel
}

// AggregateFunc folds the rows of a group.
type AggregateFunc struct {
	Def
	Overloads      []AggregateOverload
	OrderSensitive bool // the result depends on the order of rows (string_agg, array_agg, first)
	OrderedSet     bool // called with WITHIN GROUP (ORDER BY ...): the ordered expressions follow the direct arguments
	KeepsNulls     bool // rows with a NULL argument are passed on; otherwise the driver drops them before Update
}

// AggregateOverload is one signature of an AggregateFunc.
type AggregateOverload struct {
	Signature
	Bind func(args []Argument) (BoundAggregate, error)
}

// BoundAggregate is a resolved aggregate call.
type BoundAggregate struct {
	Func   *AggregateFunc
	Args   []vec.Type
	Result vec.Type
	State  []vec.Type // the columns that SaveState gives and MergeState takes
	New    func(ev *Eval) Accumulator
}

// Accumulator folds rows into groups numbered from 0. One goroutine uses it. Every group up to the last Grow exists
// and starts as the aggregate of no rows.
type Accumulator interface {
	// Grow makes room for groups 0..n-1.
	Grow(n int)
	// Update folds row i of args into group groups[i]; groups nil means group 0 for all. args have n rows, any form.
	Update(groups []uint32, args []*vec.Vector, n int) error
	// MergeState folds row i of the state columns, as SaveState gave them, into group groups[i] (nil: group 0).
	MergeState(groups []uint32, state []*vec.Vector, n int) error
	// SaveState returns the state of groups [from, from+n) as columns of the bound State types.
	SaveState(from, n int) ([]*vec.Vector, error)
	// Result returns the aggregates of groups [from, from+n).
	Result(from, n int) (*vec.Vector, error)
	// MemoryBytes returns the bytes held.
	MemoryBytes() int64
}

// WindowFunc computes a value for each row of a partition from the rows around it. Aggregates need none: the window
// operator runs them over frames.
type WindowFunc struct {
	Def
	Overloads []WindowOverload
}

// WindowOverload is one signature of a WindowFunc.
type WindowOverload struct {
	Signature
	Bind func(args []Argument) (BoundWindow, error)
}

// BoundWindow is a resolved window function call.
type BoundWindow struct {
	Func   *WindowFunc
	Args   []vec.Type
	Result vec.Type
	Eval   func(ev *Eval, p *Partition, args []*vec.Vector) (*vec.Vector, error)
}

// Partition is one partition of a window, sorted. Rows are numbered from 0.
type Partition struct {
	N                    int
	PeerStart, PeerEnd   []int32 // rows equal to row i in the ORDER BY: [PeerStart[i], PeerEnd[i])
	FrameStart, FrameEnd []int32 // row i's frame: [FrameStart[i], FrameEnd[i]), before exclusion
	// Excluded reports whether row j is left out of row i's frame by EXCLUDE; nil when nothing is.
	Excluded    func(i, j int) bool
	IgnoreNulls bool
	// Before and After are rows of the partition that are not here: of one too large for memory, functions whose
	// result depends on peers, on constants and on how many rows there are see a stretch of whole peer groups.
	Before, After int64
}

// Rows returns how many rows the partition has in all.
func (p *Partition) Rows() int64 { return p.Before + int64(p.N) + p.After }

// TableFunc returns rows.
type TableFunc struct {
	Def
	Overloads []TableOverload
}

// TableOverload is one signature of a TableFunc. Exactly one of Bind and Expand is set.
type TableOverload struct {
	Signature
	Named []Param // optional arguments given by name: read_csv('f', header => true)
	// Bind returns the source for constant arguments.
	Bind func(b *TableBind, args []vec.Value, named map[string]vec.Value) (TableSource, error)
	// Expand makes rows from each row of arguments, so that they may refer to tables on the left (LATERAL).
	Expand func(args []Argument) (BoundExpand, error)
}

// TableBind is what a table function may use to bind.
type TableBind struct {
	Ctx context.Context
	// AllowPath reports whether the session may read the file; it returns the error to show when not.
	AllowPath func(path string) error
	// ParseType returns the type that a name such as 'NUMERIC(10, 2)' stands for.
	ParseType func(name string) (vec.Type, error)
	Eval      *Eval
	// Changes returns what became of the rows of a stored table after one state of it, up to another: each is given by
	// its version (BIGINT) or by a time (TIMESTAMPTZ), and NULL as the second stands for the statement's own.
	Changes func(table string, from, to vec.Value) (TableSource, error)
}

// BoundExpand is a resolved set-returning call. Rows returns, for n rows of arguments, the produced rows and for each
// the row of arguments it came from (ascending).
type BoundExpand struct {
	Args   []vec.Type
	Schema vec.Schema
	Rows   func(ev *Eval, args []*vec.Vector, n int) (out *vec.Batch, from []int32, err error)
}

// TableSource is a bound table function or virtual table, ready to be read any number of times.
type TableSource interface {
	Schema() vec.Schema
	// Rows estimates the row count; -1 when unknown.
	Rows() int64
	// Open starts a read of the columns in projection (places in Schema, in this order).
	Open(ctx context.Context, ev *Eval, projection []int) (TableReader, error)
}

// TableReader yields batches until nil. Each batch is valid until the next call. Next may be called by several
// goroutines in turn, never at once. Close is idempotent.
type TableReader interface {
	Next(ctx context.Context) (*vec.Batch, error)
	Close() error
}
