package generator

import (
	"context"
	"time"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

// stream delivers changes from a position on, whole transactions as they fall due.
type stream struct {
	*source
	next uint64    // the first change not delivered
	from uint64    // the first change of this stream ...
	at   time.Time // ... which fell due then
}

func newStream(s *source, after uint64) *stream {
	return &stream{source: s, next: after, from: after, at: time.Now()}
}

// due returns how many changes of the sequence have fallen due by now.
func (s *stream) due(now time.Time) uint64 {
	rate := s.sequence.rate
	if rate == 0 {
		return s.sequence.limit
	}
	return min(s.from+uint64(now.Sub(s.at).Seconds()*rate), s.sequence.limit)
}

// dueAt returns when the first n changes of the sequence have fallen due.
func (s *stream) dueAt(n uint64) time.Time {
	if s.sequence.rate == 0 {
		return time.Now()
	}
	// A nanosecond more, so that due of this time is n in spite of rounding.
	return s.at.Add(time.Duration(float64(n-s.from)/s.sequence.rate*1e9) + 1)
}

func (s *stream) Next(ctx context.Context, wait time.Duration, maxRows int) (*extension.Changes, error) {
	if s.next >= s.sequence.limit {
		sleep(ctx, wait)
		return nil, nil
	}
	end := s.sequence.end(s.next)
	for deadline := time.Now().Add(wait); s.due(time.Now()) < end; {
		now := time.Now()
		if !now.Before(deadline) || ctx.Err() != nil {
			return nil, nil
		}
		sleep(ctx, max(min(s.dueAt(end).Sub(now), deadline.Sub(now)), time.Microsecond))
	}
	if ctx.Err() != nil {
		return nil, nil
	}
	most := s.next + uint64(max(min(maxRows, vec.MaxBatchRows), 1))
	boundary := end <= most
	if boundary {
		for due := s.due(time.Now()); end < s.sequence.limit && s.sequence.end(end) <= min(most, due); {
			end = s.sequence.end(end)
		}
	} else {
		end = most
	}
	if n := s.sequence.KeyNumbers(end); n > s.table.capacity {
		return nil, extension.Permanent(s.table.full(n))
	}
	out := s.changes(s.next, end)
	s.next = end
	if boundary {
		out.Boundary, out.Position, out.CommitTime = true, EncodePosition(end), s.dueAt(end)
	}
	return out, nil
}

// changes returns changes from to end-1.
func (s *stream) changes(from, end uint64) *extension.Changes {
	n := int(end - from)
	out := &extension.Changes{Ops: make([]extension.Op, n)}
	r := rows{keys: make([]uint64, n), versions: make([]uint64, n)}
	for i := range n {
		c := s.sequence.Change(from + uint64(i))
		out.Ops[i], r.keys[i], r.versions[i] = c.Op, c.Key, from+uint64(i)+1
		switch c.Op {
		case extension.Insert:
			out.Inserts++
		case extension.Update:
			out.Updates++
		default:
			out.Deletes++
			if r.deleted == nil {
				r.deleted = vec.NewBitmap(n)
			}
			r.deleted.Set(i)
		}
	}
	out.Cols = s.table.fill(r)
	return out
}

// sleep returns after d or when ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

func (s *stream) Ack(extension.Position) {}

func (s *stream) Close() error { return nil }
