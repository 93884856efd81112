package ingest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/source/generator"
	"github.com/tidemarkdb/tidemark/tablestore"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// TestAdoptionRewritesNoRow stages a hundred tablets that are described as well-sized: the cascade makes them base
// tablets by its commit alone, their rows included that later ones supersede.
func TestAdoptionRewritesNoRow(t *testing.T) {
	h := newHouse(t, options("keys", "50", "limit", "1"))
	w, c := h.worker(generator.Source(), 1)
	h.runUntil(w, 1)
	staged := h.stageWellSized(100, 40)
	before := h.parquetFiles()
	started := time.Now()
	if drained, err := c.Run(t.Context()); err != nil || !drained {
		t.Fatalf("drained %v, %v", drained, err)
	}
	t.Logf("100 tablets adopted in %v", time.Since(started))
	if after := h.parquetFiles(); !slices.Equal(before, after) {
		t.Errorf("the cascade wrote tablets: %d files before, %d after", len(before), len(after))
	}
	table := h.current()
	if n := table.Tablets.Totals().StagingTablets; n != 0 {
		t.Errorf("%d tablets are still staged", n)
	}
	for i, id := range staged {
		b, ok := table.Tablets.BaseTablet(id)
		if want := int64(4); !ok || i < len(staged)-1 && b.Mask.Cardinality != want {
			t.Errorf("tablet %d: in the base %v, %d rows masked, want %d", i, ok, b.Mask.Cardinality, want)
		}
	}
	live := 0
	h.scan(table, func(b *vec.Batch) { live += b.N })
	if want := 50 + 99*36 + 40; live < want-1 || live > want+1 {
		t.Errorf("%d live rows, want about %d", live, want)
	}
}

// stageWellSized appends n tablets of so many rows, each of which supersedes a tenth of the rows of the one before.
func (h *house) stageWellSized(n, rows int) (ids []tablet.ID) {
	h.t.Helper()
	for i := range n {
		table := h.current()
		keys, amounts := make([]int64, rows), make([]int64, rows)
		for r := range keys {
			keys[r] = int64(1_000_000 + i*rows*9/10 + r)
		}
		batch := tablestore.AddHidden(table, vec.NewBatch(rows, vec.FlatOf(vec.Int64Type, keys, nil), vec.FlatOf(vec.DecimalType(12, 2), amounts, nil),
			vec.NullOf(vec.TextType, rows), vec.FlatOf(vec.Int64Type, amounts, nil)))
		desc, err := h.store.Write(h.t.Context(), table, tablestore.Rows{Batch: batch}, 1)
		if err != nil {
			h.t.Fatal(err)
		}
		desc.FileBytes = tablestore.TargetBytes
		progress := catalog.Progress{Position: table.Ingest.Position, PositionText: fmt.Sprint(i), LastSeq: table.Ingest.LastSeq}
		if _, err := h.catalog.Commit(h.t.Context(), &catalog.Append{Table: h.table, Epoch: table.Ingest.Epoch, Tablets: []*tablet.Desc{desc}, Progress: progress}); err != nil {
			h.t.Fatal(err)
		}
		ids = append(ids, desc.ID)
	}
	return ids
}

// parquetFiles lists the tablets that there are.
func (h *house) parquetFiles() (out []string) {
	for info, err := range h.store.Objects.List(h.t.Context(), tablet.TablesDir, "") {
		if err != nil {
			h.t.Fatal(err)
		}
		if strings.HasSuffix(info.Path, ".parquet") {
			out = append(out, info.Path)
		}
	}
	return out
}
