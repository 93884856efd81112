package engine

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/exec"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablestore"
	"github.com/tidemarkdb/tidemark/vec"
)

func settingNames() []string { return slices.Sorted(maps.Keys(settings)) }

// configure runs SET, RESET and their kin.
func (s *Session) configure(ctx context.Context, statement sql.Statement) (*Result, error) {
	switch t := statement.(type) {
	case *sql.Set:
		value, err := setValue(t)
		if err != nil {
			return nil, err
		}
		if value == nil {
			s.reset(t.Name)
			return done("SET"), nil
		}
		if err := s.set(t.Name, *value); err != nil {
			return nil, sqlerr.From(err).At(t.Pos)
		}
		return done("SET"), nil
	case *sql.Reset:
		if t.Name == "" {
			for _, name := range settingNames() {
				if settings[name].scope == SessionScope {
					s.settings.reset(name)
				}
			}
			return done("RESET"), nil
		}
		if _, err := lookupSetting(t.Name); err != nil {
			return nil, sqlerr.From(err).At(t.Pos)
		}
		s.reset(t.Name)
		return done("RESET"), nil
	case *sql.Use:
		o, err := split(t.Name)
		if err != nil {
			return nil, err
		}
		if o.name == Database {
			return done("USE"), nil
		}
		snapshot, release := s.snapshot()
		defer release()
		if !snapshot.HasSchema(known(snapshot, o.name)) {
			return nil, sqlerr.New(sqlerr.InvalidSchema, "schema %q does not exist", o.name).
				Hintf("SHOW SCHEMAS lists those that do").At(t.Pos)
		}
		return done("USE"), s.set(settingSearchPath, quoteIdent(o.name))
	case *sql.Discard:
		all := t.What == "all"
		if all {
			s.closeCursors(true)
		}
		if all || t.What == "plans" {
			clear(s.prepared)
		}
		if all || t.What == "temp" || t.What == "temporary" {
			s.dropTemporary()
		}
		if all || t.What == "sequences" {
			s.numbers.forget()
		}
		return done("DISCARD"), nil
	}
	return done("SET"), nil // SET TRANSACTION: every level reads one snapshot
}

// setValue returns the value of SET as one text, nil for DEFAULT.
func setValue(t *sql.Set) (*string, error) {
	if len(t.Values) == 0 {
		return nil, nil
	}
	var parts []string
	for _, v := range t.Values {
		if _, ok := v.(*sql.Default); ok {
			return nil, nil
		}
		text, err := optionText(sql.Option{Name: sql.Ident{Name: t.Name, Pos: t.Pos}, Value: v})
		if err != nil {
			return nil, err
		}
		if t.Name == settingSearchPath && len(t.Values) > 1 {
			text = quoteIdent(text)
		}
		parts = append(parts, text)
	}
	joined := strings.Join(parts, ", ")
	return &joined, nil
}

func (s *Session) reset(name string) {
	if settings[name].scope == EngineScope {
		s.engine.settings.reset(name)
		return
	}
	s.settings.reset(name)
}

