package engine

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
)

// sequences hand out the numbers of all sequences of an engine. They are taken from the catalog in blocks, one commit
// for each, so that a number is given out once however many engines share the root; what is left of the blocks goes back
// when the engine closes.
type sequences struct {
	catalog *catalog.Catalog

	mu   sync.Mutex
	byID map[tablet.ID]*numbers
}

// numbers is the block at hand of one sequence.
type numbers struct {
	mu    sync.Mutex
	next  int64
	left  int64 // numbers of the block not given out
	end   int64 // the last of the block
	block int64 // how long the block was
	step  int64

	// pending says that the sequence was made in a transaction that is still open: position is where it is.
	pending  bool
	position catalog.Sequence
}

// The shortest and longest block. Blocks grow while they are used up.
const (
	minBlock = 32
	maxBlock = 1 << 16
)

func (q *sequences) of(id tablet.ID) *numbers {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.byID == nil {
		q.byID = map[tablet.ID]*numbers{}
	}
	n := q.byID[id]
	if n == nil {
		n = &numbers{}
		q.byID[id] = n
	}
	return n
}

// next takes a number of a sequence that a session sees as seen.
func (q *sequences) next(ctx context.Context, seen *catalog.Sequence) (int64, error) {
	n := q.of(seen.ID)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.left == 0 {
		if err := q.refill(ctx, n, seen); err != nil {
			return 0, err
		}
	}
	value := n.next
	if n.left--; n.left > 0 {
		n.next += n.step
	}
	return value, nil
}

// refill takes the next block.
func (q *sequences) refill(ctx context.Context, n *numbers, seen *catalog.Sequence) error {
	n.block = min(max(minBlock, 2*n.block), maxBlock)
	for run := 1; ; run++ {
		stored := q.stored(seen)
		at := stored
		if at == nil { // of an open transaction
			if !n.pending {
				n.pending, n.position = true, *seen
			}
			at = &n.position
		}
		first, count, err := block(at, n.block)
		if err != nil {
			return err
		}
		last := first + (count-1)*at.Increment
		if stored != nil {
			_, err = q.catalog.Commit(ctx, &catalog.TakeNumbers{ID: at.ID, Schema: at.Schema, Name: at.Name, From: at.Last, FromCalled: at.Called,
				Last: last, Called: true})
			if sqlerr.Code(err) == sqlerr.SerializationFailure && run < maxStatementRuns {
				continue
			}
			if err != nil {
				return err
			}
		} else {
			// The block ends with the number at hand, so that the commit finds the position exact.
			count, last = 1, first
			n.position.Last, n.position.Called = first, true
		}
		n.next, n.left, n.end, n.step = first, count, last, at.Increment
		return nil
	}
}

// stored returns a sequence as the newest catalog has it, nil when it was not committed yet.
func (q *sequences) stored(seen *catalog.Sequence) *catalog.Sequence {
	snapshot := q.catalog.Snapshot()
	if s, err := snapshot.Sequence(seen.Schema, seen.Name); err == nil && s.ID == seen.ID {
		return s
	}
	for s := range snapshot.Sequences("") {
		if s.ID == seen.ID {
			return s
		}
	}
	return nil
}

// block returns the first of up to n next numbers of a sequence, and how many there are before its end.
func block(s *catalog.Sequence, n int64) (first, count int64, err error) {
	first = s.Last
	if s.Called {
		switch {
		case s.Increment > 0 && uint64(s.Max)-uint64(s.Last) >= uint64(s.Increment),
			s.Increment < 0 && uint64(s.Last)-uint64(s.Min) >= -uint64(s.Increment):
			first += s.Increment
		case !s.Cycle && s.Increment > 0:
			return 0, 0, sqlerr.New(sqlerr.SequenceLimit, "nextval: reached maximum value of sequence %q (%d)", s.Name, s.Max).
				Hintf("ALTER SEQUENCE %s with a larger MAXVALUE, or RESTART it", s.Name)
		case !s.Cycle:
			return 0, 0, sqlerr.New(sqlerr.SequenceLimit, "nextval: reached minimum value of sequence %q (%d)", s.Name, s.Min).
				Hintf("ALTER SEQUENCE %s with a smaller MINVALUE, or RESTART it", s.Name)
		case s.Increment > 0:
			first = s.Min
		default:
			first = s.Max
		}
	}
	room := uint64(s.Max) - uint64(first)
	step := uint64(s.Increment)
	if s.Increment < 0 {
		room, step = uint64(first)-uint64(s.Min), -step
	}
	return first, int64(min(room/step, uint64(n)-1)) + 1, nil
}

