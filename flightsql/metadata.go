package flightsql

import (
	"context"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	fsql "github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql/schema_ref"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/vec"
)

// The kinds of tables, as GetTables names them: JDBC's names, which differ from information_schema's.
const (
	tableKind  = "TABLE"
	viewKind   = "VIEW"
	systemKind = "SYSTEM TABLE"
)

// reading returns what metadata is read from: the caller's open transaction if there is exactly one, which sees its own
// tables, else the caller's session, else a passing one.
func (h *handler) reading(ctx context.Context) (*engine.Session, func(), error) {
	s, release, err := h.sessions.of(ctx, false)
	if err != nil {
		return nil, nil, err
	}
	if s == nil {
		c := callerOf(ctx)
		passing, err := h.engine.NewSession(engine.SessionOptions{User: c.user, ReadOnly: true})
		if err != nil {
			return nil, nil, err
		}
		return passing, passing.Close, nil
	}
	h.sessions.mu.Lock()
	defer h.sessions.mu.Unlock()
	if len(s.transactions) == 1 {
		for _, t := range s.transactions {
			return t.engine, release, nil
		}
	}
	return s.engine, release, nil
}

// texts runs a query of text columns; NULL reads as "".
func texts(ctx context.Context, on *engine.Session, query string, columns int) ([][]string, error) {
	result, err := on.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	var rows [][]string
	for {
		batch, err := result.Next(ctx)
		if batch == nil || err != nil {
			return rows, err
		}
		for i := range batch.N {
			row := make([]string, columns)
			for c := range row {
				row[c] = batch.Cols[c].Value(i).S
			}
			rows = append(rows, row)
		}
	}
}

// single returns a stream of one batch that build fills.
func single(schema *arrow.Schema, build func(*array.RecordBuilder)) (*arrow.Schema, <-chan flight.StreamChunk, error) {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	build(b)
	out := make(chan flight.StreamChunk, 1)
	out <- flight.StreamChunk{Data: b.NewRecordBatch()}
	close(out)
	return schema, out, nil
}

func addText(b *array.RecordBuilder, values ...string) {
	for i, v := range values {
		b.Field(i).(*array.StringBuilder).Append(v)
	}
}

func (h *handler) GetFlightInfoCatalogs(_ context.Context, desc *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	return flightInfo(desc, schema_ref.Catalogs, desc.Cmd), nil
}

// DoGetCatalogs lists the one database.
func (h *handler) DoGetCatalogs(context.Context) (*arrow.Schema, <-chan flight.StreamChunk, error) {
	return single(schema_ref.Catalogs, func(b *array.RecordBuilder) { addText(b, engine.Database) })
}

func (h *handler) GetFlightInfoSchemas(_ context.Context, _ fsql.GetDBSchemas, desc *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	return flightInfo(desc, schema_ref.DBSchemas, desc.Cmd), nil
}

// ours reports whether a catalog filter lets our database through.
func ours(catalog *string) bool {
	return catalog == nil || *catalog == "" || *catalog == engine.Database
}

