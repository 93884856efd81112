package puffin

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/tidemarkdb/tidemark/integration/pyvenv"
	"github.com/tidemarkdb/tidemark/maskindex"
)

// vectors has every kind of Roaring container, alone and together.
func vectors() []maskindex.Vector {
	runs, dense, mixed := roaring.New(), roaring.New(), roaring.BitmapOf(5, 900_000)
	runs.AddRange(100, 150_000)
	for i := uint32(0); i < 200_000; i += 3 {
		dense.Add(i)
	}
	mixed.Or(dense)
	mixed.AddRange(400_000, 500_000)
	return []maskindex.Vector{
		{Path: "tables/1/array.parquet", Dead: roaring.BitmapOf(0, 7, 70_000)},
		{Path: "tables/1/runs.parquet", Dead: runs},
		{Path: "tables/1/dense.parquet", Dead: dense},
		{Path: "tables/1/ä \"mixed\".parquet", Dead: mixed},
		{Path: "tables/1/last.parquet", Dead: roaring.BitmapOf(1<<32 - 1)},
	}
}

func run(t *testing.T, stdin []byte, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(pyvenv.Python(t), args...)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(stdin), &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, stderr.Bytes())
	}
	return out
}

func TestPyicebergReadsOurVectors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "masks.puffin")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, _, err := maskindex.WritePuffin(f, vectors()); err != nil {
		t.Fatal(err)
	}
	var got map[string][]uint32
	if err := json.Unmarshal(run(t, nil, "read.py", path), &got); err != nil {
		t.Fatal(err)
	}
	if len(got) != len(vectors()) {
		t.Fatalf("pyiceberg read %d vectors", len(got))
	}
	for _, v := range vectors() {
		if !slices.Equal(got[v.Path], v.Dead.ToArray()) {
			t.Errorf("%s: pyiceberg read %d rows, %d were written, or others", v.Path, len(got[v.Path]), v.Dead.GetCardinality())
		}
	}
}

func TestWeReadForeignVectors(t *testing.T) {
	rows := map[string][]uint32{"tables/1/none.parquet": {}}
	for _, v := range vectors() {
		rows[v.Path] = v.Dead.ToArray()
	}
	in, err := json.Marshal(rows)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "masks.puffin")
	run(t, in, "write.py", path)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := maskindex.ReadPuffin(path, bytes.NewReader(b), int64(len(b)))
	if err != nil || len(got) != len(rows) {
		t.Fatal(len(got), err)
	}
	for _, v := range got {
		if !slices.Equal(v.Dead.ToArray(), rows[v.Path]) {
			t.Errorf("%s: read %d rows of %d, or others", v.Path, v.Dead.GetCardinality(), len(rows[v.Path]))
		}
	}
}
