package monitoring

import (
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/extension"
	. "github.com/tidemarkdb/tidemark/integration/enginetest"
	"github.com/tidemarkdb/tidemark/integration/scripted"
	"github.com/tidemarkdb/tidemark/monitor"
	"github.com/tidemarkdb/tidemark/vec"
)

func TestRulesAreSound(t *testing.T) {
	promtool(t, "check", "rules", filepath.Join(repository, "deploy", "prometheus", "alerts.yml"))
}

// dashboard returns the expressions of the dashboard's panels, variables replaced as for all tables.
func dashboard(t *testing.T) map[string]string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(repository, "deploy", "grafana", "tidemark.json"))
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(content, &d); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	replace := strings.NewReplacer("$table", ".*", "$__rate_interval", "1m")
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			out[p.Title+": "+target.Expr] = replace.Replace(target.Expr)
		}
	}
	if len(out) < 10 {
		t.Fatalf("the dashboard has %d expressions", len(out))
	}
	return out
}

func TestEveryExpressionHasAnAnswer(t *testing.T) {
	database := scripted.NewDatabase()
	source := database.Create("orders", []vec.Column{{Name: "id", Type: vec.Int64Type}}, 0)
	row := func(op extension.Op, id int64) scripted.Change {
		return scripted.Change{Op: op, Row: scripted.Row{vec.IntValue(vec.Int64Type, id)}}
	}
	source.Commit(row(extension.Insert, 1), row(extension.Insert, 2))
	var failing atomic.Bool
	database.SetFault(func(stage scripted.Stage) error {
		if stage == scripted.Reading && failing.Load() {
			return errors.New("the connection broke")
		}
		return nil
	})
	e := Open(t, engine.Options{Register: database.Register, Settings: map[string]string{"execution.cdc.append_max_read_ms": "20"}})
	web := httptest.NewServer(monitor.Handler(e))
	t.Cleanup(web.Close)
	p := start(t, strings.TrimPrefix(web.URL, "http://"))
	s := Session(t, e)
	Rows(t, s, `CREATE STREAM changes FROM SCRIPTED WITH ("table" = 'orders');
		CREATE CDC TABLE orders (id BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH (cascade_interval = '50 milliseconds');
		ALTER CDC TABLE orders ATTACH STREAM changes`)
	if got := p.query("tidemark_cdc_initial_load_state"); len(got) != 0 {
		t.Errorf("series without a worker: %v", got)
	}
	Rows(t, s, "ALTER CDC TABLE orders RESUME")
	stop := commitSteadily(t, source, row)

	// The expressions of the specification, while changes flow.
	lag := "time() - tidemark_cdc_staging_as_of_timestamp_seconds"
	empty := `sum by (table_id) (rate(tidemark_cdc_staging_append_operations_total{outcome="empty"}[5m]))`
	events := "sum by (table_id) (rate(tidemark_cdc_staging_appended_change_events_total[5m]))"
	p.until(events, positive)
	p.until(lag, func(x sample) bool { return x.number() > -1 && x.number() < 30 })
	p.until("time() - tidemark_cdc_base_as_of_timestamp_seconds", func(x sample) bool { return x.number() > -1 && x.number() < 30 })
	for name, expression := range dashboard(t) {
		Until(t, name, func() bool { return len(p.query(expression)) > 0 })
	}
	for _, record := range []string{"tidemark:cdc_staging_lag_seconds", "tidemark:cdc_base_lag_seconds", "tidemark:cdc_empty_appends:rate5m", "tidemark:cdc_change_events:rate5m"} {
		p.until(record, func(sample) bool { return true })
	}
	if got := p.query("tidemark_cdc_initial_load_rows"); len(got) != 1 || got[0].Metric["database"] != "tidemark" || got[0].Metric["table"] != "public.orders" ||
		got[0].Metric["stream"] != "changes" || got[0].Metric["table_id"] == "" {
		t.Errorf("labels of a series: %v", got)
	}

	// An idle source: empty appends, none that failed, and a lag that grows.
	stop()
	p.until(empty, positive)
	before := p.query(lag)[0].number()
	p.until(lag, func(x sample) bool { return x.number() > before })
	p.until(`sum(tidemark_cdc_staging_append_operations_total{outcome="failed"})`, func(x sample) bool { return x.number() == 0 })
	if got := p.query(`ALERTS{alertstate="firing"}`); len(got) != 0 {
		t.Errorf("alerts while all is well: %v", got)
	}

	// A source that fails.
	failing.Store(true)
	p.until(`ALERTS{alertname="TidemarkAppendsFail", alertstate="firing"}`, func(x sample) bool { return x.Metric["table"] == "public.orders" })

	// SUSPEND removes the table's series.
	Rows(t, s, "ALTER CDC TABLE orders SUSPEND")
	Until(t, "the end of the series", func() bool { return len(p.query("tidemark_cdc_staging_append_operations_total")) == 0 })
}

// commitSteadily changes the source until stop is called.
func commitSteadily(t *testing.T, source *scripted.Table, row func(extension.Op, int64) scripted.Change) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(30 * time.Millisecond)
		defer ticker.Stop()
		for n := int64(3); ; n++ {
			select {
			case <-done:
				return
			case <-ticker.C:
				source.Commit(row(extension.Insert, n), row(extension.Update, n-1), row(extension.Delete, n-2))
			}
		}
	}()
	closed := false
	stop = func() {
		if !closed {
			closed = true
			close(done)
			<-ended
		}
	}
	t.Cleanup(stop)
	return stop
}

// TestAlertsNameSeriesThatExist reads the names of series out of the rules and looks them up in an engine's output.
func TestAlertsNameSeriesThatExist(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(repository, "deploy", "prometheus", "alerts.yml"))
	if err != nil {
		t.Fatal(err)
	}
	database := scripted.NewDatabase()
	database.Create("orders", []vec.Column{{Name: "id", Type: vec.Int64Type}}, 0)
	e := Open(t, engine.Options{Register: database.Register})
	s := Session(t, e)
	Rows(t, s, `CREATE STREAM changes FROM SCRIPTED WITH ("table" = 'orders'); CREATE CDC TABLE orders (id BIGINT, PRIMARY KEY (id) NOT ENFORCED);
		ALTER CDC TABLE orders ATTACH STREAM changes; ALTER CDC TABLE orders RESUME`)
	w := httptest.NewRecorder()
	monitor.Handler(e).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	names := regexp.MustCompile(`tidemark_cdc_[a-z_]+`).FindAllString(string(content), -1)
	if len(names) < 5 {
		t.Fatalf("the rules name %d series", len(names))
	}
	for _, name := range names {
		if !strings.Contains(w.Body.String(), "\n"+name+"{") {
			t.Errorf("the rules name %s, which an engine does not export", name)
		}
	}
}
