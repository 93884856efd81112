// Package flightsql drives real Flight SQL clients against a server over a real engine.
//
// # Concepts
//
// Each test starts a server on a free port of loopback and hands its address to a client: Python scripts for ADBC,
// pandas and polars, a Java program for JDBC, arrow-go's clients in the test itself. A script checks by assert and
// fails with its traceback.
//
// # Invariants
//
// Clients are the released ones, unchanged. Nothing is skipped: what a test needs it installs.
//
// # Adding a client
//
// Add its package to integration/requirements.txt or its coordinates to the Java test, and a script beside this file.
package flightsql
