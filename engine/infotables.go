package engine

import (
	"slices"
	"time"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/vec"
)

// virtualTables holds every virtual table by its qualified name. It is filled once, before use.
var virtualTables map[string]virtualTable

func init() {
	virtualTables = map[string]virtualTable{
		"information_schema.cdc_ingests":   {cdcIngestsSchema, fillCDCIngests},
		"information_schema.snapshot":      {snapshotSchema, fillSnapshot},
		"information_schema.tables":        {tablesSchema, fillTables},
		"information_schema.streams":       {streamsSchema, fillStreams},
		"information_schema.tablets":       {tabletsSchema, fillTablets},
		"information_schema.settings":      {settingsSchema, fillSettings},
		"information_schema.queries":       {queriesSchema, fillQueries},
		"information_schema.query_history": {historySchema, fillHistory},
		"information_schema.functions":     {functionsSchema, fillFunctions},
	}
	addPgCatalog()
}

// cdcIngestsSchema has exactly the columns of the specification, first.
var cdcIngestsSchema = vec.Schema{
	column("table_name", vec.TextType), column("stream_name", vec.TextType), column("state", vec.TextType),
	column("phase", vec.TextType), column("has_worker", vec.BoolType), column("apply_count", vec.Int64Type),
	column("last_commit_time", vec.TimestampTZType), column("live_lag_ms", vec.Int64Type), column("last_error", vec.TextType),
	column("error_count", vec.Int64Type),
}

// fillCDCIngests has one row for each CDC table with an attached stream.
func fillCDCIngests(v *virtualRows) {
	now := time.Now()
	v.tables(func(t *catalog.Table) {
		if !t.Ingest.Attached() {
			return
		}
		stream := ""
		if s, ok := v.snapshot.StreamByID(t.Ingest.Stream); ok {
			stream = s.Name
		}
		name := t.Name
		if t.Schema != catalog.DefaultSchema {
			name = t.QualifiedName()
		}
		var committed, lag, phase any
		if micros := t.Ingest.CommitMicros; micros != 0 {
			committed = vec.IntValue(vec.TimestampTZType, micros)
		}
		lastError := t.Ingest.Reason
		r := v.session.engine.workers.get(t)
		if r == nil {
			v.add(name, text(stream), string(t.Ingest.State), nil, false, 0, committed, nil, text(lastError), 0)
			return
		}
		status := r.worker.Status()
		if status.Phase != "" {
			phase = string(status.Phase)
		}
		if !status.LastApplied.IsZero() {
			lag = now.Sub(status.LastApplied).Milliseconds()
		}
		if lastError == "" {
			lastError = r.diagnostic()
		}
		v.add(name, text(stream), string(t.Ingest.State), phase, true, status.ApplyCount, committed, lag, text(lastError), status.ErrorCount)
	})
}

var tablesSchema = vec.Schema{
	column("table_catalog", vec.TextType), column("table_schema", vec.TextType), column("table_name", vec.TextType),
	column("table_type", vec.TextType), column("is_insertable_into", vec.TextType), column("merge_mode", vec.TextType),
	column("table_id", vec.TextType), column("row_count", vec.Int64Type), column("tablets", vec.Int64Type),
	column("staging_tablets", vec.Int64Type), column("masked_rows", vec.Int64Type), column("bytes", vec.Int64Type),
}

func fillTables(v *virtualRows) {
	v.tables(func(t *catalog.Table) {
		kind := "BASE TABLE"
		switch {
		case isTemporary(t.Schema):
			kind = "LOCAL TEMPORARY"
		case t.Kind == catalog.CDC:
			kind = "CDC TABLE"
		}
		totals := t.Tablets.Totals()
		var rows any
		if masks, err := v.session.engine.store.Masks(v.session.engine.ctx, t); err == nil {
			rows = int64(masks.LiveRows())
		}
		v.add(Database, t.Schema, t.Name, kind, yesNo(t.OpenToDML()), text(string(t.MergeMode)), t.ID.String(), rows,
			totals.BaseTablets, totals.StagingTablets, totals.MaskedRows, totals.Bytes)
	})
	for view := range v.snapshot.Views("") {
		if !isTemporary(view.Schema) || view.Schema == v.session.temp {
			v.add(Database, view.Schema, view.Name, "VIEW", "NO", nil, nil, nil, nil, nil, nil, nil)
		}
	}
	for _, schema := range []string{informationSchema, pgCatalogSchema} {
		for _, name := range virtualNames(schema) {
			v.add(Database, schema, name, "SYSTEM VIEW", "NO", nil, nil, nil, nil, nil, nil, nil)
		}
	}
}

var streamsSchema = vec.Schema{
	column("stream_name", vec.TextType), column("source", vec.TextType), column("options", vec.TextType),
	column("table_name", vec.TextType), column("position", vec.TextType), column("source_commit_time", vec.TimestampTZType),
}

