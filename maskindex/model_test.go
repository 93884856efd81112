package maskindex

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
)

// disk is key files in memory.
type disk struct {
	files map[string][]byte
	opens atomic.Int64
}

func (d *disk) open(_ context.Context, name string) (*File, error) {
	d.opens.Add(1)
	b, ok := d.files[name]
	if !ok {
		return nil, fmt.Errorf("no file %s", name)
	}
	return OpenReader(name, bytes.NewReader(b), int64(len(b)))
}

// stored is a tablet with its rows spelt out.
type stored struct {
	Tablet
	keys    []uint64 // by row
	deletes *roaring.Bitmap
}

// table is a table in memory and the model it must agree with.
type table struct {
	t       *testing.T
	r       *rand.Rand
	width   Width
	disk    *disk
	files   *Files
	cache   *Cache
	tablets map[uint64]*stored
	base    []uint64
	runs    []string
	staging []Tablet
	view    *Base
	version int
	nextID  uint64
	append  uint64
	live    map[uint64]Position // the model: the live row of each key
}

func newTable(t *testing.T, seed uint64, width Width) *table {
	d := &disk{files: map[string][]byte{}}
	tb := &table{t: t, r: rand.New(rand.NewPCG(seed, 2)), width: width, disk: d, files: NewFiles(d.open),
		tablets: map[uint64]*stored{}, live: map[uint64]Position{}, nextID: 1}
	tb.cache = NewCache(tb.files, 64<<10+int64(tb.r.IntN(1<<20)))
	// Odd seeds split resolution into chunks and slabs as only huge appends would.
	if seed%2 == 1 {
		tb.cache.limits = limits{chunk: 1 + tb.r.Uint64N(100), slab: tb.r.IntN(100), slabMerge: tb.r.IntN(300)}
	}
	tb.rebase()
	return tb
}

func (tb *table) set() Set { return Set{Table: 9, Base: tb.view, Staging: slices.Clone(tb.staging)} }

// rebase makes a new base view of the present state.
func (tb *table) rebase() {
	tb.version++
	var tablets []Tablet
	inRun := map[uint64]bool{}
	index := slices.Clone(tb.runs)
	for _, name := range tb.runs {
		f, release, err := tb.files.Acquire(context.Background(), name)
		if err != nil {
			tb.t.Fatal(err)
		}
		for _, x := range f.Tablets() {
			inRun[x.ID] = true
		}
		release()
	}
	for _, id := range tb.base {
		s := tb.tablets[id]
		tablets = append(tablets, Tablet{ID: id, Rows: s.Rows, Committed: s.Committed})
		if !inRun[id] {
			index = append(index, s.Keys)
		}
	}
	view, err := NewBase(tb.version, tablets, index)
	if err != nil {
		tb.t.Fatal(err)
	}
	tb.view = view
}

func (tb *table) print(keys []uint64) *Keys {
	k := &Keys{}
	k.Reset(tb.width)
	for _, x := range keys {
		k.Hi = append(k.Hi, x)
		if tb.width == Width128 {
			k.Hi[len(k.Hi)-1] = x / 3 // many equal high halves
			k.Lo = append(k.Lo, x*0x9E3779B97F4A7C15)
		}
	}
	return k
}

// write stores a tablet with its sidecar.
func (tb *table) write(t Tablet, keys []uint64, deletes *roaring.Bitmap) Tablet {
	t.ID, t.Rows = tb.nextID, uint32(len(keys))
	t.Keys = fmt.Sprintf("%d.keys", t.ID)
	tb.nextID++
	tb.disk.files[t.Keys] = sidecarBytes(tb.t, t.ID, tb.print(keys), deletes)
	tb.tablets[t.ID] = &stored{t, keys, deletes}
	return t
}

// appendChanges stages an append of one to three tablets, which may share keys.
func (tb *table) appendChanges() {
	tb.append++
	truncates := tb.r.IntN(25) == 0
	if truncates {
		clear(tb.live)
	}
	disjoint := tb.r.IntN(2) == 0
	used := map[uint64]bool{}
	for range 1 + tb.r.IntN(3) {
		var keys []uint64
		mine := map[uint64]bool{}
		for range tb.r.IntN(60) {
			k := uint64(tb.r.IntN(300))
			if mine[k] || disjoint && used[k] {
				continue
			}
			mine[k], used[k] = true, true
			keys = append(keys, k)
		}
		deletes := roaring.New()
		for row := range keys {
			if tb.r.IntN(4) == 0 {
				deletes.Add(uint32(row))
			}
		}
		t := tb.write(Tablet{Append: tb.append, TruncateBefore: truncates, Disjoint: disjoint}, keys, deletes)
		tb.staging = append(tb.staging, t)
		for row, k := range keys {
			if delete(tb.live, k); !deletes.Contains(uint32(row)) {
				tb.live[k] = Position{t.ID, uint32(row)}
			}
		}
	}
}