// quoteIdent quotes a name where it needs quotes.
func quoteIdent(name string) string {
	plain := name != "" && strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && r != '$' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}) < 0 && (name[0] < '0' || name[0] > '9')
	if plain {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// textRows returns a result of text columns.
func textRows(tag string, names []string, rows [][]string) *Result {
	schema := make(vec.Schema, len(names))
	builders := make([]*vec.Builder, len(names))
	for i, name := range names {
		schema[i] = column(name, vec.TextType)
		builders[i] = vec.NewBuilder(vec.TextType, len(rows))
	}
	for _, row := range rows {
		for i, value := range row {
			builders[i].AppendString(value)
		}
	}
	batch := vec.NewBatch(len(rows))
	for _, b := range builders {
		batch.Cols = append(batch.Cols, b.Finish())
	}
	return rowsOf(tag, schema, batch)
}

// showColumns names the columns of SHOW by kind.
func showColumns(t *sql.Show) []string {
	switch t.Kind {
	case sql.ShowSetting:
		return []string{t.Name}
	case sql.ShowAll:
		return []string{"name", "setting", "description"}
	case sql.ShowTables:
		return []string{"schema_name", "table_name", "table_type"}
	case sql.ShowSchemas:
		return []string{"schema_name"}
	case sql.ShowViews:
		return []string{"schema_name", "view_name"}
	case sql.ShowStreams:
		return []string{"stream_name", "source", "options", "table_name"}
	}
	return describeColumns
}

func (s *Session) show(ctx context.Context, t *sql.Show) (*Result, error) {
	snapshot, release := s.snapshot()
	defer release()
	var rows [][]string
	switch t.Kind {
	case sql.ShowSetting:
		value, err := s.Setting(t.Name)
		if err != nil {
			return nil, sqlerr.From(err).At(t.Pos)
		}
		rows = [][]string{{value}}
	case sql.ShowAll:
		for _, name := range settingNames() {
			rows = append(rows, []string{name, s.setting(name), settings[name].description})
		}
	case sql.ShowSchemas:
		for _, name := range s.visibleSchemas(snapshot) {
			rows = append(rows, []string{name})
		}
	case sql.ShowTables:
		v := &virtualRows{session: s, snapshot: snapshot}
		v.tables(func(t *catalog.Table) { rows = append(rows, []string{t.Schema, t.Name, string(t.Kind)}) })
	case sql.ShowViews:
		for view := range snapshot.Views("") {
			if !isTemporary(view.Schema) || view.Schema == s.temp {
				rows = append(rows, []string{view.Schema, view.Name})
			}
		}
	case sql.ShowStreams:
		for stream := range snapshot.Streams() {
			table := ""
			if t, ok := snapshot.FedBy(stream.ID); ok {
				table = t.QualifiedName()
			}
			rows = append(rows, []string{stream.Name, stream.Kind, stream.Options.String(), table})
		}
	case sql.ShowColumns:
		return s.describe(ctx, &sql.Describe{Table: t.Table, Pos: t.Pos})
	}
	return textRows("SHOW", showColumns(t), rows), nil
}

var describeColumns = []string{"column_name", "column_type", "null", "key"}

// describe lists the columns of a table, a view or a query.
func (s *Session) describe(ctx context.Context, t *sql.Describe) (*Result, error) {
	snapshot, release := s.snapshot()
	defer release()
	query := t.Query
	key := map[string]bool{}
	if query == nil {
		query = &sql.Select{Items: []sql.SelectItem{{Expr: &sql.Star{}}}, From: []sql.TableExpr{&sql.Table{Name: t.Table, Pos: t.Table.Position()}}}
		if table, _, err := s.relation(snapshot, t.Table); err == nil && table != nil {
			for _, place := range tablestore.Places(table, table.PrimaryKey()) {
				key[table.Columns[place].Name] = true
			}
		}
	}
	bound, err := s.bind(ctx, snapshot, query, nil)
	if err != nil {
		return nil, err
	}
	var rows [][]string
	for _, c := range bound.Schema {
		mark := ""
		if key[c.Name] {
			mark = "KEY"
		}
		rows = append(rows, []string{c.Name, c.Type.String(), yesNo(c.Nullable), mark})
	}
	return textRows("DESCRIBE", describeColumns, rows), nil
}

// describeStatement returns the result columns and parameters of a statement without running it.
func (s *Session) describeStatement(ctx context.Context, snapshot *catalog.Snapshot, statement sql.Statement) (schema, params vec.Schema, err error) {
	texts := func(names ...string) vec.Schema {
		var out vec.Schema
		for _, n := range names {
			out = append(out, column(n, vec.TextType))
		}
		return out
	}
	if changesData(statement) {
		return s.describeChangesIn(ctx, snapshot, statement)
	}
	switch t := statement.(type) {
	case sql.QueryExpr:
		bound, err := s.bind(ctx, snapshot, t, nil)
		if err != nil {
			return nil, nil, err
		}
		return bound.Schema, paramSchema(bound.Params), nil
	case *sql.Explain:
		return texts("QUERY PLAN"), nil, nil
	case *sql.Show:
		return texts(showColumns(t)...), nil, nil
	case *sql.Describe:
		if t.Summarize {
			return texts(summarizeColumns...), nil, nil
		}
		return texts(describeColumns...), nil, nil
	case *sql.Fetch:
		if c := s.cursors[t.Cursor.Name]; c != nil && !t.Move {
			return c.result.Schema, nil, nil
		}
		return nil, nil, nil
	case *sql.Execute:
		if kept, ok := s.prepared[t.Name.Name]; ok {
			schema, _, err := s.describeStatement(ctx, snapshot, kept.Statement)
			return schema, nil, err
		}
		return nil, nil, nil
	}
	return s.describeModify(ctx, snapshot, statement)
}

// paramSchema names parameters as drivers bind them.
func paramSchema(types []vec.Type) vec.Schema {
	var out vec.Schema
	for i, t := range types {
		out = append(out, column(itoa(i+1), t))
	}
	return out
}

// explain runs EXPLAIN and EXPLAIN ANALYZE.
func (s *Session) explain(ctx context.Context, t *sql.Explain, args []vec.Value) (*Result, error) {
	options := plan.ExplainOptions{}
	for _, o := range t.Options {
		if strings.EqualFold(o.Name.Name, "verbose") {
			options.Verbose = true
			continue
		}
		if !strings.EqualFold(o.Name.Name, "format") {
			continue // what other systems show anyway: costs, timing, buffers
		}
		format, err := optionText(o)
		if err != nil {
			return nil, err
		}
		options.Format = format
	}
	p, err := s.planStatement(ctx, t, args)
	if err != nil {
		return nil, err
	}
	defer p.release()
	if t.Analyze {
		if options.Metrics, err = s.analyze(ctx, p); err != nil {
			return nil, err
		}
	}
	printed, err := plan.Explain(p.query.Plan, options)
	if err != nil {
		return nil, err
	}
	var rows [][]string
	for _, line := range strings.Split(strings.TrimRight(printed, "\n"), "\n") {
		rows = append(rows, []string{line})
	}
	return textRows("EXPLAIN", []string{"QUERY PLAN"}, rows), nil
}

// analyze runs a plan to its end and returns what its operators did.
func (s *Session) analyze(ctx context.Context, p planned) (map[plan.Node]*plan.Metrics, error) {
	rows, err := exec.Run(ctx, p.query.Plan, s.env(ctx))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for {
		batch, err := rows.Next(ctx)
		if err != nil {
			return nil, err
		}
		if batch == nil {
			break
		}
	}
	out := map[plan.Node]*plan.Metrics{}
	var collect func(m *exec.Metrics)
	collect = func(m *exec.Metrics) {
		if m.Node != nil {
			kept := out[m.Node]
			if kept == nil {
				kept = new(plan.Metrics)
				out[m.Node] = kept
				kept.Rows, kept.Batches = m.Rows, m.Batches
			}
			kept.Time += m.Time
			kept.MemoryBytes += m.MemoryBytes
			kept.SpillBytes += m.SpillBytes
			var extra []string
			for _, c := range m.Counters {
				extra = append(extra, c.Name+"="+itoa(int(c.Value)))
			}
			if len(extra) > 0 {
				kept.Extra = strings.Join(extra, " ")
			}
		}
		for _, in := range m.Inputs {
			collect(in)
		}
	}
	collect(rows.Metrics())
	return out, nil
}
