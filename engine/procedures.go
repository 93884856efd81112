package engine

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// procedures are what CALL knows.
var procedures = map[string]func(s *Session, ctx context.Context, args []vec.Value) error{
	"cdc_wait": (*Session).cdcWait,
}

// call runs a procedure.
func (s *Session) call(ctx context.Context, t *sql.CallProc) (*Result, error) {
	name := strings.ToLower(t.Call.Name.Last().Name)
	procedure, ok := procedures[name]
	if !ok {
		err := sqlerr.New(sqlerr.UndefinedFunction, "procedure %q does not exist", name).At(t.Pos)
		return nil, err.Hintf("the procedures are %s", strings.Join(slices.Sorted(maps.Keys(procedures)), ", "))
	}
	exprs := make([]sql.Expr, len(t.Call.Args))
	for i, a := range t.Call.Args {
		exprs[i] = a.Value
	}
	args, err := s.constants(ctx, exprs)
	if err != nil {
		return nil, err
	}
	if err := procedure(s, ctx, args); err != nil {
		return nil, sqlerr.From(err).At(t.Pos)
	}
	return done("CALL"), nil
}

const cdcWaitUsage = "call cdc_wait(table, position [, timeout]): for instance CALL cdc_wait('orders', '0/16B3748', '10 seconds')"

// cdcWait waits until a CDC table has committed everything up to a position of its source: read your own writes.
func (s *Session) cdcWait(ctx context.Context, args []vec.Value) error {
	if len(args) < 2 || len(args) > 3 || args[0].Null || args[1].Null {
		return sqlerr.New(sqlerr.InvalidParameterValue, "cdc_wait takes a table, a position and a timeout").Hintf("%s", cdcWaitUsage)
	}
	timeout := time.Minute
	if len(args) == 3 && !args[2].Null {
		var err error
		if timeout, err = timeoutOf(args[2]); err != nil {
			return err
		}
	}
	name, err := sql.ParseExpr(vec.Format(args[0]))
	column, ok := name.(*sql.Column)
	if err != nil || !ok {
		return sqlerr.New(sqlerr.InvalidName, "%q is not the name of a table", vec.Format(args[0])).Hintf("%s", cdcWaitUsage)
	}
	newest, err := s.engine.catalog.Refresh(ctx)
	if err != nil {
		return err
	}
	table, err := s.cdcTable(newest, unplaced(column.Name))
	if err != nil {
		return err
	}
	return s.engine.waitFor(ctx, table, vec.Format(args[1]), timeout)
}

// unplaced returns a name without positions, which would be those of another text.
func unplaced(n sql.Name) sql.Name {
	out := slices.Clone(n)
	for i := range out {
		out[i].Pos = 0
	}
	return out
}

// timeoutOf reads a length of time: an interval, a text such as '10 seconds', or a number of seconds.
func timeoutOf(v vec.Value) (time.Duration, error) {
	switch {
	case v.Type.ID == vec.Interval:
		micros, ok := v.Span.Span().Int64()
		if ok && micros >= 0 && micros < int64(100*365*24*time.Hour/time.Microsecond) {
			return time.Duration(micros) * time.Microsecond, nil
		}
	case v.Type.IsNumeric():
		seconds, err := strconv.ParseFloat(vec.Format(v), 64)
		if err == nil && seconds >= 0 && seconds < 1e9 {
			return time.Duration(seconds * float64(time.Second)), nil
		}
	default:
		if d, err := ParseDuration(vec.Format(v)); err == nil {
			return d, nil
		}
	}
	return 0, sqlerr.New(sqlerr.InvalidParameterValue, "%q is not a length of time", vec.Format(v)).Hintf("%s", cdcWaitUsage)
}

// waitFor waits until a table's committed position is at least the one that text names.
func (e *Engine) waitFor(ctx context.Context, table *catalog.Table, text string, timeout time.Duration) error {
	if !table.Ingest.Attached() {
		return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "CDC table %q has no stream attached", table.Name).
			Hintf("ALTER CDC TABLE %s ATTACH STREAM ... and RESUME first", table.Name)
	}
	_, def, err := e.feeding(table)
	if err != nil {
		return err
	}
	position, err := def.ParsePosition(text)
	if err != nil {
		return sqlerr.New(sqlerr.InvalidParameterValue, "%q is not a position of a %s stream: %w", text, strings.ToUpper(def.Name), err).
			Hintf("information_schema.streams shows positions in their form")
	}
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()
	for {
		changed := e.catalog.Changed()
		now, ok := e.catalog.Snapshot().TableByID(table.ID)
		switch {
		case !ok:
			return sqlerr.New(sqlerr.UndefinedTable, "CDC table %q was dropped", table.Name).Hintf("there is nothing left to wait for")
		case now.Ingest.Stream != table.Ingest.Stream:
			return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "another stream was attached to CDC table %q", table.Name).
				Hintf("wait for a position of that stream")
		case now.Ingest.LoadDone() && def.ComparePosition(now.Ingest.Position, position) >= 0:
			return nil
		case now.Ingest.State == catalog.Failed:
			return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "ingestion of CDC table %q stopped for good: %s", now.Name, now.Ingest.Reason).
				Hintf("repair the cause, then DETACH STREAM and attach a stream again")
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-e.ctx.Done():
			return sqlerr.New(sqlerr.AdminShutdown, "the engine is shutting down").Hintf("connect again when it is back")
		case <-deadline.C:
			return sqlerr.New(sqlerr.QueryCanceled, "CDC table %q did not reach position %s within %v", now.Name, text, timeout).
				Detailf("It is at %s.", now.Ingest.PositionText).Hintf("see information_schema.cdc_ingests for the state of its ingestion")
		}
	}
}
