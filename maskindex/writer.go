package maskindex

import (
	"encoding/binary"
	"io"
	"math/bits"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/zeebo/xxh3"
)

// Summary describes a written key file.
type Summary struct {
	Keys    uint64
	Tablets int
	Bytes   int64
}

// Writer writes a key file in one streaming pass. A Writer is for one goroutine; after an error it is spent and
// what was written is to be thrown away.
type Writer struct {
	w       io.Writer
	name    string
	wide    bool
	f       footer
	tablets []TabletRows
	dir     []uint64
	deletes []byte

	pending        []entry
	minPos, maxPos uint64
	any            bool
	buf            []byte // encoded blocks not yet written
}

// writeBufferBytes is how much a Writer gathers before it writes.
const writeBufferBytes = 256 << 10

// NewWriter returns a writer of a key file called name, in errors, that covers tablets. Positions name tablets by
// their place in that list.
func NewWriter(w io.Writer, name string, width Width, tablets []TabletRows) (*Writer, error) {
	if width != Width64 && width != Width128 {
		return nil, sqlerr.New(sqlerr.Internal, "key file %s: fingerprints of %d bits", name, width)
	}
	if len(tablets) > maxFileTablets {
		return nil, sqlerr.New(sqlerr.ProgramLimitExceeded, "key file %s would cover %d tablets, the limit is %d; merge fewer",
			name, len(tablets), maxFileTablets)
	}
	return &Writer{
		w: w, name: name, wide: width == Width128, tablets: tablets,
		f:   footer{width: width, tablets: uint32(len(tablets)), rowBits: rowBitsFor(tablets)},
		buf: make([]byte, 0, writeBufferBytes),
	}, nil
}

// Add appends a key with the position of its row: the place of the tablet in the list given to NewWriter and the row
// ordinal. Keys must ascend by (hi, lo); lo is ignored for 64-bit keys.
func (w *Writer) Add(hi, lo uint64, tablet int, row uint32) error {
	if !w.wide {
		lo = 0
	}
	if tablet < 0 || tablet >= len(w.tablets) || row >= w.tablets[tablet].Rows {
		return sqlerr.New(sqlerr.Internal, "key file %s: row %d of tablet ordinal %d does not exist", w.name, row, tablet)
	}
	if w.any && (hi < w.f.lastHi || hi == w.f.lastHi && lo <= w.f.lastLo) {
		return w.misplaced(hi, lo, tablet, row)
	}
	w.any, w.f.lastHi, w.f.lastLo = true, hi, lo
	pos := uint64(tablet)<<w.f.rowBits | uint64(row)
	if len(w.pending) > 0 {
		minPos, maxPos := min(w.minPos, pos), max(w.maxPos, pos)
		if fits(len(w.pending)+1, slotShift(hi-w.pending[0].hi), bits.Len64(maxPos-minPos), w.wide) {
			w.minPos, w.maxPos = minPos, maxPos
			w.pending = append(w.pending, entry{hi, lo, pos})
			return nil
		}
		if err := w.closeBlock(); err != nil {
			return err
		}
	}
	w.minPos, w.maxPos = pos, pos
	w.pending = append(w.pending, entry{hi, lo, pos})
	return nil
}

// misplaced is the error of a key that does not follow the last one.
func (w *Writer) misplaced(hi, lo uint64, tablet int, row uint32) error {
	p := Position{w.tablets[tablet].ID, row}
	if hi != w.f.lastHi || lo != w.f.lastLo {
		return sqlerr.New(sqlerr.Internal, "key file %s: the key of %s does not ascend", w.name, p)
	}
	last := w.pending[len(w.pending)-1].pos
	q := Position{w.tablets[last>>w.f.rowBits].ID, uint32(last & (1<<w.f.rowBits - 1))}
	return sqlerr.New(sqlerr.UniqueViolation, "the same merge key occurs at %s and at %s", q, p).
		Hintf("Keep only the last change of a key before writing a tablet; " +
			"if the source has several rows for one key, its columns do not identify a row: choose other key columns.")
}

