package metrics

import (
	"math"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// DefaultNamespace is the first word of every series.
const DefaultNamespace = "tidemark"

// CDC collects the ingest series of every table that has a worker in this process.
type CDC struct {
	desc   descriptions
	mu     sync.Mutex
	tables map[*Table]struct{}
}

type descriptions struct {
	loadState, loadStarted, loadDuration, loadRows, loadTablets *prometheus.Desc
	events, appends, appendSeconds, stagingAsOf, stagingTablets *prometheus.Desc
	cascades, cascadeSeconds, cascadeTablets, maskedStaging     *prometheus.Desc
	maskedBase, baseAsOf, baseTablets                           *prometheus.Desc
}

// NewCDC returns a collector whose series begin with namespace; register it with a prometheus.Registerer.
func NewCDC(namespace string) *CDC {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		labels = append([]string{"database", "table", "table_id", "stream"}, labels...)
		return prometheus.NewDesc(prometheus.BuildFQName(namespace, "cdc", name), help, labels, nil)
	}
	return &CDC{tables: map[*Table]struct{}{}, desc: descriptions{
		loadState:      desc("initial_load_state", "1 for the initial load's current state, 0 for the others.", "state"),
		loadStarted:    desc("initial_load_started_timestamp_seconds", "Unix time the latest load attempt of this worker started."),
		loadDuration:   desc("initial_load_duration_seconds", "Wall time of the load that completed on this worker."),
		loadRows:       desc("initial_load_rows", "Rows the load wrote; 0 when it completed on another worker."),
		loadTablets:    desc("initial_load_tablets", "Tablets the load wrote; 0 when it completed on another worker."),
		events:         desc("staging_appended_change_events_total", "Source change events appended to staging.", "op"),
		appends:        desc("staging_append_operations_total", "Appends by outcome.", "outcome"),
		appendSeconds:  desc("staging_append_operation_duration_seconds_total", "Time spent in appends, by outcome.", "outcome"),
		stagingAsOf:    desc("staging_as_of_timestamp_seconds", "Source commit time of the newest change staged."),
		stagingTablets: desc("staging_tablets", "Tablets in staging."),
		cascades:       desc("cascades_total", "Cascades by outcome.", "outcome"),
		cascadeSeconds: desc("cascade_duration_seconds_total", "Time spent in cascades, by outcome.", "outcome"),
		cascadeTablets: desc("cascade_tablets_total", "Staging tablets cascades moved out of staging, by fate.", "fate"),
		maskedStaging:  desc("cascade_masked_staging_rows_total", "Staged rows cascades masked."),
		maskedBase:     desc("cascade_masked_base_rows_total", "Base rows cascades masked because a staged change superseded or deleted them."),
		baseAsOf:       desc("base_as_of_timestamp_seconds", "Source commit time the base is current through."),
		baseTablets:    desc("base_tablets", "Tablets in the base."),
	}}
}

// Describe implements prometheus.Collector. The series come and go with workers, so none is promised.
func (c *CDC) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c *CDC) Collect(ch chan<- prometheus.Metric) {
	c.mu.Lock()
	tables := make([]*Table, 0, len(c.tables))
	for t := range c.tables {
		tables = append(tables, t)
	}
	c.mu.Unlock()
	for _, t := range tables {
		t.collect(&c.desc, ch)
	}
}

// Labels identify a table's series. Table is "schema.table", TableID stays through renames.
type Labels struct{ Database, Table, TableID, Stream string }

// LoadState is the state of an initial load.
type LoadState string

// The states of an initial load; the empty state is that of a load that has not started.
const (
	LoadRunning   LoadState = "running"
	LoadCompleted LoadState = "completed"
	LoadFailed    LoadState = "failed"
)

// Outcome is how an append or a cascade ended.
type Outcome string

// The outcomes: Appended, Empty and Failed of appends, Drained, Empty and Failed of cascades.
const (
	Appended Outcome = "appended"
	Drained  Outcome = "drained"
	Empty    Outcome = "empty"
	Failed   Outcome = "failed"
)

