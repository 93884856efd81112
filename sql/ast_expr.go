package sql

// Column is a possibly qualified column reference. Which parts name a schema, a table, a column or a field of a struct
// is for the binder to find.
type Column struct {
	Name Name
	Pos  int
}

// Star is * or t.* or (expr).* in a select list, with the DuckDB modifiers.
type Star struct {
	Qualifier Name // t in t.*, empty otherwise
	Operand   Expr // of (expr).*, else nil
	Exclude   []Name
	Replace   []SelectItem // REPLACE (expr AS name)
	Rename    []Rename
	Pos       int
}

// Rename is one column AS name of * RENAME (...).
type Rename struct {
	Column Name
	To     Ident
}

// Number is a numeric literal with its text: digits, one point and an exponent, or 0x, 0o, 0b and digits; underscores
// removed. It has no sign except as the value of an [Option] or a setting.
type Number struct {
	Text string
	Pos  int
}

// String is a string literal of any quoting, decoded.
type String struct {
	Value string
	Pos   int
}

// BitString is B'101' or X'1F'.
type BitString struct {
	Digits string
	Hex    bool
	Pos    int
}

// Bool is TRUE or FALSE.
type Bool struct {
	Value bool
	Pos   int
}

// Null is NULL.
type Null struct{ Pos int }

// TypedString is a constant with its type before it: DATE '2024-01-01', TIMESTAMP '...', JSON '{}', INTERVAL '1' DAY.
// An interval's fields are in Type.Interval; INTERVAL 1 DAY has the Value "1".
type TypedString struct {
	Type  TypeName
	Value string
	Pos   int
}

// Param is $n, or the n-th ? of the text.
type Param struct {
	Index int // from 1
	Pos   int
}

// Default is DEFAULT as a value of INSERT, UPDATE or MERGE.
type Default struct{ Pos int }

// Unary is a prefix operator: NOT, -, +, ~ and other operator symbols.
type Unary struct {
	Op      string
	Operand Expr
	Pos     int
}

// Binary is an infix operator symbol with two operands: arithmetic, comparison, concatenation, JSON and the like.
type Binary struct {
	Op          string // "=", "<>", "||", "->>", ...
	Left, Right Expr
	Pos         int
}

// Logic is a conjunction or disjunction of two or more operands, none of them a Logic of the same kind.
type Logic struct {
	Or   bool // else AND
	Args []Expr
	Pos  int
}

// Truth is what [IsTest] asks for.
type Truth uint8

// The tests of IS.
const (
	IsNull Truth = iota
	IsTrue
	IsFalse
	IsUnknown
)

// IsTest is x IS [NOT] NULL, TRUE, FALSE or UNKNOWN.
type IsTest struct {
	Operand Expr
	Test    Truth
	Not     bool
	Pos     int
}

// IsDistinct is x IS [NOT] DISTINCT FROM y.
type IsDistinct struct {
	Left, Right Expr
	Not         bool
	Pos         int
}

// Between is x [NOT] BETWEEN [SYMMETRIC] low AND high.
type Between struct {
	Operand, Low, High Expr
	Not, Symmetric     bool
	Pos                int
}

// InList is x [NOT] IN (a, b, ...).
type InList struct {
	Operand Expr
	List    []Expr
	Not     bool
	Pos     int
}

// InQuery is x [NOT] IN (query).
type InQuery struct {
	Operand Expr
	Query   QueryExpr
	Not     bool
	Pos     int
}

// LikeKind tells the pattern languages of [Like] apart.
type LikeKind uint8

// The kinds of pattern.
const (
	LikeCase    LikeKind = iota // LIKE
	LikeNoCase                  // ILIKE
	LikeSimilar                 // SIMILAR TO
)

// Like is x [NOT] LIKE, ILIKE or SIMILAR TO pattern [ESCAPE escape].
type Like struct {
	Kind             LikeKind
	Operand, Pattern Expr
	Escape           Expr // nil for the default, backslash
	Not              bool
	Pos              int
}

// Quantified is x op ANY (...) or x op ALL (...), over a query or an array. Op is an operator symbol, or one of
// "LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE". SOME is ANY.
type Quantified struct {
	Op    string
	Left  Expr
	All   bool
	Query QueryExpr // nil when Array is set
	Array Expr      // nil when Query is set
	Pos   int
}

// Exists is EXISTS (query); NOT EXISTS is a [Unary] around it.
type Exists struct {
	Query QueryExpr
	Pos   int
}

// Subquery is a query in parentheses used as one value.
type Subquery struct {
	Query QueryExpr
	Pos   int
}

// ArrayQuery is ARRAY(query).
type ArrayQuery struct {
	Query QueryExpr
	Pos   int
}

// Array is ARRAY[a, b] or [a, b].
type Array struct {
	Elems []Expr
	Pos   int
}

