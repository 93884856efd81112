package maskindex

import (
	"context"
	"io"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

// Fate says what becomes of a tablet's entries in a merge.
type Fate struct {
	Gone bool  // the tablet left the table: its entries are dropped
	Dead *Mask // rows whose entries are dropped, by their old ordinals; nil stands for none

	// Move, when set, is a rewrite: the entry of row old becomes that of row new of To. live is false for rows that
	// the rewrite left out. Several tablets may move into one. Rank.Remap is a Move.
	Move func(old uint32) (new uint32, live bool)
	To   TabletRows
}

// MergeOptions are the choices of a merge.
type MergeOptions struct {
	Name string // of the file that is written, in errors
	// Tablet returns the fate of a tablet; it is called once for each tablet of each input. nil keeps every entry.
	Tablet func(id uint64) Fate
	// Superseded is told of every entry that is dropped because a newer input holds its key. nil makes that an error:
	// among tablets whose masks are committed one of the two would be dead, and dropping a live one would lose track
	// of it.
	Superseded func(older Position)
}

// MergeSummary describes a finished merge.
type MergeSummary struct {
	Summary
	Read       uint64 // entries read
	Gone       uint64 // dropped with their tablets
	Dead       uint64 // dropped by masks and rewrites
	Superseded uint64 // dropped for a newer entry of their key
}

// Merge writes the live entries of inputs, ordered from old to new, as one key file to w. Memory is a few blocks for
// each input and a bit for each row of tablets with dead rows.
func Merge(ctx context.Context, w io.Writer, inputs []*File, opt MergeOptions) (MergeSummary, error) {
	m, err := newMerger(w, inputs, opt)
	if err != nil {
		return MergeSummary{}, err
	}
	if err := m.run(ctx); err != nil {
		return MergeSummary{}, err
	}
	m.sum.Summary, err = m.w.Finish()
	return m.sum, err
}

// outlet is the fate of one tablet of one input, made ready for the loop.
type outlet struct {
	gone  bool
	dead  []uint64 // dense; nil: none
	all   bool     // every row is dead
	move  func(uint32) (uint32, bool)
	place int // of the tablet in the output
}

type stream struct {
	cursor
	outlets []outlet
	age     int // place among the inputs
}

type merger struct {
	w       *Writer
	opt     MergeOptions
	tablets []TabletRows // of the output
	heap    []*stream
	sum     MergeSummary
	held    held // newest live entry of the current key
}

type held struct {
	hi, lo uint64
	place  int
	row    uint32
	full   bool
}

func newMerger(w io.Writer, inputs []*File, opt MergeOptions) (*merger, error) {
	if len(inputs) == 0 {
		return nil, sqlerr.New(sqlerr.Internal, "a merge needs an input")
	}
	m := &merger{opt: opt}
	places := map[uint64]int{}
	for age, f := range inputs {
		if f.Width() != inputs[0].Width() {
			return nil, sqlerr.New(sqlerr.Internal, "key files %s and %s have keys of different widths",
				f.name, inputs[0].name)
		}
		s := &stream{cursor: *f.cursor(), age: age, outlets: make([]outlet, len(f.tablets))}
		for i, t := range f.tablets {
			o, err := m.outlet(t, places)
			if err != nil {
				return nil, err
			}
			s.outlets[i] = o
		}
		m.heap = append(m.heap, s)
	}
	var err error
	m.w, err = NewWriter(w, opt.Name, inputs[0].Width(), m.tablets)
	return m, err
}

func (m *merger) outlet(t TabletRows, places map[uint64]int) (outlet, error) {
	var fate Fate
	if m.opt.Tablet != nil {
		fate = m.opt.Tablet(t.ID)
	}
	if fate.Gone {
		return outlet{gone: true}, nil
	}
	to := t
	if fate.Move != nil {
		to = fate.To
	}
	place, ok := places[to.ID]
	if !ok {
		place = len(m.tablets)
		places[to.ID] = place
		m.tablets = append(m.tablets, to)
	}
	if m.tablets[place].Rows != to.Rows {
		return outlet{}, sqlerr.New(sqlerr.DataCorrupted, "tablet %d has %d rows in one key file and %d in another",
			to.ID, m.tablets[place].Rows, to.Rows).Hintf("Rebuild the key files of the tablet.")
	}
	o := outlet{place: place, move: fate.Move, all: fate.Dead.All()}
	if !fate.Dead.None() && !o.all {
		if fate.Dead.Rows() != t.Rows {
			return outlet{}, sqlerr.New(sqlerr.Internal, "a mask of %d rows for tablet %d of %d", fate.Dead.Rows(), t.ID, t.Rows)
		}
		o.dead = fate.Dead.expanded()
	}
	return o, nil
}

func (m *merger) run(ctx context.Context) error {
	live := m.heap[:0]
	for _, s := range m.heap {
		e, err := s.head(ctx)
		if err != nil {
			return err
		}
		if e != nil {
			live = append(live, s)
		}
	}
	m.heap = live
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.sift(i)
	}
	for len(m.heap) > 0 {
		if err := m.step(ctx); err != nil {
			return err
		}
	}
	return m.release()
}

