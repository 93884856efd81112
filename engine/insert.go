package engine

import (
	"context"
	"fmt"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablestore"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// rowWriter writes rows of a table as tablets of the target size: as they come where they need no order and nothing is
// checked of them together, else when it has collected them. Whoever has one must abort it in the end.
type rowWriter struct {
	session *Session
	table   *catalog.Table
	batches []*vec.Batch
	rows    int
	bytes   int64
	total   int64
	out     []tablet.Base
	keys    *keyCheck // of rows whose keys may be taken; nil when they are known to be free
	rules   *rules    // that the rows must keep, or nil
	stream  *tablestore.Stream
}

// add takes over a batch without a selection, of the table's columns.
func (w *rowWriter) add(ctx context.Context, b *vec.Batch) error {
	if b.N == 0 {
		return nil
	}
	w.total += int64(b.N)
	if w.keys == nil && w.rules == nil && tablestore.Streams(w.table) {
		return w.write(ctx, b)
	}
	w.batches = append(w.batches, b)
	w.rows += b.N
	w.bytes += b.MemoryBytes()
	if w.rows >= tablestore.TargetRows || w.bytes >= 2*tablestore.TargetBytes {
		return w.flush(ctx)
	}
	return nil
}

// write adds a batch to the tablet that is under way.
func (w *rowWriter) write(ctx context.Context, b *vec.Batch) (err error) {
	if w.stream == nil {
		if w.stream, err = w.session.engine.store.NewStream(ctx, w.table, w.threads()); err != nil {
			return err
		}
	}
	if err := w.stream.Write(b); err != nil || !w.stream.Full() {
		return err
	}
	return w.flush(ctx)
}

func (w *rowWriter) threads() int { return queryThreads(w.session.integer(settingThreads)) }

// abort gives up what flush has not finished.
func (w *rowWriter) abort() {
	if w.stream != nil {
		w.stream.Abort()
		w.stream = nil
	}
}

// flush finishes the tablet that is under way, if there is one.
func (w *rowWriter) flush(ctx context.Context) error {
	if w.stream != nil {
		desc, err := w.stream.Close()
		if err != nil {
			return err
		}
		w.out, w.stream = append(w.out, tablet.Base{Desc: desc}), nil
		return nil
	}
	if w.rows == 0 {
		return nil
	}
	batch, err := tablestore.Concat(w.table.Columns, w.batches)
	if err != nil {
		return err
	}
	if w.rules != nil {
		if err := w.rules.add(ctx, batch); err != nil {
			return err
		}
	}
	batch = tablestore.SortRows(w.table, tablestore.AddHidden(w.table, batch))
	rows := tablestore.Rows{Batch: batch}
	if w.keys != nil {
		if rows.Keys, err = w.keys.add(batch); err != nil {
			return err
		}
	}
	desc, err := w.session.engine.store.Write(ctx, w.table, rows, w.threads())
	if err != nil {
		return err
	}
	w.out = append(w.out, tablet.Base{Desc: desc})
	w.batches, w.rows, w.bytes = nil, 0, 0
	return nil
}

// createTableAs runs CREATE TABLE ... AS: the table and its rows come in one commit.
func (s *Session) createTableAs(ctx context.Context, snapshot *catalog.Snapshot, t *sql.CreateTable, o object) (*Result, error) {
	if t.CDC {
		return nil, sqlerr.New(sqlerr.InvalidTableDefinition, "a CDC table cannot be created from a query").
			Hintf("its rows come from its stream: list its columns").At(t.Pos)
	}
	if t.IfNotExists {
		if _, _, err := snapshot.Relation(o.schema, o.name); err == nil {
			return done("CREATE TABLE AS"), nil
		}
	}
	rows, schema, release, err := s.startIn(ctx, s.loadEnv(ctx), t.As, nil)
	if err != nil {
		return nil, err
	}
	defer release()
	defer rows.Close()
	d := catalog.Definition{Schema: o.schema, Name: o.name, Kind: catalog.Managed}
	if len(t.Names) > len(schema) {
		return nil, sqlerr.New(sqlerr.SyntaxError, "too many column names were specified").
			Hintf("the query has %d columns", len(schema)).At(t.Names[len(schema)].Pos)
	}
	for i, c := range schema {
		name := c.Name
		if i < len(t.Names) {
			name = t.Names[i].Name
		}
		typ := c.Type
		if typ.ID == vec.Null {
			typ = vec.TextType
		}
		d.Columns = append(d.Columns, tablet.Column{FieldID: int32(i + 1), Name: name, Type: typ, Nullable: true})
	}
	id := tablet.NewTableID()
	create := &catalog.CreateTable{ID: id, Definition: d, PrimaryIndexNames: identNames(t.PrimaryIndex)}
	edits := append(s.replacing(snapshot, t, o), create)
	made, err := snapshot.Preview(edits...)
	if err != nil {
		return nil, err
	}
	table, ok := made.TableByID(id)
	if !ok {
		return nil, sqlerr.New(sqlerr.Internal, "the new table %q is missing", o.name)
	}
	w := &rowWriter{session: s, table: table}
	defer w.abort()
	if !t.NoData {
		if err := fill(ctx, w, rows.Next); err != nil {
			return nil, err
		}
	}
	if len(w.out) > 0 {
		edits = append(edits, &catalog.Modify{Table: id, SchemaVersion: table.SchemaVersion, Add: w.out})
	}
	if err := s.commit(ctx, edits...); err != nil {
		return nil, err
	}
	return &Result{Tag: fmt.Sprintf("SELECT %d", w.total), RowsAffected: w.total}, nil
}

// fill writes everything that next yields.
func fill(ctx context.Context, w *rowWriter, next func(context.Context) (*vec.Batch, error)) error {
	for {
		batch, err := next(ctx)
		if err != nil {
			return err
		}
		if batch == nil {
			return w.flush(ctx)
		}
		if err := w.add(ctx, batch.Compact()); err != nil {
			return err
		}
	}
}
