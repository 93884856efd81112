// Package sql turns SQL text into a syntax tree and back.
//
// # Concepts
//
// [Parse] reads PostgreSQL's dialect, the DuckDB conveniences analysts miss (FROM first, GROUP BY ALL,
// SELECT * EXCLUDE, QUALIFY, trailing commas) and the statements of CDC tables. It gives plain structs behind four
// sealed interfaces: [Statement], [QueryExpr] (also a Statement), [TableExpr] and [Expr]. The lexer cuts the text into
// tokens without copying; statements and clauses are read by recursive descent, expressions by precedence climbing over
// PostgreSQL's table of precedences. [Text] prints a tree as SQL, [Walk] visits one.
//
// Syntax that is only another spelling of a function call is a [FuncCall]: EXTRACT(f FROM x) is extract('f', x),
// SUBSTRING(s FROM a FOR b) is substring(s, a, b), POSITION(a IN b) is position(b, a), TRIM is btrim, ltrim or rtrim
// with the characters second, x AT TIME ZONE z is timezone(z, x). FROM t alone and TABLE t are SELECT * FROM t.
// Names are folded to lower case unless quoted; != is <> and == is =.
//
// # Invariants
//
// Every error is an [sqlerr.Error] with an SQLSTATE and a position; no input makes the parser panic or overflow the
// stack. No path in a tree is longer than 5000 nodes, so recursion over a tree is safe. Parsing the text of a tree
// gives the same tree, positions aside.
//
// # Adding a construct
//
// Declare the node in ast_*.go, read it in parse_*.go, print it in print_*.go and list its children in walk.go; then
// add a line to the round trip corpus in testdata. The tests fail on a node that is parsed but neither printed nor walked.
package sql
