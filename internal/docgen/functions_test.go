package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestPageIsCurrent(t *testing.T) {
	have, err := os.ReadFile(filepath.Join("..", "..", page))
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != functions() {
		t.Errorf("%s is not what the definitions say: run go run ./internal/docgen", page)
	}
}
