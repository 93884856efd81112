package postgres

import (
	"context"

	"github.com/tidemarkdb/tidemark/extension"
)

// Source returns the registration of CREATE STREAM ... FROM POSTGRES.
func Source() *extension.SourceDef {
	return &extension.SourceDef{
		Def: extension.Def{
			Name:        "postgres",
			Aliases:     []string{"postgresql"},
			Category:    "source",
			Description: "Stream a PostgreSQL table by logical replication",
		},
		Options: optionDefs,
		Open: func(_ context.Context, req extension.OpenRequest) (extension.Source, error) {
			return open(req)
		},
		FormatPosition:  formatPosition,
		ParsePosition:   parsePosition,
		ComparePosition: comparePosition,
		HasCommitTime:   true,
	}
}

// source is one source table for one target. It keeps no connection of its own: snapshots and streams do.
type source struct {
	config
	spec        extension.TableSpec
	database    string // known after Check
	spillDir    string
	memoryBytes int64
	log         func(string, ...any)
}

func open(req extension.OpenRequest) (*source, error) {
	c, err := parseConfig(req)
	if err != nil {
		return nil, err
	}
	s := &source{config: c, spec: req.Table, spillDir: req.SpillDir, memoryBytes: req.MemoryBytes, log: req.Log}
	if s.log == nil {
		s.log = func(string, ...any) {}
	}
	return s, nil
}

// Check reads the source's catalog and opens a replication session.
func (s *source) Check(ctx context.Context) error {
	if _, _, err := s.inspect(ctx); err != nil {
		return err
	}
	conn, err := s.connect(ctx, true)
	if err != nil {
		return err
	}
	defer closeConn(conn)
	_, err = system(ctx, conn)
	return err
}

// inspect returns the source table as it is now and how it fills the target.
func (s *source) inspect(ctx context.Context) (*table, []column, error) {
	conn, err := s.connect(ctx, false)
	if err != nil {
		return nil, nil, err
	}
	defer closeConn(conn)
	t, err := s.describe(ctx, conn)
	if err != nil {
		return nil, nil, err
	}
	s.database = t.server.database
	columns, err := s.plan(t, s.spec)
	return t, columns, err
}

func (s *source) Snapshot(ctx context.Context) (extension.Snapshot, error) {
	snap, err := s.newSnapshot(ctx)
	if err != nil {
		return nil, err
	}
	return snap, nil
}

func (s *source) Stream(ctx context.Context, after extension.Position) (extension.Stream, error) {
	st, err := s.newStream(ctx, after)
	if err != nil {
		return nil, err
	}
	return st, nil
}

// Drop drops the slot. A slot that is not there is dropped.
func (s *source) Drop(ctx context.Context) error {
	conn, err := s.connect(ctx, false)
	if err != nil {
		return err
	}
	defer closeConn(conn)
	got, err := rows(ctx, conn, `SELECT current_database()`)
	if err != nil {
		return sourceError("dropping the replication slot", err)
	}
	return s.dropSlot(ctx, conn, str(got[0][0]))
}

func (s *source) Close() error { return nil }
