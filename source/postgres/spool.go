package postgres

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

// spool holds the messages of one transaction that the source streams before its commit. What exceeds the memory of
// all spools goes to a file.
//
//	xid uint32 | length uint32 | message, little-endian lengths; xid is the subtransaction's
type spool struct {
	memory  []byte // follows what is in the file
	file    *os.File
	written int64
	aborted map[uint32]bool // subtransactions that were rolled back
}

const spoolHeader = 8

// spools holds the transactions being streamed, by their top-level xid.
type spools struct {
	open        map[uint32]*spool
	folder      string
	memoryBytes int64 // in all spools
	limitBytes  int64
}

func newSpools(folder string, limitBytes int64) *spools {
	const leastBytes = 1 << 20
	return &spools{open: map[uint32]*spool{}, folder: folder, limitBytes: max(limitBytes, leastBytes)}
}

// get returns the spool of a transaction, making it when it is new.
func (s *spools) get(top uint32) *spool {
	sp := s.open[top]
	if sp == nil {
		sp = &spool{aborted: map[uint32]bool{}}
		s.open[top] = sp
	}
	return sp
}

// add appends a message of (sub)transaction xid to the spool of the transaction top.
func (s *spools) add(top, xid uint32, message ...[]byte) error {
	sp, before := s.get(top), 0
	before = len(sp.memory)
	size := 0
	for _, m := range message {
		size += len(m)
	}
	sp.memory = binary.LittleEndian.AppendUint32(sp.memory, xid)
	sp.memory = binary.LittleEndian.AppendUint32(sp.memory, uint32(size))
	for _, m := range message {
		sp.memory = append(sp.memory, m...)
	}
	s.memoryBytes += int64(len(sp.memory) - before)
	for s.memoryBytes > s.limitBytes {
		if err := s.spill(); err != nil {
			return err
		}
	}
	return nil
}

// spill writes the memory of the largest spool to its file.
func (s *spools) spill() error {
	var largest *spool
	for _, sp := range s.open {
		if largest == nil || len(sp.memory) > len(largest.memory) {
			largest = sp
		}
	}
	if largest.file == nil {
		f, err := os.CreateTemp(s.folder, "transaction-*.spool")
		if err != nil {
			return spillError("making a spill file", err)
		}
		largest.file = f
	}
	if _, err := largest.file.Write(largest.memory); err != nil {
		return spillError("writing a spill file", err)
	}
	largest.written += int64(len(largest.memory))
	s.memoryBytes -= int64(len(largest.memory))
	largest.memory = nil
	return nil
}

func spillError(doing string, err error) error {
	return sqlerr.New(sqlerr.IOError, "%s for a large transaction: %w", doing, err).
		Hintf("make room in the folder for temporary files; it is tried again")
}

// abort drops what a rolled back (sub)transaction did.
func (s *spools) abort(top, xid uint32) {
	sp := s.open[top]
	switch {
	case sp == nil:
	case top == xid:
		s.take(top).close()
	default:
		sp.aborted[xid] = true
	}
}

// take removes the spool of a transaction, nil when there is none; the caller closes it.
func (s *spools) take(top uint32) *spool {
	sp := s.open[top]
	if sp != nil {
		s.memoryBytes -= int64(len(sp.memory))
		delete(s.open, top)
	}
	return sp
}

func (s *spools) close() {
	for top := range s.open {
		s.take(top).close()
	}
}

func (sp *spool) close() {
	if sp == nil || sp.file == nil {
		return
	}
	_ = sp.file.Close()
	_ = os.Remove(sp.file.Name())
	sp.file = nil
}

// spoolReader reads the messages of a spool.
type spoolReader struct {
	*spool
	file   *bufio.Reader
	buffer []byte
	left   int64 // bytes in the file
	at     int   // in memory
}

func (sp *spool) reader() (*spoolReader, error) {
	r := &spoolReader{spool: sp, left: sp.written}
	if sp.file != nil {
		if _, err := sp.file.Seek(0, io.SeekStart); err != nil {
			return nil, spillError("reading a spill file", err)
		}
		r.file = bufio.NewReaderSize(sp.file, 256<<10)
	}
	return r, nil
}

// next returns the next message, valid until the following call, and whether it was rolled back; nil at the end.
func (r *spoolReader) next() (message []byte, dropped bool, err error) {
	head, err := r.bytes(spoolHeader)
	if err != nil || head == nil {
		return nil, false, err
	}
	xid, size := binary.LittleEndian.Uint32(head), binary.LittleEndian.Uint32(head[4:])
	message, err = r.bytes(int(size))
	if err == nil && len(message) == 0 {
		err = spillError("reading a spill file", io.ErrUnexpectedEOF)
	}
	return message, r.aborted[xid], err
}

// bytes returns the next n bytes, nil at the end. A message never straddles file and memory.
func (r *spoolReader) bytes(n int) ([]byte, error) {
	if r.left == 0 {
		if r.at+n > len(r.memory) {
			return nil, nil
		}
		r.at += n
		return r.memory[r.at-n : r.at], nil
	}
	if cap(r.buffer) < n {
		r.buffer = make([]byte, n)
	}
	r.buffer = r.buffer[:n]
	if _, err := io.ReadFull(r.file, r.buffer); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, spillError(fmt.Sprintf("reading the spill file %s", r.spool.file.Name()), err)
	}
	r.left -= int64(n)
	return r.buffer, nil
}