func (w *Writer) closeBlock() error {
	if w.f.blocks == 1<<31 {
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "key file %s would exceed %d blocks; merge fewer files", w.name, 1<<31)
	}
	at := len(w.buf)
	w.buf = append(w.buf, make([]byte, BlockSize)...)
	encodeBlock((*block)(w.buf[at:]), w.f.blocks, w.pending, w.minPos, w.maxPos, w.wide)
	w.dir = append(w.dir, w.pending[0].hi)
	if w.wide {
		w.dir = append(w.dir, w.pending[0].lo)
	}
	w.f.blocks++
	w.f.keys += uint64(len(w.pending))
	w.pending = w.pending[:0]
	if len(w.buf) < writeBufferBytes {
		return nil
	}
	return w.flush()
}

func (w *Writer) flush() error {
	_, err := w.w.Write(w.buf)
	w.buf = w.buf[:0]
	if err != nil {
		return sqlerr.New(sqlerr.IOError, "writing key file %s: %w", w.name, err).
			Hintf("Check free space and permissions of the data root.")
	}
	return nil
}

// SetDeletes stores the delete rows of a sidecar.
func (w *Writer) SetDeletes(rows *roaring.Bitmap) error {
	if rows == nil || rows.IsEmpty() {
		return nil
	}
	if len(w.tablets) != 1 || rows.Maximum() >= w.tablets[0].Rows {
		return sqlerr.New(sqlerr.Internal, "key file %s: delete rows outside of its one tablet", w.name)
	}
	b, err := rows.ToBytes()
	if err != nil {
		return sqlerr.New(sqlerr.Internal, "key file %s: encoding delete rows: %w", w.name, err)
	}
	w.deletes, w.f.deletesLen = b, uint32(len(b))
	return nil
}

func appendUint64s(dst []byte, v []uint64) []byte {
	for _, x := range v {
		dst = binary.LittleEndian.AppendUint64(dst, x)
	}
	return dst
}

// Finish writes what is left and the footer.
func (w *Writer) Finish() (Summary, error) {
	if len(w.pending) > 0 {
		if err := w.closeBlock(); err != nil {
			return Summary{}, err
		}
	}
	w.f.metaAt = uint64(w.f.blocks) * BlockSize
	meta := encodeTablets(nil, w.tablets)
	meta = appendUint64s(meta, w.dir)
	meta = append(meta, w.deletes...)
	w.f.metaCheck = xxh3.Hash(meta)
	w.buf = append(append(w.buf, meta...), w.f.encode()...)
	if err := w.flush(); err != nil {
		return Summary{}, err
	}
	size := int64(w.f.metaAt) + int64(len(meta)) + footerSize
	return Summary{Keys: w.f.keys, Tablets: len(w.tablets), Bytes: size}, nil
}

// Sidecar is the key index of one tablet.
type Sidecar struct {
	Name    string // file name for errors
	Tablet  uint64
	Keys    *Keys           // one for each row, in row order
	Deletes *roaring.Bitmap // rows that are delete markers, or nil
}

// WriteSidecar writes the key file of one tablet. Two rows of one key are an error with SQLSTATE 23505.
func WriteSidecar(w io.Writer, s Sidecar) (Summary, error) {
	if err := s.Keys.check(); err != nil {
		return Summary{}, err
	}
	rows := uint32(s.Keys.Len())
	kw, err := NewWriter(w, s.Name, s.Keys.Width(), []TabletRows{{s.Tablet, rows}})
	if err != nil {
		return Summary{}, err
	}
	for _, it := range sortKeys(s.Keys) {
		lo := uint64(0)
		if s.Keys.Lo != nil {
			lo = s.Keys.Lo[it.idx]
		}
		if err := kw.Add(it.hi, lo, 0, it.idx); err != nil {
			return Summary{}, err
		}
	}
	if err := kw.SetDeletes(s.Deletes); err != nil {
		return Summary{}, err
	}
	return kw.Finish()
}
