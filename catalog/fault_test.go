package catalog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/objstore/crashstore"
	"github.com/tidemarkdb/tidemark/objstore/errstore"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
)

var errBoom = errors.New("boom")

func TestCommitWhoseAnswerIsLost(t *testing.T) {
	for name, lost := range map[string]error{
		"a failure":            errBoom,
		"a retry finds itself": fmt.Errorf("log: %w", objstore.ErrExists),
	} {
		t.Run(name, func(t *testing.T) {
			store := errstore.Wrap(objstore.NewMem(nil), nil)
			r := openRoot(t, store, OpenOptions{})
			r.must(managed("m"))
			store.SetRule(errstore.OnNth(1, errstore.Matching(logDir, errstore.OpPutIfAbsent), errstore.Verdict{After: lost}))
			s := r.must(&SetSetting{Name: "x", Value: "1"})
			if v, _ := s.Setting("x"); v != "1" || s.Version() != 2 {
				t.Errorf("version %d, x = %q", s.Version(), v)
			}
			r.must(&SetSetting{Name: "y", Value: "1"})
			sameState(t, openRoot(t, store, OpenOptions{}).Snapshot(), r.Snapshot())
		})
	}
}

func TestCommitThatFailsLeavesNothing(t *testing.T) {
	store := errstore.Wrap(objstore.NewMem(nil), nil)
	r := openRoot(t, store, OpenOptions{})
	r.must(managed("m"))
	store.SetRule(errstore.OnNth(1, errstore.Matching(logDir, errstore.OpPutIfAbsent), errstore.Verdict{Before: errBoom}))
	if err := r.refuse(sqlerr.IOError, &SetSetting{Name: "x", Value: "1"}); !errors.Is(err, errBoom) {
		t.Errorf("the cause is lost: %v", err)
	}
	r.must(&SetSetting{Name: "x", Value: "2"})
}

func TestCommitThatMayNotBeDurable(t *testing.T) {
	store := errstore.Wrap(objstore.NewMem(nil), nil)
	r := openRoot(t, store, OpenOptions{})
	store.SetRule(errstore.OnNth(1, errstore.Matching(logDir, errstore.OpPutIfAbsent), errstore.Verdict{After: objstore.ErrNotDurable}))
	_, err := r.Commit(t.Context(), &SetSetting{Name: "x", Value: "1"})
	if !errors.Is(err, objstore.ErrNotDurable) || sqlerr.Code(err) != sqlerr.IOError {
		t.Errorf("error %v", err)
	}
	if v, _ := r.Snapshot().Setting("x"); v != "1" {
		t.Error("others see the commit, this process does not")
	}
}

func TestStoreFailuresAnywhereAreErrors(t *testing.T) {
	ctx := context.Background()
	failures := 0
	for n := int64(1); ; n++ {
		store := errstore.Wrap(objstore.NewMem(nil), nil)
		calls := int64(0)
		store.SetRule(func(errstore.Call) errstore.Verdict {
			if calls++; calls == n {
				return errstore.Verdict{Before: errBoom}
			}
			return errstore.Verdict{}
		})
		err := everything(ctx, store)
		if calls < n {
			if err != nil {
				t.Errorf("without a failure: %v", err)
			}
			break
		}
		if err == nil || !errors.Is(err, errBoom) {
			t.Errorf("failure of call %d: %v", n, err)
		}
		failures++
		store.SetRule(nil) // the root must be whole whatever failed
		if _, err := Open(ctx, store, OpenOptions{}); err != nil {
			t.Errorf("after a failure of call %d: %v", n, err)
		}
		if report, err := Check(ctx, store, CheckOptions{}); err != nil || !report.OK() {
			t.Errorf("after a failure of call %d: %+v, %v", n, report, err)
		}
	}
	if failures < 15 {
		t.Errorf("only %d calls were made to fail", failures)
	}
}

