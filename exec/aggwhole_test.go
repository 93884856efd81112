package exec

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tidemarkdb/tidemark/vec"
)

// suppliers is parts of some kind and who supplies them, as in TPC-H.
type suppliers struct {
	*memDB
	kinds    []string // by part
	part, by []int64
}

func newSuppliers(parts, rows, kinds int, skewed bool) *suppliers {
	s := &suppliers{memDB: newMemDB()}
	rng := rand.New(rand.NewPCG(9, 9))
	brand, kind := vec.NewBuilder(vec.TextType, parts), vec.NewBuilder(vec.TextType, parts)
	for range parts {
		a, b := fmt.Sprintf("Brand#%02d", rng.IntN(25)), fmt.Sprintf("MEDIUM BRUSHED KIND %d", rng.IntN(kinds))
		brand.AppendString(a)
		kind.AppendString(b)
		s.kinds = append(s.kinds, a+"|"+b)
	}
	s.addCols("part", vec.Schema{column("id", vec.Int64Type), column("brand", vec.TextType), column("kind", vec.TextType)},
		randomInts(parts, vec.Int64Type, func(i int) int64 { return int64(i) }), brand.Finish(), kind.Finish())
	for range rows {
		p := rng.Int64N(int64(parts))
		if skewed && rng.IntN(2) == 0 {
			p = 7
		}
		s.part, s.by = append(s.part, p), append(s.by, rng.Int64N(10_000))
	}
	s.addCols("ps", vec.Schema{column("p", vec.Int64Type), column("supp", vec.Int64Type)}, vec.FlatOf(vec.Int64Type, s.part, nil), vec.FlatOf(vec.Int64Type, s.by, nil))
	return s
}

const countSuppliers = "select brand, kind, count(distinct supp) from ps join part on p = id group by brand, kind"

func (s *suppliers) counts() (out []string) {
	seen, counts := map[string]bool{}, map[string]int{}
	for i, p := range s.part {
		if key := fmt.Sprintf("%s/%d", s.kinds[p], s.by[i]); !seen[key] {
			seen[key] = true
			counts[s.kinds[p]]++
		}
	}
	for k, n := range counts {
		out = append(out, fmt.Sprintf("%s|%d", k, n))
	}
	slices.Sort(out)
	return out
}

// TestDistinctByGroup counts distinct values in many groups, whose keys are strings of a join's build side, in few, and
// in many of which one is large; with memory and with little.
func TestDistinctByGroup(t *testing.T) {
	for name, s := range map[string]*suppliers{
		"many": newSuppliers(20_000, 120_000, 150, false), "few": newSuppliers(20_000, 120_000, 2, false), "skewed": newSuppliers(20_000, 120_000, 150, true),
	} {
		want, root := s.counts(), s.plan(t, countSuppliers)
		for _, threads := range []int{1, 3} {
			for _, limit := range []int64{0, 4 << 20, 12 << 20} {
				env := s.env(threads)
				env.MemoryBytes, env.SpillDir, env.Usage = limit, t.TempDir(), new(Usage)
				check(t, fmt.Sprintf("%s, %d threads, %d bytes", name, threads, limit), root, env, countSuppliers, want)
				if limit == 4<<20 && env.Usage.SpilledBytes() == 0 {
					t.Errorf("%s, %d threads: nothing spilled", name, threads)
				}
			}
		}
	}
}

// BenchmarkDistinct counts distinct values in groups of strings, few and many.
func BenchmarkDistinct(b *testing.B) {
	for _, kinds := range []int{1, 150} {
		s := newSuppliers(30_000, 120_000, kinds, false)
		db := benchDB{s.memDB}
		root := db.plan(b, countSuppliers)
		b.Run(fmt.Sprint(25*kinds), func(b *testing.B) {
			b.ReportAllocs()
			before := cpuNanos(b)
			for b.Loop() {
				env := db.env(2)
				env.Storage = db
				drainAll(b, root, env)
			}
			b.ReportMetric(float64(cpuNanos(b)-before)/float64(b.N)/120_000, "cpu-ns/row")
		})
	}
}

// BenchmarkSortStrings sorts by a few values and then by strings that begin alike.
func BenchmarkSortStrings(b *testing.B) {
	s := newSuppliers(30_000, 1, 150, false)
	db := benchDB{s.memDB}
	root := db.plan(b, "select id % 20 n, brand, kind from part order by n desc, brand, kind")
	b.ReportAllocs()
	before := cpuNanos(b)
	for b.Loop() {
		env := db.env(2)
		env.Storage = db
		drainAll(b, root, env)
	}
	b.ReportMetric(float64(cpuNanos(b)-before)/float64(b.N)/30_000, "cpu-ns/row")
}
