package engine

import (
	"slices"
	"sync"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/pgcatalog"
	"github.com/tidemarkdb/tidemark/vec"
)

const pgCatalogSchema = "pg_catalog"

// addPgCatalog adds the relations of package pgcatalog to virtualTables.
func addPgCatalog() {
	for _, r := range pgcatalog.All() {
		virtualTables[r.Schema+"."+r.Name] = virtualTable{r.Columns, func(v *virtualRows) {
			r.Fill(v.session.catalogView(v.snapshot), v.add)
		}}
	}
}

// catalogView returns the catalog as pg_catalog shows it to the session.
func (s *Session) catalogView(snapshot *catalog.Snapshot) *pgcatalog.View {
	return pgcatalog.NewView(s.catalogReader(snapshot), snapshot, &s.engine.numbering)
}

// objects returns what functions may ask about the catalog.
func (s *Session) objects(snapshot *catalog.Snapshot) extension.Objects {
	reader := s.catalogReader(snapshot)
	return pgcatalog.Objects{View: sync.OnceValue(func() *pgcatalog.View {
		return pgcatalog.NewView(reader, snapshot, &s.engine.numbering)
	})}
}

func (s *Session) catalogReader(snapshot *catalog.Snapshot) *catalogReader {
	return &catalogReader{session: s, snapshot: snapshot, path: s.searchPath(), temp: s.temp}
}

// catalogReader implements pgcatalog.Session. It keeps what a later statement of the session may change.
type catalogReader struct {
	session  *Session
	snapshot *catalog.Snapshot
	path     []string
	temp     string
}

func (c *catalogReader) User() string { return c.session.user }
func (c *catalogReader) ReadOnly() bool {
	return c.session.readOnly || c.session.engine.options.ReadOnly
}
func (c *catalogReader) Schemas() []string { return visibleSchemas(c.snapshot, c.temp) }
func (c *catalogReader) SearchPath() []string {
	out := make([]string, len(c.path))
	for i, name := range c.path {
		out[i] = known(c.snapshot, name)
	}
	return out
}

func (c *catalogReader) Virtual() []pgcatalog.VirtualTable {
	var out []pgcatalog.VirtualTable
	for _, schema := range []string{informationSchema, pgCatalogSchema} {
		for _, name := range virtualNames(schema) {
			out = append(out, pgcatalog.VirtualTable{Schema: schema, Name: name, Columns: virtualTables[schema+"."+name].schema})
		}
	}
	return out
}

func (c *catalogReader) ViewColumns(v *catalog.View) (vec.Schema, error) {
	return c.session.viewSchema(c.snapshot, v)
}

func (c *catalogReader) Rows(t *catalog.Table) (int64, bool) {
	masks, err := c.session.engine.store.Masks(c.session.engine.ctx, t)
	if err != nil {
		return 0, false
	}
	return int64(masks.LiveRows()), true
}

func (c *catalogReader) Functions() *extension.Registry { return c.session.engine.functions }

func (c *catalogReader) Settings() []pgcatalog.Setting {
	var out []pgcatalog.Setting
	for _, name := range settingNames() {
		d := settings[name]
		out = append(out, pgcatalog.Setting{Name: name, Value: c.session.setting(name), Initial: d.initial, Description: d.description,
			Server: d.scope == EngineScope})
	}
	return out
}

func (c *catalogReader) Statements() []pgcatalog.Statement {
	var out []pgcatalog.Statement
	running, _ := c.session.engine.queries.list()
	for _, q := range running {
		out = append(out, pgcatalog.Statement{ID: q.id, User: q.user, Text: q.text, StartedMicros: q.started.UnixMicro()})
	}
	slices.SortFunc(out, func(a, b pgcatalog.Statement) int { return int(a.ID - b.ID) })
	return out
}