// set moves a sequence. What is left of the block is forgotten.
func (q *sequences) set(ctx context.Context, seen *catalog.Sequence, value int64, called bool) error {
	if value < seen.Min || value > seen.Max {
		return sqlerr.New(sqlerr.NumericOutOfRange, "setval: value %d is out of bounds for sequence %q (%d..%d)", value, seen.Name, seen.Min, seen.Max).
			Hintf("set a number of the sequence's range")
	}
	n := q.of(seen.ID)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.left, n.block = 0, 0
	stored := q.stored(seen)
	if stored == nil {
		if !n.pending {
			n.pending, n.position = true, *seen
		}
		n.position.Last, n.position.Called = value, called
		return nil
	}
	_, err := q.catalog.Commit(ctx, &catalog.TakeNumbers{ID: stored.ID, Schema: stored.Schema, Name: stored.Name, Last: value, Called: called, Force: true})
	return err
}

// settle gives back what is left of a sequence's block and returns where the sequence is.
func (q *sequences) settle(ctx context.Context, seen *catalog.Sequence) (*catalog.Sequence, error) {
	n := q.of(seen.ID)
	n.mu.Lock()
	defer n.mu.Unlock()
	stored := q.stored(seen)
	if stored == nil {
		if n.pending {
			return &n.position, nil
		}
		return seen, nil
	}
	if n.left > 0 && stored.Called && stored.Last == n.end {
		moved := *stored
		moved.Last = n.next - n.step // a block that has numbers left gave out at least one
		_, err := q.catalog.Commit(ctx, &catalog.TakeNumbers{ID: stored.ID, Schema: stored.Schema, Name: stored.Name,
			From: stored.Last, FromCalled: true, Last: moved.Last, Called: moved.Called})
		if err != nil {
			return nil, err
		}
		stored = &moved
	}
	n.left, n.block = 0, 0
	return stored, nil
}

// close gives back what is left of all blocks.
func (q *sequences) close(ctx context.Context) error {
	q.mu.Lock()
	ids := make([]tablet.ID, 0, len(q.byID))
	for id, n := range q.byID {
		if n.left > 0 {
			ids = append(ids, id)
		}
	}
	q.mu.Unlock()
	if len(ids) == 0 {
		return nil
	}
	var errs []error
	for s := range q.catalog.Snapshot().Sequences("") {
		if slices.Contains(ids, s.ID) {
			_, err := q.settle(ctx, s)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// positions returns the edits that store where sequences are which a transaction made and used.
func (q *sequences) positions(view *catalog.Snapshot, edits []catalog.Edit) []catalog.Edit {
	var out []catalog.Edit
	for _, edit := range edits {
		created, ok := edit.(*catalog.CreateSequence)
		if !ok {
			continue
		}
		n := q.of(created.Sequence.ID)
		n.mu.Lock()
		if n.pending {
			for s := range view.Sequences("") {
				if s.ID == created.Sequence.ID {
					out = append(out, &catalog.TakeNumbers{ID: s.ID, Schema: s.Schema, Name: s.Name, Last: n.position.Last, Called: n.position.Called, Force: true})
				}
			}
		}
		n.mu.Unlock()
	}
	return out
}
