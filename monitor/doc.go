// Package monitor serves what operators and load balancers look at over HTTP.
//
// # Concepts
//
// [Handler] answers /metrics with the engine's Prometheus series, /healthz as long as the process lives, and /readyz
// with 200 while the engine can answer queries, else with 503 and the reason.
//
// # Invariants
//
// Nothing here changes anything.
//
// # Adding a page
//
// Register it in Handler.
package monitor
