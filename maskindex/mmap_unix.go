//go:build unix

package maskindex

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps a file for reading; a nil slice says that it cannot be mapped.
func mapFile(fd *os.File, size int64) ([]byte, func() error, error) {
	if size <= 0 || int64(int(size)) != size {
		return nil, nil, nil
	}
	data, err := unix.Mmap(int(fd.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, err
	}
	return data, func() error { return unix.Munmap(data) }, nil
}

// readAhead asks the system to have the memory ready soon. It is a hint: its failure changes nothing.
func readAhead(data []byte) { _ = unix.Madvise(data, unix.MADV_WILLNEED) }