// everything uses each part of a catalog once.
func everything(ctx context.Context, store objstore.Store) error {
	now := time.Now().Add(-2 * time.Hour)
	c, err := Open(ctx, store, OpenOptions{CheckpointEvery: -1, Now: func() time.Time { return now }})
	if err != nil {
		return err
	}
	defer c.Close()
	m := managed("m")
	d := desc(10)
	for _, path := range []string{tablet.ParquetPath(m.ID, d.ID), tablet.SidecarPath(m.ID, d.ID)} {
		if err := store.Put(ctx, path, make([]byte, map[bool]int64{true: d.FileBytes, false: d.SidecarBytes}[strings.HasSuffix(path, ".parquet")])); err != nil {
			return err
		}
	}
	for _, edits := range [][]Edit{{m}, {insert(m.ID, d)}, {&Truncate{Table: m.ID, SchemaVersion: 1}}, {&SetSetting{Name: "x", Value: "1"}}} {
		if _, err := c.Commit(ctx, edits...); err != nil {
			return err
		}
	}
	if err := c.Checkpoint(ctx); err != nil {
		return err
	}
	p, err := c.PinAt(ctx, 2)
	if err != nil {
		return err
	}
	p.Release()
	now = now.Add(2 * time.Hour)
	if _, err := c.Sweep(ctx); err != nil {
		return err
	}
	if _, err := Open(ctx, store, OpenOptions{}); err != nil {
		return err
	}
	_, err = Check(ctx, store, CheckOptions{})
	return err
}

func TestCrashAtEveryWrite(t *testing.T) {
	ctx := context.Background()
	whole := crashstore.New(0)
	if _, err := history(ctx, whole, 1); err != nil {
		t.Fatal(err)
	}
	lost := 0
	for crashAt := 1; crashAt <= whole.Writes(); crashAt++ {
		for seed := range uint64(6) {
			store := crashstore.New(seed)
			store.CrashAt(crashAt)
			acknowledged, err := history(ctx, store, 1)
			if !errors.Is(err, crashstore.ErrCrashed) {
				t.Fatalf("crash at write %d: %v", crashAt, err)
			}
			after, err := store.Reboot()
			if err != nil {
				t.Fatal(err)
			}
			c, err := Open(ctx, after, OpenOptions{})
			if err != nil {
				t.Fatalf("crash at write %d, seed %d: %v", crashAt, seed, err)
			}
			n, _ := c.Snapshot().Setting("n")
			if n != fmt.Sprint(acknowledged) && n != fmt.Sprint(acknowledged+1) && acknowledged > 0 {
				t.Errorf("crash at write %d, seed %d: n = %s, acknowledged was %d", crashAt, seed, n, acknowledged)
			}
			if n == fmt.Sprint(acknowledged) {
				lost++
			}
			if report, err := Check(ctx, after, CheckOptions{Repair: true, OrphanAge: -1}); err != nil || !report.OK() {
				t.Errorf("crash at write %d, seed %d: %+v, %v", crashAt, seed, report, err)
			}
			if _, err := history(ctx, after, acknowledged+1); err != nil {
				t.Errorf("crash at write %d, seed %d: going on: %v", crashAt, seed, err)
			}
			c.Close()
		}
	}
	if lost == 0 {
		t.Error("no crash lost a commit: the test sees no crash")
	}
}

// history commits numbers from first on with files, checkpoints and sweeps between, and returns the last acknowledged.
func history(ctx context.Context, store objstore.Store, first int) (int, error) {
	now := time.Now()
	c, err := Open(ctx, store, OpenOptions{CheckpointEvery: -1, Now: func() time.Time { return now }})
	if err != nil {
		return first - 1, err
	}
	defer c.Close()
	acknowledged := first - 1
	if _, err := c.Snapshot().Table(DefaultSchema, "m"); err != nil {
		if _, err := c.Commit(ctx, managed("m")); err != nil {
			return acknowledged, err
		}
	}
	m, err := c.Snapshot().Table(DefaultSchema, "m")
	if err != nil {
		return acknowledged, err
	}
	for n := first; n < first+8; n++ {
		now = now.Add(40 * time.Minute)
		d := desc(int64(n))
		if err := writeFiles(ctx, store, m.ID, d); err != nil {
			return acknowledged, err
		}
		if _, err := c.Commit(ctx, &Truncate{Table: m.ID, SchemaVersion: 1}, insert(m.ID, d), &SetSetting{Name: "n", Value: fmt.Sprint(n)}); err != nil {
			return acknowledged, err
		}
		acknowledged = n
		if n%2 == 0 {
			if err := c.Checkpoint(ctx); err != nil {
				return acknowledged, err
			}
		}
		if _, err := c.Sweep(ctx); err != nil {
			return acknowledged, err
		}
	}
	return acknowledged, nil
}

