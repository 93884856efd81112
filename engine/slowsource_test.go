package engine_test

import (
	"context"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/source/generator"
	"github.com/tidemarkdb/tidemark/vec"
)

// slowGenerator registers the generator as source SLOW, whose snapshot can be read only once release is closed.
func slowGenerator(release <-chan struct{}) func(*extension.Registry) {
	return func(r *extension.Registry) {
		def := *generator.Source()
		def.Name = "slow"
		open := def.Open
		def.Open = func(ctx context.Context, req extension.OpenRequest) (extension.Source, error) {
			s, err := open(ctx, req)
			return slowSource{s, release}, err
		}
		r.RegisterSource(&def)
	}
}

type slowSource struct {
	extension.Source
	release <-chan struct{}
}

func (s slowSource) Snapshot(ctx context.Context) (extension.Snapshot, error) {
	snapshot, err := s.Source.Snapshot(ctx)
	return slowSnapshot{snapshot, s.release}, err
}

type slowSnapshot struct {
	extension.Snapshot
	release <-chan struct{}
}

func (s slowSnapshot) Read(ctx context.Context, part int, fn func(*vec.Batch) error) error {
	select {
	case <-s.release:
	case <-ctx.Done():
		return ctx.Err()
	}
	return s.Snapshot.Read(ctx, part, fn)
}
