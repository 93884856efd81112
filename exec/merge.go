package exec

import (
	"container/heap"

	"github.com/tidemarkdb/tidemark/vec"
)

// cursor walks one sorted run.
type cursor struct {
	q     *query
	order *ordering
	id    int // breaks ties, so that the order of runs is kept
	cols  []*vec.Vector
	rows  []sortEntry
	at    int
	list  *chunkList // what follows, in temporary files
	next  int
	mem   []sortEntry
}

// fill makes rows[at] the next row, reading on where needed; false at the end.
func (c *cursor) fill() (bool, error) {
	for c.at >= len(c.rows) {
		if c.list == nil || c.next >= c.list.len() {
			return false, nil
		}
		if err := c.q.check(); err != nil {
			return false, err
		}
		b, err := c.list.read(c.next)
		if err != nil {
			return false, err
		}
		c.next++
		c.mem = c.order.appendEntries(c.mem[:0], b.Cols, b.N, 0)
		c.cols, c.rows, c.at = b.Cols, c.mem, 0
	}
	return true, nil
}

// mergeHeap keeps the cursor with the least row on top.
type mergeHeap struct {
	order   *ordering
	cursors []*cursor
}

func (h *mergeHeap) Len() int      { return len(h.cursors) }
func (h *mergeHeap) Swap(i, j int) { h.cursors[i], h.cursors[j] = h.cursors[j], h.cursors[i] }
func (h *mergeHeap) Push(x any)    { h.cursors = append(h.cursors, x.(*cursor)) }
func (h *mergeHeap) Pop() any {
	last := h.cursors[len(h.cursors)-1]
	h.cursors = h.cursors[:len(h.cursors)-1]
	return last
}

func (h *mergeHeap) Less(i, j int) bool {
	a, b := h.cursors[i], h.cursors[j]
	c := compareEntries(a.rows[a.at], b.rows[b.at])
	if c == 0 && !h.order.complete {
		c = h.order.rows(a.cols, int(a.rows[a.at].row), b.cols, int(b.rows[b.at].row))
	}
	return c < 0 || c == 0 && a.id < b.id
}

// run yields the rows of all runs in order, on the first worker.
func (s *sorter) run(w *worker, out consumer) error {
	if w.id != 0 {
		return nil
	}
	return s.merge(w, out)
}

// merge yields the rows of all runs in order.
func (s *sorter) merge(w *worker, out consumer) error {
	if len(s.runs) == 1 && s.runs[0].list == nil {
		return s.runs[0].yield(w, s.width, out)
	}
	h := &mergeHeap{order: s.order}
	for i, r := range s.runs {
		c := &cursor{q: s.q, order: s.order, id: i, cols: r.cols, rows: r.order, list: r.list}
		ok, err := c.fill()
		if err != nil {
			return err
		}
		if ok {
			h.cursors = append(h.cursors, c)
		}
	}
	heap.Init(h)
	m := newMixer(s.types[:s.width])
	for h.Len() > 0 {
		c := h.cursors[0]
		m.add(c.cols, c.rows[c.at].row)
		c.at++
		more, err := c.fill()
		if err != nil {
			return err
		}
		if more {
			heap.Fix(h, 0)
		} else {
			heap.Pop(h)
		}
		if m.n() == vec.BatchRows || h.Len() == 0 {
			if err := w.check(); err != nil {
				return err
			}
			if err := out.consume(m.batch()); err != nil {
				return err
			}
		}
	}
	return nil
}

// yield passes on the rows of a run in memory.
func (r *sortedRun) yield(w *worker, width int, out consumer) error {
	index := make([]int32, 0, vec.BatchRows)
	pick := make([]picker, width)
	for from := 0; from < len(r.order); from += vec.BatchRows {
		if err := w.check(); err != nil {
			return err
		}
		index = index[:0]
		for _, e := range r.order[from:min(from+vec.BatchRows, len(r.order))] {
			index = append(index, e.row)
		}
		b := &vec.Batch{N: len(index), Cols: make([]*vec.Vector, width)}
		for i := range b.Cols {
			b.Cols[i] = pick[i].take(r.cols[i], index)
		}
		if err := out.consume(b); err != nil {
			return err
		}
	}
	return nil
}

// mixer assembles batches of rows from several places.
type mixer struct {
	types []vec.Type
	from  [][]*vec.Vector // the distinct places
	last  []*vec.Vector
	src   []int32 // of each row, its place in from
	row   []int32
	index map[*vec.Vector]int32
}

func newMixer(types []vec.Type) *mixer {
	return &mixer{types: types, index: map[*vec.Vector]int32{}}
}

func (m *mixer) n() int { return len(m.row) }

// add appends a row of flat columns, which must stay as they are until batch.
func (m *mixer) add(cols []*vec.Vector, row int32) {
	src := int32(0)
	if len(cols) > 0 {
		var ok bool
		if len(m.from) > 0 && m.last[0] == cols[0] {
			src = m.src[len(m.src)-1]
		} else if src, ok = m.index[cols[0]]; !ok {
			src = int32(len(m.from))
			m.index[cols[0]] = src
			m.from = append(m.from, cols)
		}
		m.last = cols
	}
	m.src = append(m.src, src)
	m.row = append(m.row, row)
}

// batch returns the rows added and starts anew.
func (m *mixer) batch() *vec.Batch {
	b := &vec.Batch{N: len(m.row), Cols: make([]*vec.Vector, len(m.types))}
	for i, t := range m.types {
		b.Cols[i] = m.column(i, t)
	}
	m.from, m.src, m.row, m.last = nil, m.src[:0], m.row[:0], nil
	clear(m.index)
	return b
}

func (m *mixer) column(i int, t vec.Type) *vec.Vector {
	srcs := make([]*vec.Vector, len(m.from))
	nulls := false
	for k, cols := range m.from {
		srcs[k] = cols[i]
		nulls = nulls || cols[i].MayHaveNulls()
	}
	v := &vec.Vector{Type: t, N: len(m.row)}
	switch t.Phys().Width() {
	case 1:
		v.Data = mixFixed[byte](srcs, m.src, m.row)
	case 2:
		v.Data = mixFixed[int16](srcs, m.src, m.row)
	case 4:
		v.Data = mixFixed[int32](srcs, m.src, m.row)
	case 8:
		v.Data = mixFixed[int64](srcs, m.src, m.row)
	case 16:
		v.Data = mixFixed[vec.Int128](srcs, m.src, m.row)
	default:
		b := vec.NewBuilder(t, len(m.row))
		for k, r := range m.row {
			b.AppendFrom(srcs[m.src[k]], int(r))
		}
		return b.Finish()
	}
	if nulls {
		v.Valid = vec.NewBitmap(v.N)
		for k, r := range m.row {
			if !srcs[m.src[k]].IsNull(int(r)) {
				v.Valid.Set(k)
			}
		}
	}
	return v
}

func mixFixed[T vec.Fixed](srcs []*vec.Vector, src, row []int32) []byte {
	from := make([][]T, len(srcs))
	for i, s := range srcs {
		from[i] = vec.Cast[T](s.Data)
	}
	out := make([]T, len(row))
	for i, r := range row {
		out[i] = from[src[i]][r]
	}
	return vec.AsBytes(out)
}
