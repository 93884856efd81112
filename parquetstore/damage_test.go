package parquetstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/format"

	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// smallFile writes a file with every type, several row groups, pages and encodings, and returns its bytes and rows.
func smallFile(t testing.TB, codec Codec) ([]byte, [][]vec.Value) {
	t.Helper()
	r := rand.New(rand.NewPCG(8, 8))
	var columns []tablet.Column
	b := &vec.Batch{N: 60}
	for i, typ := range append(append([]vec.Type{}, flatTypes...), vec.ArrayType(vec.Int32Type)) {
		columns = append(columns, column(i, typ, i%3 > 0))
		nulls := 0.0
		if i%3 > 0 {
			nulls = 0.2
		}
		if typ.ID == vec.Array {
			x := vec.NewBuilder(typ, b.N)
			for range b.N {
				x.Append(nestedValue(r, typ))
			}
			b.Cols = append(b.Cols, x.Finish())
			columns[i].Nullable = true
			continue
		}
		b.Cols = append(b.Cols, randomVector(r, typ, b.N, i%4*3, nulls))
	}
	sequence := vec.NewBuilder(vec.Int64Type, b.N)
	for i := range b.N {
		vec.AppendFixed(sequence, int64(i)*3)
	}
	columns = append(columns, column(len(columns), vec.Int64Type, false))
	b.Cols = append(b.Cols, sequence.Finish())
	store := objstore.NewMem(nil)
	writeFile(t, store, "d.parquet", columns, Options{RowGroupRows: 40, PageRows: 16, Codec: codec}, b)
	raw, err := store.Get(context.Background(), "d.parquet")
	if err != nil {
		t.Fatal(err)
	}
	return raw, boxed(b)
}

// readBytes opens a file of these bytes and reads everything.
func readBytes(raw []byte, o OpenOptions) ([][]vec.Value, error) {
	store := objstore.NewMem(nil)
	if err := store.Put(context.Background(), "d.parquet", raw); err != nil {
		return nil, err
	}
	f, err := Open(context.Background(), store, "d.parquet", o)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := scanAll(f, &Scan{Columns: allColumns(f)})
	if _, lent := scanAll(f, &Scan{Columns: allColumns(f), Borrow: true}); err == nil && lent != nil {
		return nil, fmt.Errorf("a scan that borrows: %w", lent)
	} else if err != nil && lent == nil {
		return nil, errors.New("a scan that borrows notices nothing")
	}
	return rows, err
}

func TestEveryFlippedByteIsFound(t *testing.T) {
	raw, want := smallFile(t, Snappy)
	r := rand.New(rand.NewPCG(4, 4))
	for at := range raw {
		damaged := append([]byte(nil), raw...)
		damaged[at] ^= 1 << r.IntN(8)
		got, err := readBytes(damaged, OpenOptions{Tablet: 1})
		if err == nil {
			t.Fatalf("byte %d of %d flipped and nothing noticed; same rows: %v", at, len(raw), len(got) == len(want))
		}
		if sqlerr.Code(err) != sqlerr.DataCorrupted || !strings.Contains(err.Error(), "d.parquet") {
			t.Fatalf("byte %d flipped: %v", at, err)
		}
		if strings.Contains(err.Error(), "could not be decoded") {
			t.Fatalf("byte %d flipped: a decoder panicked: %v", at, err)
		}
	}
}

func TestEveryCutIsFound(t *testing.T) {
	raw, _ := smallFile(t, Zstd)
	for n := range raw {
		if _, err := readBytes(raw[:n], OpenOptions{Tablet: 1}); err == nil {
			t.Fatalf("a file cut to %d of %d bytes was read", n, len(raw))
		}
	}
}

// TestDamageWithoutChecksums reads flipped files as another writer's, so that the decoders themselves must cope.
func TestDamageWithoutChecksums(t *testing.T) {
	raw, _ := smallFile(t, Uncompressed)
	at := strings.Index(string(raw), sealKey)
	if at < 0 {
		t.Fatal("the file has no seal")
	}
	raw[at] = 'X' // another program's file, as far as anyone can tell
	r := rand.New(rand.NewPCG(6, 6))
	for i := 0; i < len(raw); i += 1 + r.IntN(4) {
		damaged := append([]byte(nil), raw...)
		damaged[i] ^= []byte{0xff, 1, 0x80, 1 << r.IntN(8)}[r.IntN(4)]
		_, err := readBytes(damaged, OpenOptions{})
		if err != nil && strings.Contains(err.Error(), "could not be decoded") {
			t.Fatalf("byte %d flipped: a decoder panicked: %v", i, err)
		}
	}
}

func TestForeignFileIsNoTablet(t *testing.T) {
	raw, _ := smallFile(t, Snappy)
	at := strings.Index(string(raw), sealKey)
	raw[at] = 'X'
	if _, err := readBytes(raw, OpenOptions{Tablet: 3}); sqlerr.Code(err) != sqlerr.DataCorrupted {
		t.Errorf("a tablet without a seal: %v", err)
	}
}

