package damage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/extension"
	. "github.com/tidemarkdb/tidemark/integration/enginetest"
	"github.com/tidemarkdb/tidemark/integration/scripted"
	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

var columns = []vec.Column{
	{Name: "id", Type: vec.Int64Type}, {Name: "n", Type: vec.Int64Type, Nullable: true}, {Name: "note", Type: vec.TextType, Nullable: true},
}

func row(id, n int64) scripted.Row {
	return scripted.Row{vec.IntValue(vec.Int64Type, id), vec.IntValue(vec.Int64Type, n), vec.StringValue(vec.TextType, fmt.Sprint("note ", id*n%97))}
}

func put(op extension.Op, id, n int64) scripted.Change {
	return scripted.Change{Op: op, Row: row(id, n)}
}

const setUp = `CREATE STREAM changes FROM SCRIPTED WITH ("table" = 'orders');
	CREATE CDC TABLE orders (id BIGINT, n BIGINT, note TEXT, PRIMARY KEY (id) NOT ENFORCED) WITH (cascade_interval = '%s');
	ALTER CDC TABLE orders ATTACH STREAM changes; ALTER CDC TABLE orders RESUME`

// house is a root with a CDC table and its source.
type house struct {
	t        *testing.T
	store    objstore.Store
	database *scripted.Database
	source   *scripted.Table
	engine   *engine.Engine
	s        *engine.Session
}

func newHouse(t *testing.T, store objstore.Store) *house {
	h := &house{t: t, store: store, database: scripted.NewDatabase()}
	h.source = h.database.Create("orders", columns, 0)
	h.open()
	return h
}

func (h *house) open() {
	h.t.Helper()
	h.engine = Open(h.t, engine.Options{Store: h.store, Name: "e", Register: h.database.Register, Settings: map[string]string{
		"execution.cdc.append_max_read_ms": "1"}})
	h.s = Session(h.t, h.engine)
}

func (h *house) caughtUp() {
	h.t.Helper()
	UntilRow(h.t, h.s, "SELECT coalesce(position, '') FROM information_schema.streams", fmt.Sprint(h.source.End()))
}

// same compares the table with its source.
func (h *house) same() {
	h.t.Helper()
	got := Rows(h.t, h.s, "SELECT * FROM orders")
	if want := newest(h.source); !slices.Equal(sorted(got), want) {
		h.t.Fatalf("the table holds %d rows, its source %d, or they differ", len(got), len(want))
	}
}

func newest(source *scripted.Table) []string {
	var want []string
	for _, line := range source.At(source.End()) {
		want = append(want, line)
	}
	return sorted(want)
}

func sorted(lines []string) []string {
	slices.Sort(lines)
	return lines
}

// kinds are the kinds of files a root has, by the pattern of their paths.
var kinds = map[string]string{
	"log entry": "log/0*", "checkpoint": "log/checkpoint-*", "tablet": "tables/*/*.parquet", "sidecar": "tables/*/*.keys",
	"run": "tables/*/runs/*.keys", "mask": "masks/*.puffin",
}

// build makes a root that has every kind of file in use, and returns what its table holds.
func build(t *testing.T, root string) []string {
	local, err := objstore.OpenLocal(root)
	if err != nil {
		t.Fatal(err)
	}
	h := newHouse(t, local)
	var first []scripted.Change
	for id := range int64(6000) {
		first = append(first, put(extension.Insert, id, id))
	}
	h.source.Commit(first...)
	loadInParts(h)
	h.database.SetFault(nil)
	for n := int64(1); ; n++ {
		for i := range int64(12) { // few, so that masks stay below the share that vacuum looks for
			h.source.Commit(put(extension.Update, 3*i, n), put(extension.Delete, 3*i+1, 0))
			h.caughtUp()
		}
		state := One(t, h.s, `SELECT staging_tablets > 0, masked_rows > 0 FROM information_schema.tables WHERE table_name = 'orders'`)
		checkpoints, _ := filepath.Glob(filepath.Join(root, "log", "checkpoint-*"))
		if state == "t|t" && len(checkpoints) > 0 {
			Rows(t, h.s, "ALTER CDC TABLE orders SUSPEND")
			if One(t, h.s, `SELECT staging_tablets > 0, masked_rows > 0 FROM information_schema.tables WHERE table_name = 'orders'`) == "t|t" {
				break
			}
			Rows(t, h.s, "ALTER CDC TABLE orders RESUME")
		}
		if n > 200 {
			t.Fatal("the root never got to have every kind of file")
		}
	}
	h.same()
	if err := h.engine.Close(); err != nil {
		t.Fatal(err)
	}
	return newest(h.source)
}

// loadInParts loads the table with each part of the snapshot in a tablet of its own: enough of them for a run of the key
// index.
func loadInParts(h *house) {
	const parts = 12 // of 500 rows
	var arrived sync.WaitGroup
	arrived.Add(parts)
	h.database.SetFault(func(stage scripted.Stage) error {
		if stage == scripted.Copying {
			arrived.Done()
			arrived.Wait()
		}
		return nil
	})
	Rows(h.t, h.s, fmt.Sprintf("SET execution.cdc.vacuum_budget_ms = 0; SET execution.cdc.append_max_threads = %d; ", parts)+fmt.Sprintf(setUp, "150 milliseconds"))
	h.caughtUp()
}

