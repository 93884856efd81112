package maskindex

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
)

// benchKeys returns n distinct 64-bit keys without the memory of a set: mix is a bijection.
func benchKeys(shape string, n int) *Keys {
	k := &Keys{Hi: make([]uint64, n)}
	for i := range k.Hi {
		switch shape {
		case "random":
			k.Hi[i] = mix(uint64(i))
		case "sequential":
			k.Hi[i] = 1<<63 + uint64(i)
		case "clustered": // 1024 tenants, ids dense in each
			k.Hi[i] = uint64(i%1024)<<40 | uint64(i)
		case "random128":
			k.Hi[i] = mix(uint64(i))
			k.Lo = append(k.Lo, mix(uint64(i)+1<<40))
		}
	}
	return k
}

func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

var benchShapes = []string{"random", "sequential", "clustered", "random128"}

func BenchmarkSidecar(b *testing.B) {
	const n = 1 << 20
	for _, shape := range benchShapes {
		b.Run(shape, func(b *testing.B) {
			keys := benchKeys(shape, n)
			var sum Summary
			for b.Loop() {
				var err error
				if sum, err = WriteSidecar(io.Discard, Sidecar{Name: "b", Tablet: 1, Keys: keys}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
			b.ReportMetric(float64(sum.Bytes)/n, "B/row")
		})
	}
}

// benchRun maps one run of n keys in tablets of 1M rows.
func benchRun(b *testing.B, shape string, n int) *File {
	b.Helper()
	keys := benchKeys(shape, n)
	path := filepath.Join(b.TempDir(), "run.keys")
	fd, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer fd.Close()
	var tablets []TabletRows
	for at := 0; at < n; at += 1 << 20 {
		tablets = append(tablets, TabletRows{uint64(len(tablets)), uint32(min(1<<20, n-at))})
	}
	w, err := NewWriter(fd, "b", keys.Width(), tablets)
	if err != nil {
		b.Fatal(err)
	}
	for _, it := range sortKeys(keys) {
		lo := uint64(0)
		if keys.Lo != nil {
			lo = keys.Lo[it.idx]
		}
		if err := w.Add(it.hi, lo, int(it.idx>>20), it.idx&(1<<20-1)); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := w.Finish(); err != nil {
		b.Fatal(err)
	}
	f, err := OpenPath(path)
	if err != nil {
		b.Fatal(err)
	}
	if err := f.Check(context.Background()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	return f
}

func BenchmarkProbe(b *testing.B) {
	for _, shape := range benchShapes {
		for _, n := range []int{1 << 20, 10 << 20} {
			f := benchRun(b, shape, n)
			all := benchKeys(shape, n)
			for _, k := range []int{10_000, 600_000} {
				probe := &Keys{Hi: make([]uint64, 0, k)}
				r := rand.New(rand.NewPCG(1, 2))
				for i := range k {
					at := r.IntN(n)
					if i%2 == 0 {
						probe.Hi = append(probe.Hi, all.Hi[at])
					} else {
						probe.Hi = append(probe.Hi, mix(uint64(n+at)))
					}
					if all.Lo != nil {
						probe.Lo = append(probe.Lo, all.Lo[at])
					}
				}
				batch, err := NewBatch(probe)
				if err != nil {
					b.Fatal(err)
				}
				b.Run(fmt.Sprintf("%s/rows=%dM/keys=%dk", shape, n>>20, k/1000), func(b *testing.B) {
					hits := 0
					for b.Loop() {
						hits = 0
						if err := f.Probe(context.Background(), batch, func(int, Position) { hits++ }); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(k), "ns/key")
					b.ReportMetric(float64(hits)/float64(k), "hit-rate")
				})
			}
		}
	}
}

func BenchmarkMerge(b *testing.B) {
	const n, inputs = 1 << 20, 8
	for _, shape := range []string{"random", "sequential"} {
		for _, deadPercent := range []int{0, 10} {
			b.Run(fmt.Sprintf("%s/dead=%d%%", shape, deadPercent), func(b *testing.B) {
				all := benchKeys(shape, n*inputs)
				var files []*File
				for i := range inputs {
					var buf bytes.Buffer
					keys := &Keys{Hi: all.Hi[i*n : (i+1)*n]}
					if _, err := WriteSidecar(&buf, Sidecar{Tablet: uint64(i), Keys: keys}); err != nil {
						b.Fatal(err)
					}
					path := filepath.Join(b.TempDir(), "f")
					if err := os.WriteFile(path, buf.Bytes(), 0o644); err != nil {
						b.Fatal(err)
					}
					f, err := OpenPath(path)
					if err != nil {
						b.Fatal(err)
					}
					defer f.Close()
					files = append(files, f)
				}
				mask, err := NewMask(randomRows(n, n*deadPercent/100), n)
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					_, err := Merge(context.Background(), io.Discard, files, MergeOptions{
						Tablet: func(uint64) Fate { return Fate{Dead: mask} }})
					if err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n/inputs, "ns/row")
			})
		}
	}
}

func randomRows(rows, n int) *roaring.Bitmap {
	r := rand.New(rand.NewPCG(3, 4))
	bm := roaring.New()
	for bm.GetCardinality() < uint64(n) {
		bm.Add(uint32(r.IntN(rows)))
	}
	return bm
}

// BenchmarkResolve resolves an append of 20k keys over a base of 10M rows, with and without a window of 30 such
// appends before it. TIDEMARK_LARGE=1 adds appends of 20k and 600k keys over 100M rows, which takes 4 GB of memory.
func BenchmarkResolve(b *testing.B) {
	for _, shape := range []string{"random", "sequential"} {
		benchResolve(b, shape, 10<<20, 20_000, 0, 30)
	}
	if os.Getenv("TIDEMARK_LARGE") != "" {
		benchResolve(b, "random", 100<<20, 20_000, 0)
		benchResolve(b, "random", 100<<20, 600_000, 0)
	}
}

func benchResolve(b *testing.B, shape string, n, k int, windows ...int) {
	run := benchRun(b, shape, n)
	all := benchKeys(shape, n)
	held := map[string]*File{"run": run}
	files := NewFiles(func(_ context.Context, name string) (*File, error) { return held[name], nil })
	var tablets []Tablet
	for _, t := range run.Tablets() {
		tablets = append(tablets, Tablet{ID: t.ID, Rows: t.Rows, Committed: randomRows(int(t.Rows), int(t.Rows)/100)})
	}
	base, err := NewBase("b", tablets, []string{"run"})
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(5, 6))
	set := Set{Table: 1, Base: base}
	for i := range slices.Max(windows) + 1 {
		keys := &Keys{}
		seen := map[uint64]bool{}
		for len(keys.Hi) < k {
			h := all.Hi[r.IntN(n)]
			if !seen[h] {
				seen[h] = true
				keys.Hi = append(keys.Hi, h)
			}
		}
		id := uint64(1000 + i)
		name := fmt.Sprint(id)
		buf := sidecarBytes(b, id, keys, nil)
		if held[name], err = OpenReader(name, byteReader(buf), int64(len(buf))); err != nil {
			b.Fatal(err)
		}
		set.Staging = append(set.Staging, Tablet{ID: id, Rows: uint32(k), Keys: name, Append: uint64(i)})
	}
	name := fmt.Sprintf("%s/rows=%dM/keys=%dk", shape, n>>20, k/1000)
	for _, window := range windows {
		before := set
		before.Staging = set.Staging[:window]
		prev, err := extend(context.Background(), files, defaultLimits, bare(before), before)
		if err != nil {
			b.Fatal(err)
		}
		after := set
		after.Staging = set.Staging[:window+1]
		b.Run(fmt.Sprintf("%s/window=%d", name, window), func(b *testing.B) {
			for b.Loop() {
				if _, err := extend(context.Background(), files, defaultLimits, prev, after); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(k), "ns/key")
			b.ReportMetric(float64(run.size)/float64(n), "index-B/row")
		})
	}
	if len(windows) == 1 {
		return
	}
	b.Run(name+"/whole-window", func(b *testing.B) {
		for b.Loop() {
			if _, err := extend(context.Background(), files, defaultLimits, bare(set), set); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(k)/float64(len(set.Staging)), "ns/key")
	})
}

func BenchmarkMaskWords(b *testing.B) {
	const rows, batch = 1 << 20, 8192
	for _, perMille := range []int{1, 10, 100, 500} {
		m, err := NewMask(randomRows(rows, rows/1000*perMille), rows)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("dead=%.1f%%", float64(perMille)/10), func(b *testing.B) {
			var words []uint64
			for b.Loop() {
				m.dense.Store(nil) // expansion included
				for at := uint32(0); at < rows; at += batch {
					words = m.LiveWords(words, at, batch)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}

func BenchmarkMaskOr(b *testing.B) {
	const rows = 1 << 20
	old := randomRows(rows, rows/100)
	delta := randomRows(rows, 200)
	for b.Loop() {
		roaring.Or(old, delta)
	}
}
