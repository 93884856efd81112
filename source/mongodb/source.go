package mongodb

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/tidemarkdb/tidemark/extension"
)

// Source returns the registration of CREATE STREAM ... FROM MONGODB.
func Source() *extension.SourceDef {
	return &extension.SourceDef{
		Def: extension.Def{
			Name:        "mongodb",
			Aliases:     []string{"mongo"},
			Category:    "source",
			Description: "Stream a MongoDB collection by its change stream",
		},
		Options: optionDefs,
		Open: func(_ context.Context, req extension.OpenRequest) (extension.Source, error) {
			return openSource(req)
		},
		FormatPosition:  formatPosition,
		ParsePosition:   parsePosition,
		ComparePosition: comparePosition,
		HasCommitTime:   false,
	}
}

// source is one source collection for one target. Its client connects as it is used, and again when it must.
type source struct {
	config
	spec   extension.TableSpec
	client *mongo.Client
	log    func(string, ...any)
}

func openSource(req extension.OpenRequest) (*source, error) {
	c, err := parseConfig(req.Options)
	if err != nil {
		return nil, err
	}
	client, err := c.connect()
	if err != nil {
		return nil, err
	}
	s := &source{config: c, spec: req.Table, client: client, log: req.Log}
	if s.log == nil {
		s.log = func(string, ...any) {}
	}
	return s, nil
}

// Check asks the server about the collection and looks at some of its documents.
func (s *source) Check(ctx context.Context) error {
	_, l, err := s.inspect(ctx)
	if err != nil {
		return err
	}
	return s.checkNames(ctx, s.client, l)
}

// inspect returns the source collection as it is now and how it fills the target.
func (s *source) inspect(ctx context.Context) (*collection, *layout, error) {
	l, err := s.plan(s.spec)
	if err != nil {
		return nil, nil, err
	}
	t, err := s.describe(ctx, s.client)
	if err != nil {
		return nil, nil, err
	}
	return t, l, extension.Permanent(t.check(s.config))
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

// Drop has nothing to release: a change stream keeps nothing at the source.
func (s *source) Drop(context.Context) error { return nil }

// Close ends the client, and with it what still reads.
func (s *source) Close() error {
	if s.client != nil {
		disconnect(s.client)
		s.client = nil
	}
	return nil
}
