package plan

import (
	"github.com/tidemarkdb/tidemark/extension"
)

// Node is a relational operator.
type Node interface {
	// Cols returns the columns the node makes, in order.
	Cols() []Col
	Inputs() []Node
	WithInputs([]Node) Node
}

// Scan reads a stored table. Filters are conjuncts over its columns that the scan may use to prune and must apply.
type Scan struct {
	Table   *Table
	Columns []Col // what is read, each from Ordinals[i] of Table.Columns
	// Ordinals are places in Table.Columns; -1 is the row's position (tablet ordinal << 32 | row), a BIGINT, for DML.
	Ordinals []int
	Filters  []Expr
	// RowEstimate is the optimizer's guess after Filters; 0 before it ran.
	RowEstimate float64
}

// SourceScan reads a table function or virtual table.
type SourceScan struct {
	Name     string
	Source   extension.TableSource
	Columns  []Col
	Ordinals []int // places in Source.Schema()
}

// Values yields constant rows: len(Rows) rows of len(Columns) expressions without column references.
type Values struct {
	Columns []Col
	Rows    [][]Expr
}

// Filter keeps the rows for which every conjunct is TRUE.
type Filter struct {
	Input      Node
	Conditions []Expr
}

// Project computes one expression for each column.
type Project struct {
	Input   Node
	Columns []Col
	Exprs   []Expr
}

// JoinKind is a kind of join. Semi and Anti keep rows of the left that have, or have not, a match on the right; Mark
// keeps every left row and adds the column Mark, BOOLEAN: whether there is a match, NULL when that is unknown (IN).
// Single is a left join that fails with SQLSTATE 21000 when a left row has two matches (scalar subquery).
type JoinKind uint8

// The kinds of join.
const (
	Inner JoinKind = iota
	Left
	Right
	Full
	Semi
	Anti
	Mark
	Single
	Cross
)

// Join joins. Equal holds the hashable conditions Left[i] Op Right[i] (Op Eq or NotDistinct), each over columns of one
// side; Other the rest, over both. The columns are those of both sides, except for Semi and Anti (left) and Mark (left
// and MarkCol).
type Join struct {
	Kind        JoinKind
	Left, Right Node
	Equal       []EquiCond
	Other       []Expr
	MarkCol     Col
	// BuildLeft asks the executor to build the hash table on the left input.
	BuildLeft bool
	// RuntimeFilters lists the equi conditions whose build side keys may be pushed into scans of the probe side.
	RuntimeFilters []int
}

// EquiCond is one hashable join condition. NullSafe is IS NOT DISTINCT FROM.
type EquiCond struct {
	Left, Right Expr
	NullSafe    bool
}

// Apply evaluates Right, which may refer to Left's columns, for every row of Left. Unnesting removes it.
type Apply struct {
	Kind        JoinKind
	Left, Right Node
	On          []Expr
	MarkCol     Col
}

// Expand runs a set-returning function for each input row and yields the row with each row it makes (LATERAL).
type Expand struct {
	Input      Node
	Name       string
	Bound      extension.BoundExpand
	Args       []Expr
	Columns    []Col // what the function makes
	Ordinality *Col
	Outer      bool // keep rows for which it makes none, with NULLs
}

// Aggregate groups. Sets, when there are several, are GROUPING SETS: each lists the places in Groups that it groups
// by, the others are NULL; Grouping, when set, is the bit mask column behind GROUPING(). Without Groups there is one
// row even for no input.
type Aggregate struct {
	Input      Node
	Groups     []Expr
	GroupCols  []Col
	Aggregates []AggCall
	Sets       [][]int
	// Grouping has bit i (counted from the last group, least significant) set when group i is aggregated away.
	Grouping *Col
	// FromMetadata says that there are no groups, Input is a Scan without filters and every call a count, min or max of
	// one of its columns: the storage may know the answer without reading rows.
	FromMetadata bool
}

// Window computes functions that share one PARTITION BY and ORDER BY, and passes its input's columns on.
type Window struct {
	Input     Node
	Partition []Expr
	Order     []SortKey
	Calls     []WindowCall
}

// Sort orders; with Limit >= 0 it is a top-N that yields rows [Offset, Offset+Limit).
type Sort struct {
	Input  Node
	Keys   []SortKey
	Limit  int64 // -1: none
	Offset int64
}

// Limit yields rows [Offset, Offset+Count). Both are evaluated once; nil means no limit and 0.
type Limit struct {
	Input  Node
	Count  Expr
	Offset Expr
}

// DistinctOn keeps the first row of each group of equal keys in the order of its input (DISTINCT ON). Plain DISTINCT
// is an Aggregate without aggregates.
type DistinctOn struct {
	Input Node
	Keys  []Expr
}

// SetOpKind is UNION, INTERSECT or EXCEPT.
type SetOpKind uint8

// The set operations.
const (
	Union SetOpKind = iota
	Intersect
	Except
)

// SetOp combines inputs column by column; their types are equal. UNION may have more than two.
type SetOp struct {
	Kind    SetOpKind
	All     bool
	Args    []Node
	Columns []Col
}

// CTE computes Def once and makes its rows available to every CTERef with its Name inside Body.
type CTE struct {
	ID   int
	Name string
	Def  Node
	Body Node
	// Materialize and Inline are the MATERIALIZED and NOT MATERIALIZED hints.
	Materialize, Inline bool
}

// RecursiveCTE computes Base, then Step over the rows of the previous round (read by a CTERef with ID) until no new
// row comes; Distinct is UNION without ALL. It yields all rows.
type RecursiveCTE struct {
	ID         int
	Name       string
	Base, Step Node
	Distinct   bool
	Columns    []Col
}

// CTERef reads a CTE's rows. Columns[i] is column i of the definition.
type CTERef struct {
	ID      int
	Name    string
	Columns []Col
}

// Statistics and ColumnStatistics are what the optimizer asks of a table, whoever keeps it.
type (
	Statistics       = extension.Statistics
	ColumnStatistics = extension.ColumnStatistics
)
