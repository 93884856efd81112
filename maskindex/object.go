package maskindex

import (
	"context"

	"github.com/tidemarkdb/tidemark/objstore"
)

// OpenObject opens a key file in an object store: mapped where the store keeps it in the local file system, through
// ranged reads elsewhere. NewFiles takes it as its open, bound to a store.
func OpenObject(ctx context.Context, store objstore.Store, path string) (*File, error) {
	if local, ok := store.LocalPath(path); ok {
		return OpenPath(local)
	}
	info, err := store.Stat(ctx, path)
	if err != nil {
		return nil, readFailed(path, 0, err)
	}
	// The file outlives the call that opened it.
	return OpenReader(path, objectReader{context.WithoutCancel(ctx), store, path}, info.Size)
}

// objectReader is an io.ReaderAt over an object.
type objectReader struct {
	ctx   context.Context
	store objstore.Store
	path  string
}

func (r objectReader) ReadAt(p []byte, off int64) (int, error) {
	return r.store.ReadAt(r.ctx, r.path, p, off)
}
