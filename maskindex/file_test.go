package maskindex

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// shapes are key distributions that stress how blocks pack.
var shapes = map[string]func(r *rand.Rand, i int) uint64{
	"random":     func(r *rand.Rand, _ int) uint64 { return r.Uint64() },
	"sequential": func(_ *rand.Rand, i int) uint64 { return 1<<63 + uint64(i) },
	"descending": func(_ *rand.Rand, i int) uint64 { return 1<<40 - uint64(i) },
	"clustered":  func(r *rand.Rand, i int) uint64 { return uint64(r.IntN(8))<<60 | uint64(i) },
	"outlier":    func(_ *rand.Rand, i int) uint64 { return [2]uint64{uint64(i), ^uint64(0) - uint64(i)}[i%2] },
	"narrow":     func(r *rand.Rand, i int) uint64 { return uint64(i)*3 + uint64(r.IntN(3)) },
}

// makeKeys returns n distinct keys of a shape.
func makeKeys(shape string, width Width, n int, seed uint64) *Keys {
	r := rand.New(rand.NewPCG(seed, 1))
	k := &Keys{}
	k.Reset(width)
	seen := map[uint64]bool{}
	for i := 0; k.Len() < n; i++ {
		h := shapes[shape](r, i)
		if seen[h] {
			continue
		}
		seen[h] = true
		k.Hi = append(k.Hi, h)
		if width == Width128 {
			k.Lo = append(k.Lo, r.Uint64())
		}
	}
	return k
}

func sidecarBytes(t testing.TB, tablet uint64, keys *Keys, deletes *roaring.Bitmap) []byte {
	t.Helper()
	var b bytes.Buffer
	sum, err := WriteSidecar(&b, Sidecar{Name: "sidecar", Tablet: tablet, Keys: keys, Deletes: deletes})
	if err != nil {
		t.Fatal(err)
	}
	if sum.Bytes != int64(b.Len()) || sum.Keys != uint64(keys.Len()) {
		t.Fatalf("summary %+v of %d bytes and %d keys", sum, b.Len(), keys.Len())
	}
	return b.Bytes()
}

// openBoth opens the bytes mapped and through a reader.
func openBoth(t testing.TB, b []byte) map[string]*File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "k.keys")
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	mapped, err := OpenPath(path)
	if err != nil {
		t.Fatal(err)
	}
	read, err := OpenReader("reader", bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mapped.Close(); read.Close() })
	return map[string]*File{"mapped": mapped, "read": read}
}

func probeAll(t testing.TB, f *File, keys *Keys) map[int]Position {
	t.Helper()
	b, err := NewBatch(keys)
	if err != nil {
		t.Fatal(err)
	}
	found := map[int]Position{}
	if err := f.Probe(context.Background(), b, func(i int, p Position) { found[i] = p }); err != nil {
		t.Fatal(err)
	}
	return found
}