// check compares the masks of the cache and those from scratch with the model.
func (tb *table) check(what string) *Masks {
	tb.t.Helper()
	got, err := tb.cache.Masks(context.Background(), tb.set())
	if err != nil {
		tb.t.Fatalf("%s: %v", what, err)
	}
	fresh, err := extend(context.Background(), tb.files, defaultLimits, bare(tb.set()), tb.set())
	if err != nil {
		tb.t.Fatalf("%s: from scratch: %v", what, err)
	}
	ids := slices.Clone(tb.base)
	for _, t := range tb.staging {
		ids = append(ids, t.ID)
	}
	live := map[Position]bool{}
	for _, p := range tb.live {
		live[p] = true
	}
	for _, id := range ids {
		m, err := got.Of(id)
		if err != nil {
			tb.t.Fatalf("%s: %v", what, err)
		}
		f, err := fresh.masks.Of(id)
		if err != nil {
			tb.t.Fatal(err)
		}
		for row := range tb.tablets[id].Rows {
			want := !live[Position{id, row}]
			if m.Contains(row) != want || f.Contains(row) != want {
				tb.t.Fatalf("%s: tablet %d row %d (key %d): cached says dead=%v, scratch %v, model %v",
					what, id, row, tb.tablets[id].keys[row], m.Contains(row), f.Contains(row), want)
			}
		}
	}
	tb.checkLocate(what)
	if n := got.LiveRows(); n != uint64(len(live)) {
		tb.t.Fatalf("%s: %d live rows, the model has %d", what, n, len(live))
	}
	return got
}

// checkLocate looks every key up.
func (tb *table) checkLocate(what string) {
	tb.t.Helper()
	keys := make([]uint64, 310)
	for i := range keys {
		keys[i] = uint64(i)
	}
	got := map[uint64]Position{}
	err := tb.cache.Locate(context.Background(), tb.set(), tb.print(keys), func(i int, p Position) { got[keys[i]] = p })
	if err != nil {
		tb.t.Fatalf("%s: %v", what, err)
	}
	if !maps.Equal(got, tb.live) {
		tb.t.Fatalf("%s: located %v, the model has %v", what, got, tb.live)
	}
}

// adopt folds the oldest appends into the base, retires dead tablets, and derives the new resolution.
func (tb *table) adopt(masks *Masks) {
	// Adopt what the set of an older snapshot held: whole appends.
	cut := tb.r.IntN(len(tb.staging) + 1)
	for cut > 0 && cut < len(tb.staging) && tb.staging[cut].Append == tb.staging[cut-1].Append {
		cut++
	}
	from := tb.set()
	snapshot := from
	snapshot.Staging = from.Staging[:cut]
	folded, err := tb.cache.Masks(context.Background(), snapshot)
	if err != nil {
		tb.t.Fatal(err)
	}
	for _, t := range tb.staging[:cut] {
		tb.base = append(tb.base, t.ID)
	}
	tb.staging = slices.Clone(tb.staging[cut:])
	for id, m := range folded.Resolved {
		tb.tablets[id].Committed = m.Bitmap()
	}
	tb.base = slices.DeleteFunc(tb.base, func(id uint64) bool {
		s := tb.tablets[id]
		return s.Committed != nil && s.Committed.GetCardinality() == uint64(s.Rows)
	})
	tb.rebase()
	if _, err := tb.cache.Masks(context.Background(), from); err != nil {
		tb.t.Fatal(err)
	}
	opens := tb.cache.Stats().Misses
	if !tb.cache.Adopt(from, tb.set(), nil) {
		tb.t.Fatal("the adoption could not be derived")
	}
	if _, err := tb.cache.Masks(context.Background(), tb.set()); err != nil || tb.cache.Stats().Misses != opens {
		tb.t.Fatalf("the adopted set was computed anew: %v", err)
	}
}

// vacuum rewrites one base tablet in row order, without its committed dead rows.
func (tb *table) vacuum() {
	if len(tb.base) == 0 {
		return
	}
	from := tb.set()
	if _, err := tb.cache.Masks(context.Background(), from); err != nil {
		tb.t.Fatal(err)
	}
	at := tb.r.IntN(len(tb.base))
	old := tb.tablets[tb.base[at]]
	rank := NewRank(old.Committed, old.Rows)
	keys := make([]uint64, rank.Live())
	for row, k := range old.keys {
		if to, ok := rank.Remap(uint32(row)); ok {
			keys[to] = k
		}
	}
	t := tb.write(Tablet{}, keys, nil)
	tb.base[at] = t.ID
	for k, p := range tb.live {
		if p.Tablet == old.ID {
			row, ok := rank.Remap(p.Row)
			if !ok {
				tb.t.Fatalf("live row %v has no new place", p)
			}
			tb.live[k] = Position{t.ID, row}
		}
	}
	tb.rebase()
	fates := func(id uint64) Fate {
		if id != old.ID {
			return Fate{}
		}
		return Fate{Move: rank.Remap, To: TabletRows{t.ID, t.Rows}}
	}
	if !tb.cache.Adopt(from, tb.set(), fates) {
		tb.t.Fatal("the rewrite could not be derived")
	}
}

