package sql

// Node is a part of the syntax tree: a statement, a query, a table reference or an expression.
type Node interface {
	// Position is the 1-based byte offset of the part in the SQL text, 0 when it was not parsed from text.
	// Of an infix or postfix expression it is that of the operator, as in PostgreSQL's errors.
	Position() int
}

// Expr is a scalar expression. The set is closed: see ast_expr.go.
type Expr interface {
	Node
	expr()
}

// TableExpr is an item of a FROM clause: [Table], [Derived], [FuncTable], [FileTable] or [Join].
type TableExpr interface {
	Node
	tableExpr()
}

// Statement is one complete statement. Every [QueryExpr] is one.
type Statement interface {
	Node
	statement()
}

// QueryExpr is a statement that yields rows: [Select], [SetOp], [Values] or [Query].
type QueryExpr interface {
	Statement
	queryExpr()
}

// Ident is one identifier. The zero Ident means that none was written.
type Ident struct {
	Name   string // folded to lower case unless Quoted
	Quoted bool   // written in double quotes
	Pos    int
}

// Name is a qualified name, outermost part first: schema.table, table.column.
type Name []Ident

// Last is the innermost part, the object's own name. The Name is not empty.
func (n Name) Last() Ident { return n[len(n)-1] }

// Position is that of the first part, 0 for an empty name.
func (n Name) Position() int {
	if len(n) == 0 {
		return 0
	}
	return n[0].Pos
}

// TypeName is a type as written. PostgreSQL's spellings of several words are kept under one name:
// timestamp with time zone is timestamptz, time with time zone is timetz, character varying is varchar, character is
// char, bit varying is varbit; without time zone is dropped. double precision stays as it is.
type TypeName struct {
	Schema   Ident         // pg_catalog.int4, usually none
	Name     string        // lower case unless quoted
	Args     []int         // numeric(12, 2), varchar(10)
	Fields   []StructField // of struct(...)
	Interval string        // of interval: the fields, such as "year to month"
	Dims     []int         // one for each []: the declared length, 0 when none
	Pos      int
}

// StructField is one field of a struct type.
type StructField struct {
	Name Ident
	Type TypeName
}

// Option is one entry of a parenthesised option list: name = value, or name value, or name alone.
type Option struct {
	Name Ident
	// Value is a [String], [Number], [Bool], [Param] or, for a list, a [Row] of those; nil when only the name was
	// written. A bare word is a String, a signed number a Number that begins with its sign.
	Value Expr
}
