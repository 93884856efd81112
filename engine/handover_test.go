package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/objstore/errstore"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// childRoot, in the environment, makes TestChildIngests a process that fights for the worker of table orders.
const childRoot = "TIDEMARK_TEST_CHILD_ROOT"

// TestChildIngests is the body of the processes that TestTwoProcessesNeverBothCommit starts; alone it does nothing.
func TestChildIngests(t *testing.T) {
	root := os.Getenv(childRoot)
	if root == "" {
		return
	}
	_, s := open(t, engine.Options{Root: root, Settings: fastIngest})
	for {
		if _, err := tryRows(t.Context(), s, "ALTER CDC TABLE orders RESUME"); err != nil && sqlerr.Code(err) != sqlerr.SerializationFailure {
			t.Fatal(err)
		}
		fmt.Println("RESUMED")
		time.Sleep(50 * time.Millisecond) // how long it may ingest before the other asks: any length must do
		if rows(t, s, "SELECT coalesce(position, '') FROM information_schema.streams")[0] == "40000" {
			return
		}
	}
}

var fastIngest = map[string]string{
	"execution.cdc.append_max_read_ms": "5", "execution.cdc.append_max_rows": "300", "execution.cdc.handover_timeout": "2s",
}

func startChild(t *testing.T, root string) *exec.Cmd {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestChildIngests$", "-test.v")
	child.Env = append(os.Environ(), childRoot+"="+root)
	child.Stderr = os.Stderr
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	return child
}

func TestTwoProcessesNeverBothCommit(t *testing.T) {
	root := t.TempDir()
	e, s := open(t, engine.Options{Root: root, Settings: fastIngest})
	rows(t, s, cdcSetup)
	one, two := startChild(t, root), startChild(t, root)
	until(t, "some changes", func() bool {
		got := rows(t, s, "SELECT coalesce(position, '') FROM information_schema.streams")[0]
		return got != "" && got != "0"
	})
	for _, child := range []*exec.Cmd{one, two} {
		if err := child.Wait(); err != nil {
			t.Fatalf("a process failed: %v", err)
		}
	}
	until(t, "the last commit to be seen here", func() bool {
		return rows(t, s, "SELECT coalesce(position, '') FROM information_schema.streams")[0] == "40000"
	})
	verify(t, s)
	e.Close()
}

func TestAKilledOwnerIsReplaced(t *testing.T) {
	root := t.TempDir()
	_, s := open(t, engine.Options{Root: root, Settings: fastIngest})
	rows(t, s, cdcSetup)
	child := startChild(t, root)
	until(t, "some changes", func() bool {
		got := rows(t, s, "SELECT coalesce(position, '') FROM information_schema.streams")[0]
		return got != "" && got != "0"
	})
	child.Process.Kill()
	child.Wait()
	rows(t, s, "ALTER CDC TABLE orders RESUME")
	expect(t, s, "SELECT has_worker FROM information_schema.cdc_ingests", "t")
	until(t, "the stream's end", func() bool {
		return rows(t, s, "SELECT coalesce(position, '') FROM information_schema.streams")[0] == "40000"
	})
	rows(t, s, "ALTER CDC TABLE orders SUSPEND")
	verify(t, s)
}

// TestARequestThatSeemedToFailIsFollowed moves ingestion while the answers of the store are lost: the owner leaves as it
// was asked to, so the engine that asked must come, whatever it told its user.
func TestARequestThatSeemedToFailIsFollowed(t *testing.T) {
	root := t.TempDir()
	_, s := open(t, engine.Options{Root: root, Settings: fastIngest})
	rows(t, s, cdcSetup+"; ALTER CDC TABLE orders RESUME")
	local, err := objstore.OpenLocal(root)
	if err != nil {
		t.Fatal(err)
	}
	store := errstore.Wrap(local, nil)
	_, other := open(t, engine.Options{Store: store, Settings: fastIngest})
	lost := errors.New("the answer was lost")
	lose := func(c errstore.Call) errstore.Verdict {
		if strings.HasPrefix(c.Path, "log/") {
			return errstore.Verdict{After: lost}
		}
		return errstore.Verdict{}
	}
	rows(t, s, "CREATE TABLE between_them (a INTEGER)") // which the other engine has not read
	until(t, "a request that reaches the log", func() bool {
		store.SetRule(nil)
		rows(t, other, "SELECT 1") // reads where the log ends by now: the request has to go behind that
		left := rows(t, s, "SELECT has_worker FROM information_schema.cdc_ingests")[0] == "f"
		if store.SetRule(lose); left {
			return true
		}
		if _, err := tryRows(t.Context(), other, "ALTER CDC TABLE orders RESUME"); err == nil {
			t.Fatal("RESUME succeeded although its commit was not answered")
		}
		return false
	})
	store.SetRule(nil)
	until(t, "the worker to be where it was asked for", func() bool {
		return rows(t, other, "SELECT has_worker FROM information_schema.cdc_ingests")[0] == "t"
	})
	rows(t, other, "CALL cdc_wait('orders', '40000'); ALTER CDC TABLE orders SUSPEND")
	verify(t, other)
}