// tally counts operations and the time they took.
type tally struct {
	count   float64
	seconds float64
}

func (t *tally) add(took time.Duration) {
	t.count++
	t.seconds += took.Seconds()
}

// values is everything that starts anew with a worker and with a rename.
type values struct {
	loadState                                   LoadState
	loadStarted, loadDuration                   float64
	loadRows, loadTablets                       float64
	inserts, updates, deletes                   float64
	appends, cascades                           map[Outcome]*tally
	adopted, retired, maskedStaging, maskedBase float64
	stagingAsOf, baseAsOf                       float64
	stagingTablets, baseTablets                 float64
}

func newValues() values {
	nan := math.NaN()
	return values{
		loadStarted: nan, loadDuration: nan, loadRows: nan, loadTablets: nan, stagingAsOf: nan, baseAsOf: nan,
		stagingTablets: nan, baseTablets: nan,
		appends:  map[Outcome]*tally{Appended: {}, Empty: {}, Failed: {}},
		cascades: map[Outcome]*tally{Drained: {}, Empty: {}, Failed: {}},
	}
}

// Table receives the measurements of one worker. Its methods may be called from any goroutine; all but Stop do
// nothing on a nil Table.
type Table struct {
	owner  *CDC
	mu     sync.Mutex
	labels Labels
	v      values
}

// Start makes a table's series appear, with nothing counted yet.
func (c *CDC) Start(labels Labels) *Table {
	t := &Table{owner: c, labels: labels, v: newValues()}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tables[t] = struct{}{}
	return t
}

// Stop removes the table's series; idempotent.
func (t *Table) Stop() {
	t.owner.mu.Lock()
	defer t.owner.mu.Unlock()
	delete(t.owner.tables, t)
}

// Rename moves the series to another table label; counters start from 0 there, gauges keep their values.
func (t *Table) Rename(table string) {
	t.with(func(v *values) {
		if t.labels.Table == table {
			return
		}
		t.labels.Table = table
		old := *v
		*v = newValues()
		v.loadState, v.loadStarted, v.loadDuration = old.loadState, old.loadStarted, old.loadDuration
		v.loadRows, v.loadTablets = old.loadRows, old.loadTablets
		v.stagingAsOf, v.baseAsOf, v.stagingTablets, v.baseTablets = old.stagingAsOf, old.baseAsOf, old.stagingTablets, old.baseTablets
	})
}

func (t *Table) with(change func(*values)) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	change(&t.v)
}

// LoadFoundComplete reports that the worker found the table already loaded by another.
func (t *Table) LoadFoundComplete() {
	t.with(func(v *values) { v.loadState, v.loadRows, v.loadTablets = LoadCompleted, 0, 0 })
}

// LoadStarted reports that a load attempt started.
func (t *Table) LoadStarted(at time.Time) {
	t.with(func(v *values) { v.loadState, v.loadStarted = LoadRunning, unixSeconds(at) })
}

// LoadFailed reports that a load attempt failed.
func (t *Table) LoadFailed() { t.with(func(v *values) { v.loadState = LoadFailed }) }

// LoadCommitted reports that the load is done. The table is replaced, so what staging and base are current through is
// unknown until the next append and cascade.
func (t *Table) LoadCommitted(took time.Duration, rows, tablets int64) {
	t.with(func(v *values) {
		v.loadState, v.loadDuration = LoadCompleted, took.Seconds()
		v.loadRows, v.loadTablets = float64(rows), float64(tablets)
		v.stagingAsOf, v.baseAsOf = math.NaN(), math.NaN()
	})
}

// AppendCommitted reports an append that advanced the stream position. Events are source change events; asOf is the
// source commit time of the newest, zero when the source has none or the append held no change.
func (t *Table) AppendCommitted(took time.Duration, inserts, updates, deletes int64, asOf time.Time) {
	t.with(func(v *values) {
		v.appends[Appended].add(took)
		v.inserts += float64(inserts)
		v.updates += float64(updates)
		v.deletes += float64(deletes)
		if !asOf.IsZero() {
			v.stagingAsOf = unixSeconds(asOf)
		}
	})
}

