package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	accounts       = 200_000
	initialBalance = 1000
)

// schema makes the source table, its rows and its publication.
var schema = fmt.Sprintf(`
CREATE TABLE accounts (
  id bigint PRIMARY KEY, balance bigint NOT NULL, version integer NOT NULL, amount numeric(14, 3), note text, big text, flag boolean,
  at timestamptz, day date, ref uuid, doc jsonb, raw bytea, ratio double precision);
ALTER TABLE accounts ALTER COLUMN big SET STORAGE EXTERNAL;
INSERT INTO accounts SELECT i, %d, 0, i / 7.0, 'note ' || i, CASE WHEN i %% 1000 = 0 THEN repeat(md5(i::text), 100) END, i %% 2 = 0,
  timestamptz '2024-01-01 00:00:00+00' + i * interval '1 second', date '2024-01-01' + (i %% 1000)::int,
  md5(i::text)::uuid, jsonb_build_object('k', i), decode(md5(i::text), 'hex'), i / 3.0::float8 FROM generate_series(1, %d) i;
CREATE PUBLICATION tidemark FOR TABLE accounts`, initialBalance, accounts)

// workload moves money between accounts from several connections until its context ends.
type workload struct {
	dsn     string
	seed    uint64
	commits atomic.Int64
	aborts  atomic.Int64
	nextKey atomic.Int64
}

// run returns the first failure of a connection, nil when the context ended it.
func (w *workload) run(ctx context.Context, connections int) error {
	w.nextKey.Store(accounts)
	var wg sync.WaitGroup
	errs := make(chan error, connections)
	for i := range connections {
		wg.Add(1)
		go func() {
			defer wg.Done()
			errs <- w.client(ctx, rand.New(rand.NewPCG(w.seed, uint64(i))))
		}()
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

func (w *workload) client(ctx context.Context, rng *rand.Rand) error {
	conn, err := pgx.Connect(context.WithoutCancel(ctx), w.dsn)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for ctx.Err() == nil {
		if err := w.transaction(context.WithoutCancel(ctx), conn, rng); err != nil {
			return err
		}
	}
	return nil
}

// transaction does one to five steps, each of which keeps the sum of balances, and commits or rolls back.
func (w *workload) transaction(ctx context.Context, conn *pgx.Conn, rng *rand.Rand) error {
	// Under READ COMMITTED a row that vanishes between a statement's look and its change would break the sum.
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		return err
	}
	defer tx.Rollback(ctx)
	for range 1 + rng.IntN(5) {
		if err := w.step(ctx, tx, rng); err != nil {
			if retryable(err) {
				w.aborts.Add(1)
				return nil
			}
			return err
		}
	}
	if rng.IntN(10) == 0 {
		w.aborts.Add(1)
		return nil
	}
	if err := tx.Commit(ctx); err != nil {
		if retryable(err) {
			w.aborts.Add(1)
			return nil
		}
		return err
	}
	w.commits.Add(1)
	return nil
}

func (w *workload) step(ctx context.Context, tx pgx.Tx, rng *rand.Rand) error {
	a, b := rng.Int64N(accounts)+1, rng.Int64N(accounts)+1
	switch rng.IntN(12) {
	case 0: // open an account with money of another
		return w.exec(ctx, tx, `WITH taken AS (UPDATE accounts SET balance = balance - 10, version = version + 1 WHERE id = $1 RETURNING id)
			INSERT INTO accounts (id, balance, version, note, doc) SELECT $2, 10, 1, 'opened', '{"opened": true}' FROM taken`, a, w.nextKey.Add(1))
	case 1: // close an account and move its money
		return w.exec(ctx, tx, `WITH gone AS (DELETE FROM accounts WHERE id = $1 AND EXISTS (SELECT FROM accounts WHERE id = $2) AND $1 <> $2 RETURNING balance)
			UPDATE accounts SET balance = balance + (SELECT balance FROM gone), version = version + 1 WHERE id = $2 AND EXISTS (SELECT FROM gone)`, a, b)
	case 2: // give an account another key
		return w.exec(ctx, tx, `UPDATE accounts SET id = $2, version = version + 1 WHERE id = $1`, a, w.nextKey.Add(1))
	case 3: // change nothing but a large value
		return w.exec(ctx, tx, `UPDATE accounts SET big = repeat(md5($2::bigint::text), 100), version = version + 1 WHERE id = $1`, a, b)
	case 4: // a savepoint that is rolled back
		return w.savepoint(ctx, tx, a)
	}
	return w.exec(ctx, tx, `UPDATE accounts SET balance = balance + CASE WHEN id = $1 THEN -7 ELSE 7 END, version = version + 1, at = now(), note = 'moved'
		WHERE id IN ($1, $2) AND $1 <> $2 AND (SELECT count(*) FROM accounts WHERE id IN ($1, $2)) = 2`, a, b)
}

func (w *workload) savepoint(ctx context.Context, tx pgx.Tx, id int64) error {
	inner, err := tx.Begin(ctx)
	if err != nil {
		return err
	}
	defer inner.Rollback(ctx)
	return w.exec(ctx, inner, `UPDATE accounts SET balance = balance + 1000000 WHERE id = $1`, id)
}

func (w *workload) exec(ctx context.Context, tx pgx.Tx, sql string, args ...any) error {
	_, err := tx.Exec(ctx, sql, args...)
	return err
}

// retryable reports conflicts between the workload's own transactions.
func retryable(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01" || pg.Code == "23505" || pg.Code == "23514")
}
