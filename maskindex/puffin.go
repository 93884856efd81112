package maskindex

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/zeebo/xxh3"
)

// A Puffin file (Iceberg's Puffin spec, 2024-10; deletion-vector-v1 as in Iceberg v3):
//
//	"PFA1"  blobs  "PFA1"  footer JSON  length of the JSON u32 LE  flags u32 LE  "PFA1"
//
// A deletion-vector-v1 blob:
//
//	length of magic and vector u32 BE  magic D1 D3 39 64  vector  CRC-32 of magic and vector u32 BE
//
// The vector is a 64-bit portable Roaring bitmap: number of 32-bit bitmaps u64 LE, then for each the high half of its
// values u32 LE and a portable 32-bit bitmap. Rows of a tablet fit 32 bits, so there is at most one, of high half 0.
const (
	puffinMagic      = "PFA1"
	puffinTailBytes  = 12 // length, flags, magic
	puffinMaxFooter  = 256 << 20
	vectorBlobType   = "deletion-vector-v1"
	vectorMagic      = "\xD1\xD3\x39\x64"
	vectorOverhead   = 4 + len(vectorMagic) + 4
	rowPositionField = 2147483645 // the reserved field id of Iceberg's _pos column
)

// Vector is the dead rows of one data file.
type Vector struct {
	Path string          // of the data file, as Iceberg metadata names it
	Dead *roaring.Bitmap // row ordinals
	Blob BlobRef         // where it lies; set by ReadPuffin, ignored by WritePuffin
}

// BlobRef is where the blob of a vector lies in its Puffin file. It suffices to read the vector with ReadVector.
type BlobRef struct {
	Offset, Length int64 // bytes
	Cardinality    int64 // dead rows
}

type puffinFooter struct {
	Blobs      []puffinBlob      `json:"blobs"`
	Properties map[string]string `json:"properties,omitempty"`
}

type puffinBlob struct {
	Type       string            `json:"type"`
	Fields     []int             `json:"fields"`
	SnapshotID int64             `json:"snapshot-id"`
	Sequence   int64             `json:"sequence-number"`
	Offset     int64             `json:"offset"`
	Length     int64             `json:"length"`
	Codec      string            `json:"compression-codec,omitempty"`
	Properties map[string]string `json:"properties,omitempty"`
}

// WritePuffin writes deletion vectors as a Puffin file and returns where each lies, in order, and the size of the
// file in bytes.
func WritePuffin(w io.Writer, vectors []Vector) (refs []BlobRef, sizeBytes int64, err error) {
	out := countingWriter{w: w}
	out.write([]byte(puffinMagic))
	footer := puffinFooter{Blobs: []puffinBlob{}, Properties: map[string]string{"created-by": "Tidemark"}}
	for _, v := range vectors {
		if v.Path == "" || v.Dead == nil {
			return nil, 0, sqlerr.New(sqlerr.Internal, "a deletion vector without a data file or rows")
		}
		blob, err := encodeVector(v.Dead)
		if err != nil {
			return nil, 0, err
		}
		ref := BlobRef{Offset: out.n, Length: int64(len(blob)), Cardinality: int64(v.Dead.GetCardinality())}
		refs = append(refs, ref)
		footer.Blobs = append(footer.Blobs, puffinBlob{
			// Snapshot and sequence are inherited from the commit, which -1 says.
			Type: vectorBlobType, Fields: []int{rowPositionField}, SnapshotID: -1, Sequence: -1,
			Offset: ref.Offset, Length: ref.Length,
			Properties: map[string]string{
				"referenced-data-file": v.Path, "cardinality": strconv.FormatInt(ref.Cardinality, 10)},
		})
		out.write(blob)
	}
	described, err := json.Marshal(footer.Blobs)
	if err != nil {
		return nil, 0, sqlerr.New(sqlerr.Internal, "encoding a Puffin footer: %w", err)
	}
	// The format has no checksum of the footer, so one goes where writers may put what they like.
	footer.Properties["blobs-xxh3"] = fmt.Sprintf("%016x", xxh3.Hash(described))
	payload, err := json.Marshal(footer)
	if err != nil {
		return nil, 0, sqlerr.New(sqlerr.Internal, "encoding a Puffin footer: %w", err)
	}
	tail := append([]byte(puffinMagic), payload...)
	tail = binary.LittleEndian.AppendUint32(tail, uint32(len(payload)))
	tail = binary.LittleEndian.AppendUint32(tail, 0)
	out.write(append(tail, puffinMagic...))
	if out.err != nil {
		return nil, 0, sqlerr.New(sqlerr.IOError, "writing deletion vectors: %w", out.err).
			Hintf("Check free space and permissions of the data root.")
	}
	return refs, out.n, nil
}

