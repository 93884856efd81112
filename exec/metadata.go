package exec

import (
	"context"

	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/vec"
)

// MetadataStorage is a Storage that knows some aggregates of whole tables without reading rows.
type MetadataStorage interface {
	Storage
	// Rows returns the number of live rows; ok is false when that is not known.
	Rows(ctx context.Context, t *plan.Table) (n int64, ok bool, err error)
	// Extent returns what is known of a column, by its place in Table.Columns, without reading rows.
	Extent(ctx context.Context, t *plan.Table, ordinal int) (Extent, error)
}

// Extent is what is known exactly of the live values of a column.
type Extent struct {
	Values    int64     // rows in which the column is not NULL, -1 when that is not known
	Low, High vec.Value // the least and greatest value, NULL when there is none
	Ranged    bool      // Low and High are known
}

// fromMetadata returns the row of an aggregate that metadata answers, nil when it does not.
func (c *compiler) fromMetadata(n *plan.Aggregate) (*plan.Values, error) {
	storage, ok := c.q.env.Storage.(MetadataStorage)
	scan, plain := n.Input.(*plan.Scan)
	if !ok || !plain || !n.FromMetadata {
		return nil, nil
	}
	out := &plan.Values{Columns: n.Cols()}
	row := make([]plan.Expr, 0, len(n.Aggregates))
	for i := range n.Aggregates {
		v, ok, err := c.answer(storage, scan, &n.Aggregates[i])
		if err != nil || !ok {
			return nil, err
		}
		row = append(row, &plan.Const{Value: v})
	}
	out.Rows = [][]plan.Expr{row}
	return out, nil
}

// answer returns one aggregate of a whole table.
func (c *compiler) answer(s MetadataStorage, scan *plan.Scan, a *plan.AggCall) (v vec.Value, ok bool, err error) {
	if len(a.Args) == 0 {
		n, ok, err := s.Rows(c.q.ctx, scan.Table)
		return vec.IntValue(a.Out.Type, n), ok, err
	}
	ref, plain := a.Args[0].(*plan.ColumnRef)
	if !plain {
		return v, false, nil
	}
	ordinal := -1
	for i, col := range scan.Columns {
		if col.ID == ref.ID {
			ordinal = scan.Ordinals[i]
		}
	}
	if ordinal < 0 {
		return v, false, nil
	}
	e, err := s.Extent(c.q.ctx, scan.Table, ordinal)
	if err != nil {
		return v, false, err
	}
	switch a.Name {
	case "count":
		return vec.IntValue(a.Out.Type, e.Values), e.Values >= 0, nil
	case "min":
		return e.Low, e.Ranged && e.Low.Type.Equal(a.Out.Type), nil
	case "max":
		return e.High, e.Ranged && e.High.Type.Equal(a.Out.Type), nil
	}
	return v, false, nil
}
