package peer

import (
	"context"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/integration/enginetest"
	"github.com/tidemarkdb/tidemark/vec"
)

// limit bounds one statement on every system.
const limit = 30 * time.Second

type tidemark struct{ session *engine.Session }

// Tidemark opens an embedded engine over a new root.
func Tidemark(t testing.TB) Peer {
	return tidemark{enginetest.Session(t, enginetest.Open(t, engine.Options{}))}
}

func (tidemark) Name() string { return "tidemark" }

func (s tidemark) Run(statement string) (*Answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	result, err := s.session.Query(ctx, statement)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	answer := &Answer{}
	for _, c := range result.Schema {
		answer.Kinds = append(answer.Kinds, kindOf(c.Type))
	}
	for {
		b, err := result.Next(ctx)
		if err != nil || b == nil {
			return answer, err
		}
		for row := range b.N {
			cells := make([]*string, len(b.Cols))
			for i, c := range b.Cols {
				if !c.IsNull(row) {
					text := string(vec.AppendText(nil, c, row))
					cells[i] = &text
				}
			}
			answer.Rows = append(answer.Rows, cells)
		}
	}
}

func kindOf(t vec.Type) Kind {
	switch {
	case t.IsFloat():
		return Float
	case t.IsNumeric():
		return Exact
	}
	return Text
}