// countingWriter counts bytes and keeps the first error.
type countingWriter struct {
	w   io.Writer
	n   int64
	err error
}

func (c *countingWriter) write(b []byte) {
	if c.err != nil {
		return
	}
	n, err := c.w.Write(b)
	c.n += int64(n)
	c.err = err
}

// encodeVector returns the blob of a bitmap.
func encodeVector(dead *roaring.Bitmap) ([]byte, error) {
	b := make([]byte, 4, 64)
	b = append(b, vectorMagic...)
	if dead.IsEmpty() {
		b = binary.LittleEndian.AppendUint64(b, 0)
	} else {
		dead = dead.Clone() // optimizing changes it
		dead.RunOptimize()
		b = binary.LittleEndian.AppendUint64(b, 1)
		b = binary.LittleEndian.AppendUint32(b, 0)
		body, err := dead.ToBytes()
		if err != nil {
			return nil, sqlerr.New(sqlerr.Internal, "encoding a deletion vector: %w", err)
		}
		b = append(b, body...)
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:])), nil
}

// decodeVector is the inverse of encodeVector; it keeps no part of b.
func decodeVector(b []byte) (*roaring.Bitmap, error) {
	if len(b) < vectorOverhead+8 {
		return nil, fmt.Errorf("%d bytes are too few", len(b))
	}
	body, sum := b[4:len(b)-4], binary.BigEndian.Uint32(b[len(b)-4:])
	if n := binary.BigEndian.Uint32(b); int64(n) != int64(len(body)) {
		return nil, fmt.Errorf("its length is given as %d, not %d", n, len(body))
	}
	if string(body[:4]) != vectorMagic {
		return nil, fmt.Errorf("it does not start as a deletion vector does")
	}
	if crc32.ChecksumIEEE(body) != sum {
		return nil, fmt.Errorf("the checksum does not match")
	}
	n, body := binary.LittleEndian.Uint64(body[4:]), body[12:]
	switch {
	case n == 0 && len(body) == 0:
		return roaring.New(), nil
	case n != 1 || len(body) < 4 || binary.LittleEndian.Uint32(body) != 0:
		return nil, fmt.Errorf("it marks rows beyond the first 4294967296")
	}
	return readBitmap(body[4:])
}

// ReadVector reads one vector of the Puffin file called name, in errors.
func ReadVector(name string, r io.ReaderAt, ref BlobRef) (*roaring.Bitmap, error) {
	if ref.Offset < 0 || ref.Length < 0 || ref.Length > 1<<32 {
		return nil, badPuffin(name, ref.Offset, "a deletion vector of %d bytes", ref.Length)
	}
	b, err := readGrowing(name, r, ref.Offset, ref.Length)
	if err != nil {
		return nil, err
	}
	dead, err := decodeVector(b)
	if err != nil {
		return nil, badPuffin(name, ref.Offset, "the deletion vector cannot be decoded: %v", err)
	}
	if n := int64(dead.GetCardinality()); n != ref.Cardinality {
		return nil, badPuffin(name, ref.Offset, "the deletion vector marks %d rows where %d are expected", n, ref.Cardinality)
	}
	return dead, nil
}

