package flightsql

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/codes"
)

// serverMetrics are the series of a server.
type serverMetrics struct {
	rpcs     *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	rows     prometheus.Counter
	bytes    prometheus.Counter
	ingested prometheus.Counter
	sessions prometheus.GaugeFunc
}

func newServerMetrics(namespace string, s *sessions) *serverMetrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Subsystem: "flight", Name: name, Help: help})
	}
	return &serverMetrics{
		rpcs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: "flight", Name: "rpcs_total", Help: "RPCs that ended, by method and gRPC code.",
		}, []string{"method", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Subsystem: "flight", Name: "rpc_duration_seconds", Help: "Time of RPCs by method.",
			Buckets: []float64{.0005, .001, .005, .01, .05, .1, .5, 1, 5, 10, 60, 300},
		}, []string{"method"}),
		rows:     counter("sent_rows_total", "Rows of results sent."),
		bytes:    counter("sent_bytes_total", "Bytes of results sent, before compression and framing."),
		ingested: counter("ingested_rows_total", "Rows of bulk ingests."),
		sessions: prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: namespace, Subsystem: "flight", Name: "sessions", Help: "Sessions open now.",
		}, func() float64 { return float64(s.count()) }),
	}
}

func (m *serverMetrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.rpcs, m.seconds, m.rows, m.bytes, m.ingested, m.sessions}
}

func (m *serverMetrics) observe(method string, code codes.Code, d time.Duration) {
	m.rpcs.WithLabelValues(method, code.String()).Inc()
	m.seconds.WithLabelValues(method).Observe(d.Seconds())
}
