package engine

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
)

// transaction is a session's open transaction: snapshot isolation over any number of tables. Its own edits are seen
// through a preview of the snapshot they will lead to.
type transaction struct {
	started time.Time
	pin     *catalog.Pin      // nil until the first statement that reads
	view    *catalog.Snapshot // pin with the edits so far
	edits   []catalog.Edit
	saved   []savepoint
	failed  atomic.Bool // a statement failed, or the reading of its result: only ROLLBACK is accepted
	// implicit marks a transaction that a client library opened by itself. Until it changes something, each of its
	// statements reads the newest snapshot, so that an idle notebook does not look at an old one for ever.
	implicit bool
	readOnly bool

	work *work                     // files of its statements; nil when it lives within one statement, whose they are
	held map[tablet.TableID]func() // keeps maintenance from the tables it changed
}

type savepoint struct {
	name  string
	edits int
	view  *catalog.Snapshot
}

// readsNewest reports whether the next statement reads the newest snapshot: it is the first, or as good as that.
func (tx *transaction) readsNewest() bool { return tx.pin == nil || tx.implicit && len(tx.edits) == 0 }

// snapshot returns what a statement reads. release must be called when its results are done with.
func (s *Session) snapshot() (*catalog.Snapshot, func()) {
	tx := s.tx
	if tx == nil {
		pin := s.engine.catalog.Pin()
		return pin.Snapshot, pin.Release
	}
	if tx.readsNewest() {
		if tx.pin != nil {
			tx.pin.Release()
		}
		tx.pin = s.engine.catalog.Pin()
		tx.view = tx.pin.Snapshot
	}
	// Results may outlive the transaction: each holds a pin of its own, and the files that only the transaction knows.
	pin := s.engine.catalog.Pin()
	view := tx.view
	if s.pinned != nil {
		view = s.pinned
	}
	tx.work.hold()
	return view, func() {
		pin.Release()
		tx.work.release()
	}
}

// newest returns what a statement that reads snapshot would leave if it ended now: what its parts did so far.
func (s *Session) newest(snapshot *catalog.Snapshot) *catalog.Snapshot {
	if s.tx != nil && s.pinned != nil {
		return s.tx.view
	}
	return snapshot
}

// newestTable is newest for a table.
func (s *Session) newestTable(t *catalog.Table) *catalog.Table {
	if s.tx != nil && s.pinned != nil {
		if now, ok := s.tx.view.TableByID(t.ID); ok {
			return now
		}
	}
	return t
}

// commit makes edits now, or in an open transaction at its end.
func (s *Session) commit(ctx context.Context, edits ...catalog.Edit) error {
	return s.commitFrom(ctx, nil, edits...)
}

// commitFrom is commit for edits that were made for what a statement read in snapshot: they are made anew to fit what
// others committed since, or fail with 40001. A nil snapshot stands for none.
func (s *Session) commitFrom(ctx context.Context, snapshot *catalog.Snapshot, edits ...catalog.Edit) error {
	if s.engine.options.ReadOnly {
		return readOnlyEngine()
	}
	if s.tx == nil {
		return s.commitFiles(ctx, snapshot, edits)
	}
	if s.tx.readOnly {
		return sqlerr.New(sqlerr.ReadOnlyTransaction, "cannot change anything in a read-only transaction")
	}
	if s.tx.pin == nil {
		_, release := s.snapshot()
		release()
	}
	all := append(s.tx.edits[:len(s.tx.edits):len(s.tx.edits)], edits...)
	view, err := s.tx.pin.Preview(guardKeys(s.tx.pin.Snapshot, all)...)
	if err != nil {
		return err
	}
	s.tx.edits, s.tx.view = all, view
	s.tx.hold(&s.engine.maintenance, edits)
	return nil
}

// hold keeps maintenance from the tables that edits change until the transaction ends.
func (tx *transaction) hold(m *maintenance, edits []catalog.Edit) {
	for _, edit := range edits {
		modify, ok := edit.(*catalog.Modify)
		if !ok || tx.held[modify.Table] != nil {
			continue
		}
		if tx.held == nil {
			tx.held = map[tablet.TableID]func(){}
		}
		tx.held[modify.Table] = m.hold(modify.Table)
	}
}

func readOnlyEngine() error {
	return sqlerr.New(sqlerr.ReadOnlyTransaction, "this engine is read-only").
		Hintf("it was started with --read-only: run the statement on an engine that was not")
}

// begin returns a transaction of several statements.
func (s *Session) begin() *transaction {
	return &transaction{started: time.Now(), work: s.engine.newWork()}
}

// Begin starts a transaction as a client library does that opens one by itself; see transaction.implicit.
func (s *Session) Begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tx != nil {
		return sqlerr.New(sqlerr.ActiveTransaction, "there is already a transaction in progress")
	}
	s.tx = s.begin()
	s.tx.implicit = true
	return nil
}

