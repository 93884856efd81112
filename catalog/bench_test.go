package catalog

import (
	"context"
	"fmt"
	"testing"

	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/tablet"
)

// bigRoot is a root with 100,000 tablets of ten columns in one table, every tenth with a mask, behind a checkpoint.
func bigRoot(b *testing.B, store objstore.Store) (*root, ingesting) {
	b.Helper()
	const tablets, columns = 100_000, 10
	r := openRoot(b, store, OpenOptions{CheckpointEvery: -1})
	in := r.ingest("big")
	var stats []tablet.ColumnStats
	for i := range int32(columns) {
		stats = append(stats, tablet.ColumnStats{FieldID: i + 1, Min: tablet.MakeInt(1000, true), Max: tablet.CutUpper(fmt.Sprint("value ", i)), NullCount: 5})
	}
	packed := tablet.MakeStats(stats)
	load := &Load{Table: in.table, Epoch: in.epoch}
	for range tablets {
		d := desc(1_000_000)
		d.Stats = packed
		load.Tablets = append(load.Tablets, d)
	}
	r.must(load)
	masks := &Adopt{Table: in.table}
	for i, t := range r.table(in.table).Tablets.View().Base {
		if i%10 == 0 {
			masks.Masks = append(masks.Masks, MaskChange{Tablet: t.ID, To: maskRef(9)})
		}
	}
	r.must(masks)
	if err := r.Checkpoint(context.Background()); err != nil {
		b.Fatal(err)
	}
	return r, in
}

func BenchmarkOpen100kTablets(b *testing.B) {
	store, err := objstore.OpenLocal(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	r, in := bigRoot(b, store)
	for i := range 100 { // commits behind the checkpoint
		r.must(in.append(fmt.Sprint(i), desc(10), desc(10)))
	}
	info, err := store.Stat(context.Background(), checkpointPath(r.Snapshot().Version()-100))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ReportMetric(float64(info.Size)/1e6, "MB/checkpoint")
	for b.Loop() {
		c, err := Open(context.Background(), store, OpenOptions{ReadOnly: true})
		if err != nil {
			b.Fatal(err)
		}
		if c.Snapshot().Version() != r.Snapshot().Version() {
			b.Fatal("opened another version")
		}
	}
}

func BenchmarkAppendTo100kTablets(b *testing.B) {
	r, in := bigRoot(b, objstore.NewMem(nil))
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		r.must(in.append(fmt.Sprint(i), desc(10)))
		i++
	}
}

func BenchmarkAppendToAnEmptyTable(b *testing.B) {
	r := newRoot(b)
	in := r.ingest("small")
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		r.must(in.append(fmt.Sprint(i), desc(10)))
		i++
	}
}

func BenchmarkMaskIn100kTablets(b *testing.B) {
	r, in := bigRoot(b, objstore.NewMem(nil))
	base := r.table(in.table).Tablets.View().Base
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		id := base[i%len(base)].ID
		have, _ := r.table(in.table).Tablets.BaseTablet(id)
		r.must(&Adopt{Table: in.table, Masks: []MaskChange{{Tablet: id, From: have.Mask, To: maskRef(3)}}})
		i++
	}
}

func BenchmarkCommitToDisk(b *testing.B) {
	store, err := objstore.OpenLocal(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	r := openRoot(b, store, OpenOptions{CheckpointEvery: -1})
	in := r.ingest("small")
	i := 0
	for b.Loop() {
		r.must(in.append(fmt.Sprint(i), desc(10)))
		i++
	}
}

func BenchmarkViewOf100kTablets(b *testing.B) {
	r, in := bigRoot(b, objstore.NewMem(nil))
	base := r.table(in.table).Tablets.View().Base
	for b.Loop() {
		b.StopTimer()
		id := base[0].ID
		have, _ := r.table(in.table).Tablets.BaseTablet(id)
		r.must(&Adopt{Table: in.table, Masks: []MaskChange{{Tablet: id, From: have.Mask, To: maskRef(3)}}})
		set := r.table(in.table).Tablets
		b.StartTimer()
		set.View()
	}
}

// BenchmarkLook is what every query pays to see the commits of other processes, when there are none.
func BenchmarkLook(b *testing.B) {
	store, err := objstore.OpenLocal(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	r := openRoot(b, store, OpenOptions{})
	in := r.ingest("t")
	for i := range 300 {
		r.must(in.append(fmt.Sprint(i), desc(10)))
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Look(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
