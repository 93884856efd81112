// Package plan turns a syntax tree into an optimised logical plan: it binds names and types and rewrites.
//
// # Concepts
//
// A [Node] is a relational operator; an [Expr] a bound, typed scalar expression. Every column a node makes has a
// [ColID] unique in its statement, so that rules move expressions between nodes without renumbering; the executor
// maps ids to places in batches. A [Relation] is what a name in FROM stands for, found through a [Catalog].
// [Bind] makes a plan of a query, [Optimize] applies the rules in order, [Explain] prints.
//
// # Invariants
//
//   - Nodes and expressions are immutable once made; rules build new ones and share what they keep.
//   - Every expression is typed exactly: arguments carry explicit casts, so an operator sees equal types on both sides.
//   - After Optimize no [Apply] and no [Subquery] is left: the executor knows neither.
//   - A ColumnRef refers to a column of the node's inputs, never past them.
//
// # Adding a rule
//
// Write func(Node) Node in a file of its own beside its test and add it to the list in optimize.go at the place where
// its input holds.
package plan
