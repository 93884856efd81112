// Package vec holds columns of values in memory: types, vectors, batches, selections and builders.
//
// # Concepts
//
// A [Vector] is a column of N values of one [Type] in one of three forms. Flat: value i lies at position i, in
// Arrow's memory layout (validity bits, fixed-width values or 32-bit offsets with bytes), except that BOOLEAN takes
// a byte a value. Constant: one physical value stands for all N. Dictionary: row i is entry Index[i] of Dict.
//
// A [Batch] is a set of vectors of equal length with an optional [Selection] of the rows that count. Operators pass
// batches; kernels take slices.
//
// A [Value] is one boxed value, for constants, parameters, statistics and tests; never for a hot loop.
//
// # Invariants
//
//   - A Vector handed to someone else is immutable from then on. To change one, build another.
//   - Valid == nil means that no row is NULL by itself; bit i of Valid is 1 when row i is not NULL.
//   - A row of a Dictionary vector is NULL when its own Valid bit is 0 or its entry is NULL. Dict is never itself a
//     Dictionary or Constant. Index values lie in [0, Dict.N) even for NULL rows, except when Dict.N is 0 and every
//     row is NULL.
//   - What lies in Data at a NULL position is unspecified but allocated: kernels may compute on it and ignore it.
//   - Selections ascend strictly and lie in [0, N).
//
// # Adding a type
//
// Add an ID and its name, map it in physOf, give [Builder.Append] and [Vector.Value] its boxed form, [Format] and
// [Parse] its text and arrow.go its Arrow type.
package vec
