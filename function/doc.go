// Package function holds what the SQL engine computes with: built-in functions and operators, casts, comparisons,
// hashes and the aggregates, window and table functions.
//
// # Concepts
//
// [RegisterAll] adds every built-in to an extension.Registry. Operators are scalar functions named by their symbol.
// A family (math, string, date, ...) is one file, or a few of one prefix, with its definitions beside its kernels.
//
// Most functions are written as a body over Flat and Constant arguments; strict makes an extension.Kernel of it that
// takes care of forms and NULLs: constants are computed once, a dictionary's entries once each, and rows with a NULL
// argument are NULL. Casts ([Cast], [TryCast]), comparisons ([Compare], [SelectCompare]) and hashes ([HashInto]) are
// not called by name and have functions of their own.
//
// # Invariants
//
//   - Kernels never change arguments and hold no state between calls.
//   - A body may compute on NULL rows but must not fail on them.
//   - Results are PostgreSQL's. Where a NUMERIC has more digits than 38, or a result scale must be chosen before the
//     values are known, the rule is in numeric.go; a value that does not fit is an error, never a wrong number.
//
// # Adding a function
//
// Write its definition with at least one example into the list of its family, and its cases into the family's table
// test with results taken from PostgreSQL where it has the function.
package function