// DoGetDBSchemas lists schemas.
func (h *handler) DoGetDBSchemas(ctx context.Context, c fsql.GetDBSchemas) (*arrow.Schema, <-chan flight.StreamChunk, error) {
	on, release, err := h.reading(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer release()
	rows, err := texts(ctx, on, "SELECT schema_name FROM information_schema.schemata ORDER BY schema_name", 1)
	if err != nil {
		return nil, nil, err
	}
	return single(schema_ref.DBSchemas, func(b *array.RecordBuilder) {
		for _, row := range rows {
			if ours(c.GetCatalog()) && like(c.GetDBSchemaFilterPattern(), row[0]) {
				addText(b, engine.Database, row[0])
			}
		}
	})
}

func tablesSchema(c fsql.GetTables) *arrow.Schema {
	if c.GetIncludeSchema() {
		return schema_ref.TablesWithIncludedSchema
	}
	return schema_ref.Tables
}

func (h *handler) GetFlightInfoTables(_ context.Context, c fsql.GetTables, desc *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	return flightInfo(desc, tablesSchema(c), desc.Cmd), nil
}

// DoGetTables lists tables and views. A table whose name is the pattern itself comes first, since clients take the
// first and do not escape its wildcards.
func (h *handler) DoGetTables(ctx context.Context, c fsql.GetTables) (*arrow.Schema, <-chan flight.StreamChunk, error) {
	on, release, err := h.reading(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer release()
	found, err := matchingTables(ctx, on, c)
	if err != nil {
		return nil, nil, err
	}
	schemas := make([][]byte, len(found))
	for i, t := range found {
		if c.GetIncludeSchema() {
			schemas[i] = describeTable(ctx, on, t[0], t[1])
		}
	}
	return single(tablesSchema(c), func(b *array.RecordBuilder) {
		for i, t := range found {
			addText(b, engine.Database, t[0], t[1], t[2])
			if c.GetIncludeSchema() {
				b.Field(4).(*array.BinaryBuilder).Append(schemas[i])
			}
		}
	})
}

func matchingTables(ctx context.Context, on *engine.Session, c fsql.GetTables) ([][]string, error) {
	if !ours(c.GetCatalog()) {
		return nil, nil
	}
	// information_schema.tables counts rows, which resolves masks: too dear for a listing.
	rows, err := texts(ctx, on, "SELECT DISTINCT table_schema, table_name FROM information_schema.columns", 2)
	if err != nil {
		return nil, err
	}
	views, err := texts(ctx, on, "SELECT table_schema, table_name FROM information_schema.views", 2)
	if err != nil {
		return nil, err
	}
	isView := map[[2]string]bool{}
	for _, v := range views {
		isView[[2]string{v[0], v[1]}] = true
	}
	rows = slices.DeleteFunc(rows, func(t []string) bool { return isView[[2]string{t[0], t[1]}] })
	var found [][]string
	for _, t := range append(rows, views...) {
		kind := tableKind
		switch {
		case t[0] == "information_schema":
			kind = systemKind
		case isView[[2]string{t[0], t[1]}]:
			kind = viewKind
		}
		if like(c.GetDBSchemaFilterPattern(), t[0]) && like(c.GetTableNameFilterPattern(), t[1]) && wanted(c.GetTableTypes(), kind) {
			found = append(found, append(t, kind))
		}
	}
	exact := func(t []string) int {
		if p := c.GetTableNameFilterPattern(); p != nil && *p == t[1] {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(found, func(a, b []string) int {
		if e := exact(a) - exact(b); e != 0 {
			return e
		}
		return slices.Compare(a[:2], b[:2])
	})
	return found, nil
}

func wanted(types []string, kind string) bool {
	return len(types) == 0 || slices.Contains(types, kind) || kind == tableKind && slices.Contains(types, "BASE TABLE")
}

// describeTable returns a table's serialized Arrow schema, without columns for a view that no longer works.
func describeTable(ctx context.Context, on *engine.Session, schema, table string) []byte {
	var columns vec.Schema
	if p, err := on.Prepare(ctx, "SELECT * FROM "+quoted(schema)+"."+quoted(table)); err == nil {
		columns = p.Schema
	}
	described := arrowSchema(columns)
	fields := described.Fields()
	for i := range fields {
		own := fsql.NewColumnMetadataBuilder().CatalogName(engine.Database).SchemaName(schema).TableName(table).Metadata()
		fields[i].Metadata = arrow.NewMetadata(append(own.Keys(), fields[i].Metadata.Keys()...), append(own.Values(), fields[i].Metadata.Values()...))
	}
	return flight.SerializeSchema(arrow.NewSchema(fields, nil), memory.DefaultAllocator)
}

func (h *handler) GetFlightInfoTableTypes(_ context.Context, desc *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	return flightInfo(desc, schema_ref.TableTypes, desc.Cmd), nil
}

// DoGetTableTypes lists the kinds of tables.
func (h *handler) DoGetTableTypes(context.Context) (*arrow.Schema, <-chan flight.StreamChunk, error) {
	return single(schema_ref.TableTypes, func(b *array.RecordBuilder) {
		for _, kind := range []string{systemKind, tableKind, viewKind} {
			addText(b, kind)
		}
	})
}

func (h *handler) GetFlightInfoPrimaryKeys(_ context.Context, _ fsql.TableRef, desc *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	return flightInfo(desc, schema_ref.PrimaryKeys, desc.Cmd), nil
}

// DoGetPrimaryKeys lists the merge key's columns.
func (h *handler) DoGetPrimaryKeys(ctx context.Context, ref fsql.TableRef) (*arrow.Schema, <-chan flight.StreamChunk, error) {
	on, release, err := h.reading(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer release()
	query := "SELECT table_schema, column_name FROM information_schema.columns WHERE is_merge_key = 'YES' AND table_name = " + literal(ref.Table)
	if ref.DBSchema != nil && *ref.DBSchema != "" {
		query += " AND table_schema = " + literal(*ref.DBSchema)
	}
	rows, err := texts(ctx, on, query+" ORDER BY table_schema, ordinal_position", 2)
	if err != nil {
		return nil, nil, err
	}
	return single(schema_ref.PrimaryKeys, func(b *array.RecordBuilder) {
		place, last := int32(0), ""
		for _, row := range rows {
			if !ours(ref.Catalog) {
				continue
			}
			if row[0] != last {
				place, last = 0, row[0]
			}
			place++
			addText(b, engine.Database, row[0], ref.Table, row[1])
			b.Field(4).(*array.Int32Builder).Append(place)
			b.Field(5).(*array.StringBuilder).Append(ref.Table + "_pkey")
		}
	})
}

func (h *handler) GetFlightInfoExportedKeys(_ context.Context, _ fsql.TableRef, desc *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	return flightInfo(desc, schema_ref.ExportedKeys, desc.Cmd), nil
}

// DoGetExportedKeys is empty: there are no foreign keys.
func (h *handler) DoGetExportedKeys(context.Context, fsql.TableRef) (*arrow.Schema, <-chan flight.StreamChunk, error) {
	return single(schema_ref.ExportedKeys, func(*array.RecordBuilder) {})
}

func (h *handler) GetFlightInfoImportedKeys(_ context.Context, _ fsql.TableRef, desc *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	return flightInfo(desc, schema_ref.ImportedKeys, desc.Cmd), nil
}

// DoGetImportedKeys is empty: there are no foreign keys.
func (h *handler) DoGetImportedKeys(context.Context, fsql.TableRef) (*arrow.Schema, <-chan flight.StreamChunk, error) {
	return single(schema_ref.ImportedKeys, func(*array.RecordBuilder) {})
}

func (h *handler) GetFlightInfoCrossReference(_ context.Context, _ fsql.CrossTableRef, desc *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	return flightInfo(desc, schema_ref.CrossReference, desc.Cmd), nil
}

// DoGetCrossReference is empty: there are no foreign keys.
func (h *handler) DoGetCrossReference(context.Context, fsql.CrossTableRef) (*arrow.Schema, <-chan flight.StreamChunk, error) {
	return single(schema_ref.CrossReference, func(*array.RecordBuilder) {})
}