// End commits or rolls back; without a transaction it does nothing.
func (s *Session) End(ctx context.Context, commit bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !commit {
		s.rollback()
		return nil
	}
	_, err := s.endTransaction(ctx)
	return err
}

// InTransaction reports whether a transaction is open.
func (s *Session) InTransaction() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tx != nil
}

// endTransaction commits. A failed transaction is rolled back, as in PostgreSQL.
func (s *Session) endTransaction(ctx context.Context) (tag string, err error) {
	tx := s.tx
	defer s.rollback()
	switch {
	case tx == nil:
		return "COMMIT", nil
	case tx.failed.Load():
		return "ROLLBACK", nil
	case len(tx.edits) == 0:
		return "COMMIT", nil
	}
	base := tx.pin.Snapshot
	tx.edits = append(tx.edits, s.engine.sequences.positions(tx.view, tx.edits)...)
	err = s.commitFiles(tx.work.context(ctx), base, tx.edits)
	if err == nil {
		s.engine.workers.wake()
	}
	return "COMMIT", err
}

// rollback forgets the transaction, and removes the files that its statements wrote.
func (s *Session) rollback() {
	if s.tx == nil {
		return
	}
	if s.tx.pin != nil {
		s.tx.pin.Release()
	}
	for _, release := range s.tx.held {
		release()
	}
	s.tx.work.release()
	s.tx = nil
	s.closeCursors(false)
}

// fail marks an explicit transaction as failed after an error.
func (s *Session) fail(error) {
	if s.tx != nil {
		s.tx.failed.Store(true)
	}
}

// checkFailed refuses statements in a failed transaction, but for those that end it.
func (s *Session) checkFailed(statement sql.Statement) error {
	if s.tx == nil || !s.tx.failed.Load() {
		return nil
	}
	if t, ok := statement.(*sql.Transaction); ok && (t.Kind == sql.Commit || t.Kind == sql.Rollback || t.Kind == sql.RollbackTo) {
		return nil
	}
	return sqlerr.New(sqlerr.FailedTransaction, "current transaction is aborted, commands ignored until end of transaction block").
		Hintf("ROLLBACK ends it")
}

// transactionStatement runs BEGIN, COMMIT, ROLLBACK and savepoints.
func (s *Session) transactionStatement(ctx context.Context, t *sql.Transaction) (*Result, error) {
	switch t.Kind {
	case sql.Begin:
		if s.tx != nil && !s.tx.implicit {
			return nil, sqlerr.New(sqlerr.ActiveTransaction, "there is already a transaction in progress").
				Hintf("COMMIT or ROLLBACK it first; SAVEPOINT nests").At(t.Pos)
		}
		s.rollback()
		s.tx = s.begin()
		s.tx.readOnly = t.Modes.Access == "read only"
		return done("BEGIN"), nil
	case sql.Commit:
		tag, err := s.endTransaction(ctx)
		if err != nil {
			return nil, err
		}
		return s.chained(t, tag), nil
	case sql.Rollback:
		s.rollback()
		return s.chained(t, "ROLLBACK"), nil
	}
	if s.tx == nil {
		return nil, sqlerr.New(sqlerr.NoActiveTransaction, "savepoints can only be used in transaction blocks").
			Hintf("BEGIN starts one").At(t.Pos)
	}
	return s.savepointStatement(t)
}

func (s *Session) chained(t *sql.Transaction, tag string) *Result {
	if t.Chain {
		s.tx = s.begin()
	}
	return done(tag)
}

func (s *Session) savepointStatement(t *sql.Transaction) (*Result, error) {
	tx := s.tx
	if t.Kind == sql.Savepoint {
		_, release := s.snapshot()
		release()
		tx.implicit = false
		tx.saved = append(tx.saved, savepoint{t.Savepoint.Name, len(tx.edits), tx.view})
		return done("SAVEPOINT"), nil
	}
	for i := len(tx.saved) - 1; i >= 0; i-- {
		if tx.saved[i].name != t.Savepoint.Name {
			continue
		}
		if t.Kind == sql.Release {
			tx.saved = tx.saved[:i]
			return done("RELEASE"), nil
		}
		tx.edits, tx.view = tx.edits[:tx.saved[i].edits], tx.saved[i].view
		tx.failed.Store(false)
		tx.saved = tx.saved[:i+1]
		return done("ROLLBACK"), nil
	}
	return nil, sqlerr.New(sqlerr.InvalidSavepoint, "savepoint %q does not exist", t.Savepoint.Name).
		Hintf("SAVEPOINT %s makes it", t.Savepoint.Name).At(t.Savepoint.Pos)
}
