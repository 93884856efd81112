// Package cache keeps what integration tests fetch or compile once: clients, drivers, servers.
//
// # Concepts
//
// Each thing has a folder in .cache at the root of the repository, which git ignores and "make clean" removes.
//
// # Invariants
//
// Processes that fill one folder exclude each other, so tests of several packages may ask for the same thing at once.
//
// # Adding a thing
//
// Call [Fill] with a function that looks whether the thing is there and makes it if it is not.
package cache

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Repository returns the absolute path of the repository: the folder with go.mod at or above the current one, which is
// a package's own in its tests.
func Repository() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder, nil
		}
		up := filepath.Dir(folder)
		if up == folder {
			return "", fmt.Errorf("no go.mod at or above the current folder: run the tests inside the repository")
		}
		folder = up
	}
}

// Fill runs fill with the absolute path of the folder that the thing of a name has; it exists. No other process fills
// that folder meanwhile.
func Fill(name string, fill func(folder string) error) error {
	repository, err := Repository()
	if err != nil {
		return err
	}
	return FillAt(filepath.Join(repository, ".cache", name), fill)
}

// FillAt is [Fill] for a folder that lies elsewhere.
func FillAt(folder string, fill func(folder string) error) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	lock, err := os.OpenFile(folder+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer lock.Close() // which unlocks
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("locking %s: %w", lock.Name(), err)
	}
	return fill(folder)
}
