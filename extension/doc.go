// Package extension is the surface through which everything that is not the core registers: scalar, aggregate, window
// and table functions and stream sources. Built-ins use the same surface as extensions.
//
// # Concepts
//
// A [Def] names and documents one registration. A [ScalarFunc], [AggregateFunc], [WindowFunc] or [TableFunc] adds
// [Signature]-like overloads with what computes them. A [SourceDef] opens a [Source], which yields the rows of a
// source table ([Snapshot]) and the changes to it ([Stream]). A [Registry] holds them all and resolves calls.
//
// # Invariants
//
//   - A Registry is filled before it is used and read-only afterwards, so lookups need no lock.
//   - Names are lower case. Aliases resolve to the same registration.
//   - Kernels are pure: what they return depends on their arguments and [Eval] alone, and they never change arguments.
//
// # Adding a function
//
// Write a Def literal with signatures and at least one example beside the family it belongs to; the binding, the
// documentation page, the information_schema.functions row and an executed test all follow from it.
package extension