// Struct is {'a': x, b: y}.
type Struct struct {
	Fields []StructValue
	Pos    int
}

// StructValue is one field of a [Struct].
type StructValue struct {
	Name  Ident
	Value Expr
}

// Row is ROW(a, b) or (a, b).
type Row struct {
	Elems []Expr
	Pos   int
}

// Case is CASE [operand] WHEN ... END.
type Case struct {
	Operand Expr // nil for a searched CASE
	Whens   []When
	Else    Expr // nil for NULL
	Pos     int
}

// When is one branch of a [Case]: Cond is a condition, or a value to compare with the operand.
type When struct {
	Cond, Result Expr
}

// Cast is CAST(x AS t), TRY_CAST(x AS t) or x::t.
type Cast struct {
	Operand Expr
	Type    TypeName
	Try     bool // NULL instead of an error
	Pos     int
}

// Collate is x COLLATE c.
type Collate struct {
	Operand   Expr
	Collation Name
	Pos       int
}

// Subscript is x[i].
type Subscript struct {
	Operand, Index Expr
	Pos            int
}

// Slice is x[low:high]; an open end is nil.
type Slice struct {
	Operand, Low, High Expr
	Pos                int
}

// Field is (x).name, a field of a struct. Chains of plain identifiers are a [Column] instead.
type Field struct {
	Operand Expr
	Name    Ident
	Pos     int
}

// FuncCall is a call of a scalar, aggregate, window or table function. COALESCE, NULLIF, GREATEST, LEAST, GROUPING and
// the words without parentheses (CURRENT_DATE, CURRENT_USER, ...) are calls as well.
type FuncCall struct {
	Name        Name
	Args        []Arg
	Star        bool // count(*)
	Distinct    bool
	OrderBy     []OrderItem // inside the parentheses, or of WITHIN GROUP
	WithinGroup bool
	Filter      Expr
	NullsMode   NullsMode
	Over        *Window // nil for a plain call
	Pos         int
}

// Arg is one argument of a call.
type Arg struct {
	Name     Ident // of name => value
	Value    Expr
	Variadic bool
}

// NullsMode is IGNORE NULLS or RESPECT NULLS of a window function.
type NullsMode uint8

// The null treatments.
const (
	NullsUnspecified NullsMode = iota
	RespectNulls
	IgnoreNulls
)

// Window is a window: of OVER, or a definition of the WINDOW clause.
type Window struct {
	// Base is the named window this one extends. With Reference set there is nothing else: OVER w.
	Base        Ident
	Reference   bool
	PartitionBy []Expr
	OrderBy     []OrderItem
	Frame       *Frame // nil for the default frame
	Pos         int
}

// FrameMode is the unit of a window frame.
type FrameMode uint8

// The frame units.
const (
	FrameRange FrameMode = iota
	FrameRows
	FrameGroups
)

// BoundKind is where a frame begins or ends.
type BoundKind uint8

// The frame bounds, in order.
const (
	UnboundedPreceding BoundKind = iota
	OffsetPreceding
	CurrentRow
	OffsetFollowing
	UnboundedFollowing
)

// Exclusion is the EXCLUDE clause of a frame.
type Exclusion uint8

// The exclusions.
const (
	ExcludeNoOthers Exclusion = iota
	ExcludeCurrentRow
	ExcludeGroup
	ExcludeTies
)

// FrameBound is one end of a frame; Offset is set for the kinds that have one.
type FrameBound struct {
	Kind   BoundKind
	Offset Expr
}

// Frame is a window frame. A frame written without BETWEEN ends at the current row.
type Frame struct {
	Mode       FrameMode
	Start, End FrameBound
	Exclude    Exclusion
	Pos        int
}

func (e *Column) expr()      {}
func (e *Star) expr()        {}
func (e *Number) expr()      {}
func (e *String) expr()      {}
func (e *BitString) expr()   {}
func (e *Bool) expr()        {}
func (e *Null) expr()        {}
func (e *TypedString) expr() {}
func (e *Param) expr()       {}
func (e *Default) expr()     {}
func (e *Unary) expr()       {}
func (e *Binary) expr()      {}
func (e *Logic) expr()       {}
func (e *IsTest) expr()      {}
func (e *IsDistinct) expr()  {}
func (e *Between) expr()     {}
func (e *InList) expr()      {}
func (e *InQuery) expr()     {}
func (e *Like) expr()        {}
func (e *Quantified) expr()  {}
func (e *Exists) expr()      {}
func (e *Subquery) expr()    {}
func (e *ArrayQuery) expr()  {}
func (e *Array) expr()       {}
func (e *Struct) expr()      {}
func (e *Row) expr()         {}
func (e *Case) expr()        {}
func (e *Cast) expr()        {}
func (e *Collate) expr()     {}
func (e *Subscript) expr()   {}
func (e *Slice) expr()       {}
func (e *Field) expr()       {}
func (e *FuncCall) expr()    {}
