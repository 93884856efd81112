package catalog

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
)

// writerEnv makes the test binary a writer: root directory, table and number of rounds, separated by spaces.
const writerEnv = "CATALOG_TEST_WRITER"

func TestMain(m *testing.M) {
	if job := os.Getenv(writerEnv); job != "" {
		if err := writerProcess(strings.Fields(job)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// writerProcess says that it is ready, waits for a line, and works.
func writerProcess(job []string) error {
	store, err := objstore.OpenLocal(job[0])
	if err != nil {
		return err
	}
	c, err := Open(context.Background(), store, OpenOptions{CheckpointEvery: 16, Engine: job[3]})
	if err != nil {
		return err
	}
	defer c.Close()
	id, err := tablet.ParseTableID(job[1])
	if err != nil {
		return err
	}
	rounds, err := strconv.Atoi(job[2])
	if err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	return countUp(c, id, job[3], rounds)
}

// countUp raises the mask of the table's one masked tablet by one row, adds a tablet and sets a setting, rounds times.
// A lost edit would show in the sums.
func countUp(c *Catalog, id tablet.TableID, name string, rounds int) error {
	ctx := context.Background()
	for i := 0; i < rounds; {
		t, ok := c.Snapshot().TableByID(id)
		if !ok {
			return errors.New("the table is gone")
		}
		counter := t.Tablets.View().Base[0] // the oldest tablet
		next := tablet.MaskRef{File: tablet.NewID(), Length: 1, Cardinality: counter.Mask.Cardinality + 1}
		e := insert(id, desc(1))
		e.Masks = []MaskChange{{counter.ID, counter.Mask, next}}
		_, err := c.Commit(ctx, e, &SetSetting{Name: fmt.Sprint(name, i), Value: "done"})
		switch {
		case sqlerr.Code(err) == sqlerr.SerializationFailure:
			// The refused commit has brought the snapshot up to date: count from there.
		case err != nil:
			return err
		default:
			i++
		}
	}
	return nil
}

// checkCount verifies what writers of so many rounds in all must have left.
func checkCount(t *testing.T, r *root, id tablet.TableID, names []string, rounds int) {
	t.Helper()
	if _, err := r.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	total := int64(rounds * len(names))
	got := r.table(id).Tablets.Totals()
	if got.MaskedRows != total || int64(got.BaseTablets) != total+1 {
		t.Errorf("%d rows masked and %d tablets, want %d and %d", got.MaskedRows, got.BaseTablets, total, total+1)
	}
	for _, name := range names {
		for i := range rounds {
			if v, _ := r.Snapshot().Setting(fmt.Sprint(name, i)); v != "done" {
				t.Errorf("the edit %d of %s is lost", i, name)
			}
		}
	}
	sameState(t, openRoot(t, r.store, OpenOptions{}).Snapshot(), r.Snapshot())
	if report, err := Check(t.Context(), r.store, CheckOptions{}); err != nil {
		t.Error(err)
	} else {
		for _, p := range report.Problems {
			if !strings.HasPrefix(p.Path, tablet.TablesDir) && !strings.HasPrefix(p.Path, tablet.MasksDir) { // these were never written
				t.Errorf("%s: %v", p.Path, p.Err)
			}
		}
	}
}

func counterTable(r *root) tablet.TableID {
	m := managed("counter")
	r.must(m, insert(m.ID, desc(1_000_000)))
	return m.ID
}

func TestTwoCatalogsOnOneRoot(t *testing.T) {
	store := objstore.NewMem(nil)
	options := OpenOptions{CheckpointEvery: 16}
	first, second := openRoot(t, store, options), openRoot(t, store, options)
	id := counterTable(first)
	if _, err := second.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	names := []string{"a", "b", "c", "d"}
	for i, c := range []*root{first, first, second, second} {
		wg.Go(func() {
			if err := countUp(c.Catalog, id, names[i], 50); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	checkCount(t, first, id, names, 50)
}

func TestTwoProcessesOnOneRoot(t *testing.T) {
	dir := t.TempDir()
	store, err := objstore.OpenLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := openRoot(t, store, OpenOptions{})
	id := counterTable(r)
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"one", "two"}
	var finish []func() error
	for _, name := range names {
		cmd := exec.Command(binary)
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %d %s", writerEnv, dir, id, 40, name))
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
			t.Fatalf("process %s said %q, %v", name, line, err)
		}
		finish = append(finish, func() error { return errors.Join(second(fmt.Fprintln(in, "go")), cmd.Wait()) })
	}
	var wg sync.WaitGroup
	for _, f := range finish { // both are ready: let them run against each other
		wg.Go(func() {
			if err := f(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	checkCount(t, r, id, names, 40)
}

func TestChangedAndWatchSeeOtherProcesses(t *testing.T) {
	store := objstore.NewMem(nil)
	writer, reader := openRoot(t, store, OpenOptions{}), openRoot(t, store, OpenOptions{ReadOnly: true})
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { reader.Watch(ctx, 1, func(err error) { t.Error(err) }) })
	for i := range 20 {
		changed := reader.Changed()
		writer.must(&SetSetting{Name: "n", Value: fmt.Sprint(i)})
		<-changed
		for v, _ := reader.Snapshot().Setting("n"); v != fmt.Sprint(i); v, _ = reader.Snapshot().Setting("n") {
			<-reader.Changed()
		}
	}
	stop()
	wg.Wait()
	reader.refuse(sqlerr.ReadOnlyTransaction, &SetSetting{Name: "n"})
}

func TestCommitOnWhatOthersLeft(t *testing.T) {
	store := objstore.NewMem(nil)
	first, second := openRoot(t, store, OpenOptions{}), openRoot(t, store, OpenOptions{})
	m := managed("m")
	first.must(m)
	second.must(managed("n")) // does not know m yet
	if _, err := second.Snapshot().Table(DefaultSchema, "m"); err != nil {
		t.Errorf("the commit that came first was not applied: %v", err)
	}
	// What the second knows is old: the newest state decides.
	first.must(&DropTable{Table: m.ID})
	second.must(managed("m"))
	if _, err := first.Commit(t.Context(), managed("m")); sqlerr.Code(err) != sqlerr.DuplicateTable {
		t.Errorf("two tables of one name: %v", err)
	}
}

func TestClosedCatalogRefusesCommits(t *testing.T) {
	r := newRoot(t)
	r.Close()
	r.Close()
	r.refuse(sqlerr.AdminShutdown, &SetSetting{Name: "x"})
}