// AppendEmpty reports an append that found nothing.
func (t *Table) AppendEmpty(took time.Duration) {
	t.with(func(v *values) { v.appends[Empty].add(took) })
}

// AppendFailed reports an append that failed.
func (t *Table) AppendFailed(took time.Duration) {
	t.with(func(v *values) { v.appends[Failed].add(took) })
}

// Cascade is what one committed cascade did.
type Cascade struct {
	Adopted, Retired            int64     // staging tablets by fate
	MaskedStaging, MaskedBase   int64     // rows
	StagingTablets, BaseTablets int64     // counted after the commit
	BaseAsOf                    time.Time // zero when unknown
	Drained                     bool      // false: nothing was staged
}

// CascadeCommitted reports a cascade.
func (t *Table) CascadeCommitted(took time.Duration, c Cascade) {
	t.with(func(v *values) {
		outcome := Empty
		if c.Drained {
			outcome = Drained
		}
		v.cascades[outcome].add(took)
		v.adopted += float64(c.Adopted)
		v.retired += float64(c.Retired)
		v.maskedStaging += float64(c.MaskedStaging)
		v.maskedBase += float64(c.MaskedBase)
		v.stagingTablets, v.baseTablets = float64(c.StagingTablets), float64(c.BaseTablets)
		if !c.BaseAsOf.IsZero() {
			v.baseAsOf = unixSeconds(c.BaseAsOf)
		}
	})
}

// CascadeFailed reports a cascade that failed.
func (t *Table) CascadeFailed(took time.Duration) {
	t.with(func(v *values) { v.cascades[Failed].add(took) })
}

func unixSeconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

func (t *Table) collect(d *descriptions, ch chan<- prometheus.Metric) {
	t.mu.Lock()
	defer t.mu.Unlock()
	v := &t.v
	emit := func(desc *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		labels = append([]string{t.labels.Database, t.labels.Table, t.labels.TableID, t.labels.Stream}, labels...)
		ch <- prometheus.MustNewConstMetric(desc, kind, value, labels...)
	}
	const gauge, counter = prometheus.GaugeValue, prometheus.CounterValue
	for _, state := range []LoadState{LoadRunning, LoadCompleted, LoadFailed} {
		is := 0.0
		if v.loadState == state {
			is = 1
		}
		emit(d.loadState, gauge, is, string(state))
	}
	emit(d.loadStarted, gauge, v.loadStarted)
	emit(d.loadDuration, gauge, v.loadDuration)
	emit(d.loadRows, gauge, v.loadRows)
	emit(d.loadTablets, gauge, v.loadTablets)
	emit(d.events, counter, v.inserts, "insert")
	emit(d.events, counter, v.updates, "update")
	emit(d.events, counter, v.deletes, "delete")
	for _, outcome := range []Outcome{Appended, Empty, Failed} {
		emit(d.appends, counter, v.appends[outcome].count, string(outcome))
		emit(d.appendSeconds, counter, v.appends[outcome].seconds, string(outcome))
	}
	for _, outcome := range []Outcome{Drained, Empty, Failed} {
		emit(d.cascades, counter, v.cascades[outcome].count, string(outcome))
		emit(d.cascadeSeconds, counter, v.cascades[outcome].seconds, string(outcome))
	}
	emit(d.cascadeTablets, counter, v.adopted, "adopted")
	emit(d.cascadeTablets, counter, v.retired, "retired")
	emit(d.maskedStaging, counter, v.maskedStaging)
	emit(d.maskedBase, counter, v.maskedBase)
	emit(d.stagingAsOf, gauge, v.stagingAsOf)
	emit(d.baseAsOf, gauge, v.baseAsOf)
	emit(d.stagingTablets, gauge, v.stagingTablets)
	emit(d.baseTablets, gauge, v.baseTablets)
}
