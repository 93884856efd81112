package catalog

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
)

// walker makes random commits on a root and keeps the one thing that can be known from outside: every file it named.
type walker struct {
	*aging
	random *rand.Rand
	named  map[string]bool
	before map[string]bool // files of the version before
	names  int
}

// TestRandomHistories checks after every commit that indexes, sums and references agree with the entities they
// are made from, that no file is forgotten by everybody, and now and then that the log and a checkpoint say the same.
func TestRandomHistories(t *testing.T) {
	for seed := range uint64(8) {
		w := &walker{aging: newAging(t, objstore.NewMem(nil)), random: rand.New(rand.NewPCG(seed, 7)), named: map[string]bool{}}
		kinds := map[string]int{}
		for i := range 400 {
			edit := w.edit()
			if edit == nil {
				continue
			}
			_, err := w.Commit(t.Context(), edit)
			if code := sqlerr.Code(err); err == nil {
				kinds[edit.kind()]++
			} else if code == sqlerr.Internal || code == sqlerr.DataCorrupted || code == sqlerr.IOError {
				t.Fatalf("seed %d, commit %d, %s: %v", seed, i, edit.kind(), err)
			}
			w.check()
			if i%50 == 49 {
				w.reopen()
				w.now = w.now.Add(time.Duration(w.random.IntN(90)) * time.Minute)
				w.sweep()
			}
		}
		if len(kinds) < 14 {
			t.Errorf("seed %d: only %d kinds of edits took effect: %v", seed, len(kinds), kinds)
		}
	}
}

// pick returns a random element of what seq yields, the zero value when there is none.
func pick[T any](random *rand.Rand, seq func(func(T) bool)) (chosen T) {
	n := 0
	for v := range seq {
		if n++; random.IntN(n) == 0 {
			chosen = v
		}
	}
	return chosen
}

func (w *walker) desc(table tablet.TableID) *tablet.Desc {
	d := desc(1 + w.random.Int64N(50))
	w.named[d.ParquetPath(table)], w.named[d.SidecarPath(table)] = true, true
	return d
}

func (w *walker) mask() tablet.MaskRef {
	m := maskRef(1)
	w.named[m.Path()] = true
	return m
}

func (w *walker) name(prefix string) string {
	w.names++
	return fmt.Sprint(prefix, w.names)
}

// edit makes an edit that is likely to fit.
func (w *walker) edit() Edit {
	s := w.Snapshot()
	t := pick(w.random, s.Tables(""))
	if t == nil || w.random.IntN(12) == 0 {
		e := []*CreateTable{managed(w.name("m")), cdc(w.name("c")), cdc(w.name("w"))}[w.random.IntN(3)]
		if e.Definition.Name[0] == 'w' {
			e.Definition.MergeMode = MergeWrite
		}
		return e
	}
	switch w.random.IntN(8) {
	case 0:
		return w.define(s, t)
	case 1, 2:
		if t.Kind == CDC {
			return w.attachment(s, t)
		}
	}
	if t.OpenToDML() && (t.Kind == Managed || w.random.IntN(2) == 0) {
		return w.modify(t)
	}
	return w.work(t)
}

func (w *walker) define(s *Snapshot, t *Table) Edit {
	switch w.random.IntN(9) {
	case 0:
		return stream(w.name("s"))
	case 1:
		return &CreateSchema{Name: w.name("schema")}
	case 2:
		if schema := pick(w.random, s.Schemas()); schema.Name != DefaultSchema {
			return &DropSchema{Name: schema.Name, Cascade: w.random.IntN(2) == 0}
		}
	case 3:
		return &RenameTable{Table: t.ID, Schema: pick(w.random, s.Schemas()).Name, Name: w.name("r")}
	case 4:
		return &DropTable{Table: t.ID}
	case 5:
		return &CreateView{View: View{Schema: DefaultSchema, Name: w.name("v"), SQL: "SELECT 1"}}
	case 6:
		if v := pick(w.random, s.Views("")); v != nil {
			return &DropView{Schema: v.Schema, Name: v.Name}
		}
	case 7:
		if st := pick(w.random, s.Streams()); st != nil {
			return &DropStream{Name: st.Name}
		}
	}
	return &SetSetting{Name: fmt.Sprint("x", w.random.IntN(5)), Value: "1", Reset: w.random.IntN(3) == 0}
}

