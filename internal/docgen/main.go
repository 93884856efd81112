// Command docgen writes docs/sql/functions.md from the definitions of the built-in functions.
//
//	go run ./internal/docgen
//
// # Concepts
//
// Every registration carries its documentation: description, signatures and executed examples. The page is a rendering
// of them, a section for each category; a test compares the file with it.
//
// # Invariants
//
// The page depends on the registrations alone, so that it is the same wherever it is made.
//
// # Adding a page
//
// Write a function that renders it and a line in main.
package main

import (
	"fmt"
	"os"
)

const page = "docs/sql/functions.md"

func main() {
	if err := os.WriteFile(page, []byte(functions()), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "docgen: run it in the root of the repository:", err)
		os.Exit(1)
	}
}