// writeFiles makes a tablet's files, of the right size.
func writeFiles(ctx context.Context, store objstore.Store, table tablet.TableID, d *tablet.Desc) error {
	if err := store.Put(ctx, d.ParquetPath(table), make([]byte, d.FileBytes)); err != nil {
		return err
	}
	if d.SidecarBytes == 0 {
		return nil
	}
	return store.Put(ctx, d.SidecarPath(table), make([]byte, d.SidecarBytes))
}

func TestDamagedLogsAreNamed(t *testing.T) {
	ctx := context.Background()
	build := func() *objstore.Mem {
		store := objstore.NewMem(nil)
		r := openRoot(t, store, OpenOptions{CheckpointEvery: -1})
		for i := range 6 {
			r.must(&SetSetting{Name: "n", Value: fmt.Sprint(i)})
			if i == 2 {
				if err := r.Checkpoint(ctx); err != nil {
					t.Fatal(err)
				}
			}
		}
		return store
	}
	change := func(path string, f func([]byte) []byte) func(*objstore.Mem) string {
		return func(m *objstore.Mem) string {
			b, err := m.Get(ctx, path)
			if err == nil {
				err = m.Put(ctx, path, f(b))
			}
			if err != nil {
				t.Fatal(err)
			}
			return path
		}
	}
	flip := func(at int) func([]byte) []byte { return func(b []byte) []byte { b[at] ^= 1; return b } }
	for name, damage := range map[string]func(*objstore.Mem) string{
		"an entry of another format":  change(entryPath(5), flip(8)),
		"an entry with a bit flipped": change(entryPath(5), flip(headerSize+3)),
		"a header with a bit flipped": change(entryPath(5), flip(35)),
		"an entry of no log":          change(entryPath(5), func(b []byte) []byte { return []byte(strings.Repeat("x", 100)) }),
		"an entry cut off":            change(entryPath(5), func(b []byte) []byte { return b[:len(b)-1] }),
		"an entry cut in its header":  change(entryPath(5), func(b []byte) []byte { return b[:20] }),
		"an empty entry":              change(entryPath(6), func([]byte) []byte { return nil }),
		"an entry with more behind":   change(entryPath(5), func(b []byte) []byte { return append(b, 0) }),
		"a checkpoint damaged":        change(checkpointPath(3), flip(headerSize+1)),
		"an entry missing": func(m *objstore.Mem) string {
			if err := m.Delete(ctx, entryPath(5)); err != nil {
				t.Fatal(err)
			}
			return entryPath(5)
		},
		"an entry in the place of another": func(m *objstore.Mem) string {
			b, err := m.Get(ctx, entryPath(6))
			if err == nil {
				err = m.Put(ctx, entryPath(5), b)
			}
			if err != nil {
				t.Fatal(err)
			}
			return entryPath(5)
		},
		"an entry of another history": func(m *objstore.Mem) string {
			h := header{kind: entryFile, version: 5, previous: 12345, micros: time.Now().UnixMicro()}
			if err := m.Put(ctx, entryPath(5), encodeLogFile(&h, []byte(`{"edits":[]}`))); err != nil {
				t.Fatal(err)
			}
			return entryPath(5)
		},
	} {
		t.Run(name, func(t *testing.T) {
			store := build()
			path := damage(store)
			_, err := Open(ctx, store, OpenOptions{})
			if sqlerr.Code(err) != sqlerr.DataCorrupted || !strings.Contains(err.Error(), path+" at offset ") {
				t.Errorf("Open: %v, want an error that names %s", err, path)
			}
			report, err := Check(ctx, store, CheckOptions{Repair: true, OrphanAge: -1})
			if err != nil || len(report.Problems) == 0 || report.Problems[0].Path != path {
				t.Errorf("Check: %+v, %v", report, err)
			}
		})
	}
}

