package maskindex_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/tidemarkdb/tidemark/maskindex"
	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/vec"
)

// A base tablet with orders 1 to 4, and an append that updates order 2 and deletes order 4.
func Example() {
	ctx := context.Background()
	store := objstore.NewMem(nil)
	layout, err := maskindex.NewLayout([]maskindex.Column{{Name: "order_id", Type: vec.Int64Type}})
	if err != nil {
		log.Fatal(err)
	}
	write := func(tablet uint64, path string, ids []int64, deletes *roaring.Bitmap) {
		keys := &maskindex.Keys{}
		if err := layout.Fingerprint([]*vec.Vector{vec.FlatOf(vec.Int64Type, ids, nil)}, len(ids), keys); err != nil {
			log.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := maskindex.WriteSidecar(&b, maskindex.Sidecar{Name: path, Tablet: tablet, Keys: keys, Deletes: deletes}); err != nil {
			log.Fatal(err)
		}
		if err := store.Put(ctx, path, b.Bytes()); err != nil {
			log.Fatal(err)
		}
	}
	write(1, "1.keys", []int64{1, 2, 3, 4}, nil)
	write(2, "2.keys", []int64{2, 4}, roaring.BitmapOf(1))

	files := maskindex.NewFiles(func(ctx context.Context, name string) (*maskindex.File, error) {
		return maskindex.OpenObject(ctx, store, name)
	})
	defer files.Close()
	cache := maskindex.NewCache(files, 64<<20)
	base, err := maskindex.NewBase("version 1", []maskindex.Tablet{{ID: 1, Rows: 4}}, []string{"1.keys"})
	if err != nil {
		log.Fatal(err)
	}
	masks, err := cache.Masks(ctx, maskindex.Set{Table: 1, Base: base,
		Staging: []maskindex.Tablet{{ID: 2, Rows: 2, Keys: "2.keys", Append: 1}}})
	if err != nil {
		log.Fatal(err)
	}
	for _, id := range []uint64{1, 2} {
		m, err := masks.Of(id)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("tablet %d: dead rows %v\n", id, m.Bitmap().ToArray())
	}
	// Output:
	// tablet 1: dead rows [1 3]
	// tablet 2: dead rows [1]
}