// inUse returns the files of a root that its newest version and its log need, by kind.
func inUse(t *testing.T, root string) map[string][]string {
	local, err := objstore.OpenLocal(root)
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Open(context.Background(), local, catalog.OpenOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	named := map[string]bool{}
	for f := range c.Snapshot().Files() {
		named[f.Path()] = true
	}
	out := map[string][]string{}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(root, path)
		for kind, pattern := range kinds {
			if ok, _ := filepath.Match(pattern, name); ok && (named[name] || strings.HasPrefix(name, "log/")) {
				out[kind] = append(out[kind], name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for kind, names := range out { // the newest few of each
		slices.Sort(names)
		out[kind] = names[max(0, len(names)-4):]
	}
	return out
}

// queries read every file of the table, and parts of it.
var queries = []string{
	"SELECT * FROM orders", "SELECT id, n, note FROM orders WHERE id BETWEEN 10 AND 20", "SELECT * FROM orders WHERE note = 'note 5'",
}

// ask opens the root and runs the queries. Each must answer as want says or fail with an error that names the file.
func ask(t *testing.T, root, file string, want []string) {
	t.Helper()
	named := func(what string, err error) {
		t.Helper()
		if !strings.Contains(err.Error(), filepath.Base(file)) {
			t.Errorf("%s: %s: the error does not name the file: %v", file, what, err)
		}
		if sqlerr.Code(err) == sqlerr.Internal {
			t.Errorf("%s: %s: SQLSTATE XX000: %v", file, what, err)
		}
	}
	e, err := engine.Open(context.Background(), engine.Options{Root: root, ReadOnly: true, Register: scripted.NewDatabase().Register})
	if err != nil {
		named("opening", err)
		return
	}
	defer e.Close()
	s := Session(t, e)
	for _, q := range queries {
		got, err := Try(s, q)
		if err != nil {
			named(q, err)
			continue
		}
		if expected := filter(q, want); !slices.Equal(sorted(got), expected) {
			t.Errorf("%s: %s: a wrong answer of %d rows, want %d", file, q, len(got), len(expected))
		}
	}
}

// filter applies the condition of one of the queries.
func filter(query string, lines []string) []string {
	var out []string
	for _, l := range lines {
		cells := strings.Split(l, "|")
		var id int64
		fmt.Sscan(cells[0], &id)
		if query == queries[0] || query == queries[1] && id >= 10 && id <= 20 || query == queries[2] && cells[2] == "note 5" {
			out = append(out, l)
		}
	}
	return out
}

func finds(t *testing.T, root, file string) {
	t.Helper()
	report, err := engine.Check(context.Background(), engine.CheckOptions{Root: root})
	if err != nil {
		t.Errorf("%s: check: %v", file, err)
		return
	}
	if !slices.ContainsFunc(report.Problems, func(p catalog.Problem) bool { return p.Path == file }) {
		t.Errorf("%s: check does not find it among %v", file, report.Problems)
	}
}

func TestEveryFileOfARoot(t *testing.T) {
	root := t.TempDir()
	want := build(t, root)
	report, err := engine.Check(context.Background(), engine.CheckOptions{Root: root})
	if err != nil || !report.OK() || len(report.Problems) > 0 {
		t.Fatalf("the root is not sound to begin with: %v, %v", report.Problems, err)
	}
	ask(t, root, "none", want)
	files := inUse(t, root)
	for kind := range kinds {
		if len(files[kind]) == 0 {
			t.Errorf("the root has no %s", kind)
		}
		for _, file := range files[kind] {
			t.Run(kind+" "+filepath.Base(file), func(t *testing.T) {
				path := filepath.Join(root, file)
				content, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				restore := func() {
					if err := os.WriteFile(path, content, 0o644); err != nil {
						t.Fatal(err)
					}
				}
				defer restore()
				size := len(content)
				for _, at := range []int{0, 5, size / 7, size / 3, size / 2, 3 * size / 4, size - 9, size - 1} {
					damaged := slices.Clone(content)
					damaged[at] ^= 0x41
					if err := os.WriteFile(path, damaged, 0o644); err != nil {
						t.Fatal(err)
					}
					finds(t, root, file)
					ask(t, root, file, want)
				}
				for _, length := range []int{0, size / 2, size - 1} { // cut off
					if err := os.WriteFile(path, content[:length], 0o644); err != nil {
						t.Fatal(err)
					}
					finds(t, root, file)
					ask(t, root, file, want)
				}
				if newest := files["log entry"]; file == newest[len(newest)-1] {
					return
				}
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
				if kind == "checkpoint" || kind == "log entry" && dispensable(files, file) {
					ask(t, root, file, want)
					return
				}
				finds(t, root, file)
				ask(t, root, file, want)
			})
		}
	}
	ask(t, root, "none", want)
}

// dispensable reports whether a log entry can be gone: one up to the newest checkpoint says nothing that the checkpoint
// does not. The newest entry of all can be gone without a trace, as if its commit had never been, so it is not tried.
func dispensable(files map[string][]string, entry string) bool {
	checkpoints := files["checkpoint"]
	newest := strings.TrimPrefix(filepath.Base(checkpoints[len(checkpoints)-1]), "checkpoint-")
	return filepath.Base(entry) <= newest
}

var errDisk = errors.New("no space left on device")
