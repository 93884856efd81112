package cascade

import (
	"math/rand/v2"
	"testing"

	"github.com/tidemarkdb/tidemark/tablestore"
	"github.com/tidemarkdb/tidemark/tablet"
)

func tabletOf(rows, dead int64) member {
	return member{desc: &tablet.Desc{ID: tablet.NewID(), Rows: rows, FileBytes: rows * 20}, dead: dead}
}

func TestFates(t *testing.T) {
	const well = tablestore.TargetRows
	f := chooseFates([]member{
		tabletOf(1000, 1000),      // retired
		tabletOf(well, well/100),  // adopted
		tabletOf(well, well/2-10), // too many dead: written anew
		tabletOf(1000, 10), tabletOf(1000, 0), tabletOf(500, 400),
	})
	if len(f.retire) != 1 || len(f.adopt) != 1 {
		t.Fatalf("%d retired and %d adopted, want 1 and 1", len(f.retire), len(f.adopt))
	}
	rows := int64(0)
	for _, g := range f.groups {
		for _, m := range g {
			rows += m.live()
		}
	}
	if want := int64(well - (well/2 - 10) + 990 + 1000 + 100); rows != want {
		t.Errorf("groups hold %d live rows, want %d", rows, want)
	}
}

func TestALoneSmallTabletIsAdopted(t *testing.T) {
	f := chooseFates([]member{tabletOf(20, 1)})
	if len(f.adopt) != 1 || len(f.groups) != 0 {
		t.Errorf("adopted %d, groups %d: rewriting one tablet with few dead rows gains nothing", len(f.adopt), len(f.groups))
	}
}

// TestTabletCountStaysBounded plays cascades that each add one small tablet and merges as chosen: the number of
// tablets must stay logarithmic and the rewritten rows within a few times the rows added.
func TestTabletCountStaysBounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var base []member
	var added, rewritten int64
	for range 5000 {
		rows := 1000 + rng.Int64N(200)
		added += rows
		base = append(base, tabletOf(rows, 0))
		for _, g := range chooseMerge(base) {
			merged := int64(0)
			gone := map[tablet.ID]bool{}
			for _, m := range g {
				merged += m.live()
				gone[m.desc.ID] = true
			}
			rewritten += merged
			kept := base[:0:0]
			for _, m := range base {
				if !gone[m.desc.ID] {
					kept = append(kept, m)
				}
			}
			base = append(kept, tabletOf(merged, 0))
		}
		if limit := 40 + int(added/(tablestore.TargetRows/2)); len(base) > limit {
			t.Fatalf("%d tablets after %d rows, want at most %d", len(base), added, limit)
		}
	}
	if rewritten > 8*added {
		t.Errorf("%d rows rewritten for %d added", rewritten, added)
	}
}

func TestVacuumTakesTheWorstFirst(t *testing.T) {
	chosen := chooseVacuum([]member{tabletOf(100, 19), tabletOf(100, 20), tabletOf(100, 90), tabletOf(100, 0)})
	if len(chosen) != 2 || chosen[0].dead != 90 || chosen[1].dead != 20 {
		t.Errorf("chose %v", chosen)
	}
}
