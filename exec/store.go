package exec

import (
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

const (
	firstChunkRows = 1024     // a store starts small, as most hold little
	chunkRows      = 64 << 10 // and settles at this
	maxChunkBytes  = 1 << 30  // of strings in one column of a chunk, half of what its offsets can address
	fewKeptRows    = 128      // below this many rows over one dictionary, keeping dictionaries does not pay
)

// store is an append-only table in memory: flat columns in chunks. The zero store is not usable: call newStore.
type store struct {
	types  []vec.Type
	chunks []*vec.Batch // sealed
	open   []*colBuf
	rows   int                                // in the open chunk
	next   int                                // rows at which the open chunk is sealed
	most   int                                // next at most
	total  int64                              // rows in all
	sealed int64                              // bytes of the sealed chunks
	kept   int                                // of so many leading columns, dictionaries are kept, which whoever appends sees to; without their bytes
	keeps  func(i int, dict *vec.Vector) bool // where set, of those columns only dictionaries it says
}

func newStore(types []vec.Type) *store {
	return &store{types: types, next: firstChunkRows, most: chunkRows}
}

// memory returns the bytes held.
func (s *store) memory() int64 {
	size := s.sealed
	for _, c := range s.open {
		size += c.memory()
	}
	return size
}

// append copies the n rows that sel (nil: the first n) picks from cols.
func (s *store) append(cols []*vec.Vector, sel vec.Selection, n int) {
	if n == 0 {
		return
	}
	var incoming int64
	for i, c := range cols {
		if s.dictionary(c, i) == nil {
			incoming = max(incoming, bytesToAppend(c, sel, n))
		}
	}
	if incoming > maxChunkBytes && n > 1 { // a long constant, say: half of the rows at a time
		if sel == nil {
			sel = vec.Sequence(n)
		}
		s.append(cols, sel[:n/2], n/2)
		s.append(cols, sel[n/2:n], n-n/2)
		return
	}
	if s.open != nil && !s.fits(cols, incoming) {
		if s.rows < fewKeptRows { // dictionaries that change this often make for small chunks
			s.kept = 0
		}
		s.seal()
	}
	if s.open == nil {
		s.open = make([]*colBuf, len(s.types))
		for i, t := range s.types {
			if d := s.dictionary(cols[i], i); d != nil {
				s.open[i] = newIndexBuf(d, max(n, s.next))
			} else {
				s.open[i] = newColBuf(t, max(n, s.next))
			}
		}
	}
	for i, c := range cols {
		s.open[i].append(c, sel, n)
	}
	s.rows += n
	s.total += int64(n)
	if s.rows >= s.next {
		s.seal()
	}
}

// dictionary returns the dictionary over which column i is to be kept, nil where rows are copied.
func (s *store) dictionary(v *vec.Vector, i int) *vec.Vector {
	if i >= s.kept || v.Form != vec.Dictionary || v.Type.Phys() != vec.PhysBytes || s.keeps != nil && !s.keeps(i, v.Dict) {
		return nil
	}
	return v.Dict
}

func (s *store) fits(cols []*vec.Vector, incoming int64) bool {
	for i, c := range s.open {
		if c.dict == nil && c.width == 0 && int64(len(c.data))+incoming > maxChunkBytes {
			return false
		}
		if c.dict != s.dictionary(cols[i], i) {
			return false
		}
	}
	return true
}

// seal ends the open chunk.
func (s *store) seal() {
	if s.rows == 0 {
		return
	}
	b := &vec.Batch{N: s.rows, Cols: make([]*vec.Vector, len(s.open))}
	for i, c := range s.open {
		s.sealed += c.memory()
		b.Cols[i] = c.finish()
	}
	s.chunks = append(s.chunks, b)
	s.open, s.rows = nil, 0
	s.next = min(s.next*4, s.most)
}

// take seals and returns every chunk, leaving the store empty.
func (s *store) take() []*vec.Batch {
	s.seal()
	out := s.chunks
	s.chunks, s.sealed, s.total = nil, 0, 0
	return out
}

// concat returns column i of the chunks as one flat vector.
func concat(q *query, t vec.Type, chunks []*vec.Batch, i int) (*vec.Vector, error) {
	if len(chunks) == 1 && chunks[0].Cols[i].Form == vec.Flat && chunks[0].Sel == nil {
		return chunks[0].Cols[i], nil
	}
	rows, size := 0, 0
	for _, c := range chunks {
		rows += c.N
		if v := c.Cols[i]; v.Form == vec.Flat {
			size += len(v.Data)
		} else if t.Phys() == vec.PhysBytes {
			size += int(vec.BytesTotal(v))
		}
	}
	if t.Phys() == vec.PhysBytes && size > vec.MaxBytes {
		return nil, sqlerr.New(sqlerr.ProgramLimitExceeded, "%d bytes of strings in one column of an operator exceed %d", size, vec.MaxBytes).
			Hintf("set execution.memory_limit so that the operator works in parts, or select fewer or shorter strings")
	}
	buf := newColBuf(t, rows)
	if buf.offsets != nil {
		buf.data = make([]byte, 0, size)
	}
	for _, c := range chunks {
		if err := q.check(); err != nil {
			return nil, err
		}
		buf.append(c.Cols[i], nil, c.N)
	}
	return buf.finish(), nil
}
