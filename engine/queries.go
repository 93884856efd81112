package engine

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tidemarkdb/tidemark/exec"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// keptQueries is how many finished statements information_schema.query_history remembers.
const keptQueries = 1000

// maxQueryText bounds the text kept of one statement.
const maxQueryText = 8 << 10

// queryLog knows the running statements and the latest finished ones. The zero value is ready.
type queryLog struct {
	lastID atomic.Int64

	mu       sync.Mutex
	running  map[int64]*queryEntry
	finished []*queryEntry // a ring once it is full
	next     int

	metrics queryMetrics
}

type queryMetrics struct {
	statements *prometheus.CounterVec
	seconds    prometheus.Histogram
	rows       prometheus.Counter
}

// queryEntry is one statement. Its fields behind started are set when it ends.
type queryEntry struct {
	log     *queryLog
	id      int64
	user    string
	text    string
	started time.Time
	usage   exec.Usage

	once     sync.Once
	duration time.Duration
	rows     int64
	code     string // SQLSTATE, "" when it succeeded
	message  string
}

// collectors returns the series of statements.
func (l *queryLog) collectors(namespace string) []prometheus.Collector {
	l.metrics = queryMetrics{
		statements: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: "query", Name: "statements_total", Help: "Statements by outcome.",
		}, []string{"outcome"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: namespace, Subsystem: "query", Name: "duration_seconds", Help: "Time from a statement's start to the end of its result.",
			Buckets: []float64{.0005, .001, .005, .01, .05, .1, .5, 1, 5, 10, 60, 300},
		}),
		rows: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: "query", Name: "rows_total", Help: "Rows returned or changed.",
		}),
	}
	running := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: namespace, Subsystem: "query", Name: "running", Help: "Statements running now.",
	}, func() float64 {
		l.mu.Lock()
		defer l.mu.Unlock()
		return float64(len(l.running))
	})
	return []prometheus.Collector{l.metrics.statements, l.metrics.seconds, l.metrics.rows, running}
}

func (l *queryLog) start(user, text string) *queryEntry {
	if len(text) > maxQueryText {
		text = text[:maxQueryText]
	}
	e := &queryEntry{log: l, id: l.lastID.Add(1), user: user, text: text, started: time.Now()}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running == nil {
		l.running = map[int64]*queryEntry{}
	}
	l.running[e.id] = e
	return e
}

// finish records the end of a statement, once.
func (e *queryEntry) finish(rows int64, err error) {
	e.once.Do(func() {
		l := e.log
		l.mu.Lock()
		defer l.mu.Unlock()
		e.duration, e.rows = time.Since(e.started), rows
		outcome := "succeeded"
		if err != nil {
			outcome = "failed"
			own := sqlerr.From(err)
			e.code, e.message = own.Code, own.Message
		}
		delete(l.running, e.id)
		if len(l.finished) < keptQueries {
			l.finished = append(l.finished, e)
		} else {
			l.finished[l.next] = e
			l.next = (l.next + 1) % keptQueries
		}
		l.metrics.statements.WithLabelValues(outcome).Inc()
		l.metrics.seconds.Observe(e.duration.Seconds())
		l.metrics.rows.Add(float64(rows))
	})
}

// list returns the running statements and the finished ones, oldest first.
func (l *queryLog) list() (running, finished []*queryEntry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.running {
		running = append(running, e)
	}
	finished = append(finished, l.finished[l.next:]...)
	return running, append(finished, l.finished[:l.next]...)
}
