// Package pyvenv gives integration tests the Python they drive foreign clients with.
//
// # Concepts
//
// One virtual environment holds what integration/requirements.txt lists. It lies where TIDEMARK_VENV says, else at
// .cache/venv in the repository, and is made by whoever needs it first.
//
// # Invariants
//
// The file .ready in the environment is newer than the requirements when the environment is complete. Processes that
// make it exclude each other by a lock on the folder beside it.
//
// # Adding a package
//
// Add a line to integration/requirements.txt; the next test installs it.
package pyvenv

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tidemarkdb/tidemark/integration/cache"
)

// Python returns the path of the environment's interpreter and makes the environment when it is missing or out of
// date. It fails the test when that cannot be done.
func Python(t testing.TB) string {
	t.Helper()
	repository, err := cache.Repository()
	if err != nil {
		t.Fatal(err)
	}
	venv := os.Getenv("TIDEMARK_VENV")
	if venv == "" {
		venv = filepath.Join(repository, ".cache", "venv")
	}
	requirements := filepath.Join(repository, "integration", "requirements.txt")
	if !complete(venv, requirements) {
		err = cache.FillAt(venv, func(venv string) error { return prepare(venv, requirements) })
	}
	if err != nil {
		t.Fatalf("preparing the Python environment %s: %v", venv, err)
	}
	return filepath.Join(venv, "bin", "python")
}

// prepare makes the environment unless it is complete.
func prepare(venv, requirements string) error {
	if complete(venv, requirements) {
		return nil
	}
	for _, command := range [][]string{
		{"python3", "-m", "venv", venv},
		{filepath.Join(venv, "bin", "pip"), "install", "--quiet", "--disable-pip-version-check", "-r", requirements},
	} {
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", command, err, out)
		}
	}
	return os.WriteFile(filepath.Join(venv, ".ready"), nil, 0o644)
}

func complete(venv, requirements string) bool {
	made, err := os.Stat(filepath.Join(venv, ".ready"))
	if err != nil {
		return false
	}
	wanted, err := os.Stat(requirements)
	return err == nil && !made.ModTime().Before(wanted.ModTime())
}
