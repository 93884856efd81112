package tablestore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/zeebo/xxh3"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/maskindex"
	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
)

// verifyChunk is how much of a file is read at a time.
const verifyChunk = 1 << 20

// Verifier returns a check of file contents for catalog.Check: the checksum where the catalog knows it, and for mask
// files that every vector can be read and that the file says nothing else.
func Verifier(store objstore.Store) func(context.Context, catalog.FileRef) error {
	return func(ctx context.Context, ref catalog.FileRef) error {
		path := ref.Path()
		if ref.Kind == tablet.MaskFile {
			return verifyMasks(ctx, store, path)
		}
		if ref.Checksum == 0 {
			return nil
		}
		sum, err := checksum(ctx, store, path)
		if err != nil {
			return err
		}
		if sum != ref.Checksum {
			return sqlerr.New(sqlerr.DataCorrupted, "the checksum is %016x and must be %016x", sum, ref.Checksum).
				Hintf("restore the file from a copy, or load the table anew")
		}
		return nil
	}
}

// verifyMasks reads every vector of a mask file, which carries a checksum, and writes them anew: the footer carries
// none, and must come out the same.
func verifyMasks(ctx context.Context, store objstore.Store, path string) error {
	content, err := store.Get(ctx, path)
	if err != nil {
		return err
	}
	vectors, err := maskindex.ReadPuffin(path, bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return err
	}
	var again bytes.Buffer
	if _, _, err := maskindex.WritePuffin(&again, vectors); err != nil {
		return err
	}
	if bytes.Equal(again.Bytes(), content) {
		return nil
	}
	at := 0
	for at < min(len(content), again.Len()) && content[at] == again.Bytes()[at] {
		at++
	}
	return sqlerr.New(sqlerr.DataCorrupted, "%s: at offset %d the file is not what its vectors are written as", path, at).
		Hintf("restore the file from a copy")
}

func checksum(ctx context.Context, store objstore.Store, path string) (uint64, error) {
	hash := xxh3.New()
	buffer := make([]byte, verifyChunk)
	for offset := int64(0); ; {
		n, err := store.ReadAt(ctx, path, buffer, offset)
		hash.Write(buffer[:n])
		offset += int64(n)
		switch {
		case errors.Is(err, io.EOF):
			return hash.Sum64(), nil
		case err != nil:
			return 0, fmt.Errorf("reading at offset %d: %w", offset, err)
		}
	}
}
