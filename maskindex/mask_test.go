package maskindex

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
)

func TestMaskAgreesWithABoolSlice(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, rows := range []int{1, 63, 64, 65, 1000, 70000, 140001} {
		for _, share := range []float64{0, 0.01, 0.5, 0.99, 1} {
			t.Run(fmt.Sprintf("%d/%v", rows, share), func(t *testing.T) {
				dead, bm := make([]bool, rows), roaring.New()
				for i := range dead {
					if r.Float64() < share {
						dead[i] = true
						bm.Add(uint32(i))
					}
				}
				if r.IntN(2) == 0 {
					bm.RunOptimize()
				}
				m, err := NewMask(bm, uint32(rows))
				if err != nil {
					t.Fatal(err)
				}
				if m.Dead() != uint32(bm.GetCardinality()) || m.Live() != uint32(rows)-m.Dead() || !m.Bitmap().Equals(bm) {
					t.Fatal(m.Dead(), m.Live())
				}
				for range 30 {
					checkRange(t, m, dead, uint32(r.IntN(rows+10)), uint32(r.IntN(rows+70)))
				}
				checkRange(t, m, dead, 0, uint32(rows))
				runtime.GC() // the dense form may go, what it says may not
				checkRange(t, m, dead, 0, uint32(rows))
			})
		}
	}
}

func checkRange(t *testing.T, m *Mask, dead []bool, from, n uint32) {
	t.Helper()
	garbage := make([]uint64, 3000)
	for i := range garbage {
		garbage[i] = ^uint64(0)
	}
	d, l := m.DeadWords(garbage, from, n), m.LiveWords(nil, from, n)
	if len(d) != (int(n)+63)/64 || len(l) != len(d) {
		t.Fatalf("[%d,+%d): %d and %d words", from, n, len(d), len(l))
	}
	checkList(t, m, dead, from, n)
	count, all := uint32(0), true
	for i := range uint32(len(d) * 64) {
		inside := i < n && int(from+i) < len(dead)
		isDead := inside && dead[from+i]
		if got := d[i/64]>>(i%64)&1 != 0; got != isDead {
			t.Fatalf("[%d,+%d): dead bit %d is %v", from, n, i, got)
		}
		if got := l[i/64]>>(i%64)&1 != 0; got != (inside && !isDead) {
			t.Fatalf("[%d,+%d): live bit %d is %v", from, n, i, got)
		}
		if isDead {
			count++
		} else if inside {
			all = false
		}
	}
	inRange := n > 0 && int(from) < len(dead)
	if m.Count(from, n) != count || m.AnyDead(from, n) != (count > 0) || inRange && m.AllDead(from, n) != all {
		t.Fatalf("[%d,+%d): count %d any %v all %v; want %d all %v", from, n, m.Count(from, n), m.AnyDead(from, n),
			m.AllDead(from, n), count, all)
	}
	if int(from) < len(dead) && m.Contains(from) != dead[from] {
		t.Fatalf("row %d", from)
	}
}

func TestNilMaskHasNoDeadRow(t *testing.T) {
	var m *Mask
	if !m.None() || m.All() || m.Contains(0) || m.Count(0, 9) != 0 || m.AllDead(0, 9) || m.AnyDead(0, 9) {
		t.Fatal("a nil mask marks rows")
	}
	if w := m.LiveWords(nil, 0, 70); w[0] != ^uint64(0) || w[1] != 1<<6-1 {
		t.Fatalf("%x", w)
	}
}

func TestRankIsTheNumberOfLiveRowsBefore(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 2))
	for _, rows := range []int{0, 1, 64, 511, 512, 513, 5000} {
		for _, share := range []float64{0, 0.1, 0.9, 1} {
			dead := roaring.New()
			for i := range rows {
				if r.Float64() < share {
					dead.Add(uint32(i))
				}
			}
			rank := NewRank(dead, uint32(rows))
			next := uint32(0)
			for i := range uint32(rows) {
				row, live := rank.Remap(i)
				if live == dead.Contains(i) || live && row != next {
					t.Fatalf("rows=%d share=%v: row %d became %d, %v; next is %d", rows, share, i, row, live, next)
				}
				if live {
					next++
				}
			}
			if rank.Live() != next {
				t.Fatalf("%d live, not %d", rank.Live(), next)
			}
			if _, live := rank.Remap(uint32(rows)); live {
				t.Fatal("a row beyond the tablet is live")
			}
		}
	}
}

func TestRemapMask(t *testing.T) {
	rank := NewRank(roaring.BitmapOf(0, 2), 6) // 1 3 4 5 become 0 1 2 3
	if got := rank.RemapMask(roaring.BitmapOf(0, 1, 2, 4, 5)); !got.Equals(roaring.BitmapOf(0, 2, 3)) {
		t.Fatal(got)
	}
}

func checkList(t *testing.T, m *Mask, dead []bool, from, n uint32) {
	t.Helper()
	rows, ok := m.DeadRows([]int32{-1, -2}, from, n)
	if !ok {
		if from >= uint32(len(dead)) || m.Dead()*sparse <= m.Rows() {
			t.Fatalf("[%d,+%d): %d dead of %d are not listed", from, n, m.Dead(), m.Rows())
		}
		return
	}
	at := 0
	for i := range n {
		if int(from+i) >= len(dead) || !dead[from+i] {
			continue
		}
		if at >= len(rows) || rows[at] != int32(i) {
			t.Fatalf("[%d,+%d): dead row %d is not in its place", from, n, i)
		}
		at++
	}
	if at != len(rows) {
		t.Fatalf("[%d,+%d): %d rows are listed, %d are dead", from, n, len(rows), at)
	}
}

// TestDeadRowsInBlocks asks for windows that are blocks of the list, end early, lie across, and go beyond the tablet.
func TestDeadRowsInBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for _, rows := range []uint32{1, listBlock, 3*listBlock + 100} {
		dead, bm := make([]bool, rows), roaring.New()
		for range rows / 20 {
			row := r.Uint32N(rows)
			dead[row] = true
			bm.Add(row)
		}
		m, err := NewMask(bm, rows)
		if err != nil {
			t.Fatal(err)
		}
		for _, from := range []uint32{0, 1, 64, listBlock - 1, listBlock, 2 * listBlock, 3 * listBlock, 3*listBlock + 50} {
			for _, n := range []uint32{0, 1, 77, listBlock - 1, listBlock, listBlock + 1, 4 * listBlock} {
				checkList(t, m, dead, from, n)
			}
		}
	}
}
