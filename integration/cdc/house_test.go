package cdc

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/extension"
	. "github.com/tidemarkdb/tidemark/integration/enginetest"
	"github.com/tidemarkdb/tidemark/integration/scripted"
	"github.com/tidemarkdb/tidemark/vec"
)

// house is one root with a source table orders and, once opened, an engine over it.
type house struct {
	t        *testing.T
	root     string
	database *scripted.Database
	source   *scripted.Table
	engine   *engine.Engine
	s        *engine.Session
}

var orderColumns = []vec.Column{
	{Name: "id", Type: vec.Int64Type}, {Name: "n", Type: vec.Int64Type, Nullable: true}, {Name: "note", Type: vec.TextType, Nullable: true},
}

// fast are settings that make appends short.
func fast() map[string]string { return map[string]string{"execution.cdc.append_max_read_ms": "2"} }

func newHouse(t *testing.T) *house {
	h := &house{t: t, root: t.TempDir(), database: scripted.NewDatabase()}
	h.source = h.database.Create("orders", orderColumns, 0)
	h.engine, h.s = h.open("first")
	return h
}

// open opens an engine on the root.
func (h *house) open(name string) (*engine.Engine, *engine.Session) {
	h.t.Helper()
	e := Open(h.t, engine.Options{Root: h.root, Name: name, Settings: fast(), Register: h.database.Register})
	return e, Session(h.t, e)
}

// table makes the CDC table orders with its stream, attached. with is what follows in WITH (...), "" for nothing.
func (h *house) table(with string) {
	h.t.Helper()
	if with != "" {
		with = "WITH (" + with + ")"
	}
	Rows(h.t, h.s, `CREATE STREAM changes FROM SCRIPTED WITH ("table" = 'orders');
		CREATE CDC TABLE orders (id BIGINT, n BIGINT, note TEXT, PRIMARY KEY (id) NOT ENFORCED) `+with+`;
		ALTER CDC TABLE orders ATTACH STREAM changes`)
}

func (h *house) resume() {
	h.t.Helper()
	Rows(h.t, h.s, "ALTER CDC TABLE orders RESUME")
}

func (h *house) suspend() {
	h.t.Helper()
	Rows(h.t, h.s, "ALTER CDC TABLE orders SUSPEND")
}

// loaded fills the source, makes the table with table's with, attached, and lets it load and catch up.
func (h *house) loaded(n int64, with string) {
	h.t.Helper()
	fill(h.source, 0, n)
	h.table(with)
	h.resume()
	h.caughtUp(h.s)
}

// order returns a row of the source.
func order(id, n int64, note string) scripted.Row {
	return scripted.Row{vec.IntValue(vec.Int64Type, id), vec.IntValue(vec.Int64Type, n), vec.StringValue(vec.TextType, note)}
}

func insert(id, n int64, note string) scripted.Change {
	return scripted.Change{Op: extension.Insert, Row: order(id, n, note)}
}

func update(id, n int64, note string) scripted.Change {
	return scripted.Change{Op: extension.Update, Row: order(id, n, note)}
}

func remove(id int64) scripted.Change {
	return scripted.Change{Op: extension.Delete, Row: order(id, 0, "")}
}

// caughtUp waits until the table has applied everything the source committed, as session s sees it.
func (h *house) caughtUp(s *engine.Session) {
	h.t.Helper()
	UntilRow(h.t, s, "SELECT coalesce(position, '') FROM information_schema.streams WHERE stream_name = 'changes'", fmt.Sprint(h.source.End()))
}

// same compares the table with the source's newest state.
func (h *house) same(s *engine.Session, table string) {
	h.t.Helper()
	compare(h.t, s, table, h.source.At(h.source.End()))
}

func compare(t *testing.T, s *engine.Session, table string, want map[string]string) {
	t.Helper()
	got := Rows(t, s, "SELECT * FROM "+table)
	slices.Sort(got)
	lines := slices.Sorted(maps.Values(want))
	if !slices.Equal(got, lines) {
		t.Fatalf("table %s has %d rows and the source %d, or they differ:\ngot  %.300s\nwant %.300s", table, len(got), len(lines),
			strings.Join(got, " "), strings.Join(lines, " "))
	}
}

const ingests = "SELECT state, coalesce(phase, '-'), has_worker FROM information_schema.cdc_ingests"

// series returns the values of the engine's CDC series by name and the labels that are not of every series.
func series(t *testing.T, e *engine.Engine) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	for key, value := range labelled(t, e) {
		name, labels, _ := strings.Cut(key, "{")
		var own []string
		for _, l := range strings.Split(strings.TrimSuffix(labels, "}"), ",") {
			switch l, _, _ := strings.Cut(l, "="); l {
			case "database", "table", "table_id", "stream", "":
				continue
			}
			own = append(own, l)
		}
		if len(own) > 0 {
			name += "{" + strings.Join(own, ",") + "}"
		}
		out[strings.TrimPrefix(name, "tidemark_cdc_")] = value
	}
	return out
}

// labelled returns the values of the engine's CDC series by name and all labels.
func labelled(t *testing.T, e *engine.Engine) map[string]float64 {
	t.Helper()
	families, err := prometheus.Gatherers{e.Metrics()}.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "tidemark_cdc_") {
			continue
		}
		for _, m := range f.Metric {
			var labels []string
			for _, l := range m.Label {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			out[f.GetName()+"{"+strings.Join(labels, ",")+"}"] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return out
}
