package plan

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

// Metrics is what the executor measured of one node.
type Metrics struct {
	Rows        int64         // rows produced
	Batches     int64         // batches produced
	Time        time.Duration // in the operator itself, summed over workers
	MemoryBytes int64         // most held at once
	SpillBytes  int64         // written to disk
	Extra       string        // the operator's own, such as tablets and pages pruned
}

// ExplainOptions tune [Explain]. The zero value prints the tree as text with estimates.
type ExplainOptions struct {
	Format      string // "text" (or ""), "json"
	NoEstimates bool   // leave out estimated rows, for stable output
	// Metrics, when set, annotates nodes with what was measured (EXPLAIN ANALYZE).
	Metrics map[Node]*Metrics
	// Verbose adds each node's columns.
	Verbose bool
}

// Explain prints a plan.
func Explain(n Node, opts ExplainOptions) (string, error) {
	e := &explainer{opts: opts}
	if !opts.NoEstimates {
		e.est = newEstimator()
	}
	root := e.node(n)
	switch strings.ToLower(opts.Format) {
	case "", "text":
		var b strings.Builder
		root.text(&b, "", "")
		return b.String(), nil
	case "json":
		out, err := json.MarshalIndent([]any{root}, "", "  ")
		return string(out) + "\n", err
	}
	return "", sqlerr.New(sqlerr.InvalidParameterValue, "EXPLAIN format %q is not known", opts.Format).
		Hintf("use TEXT or JSON")
}

// explained is one node ready to print.
type explained struct {
	Operator string       `json:"operator"`
	Details  []string     `json:"details,omitempty"`
	Columns  []string     `json:"columns,omitempty"`
	Estimate *float64     `json:"estimated_rows,omitempty"`
	Actual   *measured    `json:"actual,omitempty"`
	Inputs   []*explained `json:"inputs,omitempty"`
}

type measured struct {
	Rows        int64   `json:"rows"`
	Batches     int64   `json:"batches"`
	Millis      float64 `json:"time_ms"`
	MemoryBytes int64   `json:"memory_bytes,omitempty"`
	SpillBytes  int64   `json:"spill_bytes,omitempty"`
	Extra       string  `json:"extra,omitempty"`
}

func (x *explained) text(b *strings.Builder, head, tail string) {
	b.WriteString(head + x.Operator)
	if x.Estimate != nil {
		b.WriteString("  (rows=" + strconv.FormatFloat(*x.Estimate, 'f', 0, 64) + ")")
	}
	if a := x.Actual; a != nil {
		fmt.Fprintf(b, "  (actual rows=%d time=%.3fms", a.Rows, a.Millis)
		if a.MemoryBytes > 0 {
			fmt.Fprintf(b, " memory=%s", formatBytes(a.MemoryBytes))
		}
		if a.SpillBytes > 0 {
			fmt.Fprintf(b, " spilled=%s", formatBytes(a.SpillBytes))
		}
		b.WriteByte(')')
		if a.Extra != "" {
			b.WriteString("  " + a.Extra)
		}
	}
	b.WriteByte('\n')
	bar := "   "
	if len(x.Inputs) > 0 {
		bar = "│  "
	}
	if len(x.Columns) > 0 {
		b.WriteString(tail + bar + "columns: " + strings.Join(x.Columns, ", ") + "\n")
	}
	for _, d := range x.Details {
		b.WriteString(tail + bar + d + "\n")
	}
	for i, in := range x.Inputs {
		if i == len(x.Inputs)-1 {
			in.text(b, tail+"└─ ", tail+"   ")
		} else {
			in.text(b, tail+"├─ ", tail+"│  ")
		}
	}
}

func formatBytes(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1fGiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1fMiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1fKiB", float64(n)/(1<<10))
	}
	return strconv.FormatInt(n, 10) + "B"
}

type explainer struct {
	opts ExplainOptions
	est  *estimator
}

func (e *explainer) node(n Node) *explained {
	x := &explained{}
	x.Operator, x.Details = describe(n)
	if e.est != nil {
		rows := e.est.rows(n)
		x.Estimate = &rows
	}
	if m := e.opts.Metrics[n]; m != nil {
		x.Actual = &measured{Rows: m.Rows, Batches: m.Batches, Millis: float64(m.Time.Microseconds()) / 1000,
			MemoryBytes: m.MemoryBytes, SpillBytes: m.SpillBytes, Extra: m.Extra}
	}
	if e.opts.Verbose {
		for _, c := range n.Cols() {
			x.Columns = append(x.Columns, fmt.Sprintf("%s#%d %s", c.Name, c.ID, c.Type))
		}
	}
	for _, in := range n.Inputs() {
		x.Inputs = append(x.Inputs, e.node(in))
	}
	visitExprs(n, func(expr Expr) {
		walkExpr(expr, func(s Expr) bool {
			if s, ok := s.(*Subquery); ok {
				x.Inputs = append(x.Inputs, e.node(s.Plan))
			}
			return true
		})
	})
	return x
}
