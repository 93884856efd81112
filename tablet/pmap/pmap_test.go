package pmap

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

func TestVersionsAreIndependent(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	type version struct {
		m    Map[int, int]
		want map[int]int
	}
	versions := []version{{want: map[int]int{}}}
	for range 300 {
		from := versions[random.IntN(len(versions))]
		e, want := from.m.Edit(), maps.Clone(from.want)
		for range random.IntN(40) {
			k := random.IntN(200)
			if random.IntN(3) == 0 {
				_, had := want[k]
				if _, ok := e.Delete(k); ok != had {
					t.Fatalf("Delete(%d) = %t, want %t", k, ok, had)
				}
				delete(want, k)
			} else {
				v := random.Int()
				e.Set(k, v)
				want[k] = v
			}
		}
		versions = append(versions, version{e.Map(), want})
	}
	for i, v := range versions {
		if got := maps.Collect(v.m.All()); !maps.Equal(got, v.want) || v.m.Len() != len(v.want) {
			t.Fatalf("version %d holds %v, want %v", i, got, v.want)
		}
		keys := slices.Sorted(maps.Keys(v.want))
		var order []int
		for k := range v.m.From(100) {
			order = append(order, k)
		}
		at, _ := slices.BinarySearch(keys, 100)
		if !slices.Equal(order, keys[at:]) {
			t.Fatalf("version %d from 100: %v, want %v", i, order, keys[at:])
		}
		if k, _, ok := v.m.Max(); ok != (len(keys) > 0) || ok && k != keys[len(keys)-1] {
			t.Fatalf("version %d: Max = %d, %t", i, k, ok)
		}
	}
}

func TestReadersNeedNoLock(t *testing.T) {
	e := Map[int, int]{}.Edit()
	for i := range 1000 {
		e.Append(i, i)
	}
	m := e.Map()
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 200 {
				e := m.Edit()
				e.Set(i, -w)
				e.Delete(i + 1)
				if got, ok := m.Get(i + 1); !ok || got != i+1 {
					t.Errorf("Get(%d) = %d, %t", i+1, got, ok)
				}
				if e.Map().Len() != m.Len()-1 {
					t.Error("an editor saw another")
				}
			}
		})
	}
	wg.Wait()
}
