package objstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/objstore/crashstore"
	"github.com/tidemarkdb/tidemark/objstore/errstore"
	"github.com/tidemarkdb/tidemark/objstore/storetest"
)

func openLocal(t *testing.T) *objstore.Local {
	t.Helper()
	l, err := objstore.OpenLocal(filepath.Join(t.TempDir(), "new", "root"))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLocalKeepsTheContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) objstore.Store { return openLocal(t) })
}

func TestMemKeepsTheContract(t *testing.T) {
	storetest.Run(t, func(*testing.T) objstore.Store { return objstore.NewMem(nil) })
}

func TestWrappersKeepTheContract(t *testing.T) {
	t.Run("crashstore", func(t *testing.T) {
		storetest.Run(t, func(*testing.T) objstore.Store { return crashstore.New(1) })
	})
	t.Run("errstore", func(t *testing.T) {
		storetest.Run(t, func(*testing.T) objstore.Store { return errstore.Wrap(objstore.NewMem(nil), nil) })
	})
}

func TestLocalPathHoldsTheObject(t *testing.T) {
	l := openLocal(t)
	if err := l.Put(context.Background(), "tables/1/2", []byte("rows")); err != nil {
		t.Fatal(err)
	}
	path, ok := l.LocalPath("tables/1/2")
	if got, err := os.ReadFile(path); !ok || err != nil || string(got) != "rows" {
		t.Errorf("%q: %q, %v", path, got, err)
	}
}

func TestEmptyFoldersGoAndComeAgain(t *testing.T) {
	l, ctx := openLocal(t), context.Background()
	other, err := objstore.OpenLocal(l.Root()) // another process, which knows the folders too
	if err != nil {
		t.Fatal(err)
	}
	for round := range 3 {
		for _, s := range []*objstore.Local{l, other} {
			if err := s.Put(ctx, "tables/1/runs/a", nil); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
			if err := s.PutIfAbsent(ctx, "tables/1/runs/b", nil); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
			for _, path := range []string{"tables/1/runs/a", "tables/1/runs/b"} {
				if err := l.Delete(ctx, path); err != nil {
					t.Fatal(err)
				}
			}
			if entries, err := os.ReadDir(filepath.Join(l.Root(), "tables")); err != nil || len(entries) != 0 {
				t.Errorf("round %d: left %v, %v", round, entries, err)
			}
		}
	}
}

func TestFoldersSurviveAWarOverThem(t *testing.T) {
	l, ctx := openLocal(t), context.Background()
	other, err := objstore.OpenLocal(l.Root())
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i, s := range []*objstore.Local{l, other, l, other} {
		wg.Go(func() {
			for round := range 50 {
				path := fmt.Sprintf("tables/1/%d-%d", i, round)
				if err := s.PutIfAbsent(ctx, path, []byte("x")); err != nil {
					t.Error(err)
				}
				if _, err := s.Get(ctx, path); err != nil {
					t.Error(err)
				}
				if err := s.Delete(ctx, path); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func TestOpenLocalRefusesAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := objstore.OpenLocal(path); err == nil {
		t.Error("a file was opened as a directory")
	}
}

func TestCleanTempDeletesWhatCrashedWritersLeft(t *testing.T) {
	l, ctx := openLocal(t), context.Background()
	w, err := l.Create(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := l.CleanTemp(ctx, time.Hour); n != 0 || err != nil {
		t.Errorf("CleanTemp removed %d young files (%v)", n, err)
	}
	if n, err := l.CleanTemp(ctx, 0); n != 1 || err != nil {
		t.Errorf("CleanTemp removed %d files (%v), want 1", n, err)
	}
	if err := w.Close(); err == nil {
		t.Error("the object was closed without its file")
	}
	if err := l.Put(ctx, "b", nil); err != nil {
		t.Fatal(err)
	}
	if n, err := l.CleanTemp(ctx, 0); n != 0 || err != nil {
		t.Errorf("a finished write left %d files (%v)", n, err)
	}
}

func TestCrashKeepsWhatWasDurable(t *testing.T) {
	ctx := context.Background()
	cameBack, lost := 0, 0
	for seed := range uint64(40) {
		s := crashstore.New(seed)
		for path, data := range map[string]string{"kept": "1", "gone": "2"} {
			if err := s.Put(ctx, path, []byte(data)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Delete(ctx, "gone"); err != nil {
			t.Fatal(err)
		}
		w, err := s.Create(ctx, "open")
		if err != nil {
			t.Fatal(err)
		}
		s.CrashAt(1)
		if err := s.PutIfAbsent(ctx, "last", []byte("3")); !errors.Is(err, crashstore.ErrCrashed) {
			t.Fatalf("the crash gave %v", err)
		}
		if err := w.Close(); !errors.Is(err, crashstore.ErrCrashed) {
			t.Errorf("a writer closed after the crash: %v", err)
		}
		after, err := s.Reboot()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := after.Get(ctx, "kept"); err != nil {
			t.Error(err)
		}
		if _, err := after.Get(ctx, "open"); !errors.Is(err, objstore.ErrNotFound) {
			t.Errorf("an unfinished object survived: %v", err)
		}
		if _, err := after.Get(ctx, "gone"); err == nil {
			cameBack++
		}
		if _, err := after.Get(ctx, "last"); err != nil {
			lost++
		}
	}
	if cameBack == 0 || cameBack == 40 || lost == 0 || lost == 40 {
		t.Errorf("of 40 crashes %d undid a deletion and %d lost the last write: chance plays no part", cameBack, lost)
	}
}

func TestRulesFailChosenCalls(t *testing.T) {
	ctx, boom := context.Background(), errors.New("boom")
	s := errstore.Wrap(objstore.NewMem(nil), errstore.OnNth(2, errstore.Matching("log/", errstore.OpPutIfAbsent), errstore.Verdict{After: boom}))
	if err := s.PutIfAbsent(ctx, "log/1", nil); err != nil {
		t.Error(err)
	}
	if err := s.PutIfAbsent(ctx, "data/1", nil); err != nil {
		t.Error(err)
	}
	if err := s.PutIfAbsent(ctx, "log/2", nil); !errors.Is(err, boom) {
		t.Errorf("the second put: %v", err)
	}
	if _, err := s.Stat(ctx, "log/2"); err != nil {
		t.Errorf("the put took no effect: %v", err)
	}
	if err := s.PutIfAbsent(ctx, "log/3", nil); err != nil {
		t.Error(err)
	}
}
