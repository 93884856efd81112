package postgres

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// maxStatusInterval is how often the server hears from us at least.
	maxStatusInterval = 10 * time.Second
	minStatusInterval = 100 * time.Millisecond
	// leastSilence is the shortest silence of the server that counts as a lost connection.
	leastSilence = 30 * time.Second
	// mostPause is how long we vouch for a reader that does not come. Then the server may cut the connection, so that
	// a reader that hangs does not keep the server from shutting down.
	mostPause = 10 * time.Minute
)

// status tells the server how far we are, from a goroutine of its own so that neither a slow reader nor a full network
// lets it give us up. Only positions that are durable here are reported as flushed; they never go back.
type status struct {
	conn    *pgconn.PgConn
	write   atomic.Uint64
	flush   atomic.Uint64
	read    atomic.Int64 // Unix nanoseconds: when Next was called last
	wakeup  chan struct{}
	done    chan struct{}
	once    sync.Once
	ended   sync.WaitGroup
	silence time.Duration // without a word from the server after which it counts as gone
}

// startStatus begins reporting; timeout is the server's wal_sender_timeout, 0 when it has none.
func startStatus(conn *pgconn.PgConn, at pglogrepl.LSN, timeout time.Duration) *status {
	interval := maxStatusInterval
	if timeout > 0 {
		interval = max(min(timeout/3, maxStatusInterval), minStatusInterval)
	}
	s := &status{conn: conn, wakeup: make(chan struct{}, 1), done: make(chan struct{}), silence: max(4*interval, leastSilence)}
	s.write.Store(uint64(at))
	s.flush.Store(uint64(at))
	s.used()
	s.ended.Go(func() { s.loop(interval) })
	return s
}

func (s *status) loop(interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		ask := true // for a sign of life in return
		select {
		case <-s.done:
			return
		case <-s.wakeup:
			ask = false
		case <-ticker.C:
		}
		if time.Since(time.Unix(0, s.read.Load())) > mostPause {
			continue
		}
		if s.send(ask) != nil {
			return // whoever reads the connection meets the reason
		}
	}
}

// send reports the positions. The library takes a zero for "as far as written", so the least position is 1.
func (s *status) send(ask bool) error {
	flush := max(s.flush.Load(), 1)
	return pglogrepl.SendStandbyStatusUpdate(context.Background(), s.conn, pglogrepl.StandbyStatusUpdate{
		WALWritePosition: pglogrepl.LSN(max(s.write.Load(), flush)), WALFlushPosition: pglogrepl.LSN(flush),
		WALApplyPosition: pglogrepl.LSN(flush), ReplyRequested: ask,
	})
}

// wake has the positions reported soon.
func (s *status) wake() {
	select {
	case s.wakeup <- struct{}{}:
	default:
	}
}

// used notes that the reader is there.
func (s *status) used() { s.read.Store(time.Now().UnixNano()) }

func (s *status) written(lsn pglogrepl.LSN) { raise(&s.write, lsn) }

func (s *status) ack(lsn pglogrepl.LSN) {
	if raise(&s.flush, lsn) {
		s.wake()
	}
}

// raise sets the position unless it is already as far.
func raise(p *atomic.Uint64, lsn pglogrepl.LSN) bool {
	for {
		was := p.Load()
		if uint64(lsn) <= was {
			return false
		}
		if p.CompareAndSwap(was, uint64(lsn)) {
			return true
		}
	}
}

// stop sends what was acknowledged last and ends the goroutine.
func (s *status) stop() {
	s.once.Do(func() {
		close(s.done)
		_ = s.conn.Conn().SetWriteDeadline(time.Now().Add(time.Second)) // frees a send that is stuck
		s.ended.Wait()
		_ = s.send(false)
	})
}
