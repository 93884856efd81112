package maskindex

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
)

// tabletFile opens the sidecar of a tablet with these 64-bit keys.
func tabletFile(t testing.TB, id uint64, keys ...uint64) *File {
	t.Helper()
	b := sidecarBytes(t, id, &Keys{Hi: keys}, nil)
	f, err := OpenReader(fmt.Sprint(id), byteReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func merged(t testing.TB, inputs []*File, opt MergeOptions) (*File, MergeSummary) {
	t.Helper()
	var out bytes.Buffer
	sum, err := Merge(context.Background(), &out, inputs, opt)
	if err != nil {
		t.Fatal(err)
	}
	f, err := OpenReader("merged", bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Check(context.Background()); err != nil {
		t.Fatal(err)
	}
	return f, sum
}

// contents returns "key tablet/row" of every entry.
func contents(t testing.TB, f *File) []string {
	t.Helper()
	var out []string
	err := f.Scan(context.Background(), func(hi, _ uint64, p Position) error {
		out = append(out, fmt.Sprintf("%d %d/%d", hi, p.Tablet, p.Row))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func expect(t *testing.T, f *File, want ...string) {
	t.Helper()
	if got := contents(t, f); !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
}

func TestMergeDropsTheDeadAndTheGone(t *testing.T) {
	mask, _ := NewMask(roaring.BitmapOf(1), 3)
	f, sum := merged(t, []*File{tabletFile(t, 1, 30, 10, 20), tabletFile(t, 2, 10, 40), tabletFile(t, 3, 5)},
		MergeOptions{Tablet: func(id uint64) Fate {
			switch id {
			case 1:
				return Fate{Dead: mask}
			case 3:
				return Fate{Gone: true}
			}
			return Fate{}
		}})
	expect(t, f, "10 2/0", "20 1/2", "30 1/0", "40 2/1")
	if sum.Read != 6 || sum.Gone != 1 || sum.Dead != 1 || sum.Superseded != 0 || sum.Keys != 4 {
		t.Fatalf("%+v", sum)
	}
	if ids := f.Tablets(); len(ids) != 2 || ids[0].ID != 1 || ids[1].ID != 2 {
		t.Fatal(ids)
	}
}

func TestMergeKeepsTheNewestOfLiveDuplicatesAndTells(t *testing.T) {
	inputs := []*File{tabletFile(t, 1, 10, 20), tabletFile(t, 2, 10), tabletFile(t, 3, 10, 30)}
	var out bytes.Buffer
	if _, err := Merge(context.Background(), &out, inputs, MergeOptions{}); err == nil || !strings.Contains(err.Error(), "tablet 1 row 0") {
		t.Fatalf("live duplicates were dropped in silence: %v", err)
	}
	var older []Position
	f, sum := merged(t, inputs, MergeOptions{Superseded: func(p Position) { older = append(older, p) }})
	expect(t, f, "10 3/0", "20 1/1", "30 3/1")
	if !slices.Equal(older, []Position{{1, 0}, {2, 0}}) || sum.Superseded != 2 {
		t.Fatal(older, sum)
	}
}

func TestMergeTakesATabletCoveredTwiceOnce(t *testing.T) {
	a := tabletFile(t, 1, 10, 20)
	f, _ := merged(t, []*File{a, tabletFile(t, 1, 10, 20)}, MergeOptions{})
	expect(t, f, "10 1/0", "20 1/1")
}

func TestMergeMovesRewrittenTablets(t *testing.T) {
	rank := NewRank(roaring.BitmapOf(0), 3)
	f, sum := merged(t, []*File{tabletFile(t, 1, 30, 10, 20), tabletFile(t, 2, 40)}, MergeOptions{Tablet: func(id uint64) Fate {
		if id == 1 {
			return Fate{Move: rank.Remap, To: TabletRows{9, 3}}
		}
		return Fate{Move: func(row uint32) (uint32, bool) { return row + 2, true }, To: TabletRows{9, 3}}
	}})
	expect(t, f, "10 9/0", "20 9/1", "40 9/2")
	if sum.Dead != 1 || !slices.Equal(f.Tablets(), []TabletRows{{9, 3}}) {
		t.Fatal(sum, f.Tablets())
	}
}

func TestMergeOfManyAgreesWithAMap(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 30 {
		want := map[uint64]Position{}
		var files []*File
		for id := range uint64(1 + r.IntN(12)) {
			var keys []uint64
			mine := map[uint64]bool{}
			for range r.IntN(2000) {
				if k := r.Uint64N(5000) << r.IntN(50); !mine[k] {
					mine[k] = true
					want[k] = Position{id, uint32(len(keys))}
					keys = append(keys, k)
				}
			}
			files = append(files, tabletFile(t, id, keys...))
		}
		f, sum := merged(t, files, MergeOptions{Superseded: func(Position) {}})
		if sum.Keys != uint64(len(want)) {
			t.Fatalf("%d keys, want %d", sum.Keys, len(want))
		}
		err := f.Scan(context.Background(), func(hi, _ uint64, p Position) error {
			if want[hi] != p {
				return fmt.Errorf("key %d at %v, want %v", hi, p, want[hi])
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestMergeRefusesMixedWidthsAndHonoursCancellation(t *testing.T) {
	wide := sidecarBytes(t, 2, makeKeys("random", Width128, 3, 1), nil)
	w, err := OpenReader("w", byteReader(wide), int64(len(wide)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Merge(context.Background(), &bytes.Buffer{}, []*File{tabletFile(t, 1, 1), w}, MergeOptions{}); err == nil {
		t.Fatal("merged 64- and 128-bit keys")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Merge(ctx, &bytes.Buffer{}, []*File{tabletFile(t, 1, 1)}, MergeOptions{}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func TestPlanMergeEndsWithFewRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	var runs []RunInfo
	written, added := uint64(0), uint64(0)
	for range 2000 {
		n := 1 + r.Uint64N(2000)
		runs = append(runs, RunInfo{Keys: n, Gone: r.Uint64N(n)})
		added += n
		for round := 0; ; round++ {
			inputs := PlanMerge(runs, math.MaxUint64)
			if inputs == nil {
				break
			}
			if round > 20 {
				t.Fatal("planning does not end")
			}
			sum := uint64(0)
			for _, i := range slices.Backward(inputs) {
				sum += runs[i].Keys - runs[i].Gone
				runs = slices.Delete(runs, i, i+1)
			}
			written += sum
			runs = append(runs, RunInfo{Keys: sum})
		}
		if len(runs) > MaxRuns {
			t.Fatalf("%d runs", len(runs))
		}
	}
	if written > 20*added {
		t.Fatalf("%d entries were written for %d added", written, added)
	}
	if got := PlanMerge([]RunInfo{{Keys: 10}, {Keys: 10, Gone: 6}}, 10); !slices.Equal(got, []int{1}) {
		t.Fatalf("a wasteful run: %v", got)
	}
	if got := PlanMerge([]RunInfo{{Keys: 10}, {Keys: 10, Gone: 4}}, 10); got != nil {
		t.Fatalf("sound runs: %v", got)
	}
}

// TestPlanMergeKeepsToItsRoom: no merge reads more than there is room for, nothing is written over and over, and what is
// left over are files too large for another merge and few of each lesser size.
func TestPlanMergeKeepsToItsRoom(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	const room = 40_000
	var runs []RunInfo
	written, added := uint64(0), uint64(0)
	for range 2000 {
		n := 1 + r.Uint64N(2000)
		runs = append(runs, RunInfo{Keys: n})
		added += n
		for inputs := PlanMerge(runs, room); inputs != nil; inputs = PlanMerge(runs, room) {
			sum := uint64(0)
			for _, i := range slices.Backward(inputs) {
				sum += runs[i].Keys
				runs = slices.Delete(runs, i, i+1)
			}
			if sum > room || len(inputs) < 2 {
				t.Fatalf("a merge of %d files with %d entries", len(inputs), sum)
			}
			written += sum
			runs = append(runs, RunInfo{Keys: sum})
		}
	}
	small := 0
	for _, f := range runs {
		if f.Keys <= room/2 {
			small++
		}
	}
	if small > 2*bits.Len(room) {
		t.Errorf("%d of %d files have room for another", small, len(runs))
	}
	if written > 20*added {
		t.Errorf("%d entries were written for %d added", written, added)
	}
	if got := PlanMerge([]RunInfo{{Keys: 10}, {Keys: 10, Gone: 6}}, 9); got != nil {
		t.Errorf("a wasteful run that does not fit: %v", got)
	}
}