func fillStreams(v *virtualRows) {
	for stream := range v.snapshot.Streams() {
		var table, position, at any
		if t, ok := v.snapshot.FedBy(stream.ID); ok {
			table = t.QualifiedName()
			if t.Ingest.LoadedBy == stream.ID {
				position = text(t.Ingest.PositionText)
				if t.Ingest.SourceMicros != 0 {
					at = vec.IntValue(vec.TimestampTZType, t.Ingest.SourceMicros)
				}
			}
		}
		v.add(stream.Name, stream.Kind, stream.Options.String(), table, position, at)
	}
}

var tabletsSchema = vec.Schema{
	column("table_schema", vec.TextType), column("table_name", vec.TextType), column("tablet_id", vec.TextType),
	column("stage", vec.TextType), column("rows", vec.Int64Type), column("masked_rows", vec.Int64Type),
	column("committed_masked_rows", vec.Int64Type), column("delete_markers", vec.Int64Type), column("bytes", vec.Int64Type),
	column("index_bytes", vec.Int64Type), column("min_seq", vec.Int64Type), column("max_seq", vec.Int64Type),
}

func fillTablets(v *virtualRows) {
	v.tables(func(t *catalog.Table) {
		masks, err := v.session.engine.store.Masks(v.session.engine.ctx, t)
		dead := func(id uint64) any {
			if err != nil {
				return nil
			}
			mask, err := masks.Of(id)
			if err != nil {
				return nil
			}
			return int64(mask.Dead())
		}
		view := t.Tablets.View()
		for _, b := range view.Base {
			v.add(t.Schema, t.Name, b.ID.String(), "base", b.Rows, dead(uint64(b.ID)), b.Mask.Cardinality, b.Deletes, b.FileBytes,
				b.SidecarBytes, b.MinSeq, b.MaxSeq)
		}
		for _, s := range view.Staging {
			v.add(t.Schema, t.Name, s.ID.String(), "staging", s.Rows, dead(uint64(s.ID)), 0, s.Deletes, s.FileBytes, s.SidecarBytes,
				s.MinSeq, s.MaxSeq)
		}
	})
}

var settingsSchema = vec.Schema{
	column("name", vec.TextType), column("setting", vec.TextType), column("default", vec.TextType), column("scope", vec.TextType),
	column("description", vec.TextType),
}

func fillSettings(v *virtualRows) {
	for _, name := range settingNames() {
		s := settings[name]
		scope := "session"
		if s.scope == EngineScope {
			scope = "engine"
		}
		v.add(name, v.session.setting(name), s.initial, scope, s.description)
	}
}

var queriesSchema = vec.Schema{
	column("query_id", vec.Int64Type), column("user_name", vec.TextType), column("query", vec.TextType),
	column("start_time", vec.TimestampTZType), column("duration_ms", vec.Float64Type),
	column("memory_bytes", vec.Int64Type), column("peak_memory_bytes", vec.Int64Type), column("spilled_bytes", vec.Int64Type),
}

func fillQueries(v *virtualRows) {
	running, _ := v.session.engine.queries.list()
	slices.SortFunc(running, func(a, b *queryEntry) int { return int(a.id - b.id) })
	for _, q := range running {
		v.add(q.id, q.user, q.text, vec.IntValue(vec.TimestampTZType, q.started.UnixMicro()), millis(time.Since(q.started)),
			q.usage.HeldBytes(), q.usage.PeakBytes(), q.usage.SpilledBytes())
	}
}

var historySchema = vec.Schema{
	column("query_id", vec.Int64Type), column("user_name", vec.TextType), column("query", vec.TextType),
	column("start_time", vec.TimestampTZType), column("duration_ms", vec.Float64Type), column("rows", vec.Int64Type),
	column("sqlstate", vec.TextType), column("error", vec.TextType),
	column("peak_memory_bytes", vec.Int64Type), column("spilled_bytes", vec.Int64Type),
}

func fillHistory(v *virtualRows) {
	_, finished := v.session.engine.queries.list()
	for _, q := range finished {
		v.add(q.id, q.user, q.text, vec.IntValue(vec.TimestampTZType, q.started.UnixMicro()), millis(q.duration), q.rows,
			text(q.code), text(q.message), q.usage.PeakBytes(), q.usage.SpilledBytes())
	}
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

var functionsSchema = vec.Schema{
	column("name", vec.TextType), column("function_type", vec.TextType), column("category", vec.TextType),
	column("description", vec.TextType), column("example", vec.TextType), column("alias_of", vec.TextType),
}

func fillFunctions(v *virtualRows) {
	r := v.session.engine.functions
	for _, name := range r.FunctionNames() {
		for _, f := range r.Defs(name) {
			example, alias := "", ""
			if len(f.Def.Examples) > 0 {
				example = f.Def.Examples[0].SQL
			}
			if f.Def.Name != name {
				alias = f.Def.Name
			}
			v.add(name, f.Kind, f.Def.Category, f.Def.Description, text(example), text(alias))
		}
	}
}
