package plan

import (
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

// ColID names a column of one statement. IDs start at 1.
type ColID int32

// Col is a column that a node makes.
type Col struct {
	ID       ColID
	Name     string
	Type     vec.Type
	Nullable bool
}

// Expr is a bound scalar expression.
type Expr interface {
	Type() vec.Type
	// Children returns the operands, in order; WithChildren returns a copy with others in their place.
	Children() []Expr
	WithChildren([]Expr) Expr
}

// ColumnRef is the value of a column.
type ColumnRef struct {
	ID   ColID
	T    vec.Type
	Name string // for messages and EXPLAIN
}

// Const is a constant; Value.Type is its type.
type Const struct{ Value vec.Value }

// Param is a parameter $Index (from 1), replaced by a Const before execution.
type Param struct {
	Index int
	T     vec.Type
}

// Call is a scalar function call; arguments are already cast to Bound.Args.
type Call struct {
	Bound extension.BoundScalar
	Name  string // as called
	Args  []Expr
}

// Cast converts; Try gives NULL where it fails.
type Cast struct {
	Arg Expr
	To  vec.Type
	Try bool
}

// CompareOp is a comparison.
type CompareOp uint8

// The comparisons.
const (
	Eq CompareOp = iota
	Ne
	Lt
	Le
	Gt
	Ge
	Distinct    // IS DISTINCT FROM
	NotDistinct // IS NOT DISTINCT FROM
)

// Compare compares two operands of equal type.
type Compare struct {
	Op          CompareOp
	Left, Right Expr
}

// And is the conjunction of two or more BOOLEANs, by Kleene's logic.
type And struct{ Args []Expr }

// Or is the disjunction of two or more BOOLEANs, by Kleene's logic.
type Or struct{ Args []Expr }

// Not negates a BOOLEAN.
type Not struct{ Arg Expr }

// IsNull is IS NULL, with Negate IS NOT NULL.
type IsNull struct {
	Arg    Expr
	Negate bool
}

// IsBool is IS [NOT] TRUE or IS [NOT] FALSE. (IS UNKNOWN is IsNull.)
type IsBool struct {
	Arg    Expr
	Want   bool
	Negate bool
}

// In is Arg [NOT] IN (constants): List holds constants of Arg's type, NULLs among them included. Lists with other
// expressions become Or of Compare.
type In struct {
	Arg    Expr
	List   []vec.Value
	Negate bool
}

// Case evaluates Then[i] for the first TRUE When[i], else Else (NULL when nil). COALESCE, NULLIF and the simple CASE
// are bound to it or to Coalesce. A branch is evaluated only for the rows that take it.
type Case struct {
	When, Then []Expr
	Else       Expr
	T          vec.Type
}

// Coalesce is the first argument that is not NULL; later ones are evaluated only where needed.
type Coalesce struct {
	Args []Expr
	T    vec.Type
}

// MakeArray is ARRAY[...]; MakeStruct is ROW(...) or {'a': ...}.
type MakeArray struct {
	Args []Expr
	T    vec.Type
}

// MakeStruct makes a struct of its arguments, which are its fields in order.
type MakeStruct struct {
	Args []Expr
	T    vec.Type
}

// Field takes a field of a struct.
type Field struct {
	Arg   Expr
	Index int
}

// Subquery is a subquery in an expression, before unnesting.
type Subquery struct {
	Kind SubqueryKind
	Plan Node
	// Arg [Op] ANY|ALL (subquery): the compared value; nil for Scalar and Exists. A row value has several.
	Args   []Expr
	Op     CompareOp
	Negate bool
	T      vec.Type
}

// SubqueryKind says what a subquery yields.
type SubqueryKind uint8

// The kinds of subquery.
const (
	ScalarSubquery SubqueryKind = iota
	Exists
	Any // Args Op ANY (...); IN is Eq ANY
	All
	ArraySubquery
)

// AggCall is one aggregate of an [Aggregate] node.
type AggCall struct {
	Out      Col
	Bound    extension.BoundAggregate
	Name     string
	Args     []Expr // cast to Bound.Args; none for count(*)
	Distinct bool
	Filter   Expr // nil: all rows
	OrderBy  []SortKey
}

// WindowCall is one function of a [Window] node: either Bound or, for an aggregate over frames, Agg.
type WindowCall struct {
	Out         Col
	Name        string
	Bound       *extension.BoundWindow
	Agg         *extension.BoundAggregate
	Args        []Expr
	Filter      Expr
	Distinct    bool
	IgnoreNulls bool
	Frame       Frame
}

// Frame is a window frame.
type Frame struct {
	Mode       FrameMode
	Start, End Bound
	Exclude    Exclude
}

// FrameMode is ROWS, RANGE or GROUPS.
type FrameMode uint8

// The frame modes.
const (
	Range FrameMode = iota
	Rows
	Groups
)

// Bound is one end of a frame. Offset is set for Preceding and Following, of the mode's type: BIGINT for ROWS and
// GROUPS, what the ORDER BY column adds with for RANGE. It is the same for all rows: a constant, or what a subquery made.
type Bound struct {
	Kind   BoundKind
	Offset Expr
}

// BoundKind is where a frame ends.
type BoundKind uint8

// The frame bounds.
const (
	UnboundedPreceding BoundKind = iota
	Preceding
	CurrentRow
	Following
	UnboundedFollowing
)

// Exclude is a frame's EXCLUDE clause.
type Exclude uint8

// The exclusions.
const (
	ExcludeNoOthers Exclude = iota
	ExcludeCurrentRow
	ExcludeGroup
	ExcludeTies
)

// SortKey is one ORDER BY key.
type SortKey struct {
	Expr       Expr
	Desc       bool
	NullsFirst bool
}