// mergeRuns merges the files that cover the base as PlanMerge says, or all.
func (tb *table) mergeRuns() {
	index := tb.view.index
	if len(index) < 2 {
		return
	}
	infos := make([]RunInfo, len(index))
	inputs := make([]*File, 0, len(index))
	for i, name := range index {
		f, release, err := tb.files.Acquire(context.Background(), name)
		if err != nil {
			tb.t.Fatal(err)
		}
		defer release()
		infos[i] = RunInfo{Keys: uint64(f.Len())}
	}
	chosen := PlanMerge(infos, math.MaxUint64)
	if len(chosen) == 0 {
		chosen = []int{0, len(index) - 1}
	}
	taken := map[string]bool{}
	for _, i := range chosen {
		f, release, err := tb.files.Acquire(context.Background(), index[i])
		if err != nil {
			tb.t.Fatal(err)
		}
		defer release()
		inputs = append(inputs, f)
		taken[index[i]] = true
	}
	name := fmt.Sprintf("run-%d", tb.version)
	var out bytes.Buffer
	_, err := Merge(context.Background(), &out, inputs, MergeOptions{Name: name, Tablet: func(id uint64) Fate {
		if !slices.Contains(tb.base, id) {
			return Fate{Gone: true}
		}
		return Fate{Dead: tb.view.committed(tb.view.tablets[id])}
	}})
	if err != nil {
		tb.t.Fatal(err)
	}
	tb.disk.files[name] = out.Bytes()
	tb.runs = append(slices.DeleteFunc(tb.runs, func(n string) bool { return taken[n] }), name)
	tb.rebase()
}

// reload replaces the whole table in one disjoint truncating append, as an initial load does.
func (tb *table) reload() {
	tb.append++
	clear(tb.live)
	for part := range 3 {
		var keys []uint64
		for k := part; k < 300; k += 3 {
			keys = append(keys, uint64(k))
		}
		t := tb.write(Tablet{Append: tb.append, TruncateBefore: true, Disjoint: true}, keys, nil)
		tb.staging = append(tb.staging, t)
		for row, k := range keys {
			tb.live[k] = Position{t.ID, uint32(row)}
		}
	}
}

func TestMasksAgreeWithAModel(t *testing.T) {
	for seed := range uint64(40) {
		for _, width := range []Width{Width64, Width128} {
			t.Run(fmt.Sprintf("seed=%d/%d", seed, width), func(t *testing.T) {
				tb := newTable(t, seed, width)
				masks := tb.check("empty")
				for step := range 60 {
					what := fmt.Sprintf("step %d", step)
					switch n := tb.r.IntN(20); {
					case n < 10:
						tb.appendChanges()
						what += " append"
					case n < 14:
						tb.adopt(masks)
						what += " adopt"
					case n < 16:
						tb.vacuum()
						what += " vacuum"
					case n < 18:
						tb.mergeRuns()
						what += " merge"
					case n < 19:
						for range tb.r.IntN(4) {
							tb.appendChanges()
						}
						what += " appends"
					case tb.r.IntN(3) == 0:
						tb.reload()
						what += " reload"
					}
					masks = tb.check(what)
				}
				if s := tb.cache.Stats(); s.Derived == 0 {
					t.Fatalf("nothing was resolved incrementally: %+v", s)
				}
			})
		}
	}
}

func TestSidecarsBackWhatSlabsCannotHold(t *testing.T) {
	// The same model with slabs refused: every layer is a sidecar.
	tb := newTable(t, 4, Width64)
	for range 6 {
		tb.appendChanges()
	}
	set := tb.set()
	full, err := extend(context.Background(), tb.files, defaultLimits, bare(set), set)
	if err != nil {
		t.Fatal(err)
	}
	half := set
	half.Staging = set.Staging[:len(set.Staging)/2]
	prev, err := extend(context.Background(), tb.files, defaultLimits, bare(half), half)
	if err != nil {
		t.Fatal(err)
	}
	flat := *prev
	flat.layers = nil
	for _, s := range half.Staging {
		flat.layers = append(flat.layers, layer{tablet: s, firstAppend: s.Append, lastAppend: s.Append})
	}
	got, err := extend(context.Background(), tb.files, defaultLimits, &flat, set)
	if err != nil {
		t.Fatal(err)
	}
	for id := range maps.Keys(full.masks.over) {
		a, _ := full.masks.Of(id)
		b, _ := got.masks.Of(id)
		if !a.Bitmap().Equals(b.Bitmap()) {
			t.Fatalf("tablet %d: %v with slabs, %v with sidecars", id, a.Bitmap(), b.Bitmap())
		}
	}
}
