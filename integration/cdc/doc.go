// Package cdc proves the behaviour of CDC tables statement by statement, on embedded engines fed by scripted sources.
// docs/spec-coverage.md says which test proves what.
package cdc
