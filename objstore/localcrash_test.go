package objstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// workload writes objects until power is lost. It returns what each path must hold after the crash (acknowledged) and
// what it may hold besides (attempted).
func workload(c *crashFS) (acknowledged map[string]string, attempted map[string][]string) {
	acknowledged, attempted = map[string]string{}, map[string][]string{}
	ctx := context.Background()
	l, err := openLocal("/data/root", c)
	if err != nil {
		return
	}
	for i := range 6 {
		path := fmt.Sprintf("tables/%d/rows", i/2)
		body := strings.Repeat(fmt.Sprint("body ", i, " "), 50)
		attempted[path] = append(attempted[path], body)
		if i%2 == 0 {
			w, err := l.Create(ctx, path)
			if err != nil {
				return
			}
			if _, err := w.Write([]byte(body)); err != nil {
				return
			}
			if w.Close() != nil {
				return
			}
		} else if l.Put(ctx, path, []byte(body)) != nil {
			return
		}
		acknowledged[path] = body
		attempted[path] = []string{body}

		entry := fmt.Sprintf("log/%d", i)
		attempted[entry] = append(attempted[entry], body)
		if l.PutIfAbsent(ctx, entry, []byte(body)) != nil {
			return
		}
		acknowledged[entry] = body
		if i == 3 { // the folder goes with its last object, and comes again
			for _, path := range []string{"tables/1/rows", "tables/0/rows"} {
				delete(acknowledged, path)
				if l.Delete(ctx, path) != nil {
					return
				}
			}
			attempted["tables/1/other"] = []string{body}
			if l.Put(ctx, "tables/1/other", []byte(body)) != nil {
				return
			}
			acknowledged["tables/1/other"] = body
		}
	}
	return
}

func TestLocalLosesNothingAcknowledged(t *testing.T) {
	whole := newCrashFS(0)
	workload(whole)
	if whole.ops < 40 {
		t.Fatalf("the workload makes %d changes only", whole.ops)
	}
	lostSomething := false
	for crashAt := 1; crashAt <= whole.ops+1; crashAt++ {
		for seed := range uint64(8) {
			c := newCrashFS(seed)
			c.crashAt = crashAt
			acknowledged, attempted := workload(c)
			l, err := openLocal("/data/root", c.reboot())
			if err != nil {
				t.Fatalf("crash at change %d, seed %d: %v", crashAt, seed, err)
			}
			for path, bodies := range attempted {
				got, err := l.Get(context.Background(), path)
				must, wasAcknowledged := acknowledged[path]
				switch {
				case errors.Is(err, ErrNotFound) && !wasAcknowledged:
					lostSomething = true
				case err != nil:
					t.Fatalf("crash at change %d, seed %d: %s: %v", crashAt, seed, path, err)
				case wasAcknowledged && string(got) == must:
				case !contains(bodies, string(got)):
					t.Fatalf("crash at change %d, seed %d: %s holds %d bytes nobody wrote as a whole", crashAt, seed, path, len(got))
				}
			}
		}
	}
	if !lostSomething {
		t.Error("no crash lost anything: the test sees no crash")
	}
}

func contains(all []string, s string) bool {
	for _, a := range all {
		if a == s {
			return true
		}
	}
	return false
}

func TestFolderThatDoesNotSyncIsReported(t *testing.T) {
	c := newCrashFS(0)
	l, err := openLocal("/root", c)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.PutIfAbsent(context.Background(), "log/1", nil); err != nil {
		t.Fatal(err)
	}
	l.fs = unsyncable{c}
	if err := l.PutIfAbsent(context.Background(), "log/2", nil); !errors.Is(err, ErrNotDurable) {
		t.Errorf("error %v, want %v", err, ErrNotDurable)
	}
	if _, err := l.Stat(context.Background(), "log/2"); err != nil {
		t.Errorf("the object is not visible: %v", err)
	}
}

type unsyncable struct{ fileSystem }

func (unsyncable) SyncDir(string) error { return errors.New("disk is failing") }
