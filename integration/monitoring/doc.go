// Package monitoring holds the dashboard and the alert rules in deploy/ to what an engine exports, with a real
// Prometheus server that scrapes one.
//
// # Concepts
//
// The server is Debian's package prometheus: the one that is installed, else its files unpacked in .cache/prometheus,
// where it is no service and nothing starts it but the test.
//
// # Invariants
//
// The server listens on the loopback interface, keeps its data in the test's folder, and ends with the test.
//
// # Adding a panel or an alert
//
// Edit deploy/; the tests evaluate every expression of both files.
package monitoring
