package maskindex

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/zeebo/xxh3"
)

// File is an open key file. It is safe for concurrent use until Close.
type File struct {
	name     string
	src      io.ReaderAt
	mapped   []byte // the blocks, when the file is mapped
	unmap    func() error
	f        footer
	size     int64
	tablets  []TabletRows
	dirHi    []uint64
	dirLo    []uint64 // only for 128-bit keys
	deletes  *roaring.Bitmap
	verified []atomic.Uint64 // one bit a block, only when mapped
	ahead    sync.Once       // readAhead
	close    sync.Once
	closeErr error
}

// OpenPath opens a key file in the local file system and maps it into memory where the system can.
func OpenPath(path string) (*File, error) {
	fd, err := os.Open(path)
	if err != nil {
		return nil, sqlerr.New(sqlerr.UndefinedFile, "opening key file: %w", err).
			Hintf("Restore the file from a copy, or rebuild it from its tablets.")
	}
	st, err := fd.Stat()
	if err != nil {
		fd.Close()
		return nil, readFailed(path, 0, err)
	}
	data, unmap, err := mapFile(fd, st.Size())
	if err != nil || data == nil { // not mappable: read through the descriptor
		f, err := OpenReader(path, fd, st.Size())
		if err != nil {
			fd.Close()
			return nil, err
		}
		f.unmap = fd.Close
		return f, nil
	}
	fd.Close()
	f := &File{name: path, size: st.Size(), unmap: unmap}
	err = guard(path, func() error { return f.load(byteReader(data)) })
	if err != nil {
		unmap()
		return nil, err
	}
	f.mapped = data[:f.f.metaAt:f.f.metaAt]
	f.verified = make([]atomic.Uint64, (f.f.blocks+63)/64)
	return f, nil
}

// OpenReader opens a key file of size bytes called name, in errors. r is used until Close and not closed.
func OpenReader(name string, r io.ReaderAt, size int64) (*File, error) {
	f := &File{name: name, src: r, size: size}
	if err := f.load(r); err != nil {
		return nil, err
	}
	return f, nil
}

// byteReader is an io.ReaderAt over memory.
type byteReader []byte

