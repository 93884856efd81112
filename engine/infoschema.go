package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/vec"
)

const informationSchema = "information_schema"

// isTemporary reports whether a schema is some session's own.
func isTemporary(schema string) bool { return strings.HasPrefix(schema, "pg_temp_") }

// virtualTable is a table of information_schema: its columns and what fills them for a session's snapshot.
type virtualTable struct {
	schema vec.Schema
	fill   func(v *virtualRows)
}

// virtualRows is one filling of a virtual table.
type virtualRows struct {
	session  *Session
	snapshot *catalog.Snapshot
	builders []*vec.Builder
	types    []vec.Type
}

// add appends a row: nil is NULL, and a value's Go type must suit that of its column.
func (v *virtualRows) add(values ...any) {
	for i, value := range values {
		b := v.builders[i]
		switch x := value.(type) {
		case nil:
			b.AppendNull()
		case string:
			b.AppendString(x)
		case bool:
			b.AppendBool(x)
		case int:
			b.Append(vec.IntValue(v.types[i], int64(x)))
		case int64:
			b.Append(vec.IntValue(v.types[i], x))
		case float64:
			b.Append(vec.FloatValue(v.types[i], x))
		case vec.Value:
			b.Append(x)
		}
	}
}

// text returns nil, for NULL, in place of an empty string.
func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// yesNo is information_schema's form of a boolean.
func yesNo(b bool) string {
	if b {
		return "YES"
	}
	return "NO"
}

// column makes a nullable column of a virtual table.
func column(name string, t vec.Type) vec.Column {
	return vec.Column{Name: name, Type: t, Nullable: true}
}

// virtual returns the virtual table of a name, nil when there is none. Those of pg_catalog need no schema.
func (s *Session) virtual(snapshot *catalog.Snapshot, schema, name string) *plan.Virtual {
	if schema == "" { // PostgreSQL searches pg_catalog before the path
		schema = pgCatalogSchema
	}
	table, ok := virtualTables[schema+"."+name]
	if !ok {
		return nil
	}
	return &plan.Virtual{Schema: schema, Name: name, Source: &virtualSource{s, snapshot, table}}
}

// virtualSource implements extension.TableSource.
type virtualSource struct {
	session  *Session
	snapshot *catalog.Snapshot
	table    virtualTable
}

func (v *virtualSource) Schema() vec.Schema { return v.table.schema }

func (v *virtualSource) Rows() int64 { return -1 }

// Open fills the table: it shows the moment of the read.
func (v *virtualSource) Open(_ context.Context, _ *extension.Eval, projection []int) (extension.TableReader, error) {
	rows := &virtualRows{session: v.session, snapshot: v.snapshot}
	for _, c := range v.table.schema {
		rows.builders, rows.types = append(rows.builders, vec.NewBuilder(c.Type, 16)), append(rows.types, c.Type)
	}
	v.table.fill(rows)
	batch := vec.NewBatch(rows.builders[0].Len())
	for _, p := range projection {
		batch.Cols = append(batch.Cols, rows.builders[p].Finish())
	}
	return &virtualReader{batch}, nil
}

type virtualReader struct{ batch *vec.Batch }

func (r *virtualReader) Next(context.Context) (*vec.Batch, error) {
	b := r.batch
	if b == nil || b.N == 0 {
		return nil, nil
	}
	n := min(b.N, vec.BatchRows)
	r.batch = b.Slice(n, b.N-n)
	return b.Slice(0, n), nil
}

func (r *virtualReader) Close() error { return nil }

// tables calls yield for the tables a session sees.
func (v *virtualRows) tables(yield func(*catalog.Table)) {
	for t := range v.snapshot.Tables("") {
		if !isTemporary(t.Schema) || t.Schema == v.session.temp {
			yield(t)
		}
	}
}

// virtualNames lists the tables of a schema of virtual tables.
func virtualNames(schema string) []string {
	var names []string
	for qualified := range virtualTables {
		if in, name, _ := strings.Cut(qualified, "."); in == schema {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
