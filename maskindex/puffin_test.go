package maskindex

import (
	"bytes"
	"encoding/hex"
	"errors"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

func vectorsForTest() []Vector {
	runs := roaring.New()
	runs.AddRange(100, 200_000)
	dense := roaring.New()
	for i := uint32(0); i < 300_000; i += 3 {
		dense.Add(i)
	}
	return []Vector{
		{Path: "tables/1/a.parquet", Dead: roaring.BitmapOf(0, 7, 70000)},
		{Path: "tables/1/b.parquet", Dead: runs},
		{Path: "tables/1/ä \"c\".parquet", Dead: dense},
		{Path: "tables/1/none.parquet", Dead: roaring.New()},
		{Path: "tables/1/last.parquet", Dead: roaring.BitmapOf(1<<32 - 1)},
	}
}

func puffinBytes(t testing.TB, v []Vector) []byte {
	t.Helper()
	var b bytes.Buffer
	refs, size, err := WritePuffin(&b, v)
	if err != nil || size != int64(b.Len()) || len(refs) != len(v) {
		t.Fatal(refs, size, err)
	}
	for i, r := range refs {
		got, err := ReadVector("p", bytes.NewReader(b.Bytes()), r)
		if err != nil || !got.Equals(v[i].Dead) {
			t.Fatalf("vector %d: %v %v", i, got, err)
		}
	}
	return b.Bytes()
}

func TestPuffinRoundTrip(t *testing.T) {
	for _, want := range [][]Vector{nil, vectorsForTest()} {
		b := puffinBytes(t, want)
		got, err := ReadPuffin("p", bytes.NewReader(b), int64(len(b)))
		if err != nil || len(got) != len(want) {
			t.Fatal(got, err)
		}
		for i := range want {
			if got[i].Path != want[i].Path || !got[i].Dead.Equals(want[i].Dead) {
				t.Fatalf("vector %d: %s %v", i, got[i].Path, got[i].Dead)
			}
		}
	}
}

// The bytes of a vector with rows 1 and 3, laid out by hand from the specification.
func TestVectorBytes(t *testing.T) {
	b, err := encodeVector(roaring.BitmapOf(1, 3))
	if err != nil {
		t.Fatal(err)
	}
	want := "00000024" + "d1d33964" + // length, magic
		"0100000000000000" + "00000000" + // one bitmap of high half 0
		"3a300000" + "01000000" + "00000100" + "10000000" + "01000300" // array container
	if got := hex.EncodeToString(b[:len(b)-4]); got != want {
		t.Fatalf("\ngot  %s\nwant %s", got, want)
	}
}

func TestDamagedPuffinIsAnError(t *testing.T) {
	good := puffinBytes(t, vectorsForTest()[:2])
	blobsEnd := bytes.LastIndex(good[:len(good)-4], []byte(puffinMagic))
	for at := range blobsEnd {
		bad := slices.Clone(good)
		bad[at] ^= 0x10
		_, err := ReadPuffin("bad.puffin", bytes.NewReader(bad), int64(len(bad)))
		var e *sqlerr.Error
		if !errors.As(err, &e) || e.Code != sqlerr.DataCorrupted {
			t.Fatalf("byte %d: %v", at, err)
		}
	}
	for n := range len(good) {
		if _, err := ReadPuffin("bad", bytes.NewReader(good[:n]), int64(n)); err == nil {
			t.Fatalf("read a file cut to %d bytes", n)
		}
	}
}

func FuzzReadPuffin(f *testing.F) {
	f.Add(puffinBytes(f, vectorsForTest()[:2])) // a short file: the fuzzer tries many
	f.Add(puffinBytes(f, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := ReadPuffin("fuzz", bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		again := puffinBytes(t, v)
		w, err := ReadPuffin("fuzz", bytes.NewReader(again), int64(len(again)))
		if err != nil || len(w) != len(v) {
			t.Fatal(err)
		}
	})
}

// Past the checksum, which a fuzzer does not guess.
func FuzzReadBitmap(f *testing.F) {
	for _, v := range vectorsForTest() {
		b, err := v.Dead.ToBytes()
		if err != nil {
			f.Fatal(err)
		}
		if len(b) < 20000 {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		bm, err := readBitmap(b)
		if err != nil {
			return
		}
		n, last := uint64(0), int64(-1)
		for it := bm.Iterator(); it.HasNext(); n++ {
			x := int64(it.Next())
			if x <= last || !bm.Contains(uint32(x)) {
				t.Fatalf("row %d after %d", x, last)
			}
			last = x
		}
		if n != bm.GetCardinality() {
			t.Fatalf("%d rows, cardinality %d", n, bm.GetCardinality())
		}
	})
}
