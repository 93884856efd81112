package catalog

import (
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
)

// seeds are the log files of a root that has everything.
func seeds(f *testing.F) [][]byte {
	r := openRoot(f, newRoot(f).store, OpenOptions{CheckpointEvery: -1})
	in := r.ingest("t")
	r.must(in.append("p1", desc(3)), &CreateView{View: View{Schema: DefaultSchema, Name: "v"}}, &SetSetting{Name: "x", Value: "1"})
	staged := r.table(in.table).Tablets.View().Staging[0].ID
	r.must(&Adopt{Table: in.table, AsOf: 1, Adopted: []Adoption{{staged, maskRef(1)}}}, &ReplaceRuns{Table: in.table, Add: []tablet.Run{{ID: tablet.NewID()}}})
	if err := r.Checkpoint(f.Context()); err != nil {
		f.Fatal(err)
	}
	var files [][]byte
	for info, err := range r.store.List(f.Context(), logDir, "") {
		if err != nil {
			f.Fatal(err)
		}
		b, err := r.store.Get(f.Context(), info.Path)
		if err != nil {
			f.Fatal(err)
		}
		files = append(files, b)
	}
	return files
}

func wantDamaged(t *testing.T, err error) {
	t.Helper()
	if err != nil && sqlerr.Code(err) != sqlerr.DataCorrupted {
		t.Errorf("error %v, want SQLSTATE %s", err, sqlerr.DataCorrupted)
	}
}

func FuzzLogFile(f *testing.F) {
	for _, b := range seeds(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _, err := applyEntry("log/1", b, emptyRoot())
		wantDamaged(t, err)
		if h, payload, err := decodeLogFile("log/c", b, checkpointFile, 1); err == nil {
			_, err = decodeCheckpoint("log/c", h, payload)
			wantDamaged(t, err)
		} else {
			wantDamaged(t, err)
		}
	})
}

// FuzzEntryPayload goes past the checksum: whatever an entry says must be refused or applied.
func FuzzEntryPayload(f *testing.F) {
	for _, b := range seeds(f) {
		f.Add(b[headerSize:])
	}
	at := time.Now().UnixMicro()
	f.Fuzz(func(t *testing.T, payload []byte) {
		s, err := emptyRoot().follow("log/1", header{version: 1, micros: at}, payload)
		if err != nil {
			wantDamaged(t, err)
			return
		}
		again, err := encodeCheckpoint(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decodeCheckpoint("log/c", header{version: 1, micros: at}, again); err != nil {
			t.Errorf("the state does not survive a checkpoint: %v", err)
		}
	})
}

func FuzzCheckpointPayload(f *testing.F) {
	for _, b := range seeds(f) {
		f.Add(b[headerSize:])
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		s, err := decodeCheckpoint("log/c", header{version: 1}, payload)
		if err != nil {
			wantDamaged(t, err)
			return
		}
		for table := range s.Tables("") {
			table.Tablets.View()
		}
		for range s.Files() {
			continue
		}
	})
}
