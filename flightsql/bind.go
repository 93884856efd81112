package flightsql

import (
	"context"
	"errors"
	"io"
	"math"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// bind reads rows of parameters, by position, in the types the statement wants where the client's can become those.
// Without parameters there are no rows: clients send an empty one.
func (p *prepared) bind(reader flight.MessageReader) ([][]vec.Value, error) {
	var rows [][]vec.Value
	for reader.Next() {
		record := reader.RecordBatch()
		if record.NumCols() == 0 {
			continue
		}
		if p.statement == nil {
			return nil, sqlerr.New(sqlerr.SyntaxError, "several statements cannot share parameters").Hintf("send them one by one")
		}
		if int(record.NumCols()) != len(p.statement.Params) {
			return nil, sqlerr.New(sqlerr.UndefinedParameter, "the statement has %d parameters, but %d values were bound",
				len(p.statement.Params), record.NumCols()).Hintf("bind one value for each of $1, $2, ...")
		}
		batch, err := vec.FromArrow(record)
		if err != nil {
			return nil, err
		}
		for i := range batch.N {
			row := make([]vec.Value, len(batch.Cols))
			for c, column := range batch.Cols {
				if row[c], err = suit(column.Value(i), p.statement.Params[c].Type); err != nil {
					return nil, sqlerr.From(err).Detailf("parameter $%d", c+1)
				}
			}
			rows = append(rows, row)
		}
	}
	if err := reader.Err(); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return rows, nil
}

// suit returns v in the type a parameter was inferred to have, when that is a matter of form: NULL, text of a literal,
// another integer width. Any other value keeps its type and is cast as SQL casts.
func suit(v vec.Value, want vec.Type) (vec.Value, error) {
	switch {
	case v.Null:
		return vec.NullValue(want), nil
	case v.Type.Equal(want) || want.ID == vec.Null:
		return v, nil
	case v.Type.ID == vec.Text && want.ID != vec.Text:
		return vec.Parse(want, v.S, time.UTC)
	case v.Type.IsInteger() && want.IsInteger():
		limit := map[vec.ID]int64{vec.Int16: math.MaxInt16, vec.Int32: math.MaxInt32, vec.Int64: math.MaxInt64}[want.ID]
		if v.I <= limit && v.I >= -limit-1 {
			return vec.IntValue(want, v.I), nil
		}
	}
	return v, nil
}

// executeMany runs a change for many rows in one transaction. It returns the sum of the rows affected.
func (p *prepared) executeMany(ctx context.Context, rows [][]vec.Value) (total int64, err error) {
	statement := p.statement
	if !p.on.InTransaction() {
		fork := p.on.Fork()
		defer fork.Close()
		if err := fork.Begin(); err != nil {
			return 0, err
		}
		if statement, err = fork.Prepare(ctx, p.text); err != nil {
			return 0, err
		}
		defer func() {
			if err == nil {
				err = fork.End(ctx, true)
			}
		}()
	}
	for _, args := range rows {
		result, err := statement.Execute(ctx, args...)
		if err != nil {
			return 0, err
		}
		n, err := finish(ctx, result)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}