func (w *walker) attachment(s *Snapshot, t *Table) Edit {
	st := pick(w.random, s.Streams())
	switch i := t.Ingest; {
	case st == nil:
		return stream(w.name("s"))
	case !i.Attached():
		return &AttachStream{Table: t.ID, Stream: st.ID}
	case i.State == Failed || w.random.IntN(8) == 0:
		return &DetachStream{Table: t.ID}
	case i.Owner == "" || w.random.IntN(4) == 0:
		return &AcquireWorker{Table: t.ID, Engine: "e", FromEpoch: i.Epoch}
	case w.random.IntN(6) == 0:
		return &SetIngestState{Table: t.ID, State: Failed, Reason: "boom", Epoch: i.Epoch}
	}
	return &SetIngestState{Table: t.ID, State: []IngestState{Enabled, Paused}[w.random.IntN(2)]}
}

func (w *walker) modify(t *Table) Edit {
	e := &Modify{Table: t.ID, SchemaVersion: t.SchemaVersion}
	b := pick(w.random, t.Tablets.Base())
	switch {
	case b.Desc == nil || w.random.IntN(3) == 0:
		e.Add = []tablet.Base{{Desc: w.desc(t.ID)}, {Desc: w.desc(t.ID), Mask: w.mask()}}
	case w.random.IntN(12) == 0:
		return &Truncate{Table: t.ID, SchemaVersion: t.SchemaVersion}
	case w.random.IntN(2) == 0:
		e.Masks = []MaskChange{{b.ID, b.Mask, w.mask()}}
	default:
		return &ReplaceTablets{Table: t.ID, Remove: []MaskedTablet{{b.ID, b.Mask}}, Add: []tablet.Base{{Desc: w.desc(t.ID), Mask: b.Mask}}}
	}
	return e
}

// work is what a worker and its cascade do.
func (w *walker) work(t *Table) Edit {
	i := t.Ingest
	p := Progress{Position: []byte(w.name("p")), LastSeq: i.LastSeq + 1}
	switch {
	case !i.Attached() || i.State == Failed:
		return nil
	case !i.LoadDone() || w.random.IntN(20) == 0:
		run := tablet.Run{ID: tablet.NewID(), Rows: 1, Bytes: 1}
		w.named[tablet.RunPath(t.ID, run.ID)] = true
		return &Load{Table: t.ID, Epoch: i.Epoch, Tablets: []*tablet.Desc{w.desc(t.ID), w.desc(t.ID)}, Runs: []tablet.Run{run}, Progress: p}
	case t.MergeMode == MergeWrite:
		return &Modify{Table: t.ID, SchemaVersion: t.SchemaVersion, Add: []tablet.Base{{Desc: w.desc(t.ID)}}, Ingest: &p, Epoch: i.Epoch}
	case w.random.IntN(5) == 0:
		return w.adopt(t)
	case w.random.IntN(6) == 0:
		return w.mergeRuns(t)
	}
	return &Append{Table: t.ID, Epoch: i.Epoch, Tablets: []*tablet.Desc{w.desc(t.ID), w.desc(t.ID)}, Progress: p, Truncate: w.random.IntN(15) == 0}
}

func (w *walker) adopt(t *Table) Edit {
	e := &Adopt{Table: t.ID, AsOf: t.Ingest.LastAppend - w.random.Uint64N(min(t.Ingest.LastAppend, 2)+1)}
	for s := range t.Tablets.Staging() {
		switch {
		case s.Append > e.AsOf:
		case w.random.IntN(2) == 0:
			e.Adopted = append(e.Adopted, Adoption{s.ID, w.mask()})
		default:
			e.Retired = append(e.Retired, s.ID)
		}
	}
	if b := pick(w.random, t.Tablets.Base()); b.Desc != nil {
		e.Masks = []MaskChange{{b.ID, b.Mask, w.mask()}}
	}
	return e
}

