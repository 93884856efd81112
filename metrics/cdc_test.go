package metrics

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// gather returns the value of every series as name{label="value",...} without the four labels all have.
func gather(t *testing.T, c *CDC) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.Metric {
			out[f.GetName()+suffix(m)] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return out
}

func suffix(m *dto.Metric) string {
	var parts []string
	for _, l := range m.Label {
		if !slices.Contains([]string{"database", "table", "table_id", "stream"}, l.GetName()) {
			parts = append(parts, l.GetName()+"="+l.GetValue())
		}
	}
	if parts == nil {
		return ""
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func TestSeriesOfAWorker(t *testing.T) {
	c := NewCDC("firebolt")
	if n := len(gather(t, c)); n != 0 {
		t.Fatalf("%d series without a worker", n)
	}
	table := c.Start(Labels{"db", "public.orders", "1", "orders_changes"})
	series := gather(t, c)
	for _, name := range []string{"staging_tablets", "base_tablets", "staging_as_of_timestamp_seconds", "base_as_of_timestamp_seconds", "initial_load_duration_seconds"} {
		if v, ok := series["firebolt_cdc_"+name]; !ok || !math.IsNaN(v) {
			t.Errorf("%s = %v, %v before it has a value, want NaN", name, v, ok)
		}
	}
	table.LoadStarted(time.Unix(100, 0))
	table.LoadCommitted(3*time.Second, 10, 2)
	table.AppendCommitted(time.Second, 1, 2, 3, time.Unix(50, 500e6))
	table.AppendEmpty(2 * time.Second)
	table.AppendFailed(time.Second)
	table.CascadeCommitted(time.Second, Cascade{Adopted: 2, Retired: 1, MaskedStaging: 4, MaskedBase: 5, BaseTablets: 7, BaseAsOf: time.Unix(50, 0), Drained: true})
	series = gather(t, c)
	for name, want := range map[string]float64{
		"initial_load_state{state=completed}":                            1,
		"initial_load_state{state=running}":                              0,
		"initial_load_rows":                                              10,
		"initial_load_duration_seconds":                                  3,
		"initial_load_started_timestamp_seconds":                         100,
		"staging_appended_change_events_total{op=update}":                2,
		"staging_append_operations_total{outcome=appended}":              1,
		"staging_append_operation_duration_seconds_total{outcome=empty}": 2,
		"staging_append_operations_total{outcome=failed}":                1,
		"staging_as_of_timestamp_seconds":                                50.5,
		"staging_tablets":                                                0,
		"cascades_total{outcome=drained}":                                1,
		"cascade_tablets_total{fate=retired}":                            1,
		"cascade_masked_base_rows_total":                                 5,
		"base_tablets":                                                   7,
		"base_as_of_timestamp_seconds":                                   50,
	} {
		if got, ok := series["firebolt_cdc_"+name]; !ok || got != want {
			t.Errorf("%s = %v (present %v), want %v", name, got, ok, want)
		}
	}
	table.Rename("public.purchases")
	series = gather(t, c)
	if got := series["firebolt_cdc_staging_append_operations_total{outcome=appended}"]; got != 0 {
		t.Errorf("after a rename the counter reads %v, want 0", got)
	}
	if got := series["firebolt_cdc_base_tablets"]; got != 7 {
		t.Errorf("after a rename the gauge reads %v, want 7", got)
	}
	table.Stop()
	if n := len(gather(t, c)); n != 0 {
		t.Errorf("%d series after the worker stopped", n)
	}
}
