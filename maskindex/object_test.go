package maskindex

import (
	"context"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/objstore"
)

func TestOpenObjectFromEveryKindOfStore(t *testing.T) {
	local, err := objstore.OpenLocal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	keys := makeKeys("random", Width64, 5000, 1)
	b := sidecarBytes(t, 3, keys, nil)
	for name, store := range map[string]objstore.Store{"local": local, "memory": objstore.NewMem(time.Now)} {
		if err := store.Put(context.Background(), "tables/1/3.keys", b); err != nil {
			t.Fatal(name, err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		f, err := OpenObject(ctx, store, "tables/1/3.keys")
		if err != nil {
			t.Fatal(name, err)
		}
		defer f.Close()
		cancel() // the caller that opened it is gone
		if n := len(probeAll(t, f, keys)); n != keys.Len() {
			t.Errorf("%s: found %d keys", name, n)
		}
		if _, err := OpenObject(context.Background(), store, "tables/1/4.keys"); err == nil {
			t.Errorf("%s: opened a file that does not exist", name)
		}
	}
}
