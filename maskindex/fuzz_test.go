package maskindex

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/zeebo/xxh3"
)

// reseal makes every checksum of a key file right again, as someone who forges one would.
func reseal(b []byte) {
	if len(b) < footerSize {
		return
	}
	foot := b[len(b)-footerSize:]
	metaAt := binary.LittleEndian.Uint64(foot)
	if metaAt <= uint64(len(b)-footerSize) {
		for at := uint64(0); at+BlockSize <= metaAt; at += BlockSize {
			blk := b[at : at+BlockSize]
			binary.LittleEndian.PutUint64(blk[blockCheckAt:], xxh3.Hash(blk[:blockCheckAt]))
		}
		binary.LittleEndian.PutUint64(foot[48:], xxh3.Hash(b[metaAt:len(b)-footerSize]))
	}
	binary.LittleEndian.PutUint64(foot[80:], xxh3.Hash(foot[:80]))
}

// noBug fails on errors that stand for a broken invariant, which is what a recovered panic becomes.
func noBug(t *testing.T, err error) {
	t.Helper()
	var e *sqlerr.Error
	if errors.As(err, &e) && e.Code == sqlerr.Internal {
		t.Fatal(err)
	}
}

// use does everything a file is opened for.
func use(t *testing.T, b []byte, keys *Keys) {
	f, err := OpenReader("fuzz", bytes.NewReader(b), int64(len(b)))
	if err != nil {
		noBug(t, err)
		return
	}
	defer f.Close()
	ctx := context.Background()
	noBug(t, f.Check(ctx))
	if f.Width() == keys.Width() {
		batch, err := NewBatch(keys)
		if err != nil {
			t.Fatal(err)
		}
		noBug(t, f.Probe(ctx, batch, func(int, Position) {}))
	}
	var out bytes.Buffer
	if _, err := Merge(ctx, &out, []*File{f}, MergeOptions{Name: "out"}); err != nil {
		noBug(t, err)
	}
}

// FuzzKeyFile forges a sound file at the offsets that the fuzzer chooses, with and without right checksums. The fuzzer
// is given the changes alone: whole files would be too long for it to make progress.
func FuzzKeyFile(f *testing.F) {
	narrow := makeKeys("clustered", Width64, 900, 1)
	wide := makeKeys("random", Width128, 300, 1)
	files := [][]byte{
		sidecarBytes(f, 1, narrow, roaring.BitmapOf(1, 2)),
		sidecarBytes(f, 1, wide, nil),
		sidecarBytes(f, 1, makeKeys("random", Width64, 3, 1), nil),
		sidecarBytes(f, 1, &Keys{}, nil),
	}
	for kind := range files {
		f.Add(uint8(kind), uint16(0), []byte{20, 0, 1, 22, 0, 64, 23, 0, 65}) // count, shift and width of block 0
		f.Add(uint8(kind), uint16(0), []byte{0xa8, 0xff, 9})                  // blocks in the footer
		f.Add(uint8(kind), uint16(100), []byte{})                             // cut off
	}
	f.Fuzz(func(t *testing.T, kind uint8, cut uint16, patch []byte) {
		b := slices.Clone(files[int(kind)%len(files)])
		b = b[:len(b)-min(len(b), int(cut))]
		for ; len(patch) >= 3 && len(b) > 0; patch = patch[3:] {
			// Negative offsets count from the end: meta and footer.
			at := int(int16(binary.LittleEndian.Uint16(patch)))
			if at < 0 {
				at += len(b)
			}
			if at >= 0 && at < len(b) {
				b[at] = patch[2]
			}
		}
		use(t, b, narrow)
		reseal(b)
		use(t, b, narrow)
		use(t, b, wide)
	})
}

// FuzzOpen takes any bytes.
func FuzzOpen(f *testing.F) {
	f.Add(sidecarBytes(f, 1, &Keys{}, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		use(t, b, &Keys{Hi: []uint64{1}})
		b = slices.Clone(b)
		reseal(b)
		use(t, b, &Keys{Hi: []uint64{1}})
	})
}
