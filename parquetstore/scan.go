package parquetstore

import (
	"github.com/tidemarkdb/tidemark/vec"
)

// Mask tells the dead rows of a file, by ordinal from its first row; *maskindex.Mask is one. Many goroutines call it
// at once.
type Mask interface {
	// AllDead reports whether every row in [from, from+n) is dead.
	AllDead(from, n uint32) bool
	// LiveWords sets bit i where row from+i is live, of n rows, and clears the bits past them. dst is reused when it
	// is large enough.
	LiveWords(dst []uint64, from, n uint32) []uint64
}

// ListedMask is a Mask that can tell dead rows one by one, which scans without filters prefer. It is optional.
type ListedMask interface {
	Mask
	// DeadRows returns the dead rows in [from, from+n), counted from from on and ascending, in dst's memory or in what
	// the mask lends and nobody changes; false when they are too many to list.
	DeadRows(dst []int32, from, n uint32) ([]int32, bool)
}

// RowFilter is a condition that the caller evaluates, before columns that no filter needs are decoded.
type RowFilter struct {
	Columns []int // places in File.Columns of what Select looks at
	Total   bool  // Select fails on no row and may see dead ones

	// Select returns the rows of sel (nil: all n) that pass, never nil. cols are the vectors of Columns. What it
	// returns stays as it is until its next call.
	Select func(cols []*vec.Vector, n int, sel vec.Selection) (vec.Selection, error)
}

// Scan says what to read from a file. One Scan may serve many readers at once, as far as its Filters may be called at
// once; it must not change meanwhile.
type Scan struct {
	Columns    []int            // places in File.Columns, in the order of the batches' vectors
	Predicates []Predicate      // all must hold; see Exact
	Prune      []Predicate      // hold for every row that counts: they prune and are not evaluated
	Filters    []RowFilter      // applied in order to the rows that pass the predicates
	Runtime    []*RuntimeFilter // pass what they have published
	Mask       Mask             // nil: every row is live
	Position   bool             // append a BIGINT vector of row ordinals in the file
	Except     bool             // batches may say in vec.Batch.Except which few rows do not count
	Borrow     bool             // batches are borrowed: the next one may take their memory, dictionaries aside
	Once       bool             // with Borrow: no cache keeps the pages, nor is it asked for them
	Counters   *Counters        // nil: not counted

	settled *settled // by Settle: read pages without the mask's dead rows
}

// Morsel is a stretch of rows of one row group, the unit of parallel scans.
type Morsel struct {
	Group    int // row group
	From, To int // rows within the row group
}

// MorselRows is about how many rows a morsel has. It is a multiple of vec.BatchRows.
const MorselRows = DefaultRowGroupRows

// Morsels returns the file in morsels, in row order. Large row groups are cut.
func (f *File) Morsels() []Morsel {
	var out []Morsel
	for g := range f.groups {
		rows := f.groups[g].rows
		for from := 0; from < rows; {
			to := min(from+MorselRows, rows)
			if rows-to < MorselRows/2 {
				to = rows
			}
			out = append(out, Morsel{Group: g, From: from, To: to})
			from = to
		}
	}
	return out
}

// FirstRow returns the ordinal in the file of a morsel's first row.
func (f *File) FirstRow(m Morsel) int64 { return f.groups[m.Group].first + int64(m.From) }

// Prune returns the morsels whose rows can pass the scan's predicates, by the statistics of their row groups.
func (f *File) Prune(s *Scan, morsels []Morsel) []Morsel {
	var out []Morsel
	predicates := s.current()
	last := -1
	keep := true
	for _, m := range morsels {
		if m.Group != last {
			last, keep = m.Group, f.groupMayMatch(m.Group, predicates)
			if !keep && s.Counters != nil {
				s.Counters.GroupsPruned.Add(1)
			}
		}
		if keep {
			out = append(out, m)
		}
	}
	if len(out) == 0 && len(morsels) > 0 && s.Counters != nil {
		s.Counters.FilesPruned.Add(1)
	}
	return out
}

func (f *File) groupMayMatch(g int, predicates []Predicate) bool {
	for i := range predicates {
		p := &predicates[i]
		c := &f.schema.columns[p.Column]
		if c.flat(f.schema) && !p.mayMatch(&f.groups[g].chunks[c.leaves[0]].bounds) {
			return false
		}
	}
	return true
}

// current returns the predicates with those that runtime filters have published by now.
func (s *Scan) current() []Predicate {
	out := s.Predicates
	if len(s.Prune) > 0 {
		out = append(out[:len(out):len(out)], s.Prune...)
	}
	for _, r := range s.Runtime {
		if b := r.bounds.Load(); b != nil {
			out = append(out[:len(out):len(out)], b.predicates(r.Column)...)
		}
	}
	return out
}

// flat reports a column whose rows need no assembly.
func (c *Column) flat(s *schema) bool {
	return c.node.shape == leafShape && s.leaves[c.node.leaf].flat()
}