func (b byteReader) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off > int64(len(b)) {
		return 0, io.EOF
	}
	n := copy(p, b[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// tailBytes is read at open in one go: it holds footer and meta of a sidecar of several million rows.
const tailBytes = 64 << 10

// load reads and checks footer and meta.
func (f *File) load(r io.ReaderAt) error {
	if f.size < footerSize {
		return damaged(f.name, 0, "%d bytes are too few for a key file", f.size)
	}
	tail := make([]byte, min(f.size, tailBytes))
	if err := readFull(f.name, r, tail, f.size-int64(len(tail))); err != nil {
		return err
	}
	var err error
	if f.f, err = decodeFooter(f.name, tail[len(tail)-footerSize:], f.size); err != nil {
		return err
	}
	var meta []byte
	if need := f.f.metaLen + footerSize; need <= int64(len(tail)) {
		meta = tail[int64(len(tail))-need : len(tail)-footerSize]
	} else {
		meta = make([]byte, f.f.metaLen)
		if err := readFull(f.name, r, meta, int64(f.f.metaAt)); err != nil {
			return err
		}
	}
	if xxh3.Hash(meta) != f.f.metaCheck {
		return damaged(f.name, int64(f.f.metaAt), "the checksum of the directory does not match")
	}
	return f.decodeMeta(meta)
}

func (f *File) decodeMeta(meta []byte) error {
	f.tablets = decodeTablets(meta[:f.f.directoryEntryAt])
	if rowBitsFor(f.tablets) != f.f.rowBits {
		return damaged(f.name, int64(f.f.metaAt), "the tablet list contradicts the footer")
	}
	dir := meta[f.f.directoryEntryAt : f.f.metaLen-int64(f.f.deletesLen)]
	step := int(f.f.directoryEntry())
	f.dirHi = make([]uint64, f.f.blocks)
	if f.wide() {
		f.dirLo = make([]uint64, f.f.blocks)
	}
	for i := range f.dirHi {
		f.dirHi[i] = binary.LittleEndian.Uint64(dir[i*step:])
		if f.wide() {
			f.dirLo[i] = binary.LittleEndian.Uint64(dir[i*step+8:])
		}
		if i > 0 && !f.ascends(i-1, f.dirHi[i], f.low(i)) {
			return damaged(f.name, int64(f.f.metaAt)+f.f.directoryEntryAt, "the directory does not ascend at block %d", i)
		}
	}
	if n := len(f.dirHi); n > 0 && (f.f.lastHi < f.dirHi[n-1] || f.f.lastHi == f.dirHi[n-1] && f.f.lastLo < f.low(n-1)) {
		return damaged(f.name, int64(f.f.metaAt), "the last key precedes the last block")
	}
	return f.decodeDeletes(meta[f.f.metaLen-int64(f.f.deletesLen):])
}

func (f *File) decodeDeletes(b []byte) error {
	f.deletes = roaring.New()
	if len(b) == 0 {
		return nil
	}
	at := f.size - footerSize - int64(len(b))
	bm, err := readBitmap(b)
	if err != nil {
		return damaged(f.name, at, "the delete rows cannot be decoded: %v", err)
	}
	if len(f.tablets) != 1 || !bm.IsEmpty() && bm.Maximum() >= f.tablets[0].Rows {
		return damaged(f.name, at, "it marks deletes outside of its one tablet")
	}
	f.deletes = bm
	return nil
}

// readBitmap decodes one portable Roaring bitmap that fills b, and checks it throughout.
func readBitmap(b []byte) (bm *roaring.Bitmap, err error) {
	defer func() {
		if p := recover(); p != nil {
			bm, err = nil, fmt.Errorf("invalid Roaring bitmap: %v", p)
		}
	}()
	bm = roaring.New()
	n, err := bm.ReadFrom(bytes.NewReader(b)) // copies: a bitmap over b would be copy-on-write, which writes in its source
	if err != nil {
		return nil, err
	}
	if n != int64(len(b)) {
		return nil, fmt.Errorf("%d of %d bytes used", n, len(b))
	}
	if err := bm.Validate(); err != nil && !bm.IsEmpty() {
		return nil, err
	}
	return bm, nil
}

func (f *File) wide() bool { return f.f.width == Width128 }

func (f *File) low(i int) uint64 {
	if f.dirLo == nil {
		return 0
	}
	return f.dirLo[i]
}

// ascends reports whether the first key of block i precedes the key.
func (f *File) ascends(i int, hi, lo uint64) bool {
	return f.dirHi[i] < hi || f.dirHi[i] == hi && f.low(i) < lo
}

// Name returns the name the file was opened by.
func (f *File) Name() string { return f.name }

// Len returns the number of keys.
func (f *File) Len() int { return int(f.f.keys) }

// Width returns the width of the keys.
func (f *File) Width() Width { return f.f.width }

// SizeBytes returns the size of the file.
func (f *File) SizeBytes() int64 { return f.size }

// ResidentBytes returns how much memory the open file holds besides mapped pages.
func (f *File) ResidentBytes() int64 {
	return int64(16*len(f.tablets)+8*len(f.dirHi)+8*len(f.dirLo)+8*len(f.verified)) + int64(f.deletes.GetSizeInBytes())
}

// Tablets returns the tablets the file covers, by ordinal. The caller must not change it.
func (f *File) Tablets() []TabletRows { return f.tablets }

// Deletes returns the delete rows of a sidecar, never nil. The caller must not change it.
func (f *File) Deletes() *roaring.Bitmap { return f.deletes }

// Close releases the file. No other method may be running or called later.
func (f *File) Close() error {
	f.close.Do(func() {
		if f.unmap != nil {
			f.closeErr = f.unmap()
		}
	})
	return f.closeErr
}

// position unpacks a packed position and checks it against the tablet list.
func (f *File) position(pos uint64) (ordinal int, row uint32, ok bool) {
	o, r := pos>>f.f.rowBits, pos&(1<<f.f.rowBits-1)
	if o >= uint64(len(f.tablets)) || r >= uint64(f.tablets[o].Rows) {
		return 0, 0, false
	}
	return int(o), uint32(r), true
}

// mappedBlock returns block i of a mapped file, verified on its first touch.
func (f *File) mappedBlock(i int) (*block, error) {
	b := (*block)(f.mapped[i*BlockSize:])
	word, bit := &f.verified[i/64], uint64(1)<<(i%64)
	if word.Load()&bit != 0 {
		return b, nil
	}
	if err := f.verify(b, i); err != nil {
		return nil, err
	}
	word.Or(bit)
	return b, nil
}

func (f *File) verify(b *block, i int) error {
	if why := checkBlock(b, uint32(i), f.wide()); why != "" {
		return damaged(f.name, int64(i)*BlockSize, "block %d: %s", i, why)
	}
	if v := viewBlock(b, f.wide()); v.base != f.dirHi[i] {
		return damaged(f.name, int64(i)*BlockSize, "block %d: the directory names another first key", i)
	}
	return nil
}

func readFull(name string, r io.ReaderAt, p []byte, off int64) error {
	n, err := r.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if err == nil || err == io.EOF {
		return damaged(name, off+int64(n), "it ends here, before %d expected bytes", len(p)-n)
	}
	return readFailed(name, off, err)
}

func readFailed(name string, off int64, err error) error {
	return sqlerr.New(sqlerr.IOError, "reading key file %s at offset %d: %w", name, off, err).
		Hintf("Check that the data root is reachable and try again.")
}

// guard runs fn and turns a fault in mapped memory, which is how a truncated or unreadable file shows, and any other
// panic into an error.
func guard(name string, fn func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(old)
		if p := recover(); p != nil {
			if fault, ok := p.(interface{ Addr() uintptr }); ok {
				err = sqlerr.New(sqlerr.DataCorrupted, "key file %s was truncated or became unreadable while mapped (fault at %#x)",
					name, fault.Addr()).Hintf("Restore the file from a copy, or rebuild it from its tablets.")
				return
			}
			err = sqlerr.New(sqlerr.Internal, "key file %s: panic: %v\n%s", name, p, debug.Stack())
		}
	}()
	return fn()
}
