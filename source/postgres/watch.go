package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pglogrepl"

	"github.com/tidemarkdb/tidemark/extension"
)

// watch looks at the source's catalog now and then: a table taken out of the publication, or dropped, ends its changes
// without a word in the stream.
type watch struct {
	cancel context.CancelFunc
	ended  sync.WaitGroup
	mu     sync.Mutex
	err    error
	since  pglogrepl.LSN // the fault was there when the log had reached this
}

func startWatch(s *source, t *table) *watch {
	ctx, cancel := context.WithCancel(context.Background())
	w := &watch{cancel: cancel}
	w.ended.Go(func() { w.loop(ctx, s, t) })
	return w
}

func (w *watch) loop(ctx context.Context, s *source, t *table) {
	ticker := time.NewTicker(s.checkInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		lsn, err := s.look(ctx, t)
		if ctx.Err() == nil && extension.IsPermanent(err) {
			w.mu.Lock()
			w.err, w.since = err, lsn
			w.mu.Unlock()
			return
		}
	}
}

// look checks the catalog as Check does and for what it was when the stream began. It returns a place in the log that
// lies behind any change it found.
func (s *source) look(ctx context.Context, was *table) (pglogrepl.LSN, error) {
	conn, err := s.connect(ctx, false)
	if err != nil {
		return 0, err
	}
	defer closeConn(conn)
	t, err := s.describe(ctx, conn)
	if err != nil {
		return 0, err
	}
	got, err := rows(ctx, conn, `SELECT pg_current_wal_flush_lsn()`)
	if err != nil {
		return 0, err
	}
	lsn, err := pglogrepl.ParseLSN(str(got[0][0]))
	if err != nil {
		return 0, err
	}
	if _, err = s.plan(t, s.spec); err != nil {
		return lsn, err
	}
	switch {
	case t.oid != was.oid:
		err = tableChanged("%s was dropped and made anew at the source", t.qualified())
	case t.publication.filter != was.publication.filter:
		err = tableChanged("the row filter of %s in the publication %s was changed, so the table holds other rows than it should", t.qualified(), niceIdent(s.publication))
	}
	return lsn, err
}

// lost returns the fault once the stream has received everything that was committed before it.
func (w *watch) lost(seen pglogrepl.LSN) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil && seen >= w.since {
		return w.err
	}
	return nil
}

func (w *watch) stop() {
	w.cancel()
	w.ended.Wait()
}