func TestSidecarFindsEveryKeyAndNoOther(t *testing.T) {
	for shape := range shapes {
		for _, width := range []Width{Width64, Width128} {
			for _, n := range []int{0, 1, 2, 63, 64, 65, 500, 20000} {
				t.Run(fmt.Sprintf("%s/%d/%d", shape, width, n), func(t *testing.T) {
					keys := makeKeys(shape, width, n, 7)
					for how, f := range openBoth(t, sidecarBytes(t, 42, keys, nil)) {
						found := probeAll(t, f, keys)
						if len(found) != n {
							t.Fatalf("%s: found %d of %d keys", how, len(found), n)
						}
						for i, p := range found {
							if p != (Position{42, uint32(i)}) {
								t.Fatalf("%s: key %d at %v", how, i, p)
							}
						}
						if got := probeAll(t, f, strangers(keys)); len(got) != 0 {
							t.Fatalf("%s: found %d keys that are not there", how, len(got))
						}
						if err := f.Check(context.Background()); err != nil {
							t.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// strangers returns keys near those of keys that are not among them.
func strangers(keys *Keys) *Keys {
	in := map[[2]uint64]bool{}
	low := func(i int) uint64 {
		if keys.Lo == nil {
			return 0
		}
		return keys.Lo[i]
	}
	for i, h := range keys.Hi {
		in[[2]uint64{h, low(i)}] = true
	}
	out := &Keys{}
	out.Reset(keys.Width())
	add := func(h, l uint64) {
		if in[[2]uint64{h, l}] {
			return
		}
		out.Hi = append(out.Hi, h)
		if out.Lo != nil {
			out.Lo = append(out.Lo, l)
		}
	}
	for i, h := range keys.Hi {
		add(h+1, low(i))
		add(h-1, low(i))
		add(h^1<<63, low(i))
		if out.Lo != nil {
			add(h, low(i)+1)
			add(h, low(i)-1)
		}
	}
	add(0, 0)
	add(^uint64(0), ^uint64(0))
	return out
}

func TestEqualHighHalvesAreTold(t *testing.T) {
	keys := &Keys{Lo: []uint64{}}
	for i := range 3000 { // more than fit one block
		keys.Hi = append(keys.Hi, 77)
		keys.Lo = append(keys.Lo, uint64(i*7919%3000)*2)
	}
	for _, f := range openBoth(t, sidecarBytes(t, 1, keys, nil)) {
		for i, p := range probeAll(t, f, keys) {
			if p.Row != uint32(i) {
				t.Fatalf("key %d at %v", i, p)
			}
		}
		if n := len(probeAll(t, f, keys)); n != 3000 {
			t.Fatalf("found %d", n)
		}
		if n := len(probeAll(t, f, strangers(keys))); n != 0 {
			t.Fatalf("found %d strangers", n)
		}
	}
}

func TestSidecarRefusesDuplicateKeys(t *testing.T) {
	for _, width := range []Width{Width64, Width128} {
		keys := makeKeys("random", width, 1000, 3)
		keys.Hi[900] = keys.Hi[17]
		if width == Width128 {
			keys.Lo[900] = keys.Lo[17]
		}
		_, err := WriteSidecar(&bytes.Buffer{}, Sidecar{Name: "s", Tablet: 5, Keys: keys})
		var e *sqlerr.Error
		if !errors.As(err, &e) || e.Code != sqlerr.UniqueViolation || !strings.Contains(e.Message, "tablet 5 row 17") ||
			!strings.Contains(e.Message, "tablet 5 row 900") {
			t.Fatalf("%d: %v", width, err)
		}
	}
}

func TestSidecarKeepsDeleteRows(t *testing.T) {
	keys := makeKeys("random", Width64, 1000, 3)
	deletes := roaring.BitmapOf(0, 5, 999)
	for _, f := range openBoth(t, sidecarBytes(t, 1, keys, deletes)) {
		if !f.Deletes().Equals(deletes) {
			t.Fatalf("deletes %v", f.Deletes())
		}
	}
	_, err := WriteSidecar(&bytes.Buffer{}, Sidecar{Tablet: 1, Keys: keys, Deletes: roaring.BitmapOf(1000)})
	if err == nil {
		t.Fatal("a delete row beyond the tablet was accepted")
	}
}

func TestEveryDamagedByteIsNoticed(t *testing.T) {
	keys := makeKeys("random", Width64, 1500, 9)
	good := sidecarBytes(t, 1, keys, roaring.BitmapOf(3))
	r := rand.New(rand.NewPCG(1, 2))
	offsets := []int{0, 8, 16, 20, 22, 23, 24, 160, 4087, 4088, 4095, 4096, len(good) - 1, len(good) - footerSize}
	for range 300 {
		offsets = append(offsets, r.IntN(len(good)))
	}
	for _, at := range offsets {
		bad := slices.Clone(good)
		bad[at] ^= 1 << r.IntN(8)
		f, err := OpenReader("bad.keys", bytes.NewReader(bad), int64(len(bad)))
		if err == nil {
			err = f.Check(context.Background())
		}
		var e *sqlerr.Error
		if !errors.As(err, &e) || e.Code != sqlerr.DataCorrupted && e.Code != sqlerr.FeatureNotSupported {
			t.Fatalf("byte %d: %v", at, err)
		}
		if !strings.Contains(err.Error(), "bad.keys") {
			t.Fatalf("byte %d: the error does not name the file: %v", at, err)
		}
	}
	for _, n := range []int{0, 1, footerSize - 1, footerSize, 4096, len(good) - 1} {
		if _, err := OpenReader("bad", bytes.NewReader(good[:n]), int64(n)); err == nil {
			t.Fatalf("opened a file cut to %d bytes", n)
		}
	}
}

func TestDamageNamesTheBlockOnFirstTouch(t *testing.T) {
	keys := makeKeys("sequential", Width64, 100000, 9)
	b := sidecarBytes(t, 1, keys, nil)
	b[3*BlockSize+2000] ^= 4
	for how, f := range openBoth(t, b) {
		hi := f.dirHi[1]
		if _, ok, err := f.Get(context.Background(), hi, 0); !ok || err != nil {
			t.Fatalf("%s: a sound block: %v %v", how, ok, err)
		}
		_, _, err := f.Get(context.Background(), f.dirHi[3], 0)
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("offset %d", 3*BlockSize)) {
			t.Fatalf("%s: %v", how, err)
		}
	}
}

func TestTruncationWhileMappedIsAnError(t *testing.T) {
	keys := makeKeys("random", Width64, 100000, 9)
	path := filepath.Join(t.TempDir(), "k.keys")
	if err := os.WriteFile(path, sidecarBytes(t, 1, keys, nil), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := OpenPath(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Truncate(path, 4096); err != nil {
		t.Fatal(err)
	}
	b, err := NewBatch(keys)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Probe(context.Background(), b, func(int, Position) {}); err == nil {
		t.Fatal("probing a truncated file succeeded")
	}
}

func TestProbeHonoursCancellation(t *testing.T) {
	keys := makeKeys("random", Width64, 1000, 9)
	f := openBoth(t, sidecarBytes(t, 1, keys, nil))["mapped"]
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b, _ := NewBatch(keys)
	if err := f.Probe(ctx, b, func(int, Position) {}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func TestAPositionOutsideOfItsTabletIsAnError(t *testing.T) {
	keys := makeKeys("sequential", Width64, 16, 1)
	b := sidecarBytes(t, 1, keys, nil)
	b[BlockSize+8] = 9 // rows of the tablet, in the first entry of the list
	reseal(b)
	batch, err := NewBatch(keys)
	if err != nil {
		t.Fatal(err)
	}
	for how, f := range openBoth(t, b) {
		err := f.Probe(context.Background(), batch, func(_ int, p Position) {
			if p.Row >= 9 {
				t.Errorf("%s: %v was passed on", how, p)
			}
		})
		if err == nil || !strings.Contains(err.Error(), "offset 0") {
			t.Errorf("%s: %v", how, err)
		}
		if err := f.Check(context.Background()); err == nil {
			t.Errorf("%s: Check found nothing", how)
		}
	}
}
