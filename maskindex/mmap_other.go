//go:build !unix

package maskindex

import "os"

// mapFile reports that files are read, not mapped, on this system.
func mapFile(*os.File, int64) ([]byte, func() error, error) { return nil, nil, nil }

func readAhead([]byte) {}
