// Package functions runs the examples in the definitions of the built-in functions.
//
// # Concepts
//
// An example is an expression or a query with its first value as text. All run on one embedded engine, which holds the
// table orders with one row.
//
// # Invariants
//
// Every function has at least one example, and no example is left out.
//
// # Adding an example
//
// Write it into the definition of the function; the test finds it by itself.
package functions