// readGrowing reads n bytes, taking memory only as they turn out to exist.
func readGrowing(name string, r io.ReaderAt, off, n int64) ([]byte, error) {
	const step = 1 << 20
	b := make([]byte, 0, min(n, step))
	for int64(len(b)) < n {
		at := len(b)
		b = append(b, make([]byte, min(n-int64(at), step))...)
		if k, err := r.ReadAt(b[at:], off+int64(at)); k < len(b)-at {
			if err == nil || err == io.EOF {
				return nil, badPuffin(name, off+int64(at+k), "it ends here")
			}
			return nil, sqlerr.New(sqlerr.IOError, "reading mask file %s at offset %d: %w", name, off+int64(at), err).
				Hintf("Check that the data root is reachable and try again.")
		}
	}
	return b, nil
}

// ReadPuffin reads the deletion vectors of a Puffin file of size bytes called name, in errors. Blobs of other types
// are left out.
func ReadPuffin(name string, r io.ReaderAt, size int64) ([]Vector, error) {
	footer, end, err := readPuffinFooter(name, r, size)
	if err != nil {
		return nil, err
	}
	var out []Vector
	for _, b := range footer.Blobs {
		if b.Type != vectorBlobType {
			continue
		}
		path := b.Properties["referenced-data-file"]
		n, err := strconv.ParseInt(b.Properties["cardinality"], 10, 64)
		if path == "" || err != nil || b.Codec != "" {
			return nil, badPuffin(name, b.Offset, "a deletion vector names no data file or cardinality, or is compressed")
		}
		if b.Offset < int64(len(puffinMagic)) || b.Length < 0 || b.Length > end-b.Offset {
			return nil, badPuffin(name, b.Offset, "a deletion vector lies outside of the file")
		}
		v := Vector{Path: path, Blob: BlobRef{b.Offset, b.Length, n}}
		if v.Dead, err = ReadVector(name, r, v.Blob); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// readPuffinFooter returns the footer and where it starts, which is where the blobs end.
func readPuffinFooter(name string, r io.ReaderAt, size int64) (puffinFooter, int64, error) {
	var f puffinFooter
	if size < int64(2*len(puffinMagic)+puffinTailBytes) {
		return f, 0, badPuffin(name, 0, "%d bytes are too few", size)
	}
	tail, err := readGrowing(name, r, size-puffinTailBytes, puffinTailBytes)
	if err != nil {
		return f, 0, err
	}
	head, err := readGrowing(name, r, 0, int64(len(puffinMagic)))
	if err != nil {
		return f, 0, err
	}
	if string(tail[8:]) != puffinMagic || string(head) != puffinMagic {
		return f, 0, badPuffin(name, size-4, "it is not a Puffin file")
	}
	if flags := binary.LittleEndian.Uint32(tail[4:]); flags != 0 {
		return f, 0, sqlerr.New(sqlerr.FeatureNotSupported, "mask file %s has a compressed footer (flags %#x)", name, flags).
			Hintf("Write the file with an uncompressed footer.")
	}
	n := int64(binary.LittleEndian.Uint32(tail))
	at := size - puffinTailBytes - n - int64(len(puffinMagic))
	if n > puffinMaxFooter || at < int64(len(puffinMagic)) {
		return f, 0, badPuffin(name, size-puffinTailBytes, "its footer would take %d bytes", n)
	}
	b, err := readGrowing(name, r, at, n+int64(len(puffinMagic)))
	if err != nil {
		return f, 0, err
	}
	if string(b[:4]) != puffinMagic {
		return f, 0, badPuffin(name, at, "its footer does not start as one")
	}
	if err := json.Unmarshal(b[4:], &f); err != nil {
		return f, 0, badPuffin(name, at, "its footer cannot be decoded: %v", err)
	}
	return f, at, nil
}

// badPuffin is the error of a mask file whose content is not what was written.
func badPuffin(name string, offset int64, format string, args ...any) error {
	return sqlerr.New(sqlerr.DataCorrupted, "mask file %s is damaged at offset %d: "+format,
		append([]any{name, offset}, args...)...).Hintf("Restore the file from a copy.")
}