func (w *walker) mergeRuns(t *Table) Edit {
	e := &ReplaceRuns{Table: t.ID, Add: []tablet.Run{{ID: tablet.NewID(), Rows: 1, Bytes: 1}}}
	for _, r := range t.Tablets.Runs() {
		e.Remove = append(e.Remove, r.ID)
	}
	w.named[tablet.RunPath(t.ID, e.Add[0].ID)] = true
	return e
}

// check verifies a snapshot against itself.
func (w *walker) check() {
	w.t.Helper()
	s := w.Snapshot()
	masks, attached, relations := map[tablet.ID]int{}, 0, 0
	for _, t := range s.tables.All() {
		relations++
		if byName, err := s.Table(t.Schema, t.Name); err != nil || byName != t {
			w.t.Fatalf("table %s by name: %v", t.Name, err)
		}
		if t.Ingest.Attached() {
			attached++
			if fed, ok := s.FedBy(t.Ingest.Stream); !ok || fed != t {
				w.t.Fatalf("the stream of %s feeds another table", t.Name)
			}
		}
		var sums tablet.Totals
		for b := range t.Tablets.Base() {
			sums.BaseTablets++
			sums.BaseRows += b.Rows
			sums.MaskedRows += b.Mask.Cardinality
			sums.Bytes += b.FileBytes + b.SidecarBytes
			if !b.Mask.IsZero() {
				masks[b.Mask.File]++
			}
		}
		for st := range t.Tablets.Staging() {
			sums.StagingTablets++
			sums.StagingRows += st.Rows
			sums.Bytes += st.FileBytes + st.SidecarBytes
		}
		if sums != t.Tablets.Totals() {
			w.t.Fatalf("totals %+v, want %+v", t.Tablets.Totals(), sums)
		}
	}
	if have := collect(s.masks.All()); fmt.Sprint(have) != fmt.Sprint(masks) {
		w.t.Fatalf("references to masks %v, want %v", have, masks)
	}
	if s.fedBy.Len() != attached || s.relations.Len() != relations+len(slices.Collect(s.Views(""))) || s.streams.Len() != s.streamIDs.Len() {
		w.t.Fatal("an index has entries too many")
	}
	w.checkFiles(s)
}

// checkFiles verifies that each file ever named by a commit that was made is in use, waiting as garbage, or swept.
func (w *walker) checkFiles(s *Snapshot) {
	w.t.Helper()
	live, dead := map[string]bool{}, map[string]bool{}
	for f := range s.Files() {
		live[f.Path()] = true
	}
	for _, g := range s.garbage.All() {
		for _, path := range g.Files {
			if live[path] || dead[path] || !w.named[path] {
				w.t.Fatalf("%s is garbage (in use: %t, twice: %t, named: %t)", path, live[path], dead[path], w.named[path])
			}
			dead[path] = true
		}
	}
	for path := range live {
		if !w.named[path] {
			w.t.Fatalf("%s is in use, and nobody named it", path)
		}
	}
	for path := range w.before {
		if !live[path] && !dead[path] {
			w.t.Fatalf("%s left the catalog without becoming garbage", path)
		}
	}
	w.before = live
}

// reopen compares the state with what the log, and then a checkpoint, lead to.
func (w *walker) reopen() {
	w.t.Helper()
	sameState(w.t.(*testing.T), openRoot(w.t, w.store, OpenOptions{}).Snapshot(), w.Snapshot())
	if err := w.Checkpoint(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	sameState(w.t.(*testing.T), openRoot(w.t, w.store, OpenOptions{}).Snapshot(), w.Snapshot())
}