func TestLogFilesAreWhatTheirNameSays(t *testing.T) {
	h := header{kind: entryFile, version: 7}
	b := encodeLogFile(&h, []byte("x"))
	if _, payload, err := decodeLogFile("log/7", b, entryFile, 7); err != nil || string(payload) != "x" {
		t.Errorf("payload %q, %v", payload, err)
	}
	_, _, wrongKind := decodeLogFile("log/7", b, checkpointFile, 7)
	_, _, wrongVersion := decodeLogFile("log/8", b, entryFile, 8)
	for _, err := range []error{wrongKind, wrongVersion} {
		if sqlerr.Code(err) != sqlerr.DataCorrupted {
			t.Errorf("a file in the place of another: %v", err)
		}
	}
}

func TestTimeNeverGoesBack(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r := openRoot(t, objstore.NewMem(nil), OpenOptions{Now: func() time.Time { return now }})
	first := r.must(&SetSetting{Name: "x", Value: "1"})
	now = now.Add(-time.Hour)
	if s := r.must(&SetSetting{Name: "x", Value: "2"}); s.Time().Before(first.Time()) {
		t.Errorf("version 2 is of %s, version 1 of %s", s.Time(), first.Time())
	}
	openRoot(t, r.store, OpenOptions{})
}

// An engine that sleeps longer than the retention finds the log cut beyond it, and must not write where nobody reads.
func TestEngineThatSleptTooLong(t *testing.T) {
	now := time.Now()
	clock := func() time.Time { return now }
	for _, knows := range []uint64{0, 1, 3} {
		for name, wake := range map[string]func(*root) error{
			"commit":  func(r *root) error { return second(r.Commit(t.Context(), &SetSetting{Name: "mine", Value: "1"})) },
			"refresh": func(r *root) error { return second(r.Refresh(t.Context())) },
		} {
			t.Run(fmt.Sprintf("%s at version %d", name, knows), func(t *testing.T) {
				store := objstore.NewMem(nil)
				writer := openRoot(t, store, OpenOptions{CheckpointEvery: -1, Now: clock})
				sleeper := openRoot(t, store, OpenOptions{CheckpointEvery: -1, Now: clock})
				for i := range 10 {
					writer.must(&SetSetting{Name: "n", Value: fmt.Sprint(i)})
					if writer.Snapshot().Version() == knows {
						if _, err := sleeper.Refresh(t.Context()); err != nil {
							t.Fatal(err)
						}
					}
				}
				if err := writer.Checkpoint(t.Context()); err != nil {
					t.Fatal(err)
				}
				now = now.Add(3 * time.Hour)
				writer.must(&SetSetting{Name: "n", Value: "10"})
				if swept, err := writer.Sweep(t.Context()); err != nil || swept.LogEntries != 9 {
					t.Fatalf("swept %+v, %v", swept, err)
				}
				sleeper.seenAlive.Store(0)
				err := wake(sleeper)
				// A root known as empty cannot tell its own first commit from a cut: it says so and is right the next time.
				if knows == 0 && name == "commit" {
					if sqlerr.Code(err) != sqlerr.IOError {
						t.Errorf("a first commit behind the cut: %v", err)
					}
					err = wake(sleeper)
				}
				if err != nil {
					t.Fatal(err)
				}
				if _, err := store.Stat(t.Context(), entryPath(knows+1)); knows > 0 && !errors.Is(err, objstore.ErrNotFound) {
					t.Errorf("a log file behind the cut was left: %v", err)
				}
				if n, _ := sleeper.Snapshot().Setting("n"); n != "10" {
					t.Errorf("n = %s, want 10", n)
				}
				if _, err := writer.Refresh(t.Context()); err != nil {
					t.Fatal(err)
				}
				sameState(t, writer.Snapshot(), sleeper.Snapshot())
				sameState(t, openRoot(t, store, OpenOptions{}).Snapshot(), writer.Snapshot())
				if report, err := Check(t.Context(), store, CheckOptions{}); err != nil || !report.OK() {
					t.Errorf("%+v, %v", report, err)
				}
			})
		}
	}
}

func TestSleeperWithoutItsLogIsAnError(t *testing.T) {
	r := newRoot(t)
	r.must(&SetSetting{Name: "x", Value: "1"})
	if err := r.store.Delete(t.Context(), entryPath(1)); err != nil {
		t.Fatal(err)
	}
	r.seenAlive.Store(0)
	if _, err := r.Refresh(t.Context()); sqlerr.Code(err) != sqlerr.DataCorrupted {
		t.Errorf("the log went and Refresh says %v", err)
	}
}
