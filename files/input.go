package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

// openInput opens a file for reading, decompressing what ends in .gz or .zst.
func openInput(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, inputError(path, err)
	}
	lower := strings.ToLower(path)
	switch {
	case strings.HasSuffix(lower, ".gz"):
		z, err := gzip.NewReader(f)
		if err != nil {
			f.Close()
			return nil, inputError(path, err)
		}
		return &compressed{z, func() { z.Close() }, f}, nil
	case strings.HasSuffix(lower, ".zst"):
		z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1))
		if err != nil {
			f.Close()
			return nil, inputError(path, err)
		}
		return &compressed{z, z.Close, f}, nil
	}
	return f, nil
}

// compressed is a decompressing reader with the file below it.
type compressed struct {
	io.Reader
	end  func()
	file *os.File
}

// Close implements io.Closer.
func (c *compressed) Close() error {
	c.end()
	return c.file.Close()
}

func inputError(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return sqlerr.New(sqlerr.UndefinedFile, "file %q does not exist", path).Hintf("check the path")
	}
	return sqlerr.New(sqlerr.IOError, "reading file %q: %w", path, err).Hintf("check that the file is complete and may be read")
}