func TestMissingFile(t *testing.T) {
	for _, store := range []objstore.Store{objstore.NewMem(nil), localStore(t)} {
		if _, err := Open(context.Background(), store, "none.parquet", OpenOptions{}); sqlerr.Code(err) != sqlerr.UndefinedFile {
			t.Errorf("a missing file: %v", err)
		}
	}
}

// FuzzFooter reads whole files without a seal, which nothing vouches for.
func FuzzFooter(f *testing.F) {
	for i, typ := range []vec.Type{vec.Int64Type, vec.TextType, vec.ArrayType(vec.TextType)} {
		store := objstore.NewMem(nil)
		columns := []tablet.Column{column(i, typ, true)}
		x := vec.NewBuilder(typ, 20)
		r := rand.New(rand.NewPCG(1, 1))
		for range 20 {
			x.Append(nestedValue(r, typ))
		}
		writeFile(f, store, "f.parquet", columns, Options{}, vec.NewBatch(20, x.Finish()))
		raw, err := store.Get(context.Background(), "f.parquet")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(bytes.Replace(raw, []byte(sealKey), []byte("another.key.."), 1))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, err := readBytes(raw, OpenOptions{})
		if err != nil && strings.Contains(err.Error(), "could not be decoded") {
			t.Fatal(err)
		}
	})
}

// FuzzPage decodes a page body under every type and encoding.
func FuzzPage(f *testing.F) {
	f.Add([]byte{2, 0, 0, 0, 6, 1, 1, 2, 3, 4, 5, 6, 7, 8}, uint8(1), uint8(0), uint8(0), int32(3), int32(14), true)
	f.Add([]byte{3, 5, 1, 2, 3, 4}, uint8(6), uint8(8), uint8(3), int32(3), int32(6), false)
	f.Add([]byte{128, 1, 4, 3, 0, 2, 0, 0, 0, 0}, uint8(2), uint8(5), uint8(3), int32(3), int32(10), false)
	dict := map[format.Type]*vec.Vector{}
	f.Fuzz(func(t *testing.T, body []byte, phys, encoding, kind uint8, values, uncompressed int32, nullable bool) {
		e := format.SchemaElement{Name: "x"}
		e.Type.Set(format.Type(phys % 8))
		e.TypeLength.Set(int32(phys%31) + 1)
		l, err := leafOf("x", &e, vec.NullType)
		if err != nil {
			return
		}
		l.maxDef = toInt(nullable)
		h := pageHeader{encoding: format.Encoding(encoding % 10), values: int(values & 0xffff), uncompressed: int(uncompressed & 0xfffff), compressed: len(body)}
		if kind%4 == 3 {
			h.kind = format.DataPageV2
			h.defBytes = min(int(kind/4), len(body), h.uncompressed)
		}
		if dict[l.phys] == nil {
			b := vec.NewBuilder(l.typ, 3)
			for range 3 {
				b.Append(vec.Value{Type: l.typ})
			}
			dict[l.phys] = b.Finish()
		}
		codec := []format.CompressionCodec{format.Uncompressed, format.Snappy, format.Zstd, format.Lz4Raw, format.Gzip}[kind/4%5]
		v, err := l.decodeFlat(&h, codec, body, dict[l.phys])
		if err != nil {
			return
		}
		if v.N != h.values {
			t.Fatalf("%d rows of %d", v.N, h.values)
		}
		for i := range v.N { // every row can be looked at
			v.Value(i)
		}
		p := lentPage{memory: new(lentMemory)}
		if err := p.open(&chunk{leaf: &l, codec: codec}, &h, body, dict[l.phys]); err != nil {
			t.Fatalf("decoded whole, but not window by window: %v", err)
		}
		for from := 0; from < v.N; from += 13 {
			var sel vec.Selection
			if from%2 == 1 {
				sel = vec.Selection{0}
			}
			w, err := p.window(from, min(13, v.N-from), sel)
			if err != nil {
				t.Fatalf("rows from %d on, which the whole page has: %v", from, err)
			}
			for i := range w.N {
				if sel == nil || i == 0 {
					sameRow(t, w.Value(i), v.Value(from+i))
				}
			}
		}
	})
}

func sameRow(t *testing.T, got, want vec.Value) {
	t.Helper()
	if !sameValue(got, want) {
		t.Fatalf("%v where the whole page has %v", got, want)
	}
}

func FuzzHybrid(f *testing.F) {
	f.Add([]byte{3, 0x88, 0xc6, 0xfa}, uint8(3), uint16(8))
	f.Fuzz(func(t *testing.T, src []byte, width uint8, n uint16) {
		out := make([]int32, n)
		or, err := decodeHybrid(out, src, uint(width%33))
		if err != nil {
			return
		}
		for _, x := range out {
			if uint32(x)|or != or {
				t.Fatalf("value %d is not within the bound %d", x, or)
			}
		}
		decodeValidity(src, int(n))
	})
}
