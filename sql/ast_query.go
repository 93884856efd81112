package sql

// Query is a query with what may stand around its body: WITH, ORDER BY, LIMIT, OFFSET. A query with none of them is
// its bare body.
type Query struct {
	With     *With
	Body     QueryExpr
	OrderBy  []OrderItem
	Limit    Expr // LIMIT or FETCH FIRST; nil for all rows
	WithTies bool // FETCH FIRST n ROWS WITH TIES
	Offset   Expr
	Pos      int
}

// With is a WITH clause.
type With struct {
	Recursive bool
	CTEs      []CTE
}

// Materialization is the MATERIALIZED hint of a [CTE].
type Materialization uint8

// The hints.
const (
	MaterializeAuto Materialization = iota
	MaterializeAlways
	MaterializeNever
)

// CTE is one common table expression.
type CTE struct {
	Name        Ident
	Columns     []Ident
	Materialize Materialization
	Query       QueryExpr // nil with Change
	Change      Statement // an INSERT, UPDATE, DELETE or MERGE
}

// Select is one SELECT block.
type Select struct {
	Distinct   bool
	DistinctOn []Expr // of DISTINCT ON (...); Distinct is set as well
	Items      []SelectItem
	From       []TableExpr // comma separated; empty for none
	Where      Expr
	GroupBy    *GroupBy // nil when not written
	Having     Expr
	Windows    []NamedWindow
	Qualify    Expr
	Pos        int
}

// SelectItem is one item of a select list or RETURNING.
type SelectItem struct {
	Expr  Expr
	Alias Ident
}

// GroupBy is a GROUP BY clause.
type GroupBy struct {
	All      bool // GROUP BY ALL: every select item without an aggregate
	Distinct bool // GROUP BY DISTINCT: duplicate grouping sets count once
	Items    []GroupItem
	Pos      int
}

// GroupKind tells the grouping elements apart.
type GroupKind uint8

// The grouping elements.
const (
	GroupExprs  GroupKind = iota // Exprs grouped together: a, (a, b) or ()
	GroupRollup                  // ROLLUP (Sets)
	GroupCube                    // CUBE (Sets)
	GroupSets                    // GROUPING SETS (Sets)
)

// GroupItem is one grouping element.
type GroupItem struct {
	Kind  GroupKind
	Exprs []Expr
	Sets  []GroupItem
	Pos   int
}

// NamedWindow is one definition of the WINDOW clause.
type NamedWindow struct {
	Name   Ident
	Window *Window
}

// SetKind is a set operation.
type SetKind uint8

// The set operations.
const (
	Union SetKind = iota
	Intersect
	Except
)

// SetOp is left UNION, INTERSECT or EXCEPT right. INTERSECT binds tighter than the others, which go left to right.
type SetOp struct {
	Kind        SetKind
	All         bool
	ByName      bool // UNION [ALL] BY NAME
	Left, Right QueryExpr
	Pos         int
}

// Values is VALUES (...), (...) as a query or the source of INSERT.
type Values struct {
	Rows [][]Expr
	Pos  int
}

// NullsOrder is where NULLs sort.
type NullsOrder uint8

// The orders of NULL: the default is last when ascending, first when descending.
const (
	NullsDefault NullsOrder = iota
	NullsFirst
	NullsLast
)

// OrderItem is one item of ORDER BY.
type OrderItem struct {
	Expr  Expr // nil with All
	All   bool // ORDER BY ALL: every column, left to right
	Desc  bool
	Nulls NullsOrder
}

// TableAlias is [AS] name [(columns)]; without a Name there is none.
type TableAlias struct {
	Name    Ident
	Columns []Ident
}

// Table is a named table, view or common table expression.
type Table struct {
	Name   Name
	AsOf   *AsOf
	Sample *Sample
	Alias  TableAlias
	Pos    int
}

// AsOf asks for an earlier state: FOR SYSTEM_TIME AS OF t, AT (TIMESTAMP => t) or AT (VERSION => n).
type AsOf struct {
	Version bool // else a point in time
	Value   Expr
}

// Sample is TABLESAMPLE method (percent) [REPEATABLE (seed)].
type Sample struct {
	Method  string // "bernoulli", "system", "reservoir", or "" for whichever takes the size
	Size    Expr
	Rows    bool // Size counts rows, not percent
	Repeat  Expr // the seed, or nil
	Percent bool // % or PERCENT was written
}

// Derived is a query in FROM.
type Derived struct {
	Query   QueryExpr
	Lateral bool
	Sample  *Sample
	Alias   TableAlias
	Pos     int
}

// FuncTable is a table function in FROM, or several side by side: ROWS FROM (f(), g()).
type FuncTable struct {
	Calls      []*FuncCall
	Ordinality bool
	Lateral    bool
	Sample     *Sample
	Alias      TableAlias
	ColumnDefs []StructField // AS t(a int, b text): names and types of a record function
	Pos        int
}

// FileTable is a file named by a string in FROM.
type FileTable struct {
	Path   string
	Sample *Sample
	Alias  TableAlias
	Pos    int
}

// JoinKind is the kind of a join.
type JoinKind uint8

// The joins.
const (
	InnerJoin JoinKind = iota
	LeftJoin
	RightJoin
	FullJoin
	CrossJoin
	SemiJoin
	AntiJoin
)

// Join is left JOIN right.
type Join struct {
	Kind        JoinKind
	Natural     bool
	Asof        bool // ASOF JOIN: the last match of an inequality
	Left, Right TableExpr
	On          Expr
	Using       []Ident
	UsingAlias  Ident      // USING (...) AS name
	Alias       TableAlias // of a join in parentheses
	Pos         int
}

func (q *Query) queryExpr()  {}
func (q *Select) queryExpr() {}
func (q *SetOp) queryExpr()  {}
func (q *Values) queryExpr() {}

func (q *Query) statement()  {}
func (q *Select) statement() {}
func (q *SetOp) statement()  {}
func (q *Values) statement() {}

func (t *Table) tableExpr()     {}
func (t *Derived) tableExpr()   {}
func (t *FuncTable) tableExpr() {}
func (t *FileTable) tableExpr() {}
func (t *Join) tableExpr()      {}
