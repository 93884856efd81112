package objstore

import (
	"fmt"
	"strings"
)

const maxPathBytes = 1024

// CheckPath returns an error wrapping ErrBadPath unless path names an object within a root: relative, made of
// non-empty elements of which none begins with a dot, without backslash and control characters.
func CheckPath(path string) error {
	if len(path) > maxPathBytes {
		return badPath(path[:64]+"...", "it is longer than 1024 bytes")
	}
	if path == "" {
		return badPath(path, "it is empty")
	}
	for element := range strings.SplitSeq(path, "/") {
		if element == "" {
			return badPath(path, "an element is empty")
		}
		if err := checkElement(path, element); err != nil {
			return err
		}
	}
	return nil
}

// checkPrefix is CheckPath for what a path may begin with: its last element may be unfinished or empty.
func checkPrefix(prefix string) error {
	if prefix == "" {
		return nil
	}
	dir, last := splitPath(prefix)
	if dir != "" {
		if err := CheckPath(dir); err != nil {
			return err
		}
	} else if last == "" || prefix[0] == '/' {
		return badPath(prefix, "it is absolute")
	}
	return checkElement(prefix, last)
}

func checkElement(path, element string) error {
	if strings.HasPrefix(element, ".") {
		return badPath(path, "an element begins with a dot")
	}
	for i := range len(element) {
		if c := element[i]; c < ' ' || c == '\\' || c == 0x7f {
			return badPath(path, "a character is not allowed")
		}
	}
	return nil
}

func badPath(path, why string) error {
	return fmt.Errorf("%w: %q: %s", ErrBadPath, path, why)
}

// splitPath cuts path after its last slash, which goes with neither part.
func splitPath(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return "", path
	}
	return path[:i], path[i+1:]
}
