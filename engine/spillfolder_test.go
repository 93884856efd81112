package engine_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/engine"
)

// TestDeadSpillFoldersGo kills a process amid a spilling query: the next engine removes its files, and lets those of
// an engine that lives alone.
func TestDeadSpillFoldersGo(t *testing.T) {
	if root := os.Getenv("TIDEMARK_SPILL_ROOT"); root != "" { // the child: it is killed, so it makes no folder of its own
		spillForever(t, root, os.Getenv("TIDEMARK_SPILL_DIR"))
		return
	}
	spill := t.TempDir()
	_, living := open(t, engine.Options{SpillDir: spill})
	rows(t, living, "SET execution.memory_limit = '1MiB'")
	result, err := living.Query(t.Context(), spillingQuery)
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	if _, err := result.Next(t.Context()); err != nil {
		t.Fatal(err)
	}

	child := exec.Command(os.Args[0], "-test.run=^TestDeadSpillFoldersGo$")
	child.Env = append(os.Environ(), "TIDEMARK_SPILL_ROOT="+t.TempDir(), "TIDEMARK_SPILL_DIR="+spill)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make([]byte, 1)
	if _, err := out.Read(ready); err != nil || ready[0] != '!' {
		t.Fatalf("the child did not get to spill: %q, %v", ready, err)
	}
	if n := len(spillFiles(t, spill)); n != 2 {
		t.Errorf("%d folders with temporary files before the kill, want 2", n)
	}
	child.Process.Kill()
	child.Wait()

	open(t, engine.Options{SpillDir: spill})
	left := spillFiles(t, spill)
	if len(left) != 1 {
		t.Errorf("folders with temporary files: %v, want that of the living engine", left)
	}
	for {
		b, err := result.Next(t.Context())
		if err != nil {
			t.Fatalf("the living engine's query, whose files must stay: %v", err)
		}
		if b == nil {
			break
		}
	}
}

const spillingQuery = "SELECT i, md5(i::text) AS h FROM generate_series(1, 200000) AS g (i) ORDER BY h"

// spillForever spills, says so, and waits to be killed.
func spillForever(t *testing.T, root, spill string) {
	_, s := open(t, engine.Options{Root: root, SpillDir: spill})
	rows(t, s, "SET execution.memory_limit = '1MiB'")
	r, err := s.Query(t.Context(), spillingQuery)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	os.Stdout.WriteString("!")
	select {}
}

// spillFiles returns the spill folders that hold temporary files of queries.
func spillFiles(t *testing.T, parent string) (folders []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(parent, "tidemark-spill-*", "query-*", "*.spill"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		folder := strings.Split(strings.TrimPrefix(p, parent), "/")[1]
		if len(folders) == 0 || folders[len(folders)-1] != folder {
			folders = append(folders, folder)
		}
	}
	return folders
}

// TestMemoryIsShown looks at a query that spills while it runs and after.
func TestMemoryIsShown(t *testing.T) {
	e, s := open(t, engine.Options{SpillDir: t.TempDir()})
	rows(t, s, "SET execution.memory_limit = '1MiB'")
	r, err := s.Query(t.Context(), "SELECT i, md5(i::text) AS h, count(*) OVER (PARTITION BY i % 100) FROM generate_series(1, 100000) AS g (i) ORDER BY h")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	other := session(t, e)
	// A batch or two that an operator cannot do without may come on top of the limit.
	shown := `SELECT peak_memory_bytes BETWEEN 1 AND 1048576 + 262144, memory_bytes <= peak_memory_bytes, spilled_bytes > 1000000
		FROM information_schema.queries WHERE query LIKE '%PARTITION BY%' AND query NOT LIKE '%information_schema%'`
	expect(t, other, shown, "t|t|t")
	for {
		if b, err := r.Next(t.Context()); err != nil {
			t.Fatal(err)
		} else if b == nil {
			break
		}
	}
	expect(t, other, shown)
	expect(t, other, strings.NewReplacer("memory_bytes <= peak_memory_bytes, ", "", "queries", "query_history").Replace(shown), "t|t")
}
