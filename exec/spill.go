package exec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/klauspost/compress/s2"
	"github.com/zeebo/xxh3"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// ticket hands out the numbers 0, 1, 2, ... to workers.
type ticket struct{ n atomic.Int64 }

func (t *ticket) take() int { return int(t.n.Add(1) - 1) }

// spillFolder holds the temporary files of one query.
type spillFolder struct {
	parent string
	usage  *Usage
	mu     sync.Mutex
	dir    string // made when first needed
	open   func(name string) (*os.File, error)
	files  []*spillFile
}

func newSpillFolder(parent string, usage *Usage) *spillFolder {
	return &spillFolder{parent: parent, usage: usage, open: func(name string) (*os.File, error) {
		return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	}}
}

// enabled reports whether spilling is allowed.
func (f *spillFolder) enabled() bool { return f.parent != "" }

// create makes a new file. Its writes are counted to m.
func (f *spillFolder) create(m *nodeMetrics) (*spillFile, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dir == "" {
		if err := os.MkdirAll(f.parent, 0o700); err != nil {
			return nil, spillError("create the folder for temporary files", f.parent, err)
		}
		dir, err := os.MkdirTemp(f.parent, "query-")
		if err != nil {
			return nil, spillError("create a folder for temporary files in", f.parent, err)
		}
		f.dir = dir
	}
	name := filepath.Join(f.dir, fmt.Sprintf("%d.spill", len(f.files)))
	file, err := f.open(name)
	if err != nil {
		return nil, spillError("create the temporary file", name, err)
	}
	s := &spillFile{f: file, m: m, usage: f.usage}
	f.files = append(f.files, s)
	return s, nil
}

// remove closes and deletes every file; idempotent.
func (f *spillFolder) remove() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.files {
		s.f.Close()
	}
	dir := f.dir
	f.files, f.dir = nil, ""
	if dir == "" {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return spillError("remove the temporary folder", dir, err)
	}
	return nil
}

func spillError(doing, path string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return sqlerr.New(sqlerr.DiskFull, "cannot %s %s: %w", doing, path, err).
			Hintf("free space in the folder for temporary files or name a larger one, raise execution.memory_limit so that less is spilled, or make the query hold fewer rows at once")
	}
	return sqlerr.New(sqlerr.IOError, "cannot %s %s: %w", doing, path, err).
		Hintf("check the space and permissions of the folder for temporary files, or raise execution.memory_limit so that nothing is spilled")
}

// spillFile is a temporary file of batches. Any goroutine may write and read.
//
//	+--------+--------+-------------+------------------+
//	| length | length | xxh3 of the | batch, s2 coded  |
//	| coded  | plain  | coded bytes | (length coded)   |
//	+--------+--------+-------------+------------------+
//	   u32      u32        u64
type spillFile struct {
	f     *os.File
	m     *nodeMetrics
	usage *Usage
	mu    sync.Mutex
	size  int64
}

const spillHeader = 16

// spillScratch is the memory that writing or reading a batch takes for the while.
type spillScratch struct {
	plain bytes.Buffer
	block []byte
}

var spillScratches = sync.Pool{New: func() any { return new(spillScratch) }}

// free lets the memory be used again, unless a large batch made it so large that it is better given back.
func (s *spillScratch) free() {
	if s.plain.Cap()+cap(s.block) <= splitBytes {
		spillScratches.Put(s)
	}
}

// spilled is a batch in a spillFile.
type spilled struct {
	file *spillFile
	at   int64
	size int
	rows int
}

// write appends a batch of flat columns.
func (s *spillFile) write(b *vec.Batch) (spilled, error) {
	scratch := spillScratches.Get().(*spillScratch)
	defer scratch.free()
	plain := &scratch.plain
	plain.Reset()
	encodeBatch(plain, b)
	if plain.Len() > 1<<32-1 {
		return spilled{}, sqlerr.New(sqlerr.ProgramLimitExceeded, "a batch of %d bytes is too large for a temporary file", plain.Len()).
			Hintf("raise execution.memory_limit, or select fewer or shorter values")
	}
	scratch.block = resize(scratch.block, spillHeader+s2.MaxEncodedLen(plain.Len()))
	coded := s2.Encode(scratch.block[spillHeader:], plain.Bytes())
	block := scratch.block[:spillHeader+len(coded)]
	binary.LittleEndian.PutUint32(block, uint32(len(coded)))
	binary.LittleEndian.PutUint32(block[4:], uint32(plain.Len()))
	binary.LittleEndian.PutUint64(block[8:], xxh3.Hash(coded))
	s.mu.Lock()
	at := s.size
	s.size += int64(len(block))
	s.mu.Unlock()
	if _, err := s.f.WriteAt(block, at); err != nil {
		return spilled{}, spillError("write the temporary file", s.f.Name(), err)
	}
	if s.m != nil {
		s.m.spill.Add(int64(len(block)))
	}
	s.usage.spill(int64(len(block)))
	return spilled{file: s, at: at, size: len(block), rows: b.N}, nil
}

// truncate empties the file. Nothing written before can be read any more.
func (s *spillFile) truncate() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.size = 0
	if err := s.f.Truncate(0); err != nil {
		return spillError("empty the temporary file", s.f.Name(), err)
	}
	return nil
}

// remove closes and deletes the file, ahead of the query's end.
func (s *spillFile) remove() error {
	s.f.Close()
	if err := os.Remove(s.f.Name()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return spillError("remove the temporary file", s.f.Name(), err)
	}
	return nil
}

// read returns the batch.
func (p spilled) read(types []vec.Type) (*vec.Batch, error) {
	scratch := spillScratches.Get().(*spillScratch)
	defer scratch.free()
	scratch.block = resize(scratch.block, p.size)
	block := scratch.block
	name := p.file.f.Name()
	if _, err := p.file.f.ReadAt(block, p.at); err != nil {
		return nil, spillError("read the temporary file", name, err)
	}
	coded := block[spillHeader:]
	if int(binary.LittleEndian.Uint32(block)) != len(coded) || binary.LittleEndian.Uint64(block[8:]) != xxh3.Hash(coded) {
		return nil, p.damaged("its checksum does not match")
	}
	plain, err := s2.Decode(nil, coded)
	if err != nil || len(plain) != int(binary.LittleEndian.Uint32(block[4:])) {
		return nil, p.damaged("it does not decode")
	}
	b, ok := decodeBatch(plain, types)
	if !ok || b.N != p.rows {
		return nil, p.damaged("its content is not a batch of the expected columns")
	}
	return b, nil
}

func (p spilled) damaged(how string) error {
	return sqlerr.New(sqlerr.DataCorrupted, "temporary file %s is damaged at offset %d: %s", p.file.f.Name(), p.at, how).
		Hintf("run the query again; if it happens again, check the disk")
}