// step takes entries from the stream with the least key for as long as no other stream has a lesser one.
func (m *merger) step(ctx context.Context) error {
	s := m.heap[0]
	bound := m.second()
	for {
		if err := m.take(s, &s.entries[s.at]); err != nil {
			return err
		}
		s.at++
		e, err := s.head(ctx)
		if err != nil {
			return err
		}
		if e == nil {
			last := len(m.heap) - 1
			m.heap[0] = m.heap[last]
			m.heap = m.heap[:last]
			break
		}
		if bound != nil && !before(s, bound) {
			break
		}
	}
	if len(m.heap) > 0 {
		m.sift(0)
	}
	return nil
}

// second returns the stream with the least key but for the first.
func (m *merger) second() *stream {
	switch len(m.heap) {
	case 1:
		return nil
	case 2:
		return m.heap[1]
	}
	if before(m.heap[2], m.heap[1]) {
		return m.heap[2]
	}
	return m.heap[1]
}

// before orders streams by their next key, and equal keys from old to new.
func before(a, b *stream) bool {
	x, y := &a.entries[a.at], &b.entries[b.at]
	if x.hi != y.hi {
		return x.hi < y.hi
	}
	if x.lo != y.lo {
		return x.lo < y.lo
	}
	return a.age < b.age
}

func (m *merger) sift(i int) {
	for {
		c := 2*i + 1
		if c >= len(m.heap) {
			return
		}
		if c+1 < len(m.heap) && before(m.heap[c+1], m.heap[c]) {
			c++
		}
		if !before(m.heap[c], m.heap[i]) {
			return
		}
		m.heap[i], m.heap[c] = m.heap[c], m.heap[i]
		i = c
	}
}

// take holds the entry as the newest of its key, unless it is dead.
func (m *merger) take(s *stream, e *entry) error {
	m.sum.Read++
	ordinal, row, ok := s.f.position(e.pos)
	if !ok {
		return s.f.strayPosition(e.hi, e.lo, e.pos)
	}
	o := &s.outlets[ordinal]
	switch {
	case o.gone:
		m.sum.Gone++
		return nil
	case o.all, o.dead != nil && o.dead[row/64]>>(row%64)&1 != 0:
		m.sum.Dead++
		return nil
	}
	if o.move != nil {
		if row, ok = o.move(row); !ok {
			m.sum.Dead++
			return nil
		}
	}
	next := held{e.hi, e.lo, o.place, row, true}
	if m.held.full && m.held.hi == e.hi && m.held.lo == e.lo {
		if err := m.supersede(next); err != nil {
			return err
		}
	} else if err := m.release(); err != nil {
		return err
	}
	m.held = next
	return nil
}

// supersede drops the held entry for a newer one of its key.
func (m *merger) supersede(next held) error {
	if next == m.held {
		return nil // two inputs cover one tablet
	}
	older := Position{m.tablets[m.held.place].ID, m.held.row}
	m.sum.Superseded++
	if m.opt.Superseded != nil {
		m.opt.Superseded(older)
		return nil
	}
	return sqlerr.New(sqlerr.DataCorrupted, "%s and %s are live and have the same merge key", older,
		Position{m.tablets[next.place].ID, next.row}).
		Hintf("Merge only key files of tablets whose masks are committed; if they are, run flightsrv check.")
}

func (m *merger) release() error {
	if !m.held.full {
		return nil
	}
	m.held.full = false
	return m.w.Add(m.held.hi, m.held.lo, m.held.place, m.held.row)
}
