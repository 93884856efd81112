package flightsql

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/flight"
	fsql "github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// DoPutCommandStatementIngest puts a client's batches into a table, which it makes, replaces or extends as asked:
// everything in one transaction.
func (h *handler) DoPutCommandStatementIngest(ctx context.Context, c fsql.StatementIngest, reader flight.MessageReader) (rows int64, err error) {
	if catalog := c.GetCatalog(); !ours(&catalog) {
		return 0, sqlerr.New(sqlerr.InvalidCatalog, "database %q does not exist", catalog).Hintf("this database is %q", engine.Database)
	}
	_, on, release, err := h.sessionFor(ctx, c.GetTransactionId())
	if err != nil {
		return 0, err
	}
	defer release()
	schema := reader.Schema()
	if schema == nil {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "the ingest has no schema").Hintf("send a schema before the batches")
	}
	columns, err := vec.FromArrowSchema(schema)
	if err != nil {
		return 0, err
	}
	if !on.InTransaction() {
		fork := on.Fork()
		defer fork.Close()
		if err := fork.Begin(); err != nil {
			return 0, err
		}
		defer func() {
			if err == nil {
				err = fork.End(ctx, true)
			}
		}()
		on = fork
	}
	target := engine.IngestTarget{Schema: c.GetSchema(), Name: c.GetTable()}
	if err := makeTarget(ctx, on, c, target, columns); err != nil {
		return 0, err
	}
	rows, err = on.Ingest(ctx, target, columns, func(context.Context) (*vec.Batch, error) {
		if !reader.Next() {
			if err := reader.Err(); err != nil && !errors.Is(err, io.EOF) {
				return nil, err
			}
			return nil, nil
		}
		return vec.FromArrow(reader.RecordBatch())
	})
	h.metrics.ingested.Add(float64(rows))
	return rows, err
}

// makeTarget makes, drops or checks the table as the command's options ask.
func makeTarget(ctx context.Context, on *engine.Session, c fsql.StatementIngest, target engine.IngestTarget, columns vec.Schema) error {
	name := quoted(target.Name)
	if target.Schema != "" {
		name = quoted(target.Schema) + "." + name
	}
	exists := false
	switch _, err := on.Prepare(ctx, "SELECT * FROM "+name+" LIMIT 0"); sqlerr.Code(err) {
	case "":
		exists = true
	case sqlerr.UndefinedTable, sqlerr.InvalidSchema:
	default:
		return err
	}
	options := c.GetTableDefinitionOptions()
	if exists {
		switch options.GetIfExists() {
		case fsql.TableDefinitionOptionsTableExistsOptionAppend:
			return nil
		case fsql.TableDefinitionOptionsTableExistsOptionReplace:
			if err := execute(ctx, on, "DROP TABLE "+name); err != nil {
				return err
			}
		default:
			return sqlerr.New(sqlerr.DuplicateTable, "relation %q already exists", target.Name).
				Hintf("ingest with the mode append or replace, or choose another name")
		}
	} else if options.GetIfNotExist() != fsql.TableDefinitionOptionsTableNotExistOptionCreate {
		return sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", target.Name).
			Hintf("ingest with the mode create, or create the table first")
	}
	return execute(ctx, on, createTable(name, c.GetTemporary(), columns))
}

// createTable returns the definition of a table of columns; one without a type holds text.
func createTable(name string, temporary bool, columns vec.Schema) string {
	var b strings.Builder
	b.WriteString("CREATE ")
	if temporary {
		b.WriteString("TEMPORARY ")
	}
	b.WriteString("TABLE " + name + " (")
	for i, c := range columns {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quoted(c.Name) + " " + typeSQL(c.Type))
	}
	return b.String() + ")"
}

func typeSQL(t vec.Type) string {
	switch t.ID {
	case vec.Null:
		return "text"
	case vec.Array:
		return typeSQL(*t.Elem) + "[]"
	case vec.Struct:
		parts := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			parts[i] = quoted(f.Name) + " " + typeSQL(f.Type)
		}
		return "struct(" + strings.Join(parts, ", ") + ")"
	}
	return t.String()
}

// execute runs a statement for its effect.
func execute(ctx context.Context, on *engine.Session, text string) error {
	result, err := on.Query(ctx, text)
	if err != nil {
		return err
	}
	_, err = finish(ctx, result)
	return err
}

// BeginSavepoint is refused.
func (h *handler) BeginSavepoint(context.Context, fsql.ActionBeginSavepointRequest) ([]byte, error) {
	return nil, status.Error(codes.Unimplemented, "savepoint actions are not supported; send SAVEPOINT as SQL")
}

// EndSavepoint is refused.
func (h *handler) EndSavepoint(context.Context, fsql.ActionEndSavepointRequest) error {
	return status.Error(codes.Unimplemented, "savepoint actions are not supported; send RELEASE or ROLLBACK TO as SQL")
}
