// Package plan turns a syntax tree into an optimised logical plan: it binds names and types and rewrites.
//
// # Concepts
//
// A [Node] is a relational operator; an [Expr] a bound, typed scalar expression. Every column a node makes has a
// [ColID] unique in its statement, so that rules move expressions between nodes without renumbering; the executor
// maps ids to places in batches. A [Relation] is what a name in FROM stands for, found through a [Catalog].
// [Bind] makes a [Query], a plan with names and types; [Query.WithParams] puts values in the place of parameters;
// [Optimize] applies the rules in order, [Verify] checks what they leave and [Explain] prints it.
//
// Binding goes clause by clause (bindselect.go): expressions are bound over the columns of FROM, with aggregates,
// window calls and set-returning calls as columns of their own, and are then rewritten over the groups. A subquery is
// a [Subquery] in an expression; introduceApplies turns it into an [Apply], unnest every Apply into joins.
//
// Rules that move columns about rely on two things. A projection may pass a column on under its own id: the id then
// means the same value above and below. And where a node reads an input's columns by their place ([SetOp], [CTE],
// [RecursiveCTE]), withInputs keeps the places.
//
// # Invariants
//
//   - Nodes and expressions are immutable once made; rules build new ones and share what they keep.
//   - Every expression is typed exactly: arguments carry explicit casts, so an operator sees equal types on both sides.
//   - After Optimize no [Apply] and no [Subquery] is left: the executor knows neither.
//   - A ColumnRef refers to a column of the node's inputs, never past them.
//   - The mark of a Mark join is, by Kleene's logic, the disjunction over the right rows of the conjunction of all its
//     conditions. Where unknown must count as false, the conditions themselves say so: IS NOT DISTINCT FROM, IS TRUE.
//   - Nothing is computed at planning that a row would not have asked for: an expression that fails to fold stays.
//   - A volatile call is neither copied nor moved past a node that changes how often it runs.
//
// # Adding a rule
//
// Write func(*optimizer, Node) Node in a file of its own, add it to the list in optimize.go at the place where its
// input holds, and queries that show what it does to a file in testdata/optimize; go test -update writes their plans.
package plan
