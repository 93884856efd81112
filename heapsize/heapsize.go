package heapsize

import (
	"os"
	"runtime/debug"
)

// Limit sets the soft limit of the process: bytes, or where that is 0 four fifths of the memory that is [Available]. It
// returns the limit that holds. restore puts back what was before.
func Limit(bytes int64) (limit int64, restore func()) {
	before := debug.SetMemoryLimit(-1)
	if os.Getenv("GOMEMLIMIT") != "" {
		return before, func() {}
	}
	if bytes <= 0 {
		bytes = Available() / 5 * 4
	}
	if bytes <= 0 { // the system does not tell
		return before, func() {}
	}
	debug.SetMemoryLimit(bytes)
	return bytes, func() { debug.SetMemoryLimit(before) }
}