// TestAnOwnerThatDoesNotAnswerIsReplaced takes a table from an engine of another machine that has vanished.
func TestAnOwnerThatDoesNotAnswerIsReplaced(t *testing.T) {
	root := t.TempDir()
	gone := &forgetful{}
	first, s := open(t, engine.Options{Store: gone.over(t, root), Name: "elsewhere", Settings: fastIngest})
	rows(t, s, cdcSetup+"; ALTER CDC TABLE orders RESUME")
	until(t, "the load", func() bool {
		return rows(t, s, "SELECT coalesce(max(position), '') <> '' FROM information_schema.streams")[0] == "t"
	})
	gone.cut.Store(true) // it can neither answer nor commit any more
	_, other := open(t, engine.Options{Root: root, Settings: map[string]string{"execution.cdc.handover_timeout": "300ms"}})
	start := time.Now()
	rows(t, other, "ALTER CDC TABLE orders RESUME")
	expect(t, other, "SELECT has_worker FROM information_schema.cdc_ingests", "t")
	if waited := time.Since(start); waited < 300*time.Millisecond {
		t.Errorf("the owner was given %v to answer, want 300ms", waited)
	}
	first.Close()
	until(t, "the stream's end", func() bool {
		return rows(t, other, "SELECT coalesce(position, '') FROM information_schema.streams")[0] == "40000"
	})
	rows(t, other, "ALTER CDC TABLE orders SUSPEND")
	verify(t, other)
}

// forgetful is a store that, once cut, refuses every write.
type forgetful struct {
	objstore.Store
	cut atomic.Bool
}

func (f *forgetful) over(t *testing.T, root string) objstore.Store {
	t.Helper()
	local, err := objstore.OpenLocal(root)
	if err != nil {
		t.Fatal(err)
	}
	f.Store = local
	return f
}

func (f *forgetful) PutIfAbsent(ctx context.Context, path string, data []byte) error {
	if f.cut.Load() {
		return errors.New("cut off")
	}
	return f.Store.PutIfAbsent(ctx, path, data)
}

// TestHandOverWaitsForTheLoad asks for a worker in the middle of its initial load, which goes on to its end first.
func TestHandOverWaitsForTheLoad(t *testing.T) {
	root := t.TempDir()
	release := make(chan struct{})
	_, a := open(t, engine.Options{Root: root, Settings: fastIngest, Register: slowGenerator(release)})
	_, b := open(t, engine.Options{Root: root, Register: slowGenerator(release), Settings: map[string]string{
		"execution.cdc.append_max_read_ms": "5", "execution.cdc.append_max_rows": "300", "execution.cdc.handover_timeout": "1s",
	}})
	rows(t, a, strings.Replace(cdcSetup, "FROM GENERATOR", "FROM SLOW", 1)+"; ALTER CDC TABLE orders RESUME")
	until(t, "the load's start", func() bool {
		return rows(t, a, "SELECT coalesce(max(phase), '') FROM information_schema.cdc_ingests")[0] == "backfilling"
	})
	until(t, "the table at the second engine", func() bool {
		_, err := tryRows(t.Context(), b, "SELECT count(*) FROM orders")
		return err == nil
	})
	rows(t, b, "ALTER CDC TABLE orders RESUME") // returns although the owner is busy
	expect(t, a, "SELECT has_worker, phase FROM information_schema.cdc_ingests", "t|backfilling")
	expect(t, b, "SELECT has_worker FROM information_schema.cdc_ingests", "f")
	close(release)
	until(t, "the second engine's worker", func() bool {
		return rows(t, b, "SELECT has_worker FROM information_schema.cdc_ingests")[0] == "t"
	})
	expect(t, a, "SELECT has_worker FROM information_schema.cdc_ingests", "f")
	until(t, "the stream's end", func() bool {
		return rows(t, b, "SELECT coalesce(position, '') FROM information_schema.streams")[0] == "40000"
	})
	rows(t, b, "ALTER CDC TABLE orders SUSPEND")
	verify(t, b)
}

// TestWorkersEndWithTheirTable looks that nothing of a worker is left behind by SUSPEND, DETACH and DROP.
func TestWorkersEndWithTheirTable(t *testing.T) {
	for _, statement := range []string{"ALTER CDC TABLE orders SUSPEND", "ALTER CDC TABLE orders DETACH STREAM", "DROP TABLE orders",
		"BEGIN; DROP TABLE orders; COMMIT"} {
		e, s := open(t, engine.Options{Settings: fastIngest})
		rows(t, s, cdcSetup+"; ALTER CDC TABLE orders RESUME")
		if !hasSeries(t, e) {
			t.Fatal("a running worker has no series")
		}
		rows(t, s, statement)
		if strings.HasPrefix(statement, "BEGIN") {
			until(t, "the worker's end", func() bool { return !hasSeries(t, e) })
		}
		if hasSeries(t, e) {
			t.Errorf("%s: the worker's series are still there", statement)
		}
	}
}

func hasSeries(t *testing.T, e *engine.Engine) bool {
	t.Helper()
	families, err := e.Metrics().Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), "tidemark_cdc_") {
			return true
		}
	}
	return false
}
