// Command queries runs SQL in an embedded engine and says how long it took. A driver writes one request a line to its
// standard input and reads one answer a line from its standard output, so that it can alternate engines query by query.
//
//	{"sql": "SELECT ...", "runs": 3}  ->  {"ms": [12.1, 11.8, 11.9], "cpu": [20.3, 19.9, 20.0], "rows": 4}
//	                                      {"error": "..."}
//
// The measurement itself is compare.py beside it.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	_ "net/http/pprof"
	"os"
	"syscall"
	"time"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/heapsize"
)

type request struct {
	SQL  string `json:"sql"`
	Runs int    `json:"runs"`
	Dump bool   `json:"dump"` // print the rows of the last run
}

type answer struct {
	Millis []float64  `json:"ms,omitempty"`
	CPU    []float64  `json:"cpu,omitempty"` // milliseconds of the whole process, user and system
	Rows   int        `json:"rows"`
	Values [][]string `json:"values,omitempty"`
	Error  string     `json:"error,omitempty"`
}

func main() {
	root := flag.String("root", "", "data `directory`; a temporary one when empty")
	threads := flag.Int("threads", 2, "worker threads")
	cache := flag.Int64("cache", 4<<30, "`bytes` of decoded pages to keep")
	profile := flag.String("pprof", "", "serve profiles at `HOST:PORT`")
	flag.Parse()
	heapsize.Limit(0) // as the server does
	if err := run(*root, *threads, *cache, *profile); err != nil {
		fmt.Fprintln(os.Stderr, "queries:", err)
		os.Exit(1)
	}
}

func run(root string, threads int, cache int64, profile string) error {
	if profile != "" {
		go http.ListenAndServe(profile, nil)
	}
	if root == "" {
		dir, err := os.MkdirTemp("", "tidemark-queries-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		root = dir
	}
	ctx := context.Background()
	e, err := engine.Open(ctx, engine.Options{Root: root, AllowAnyPath: true, PageCacheBytes: cache,
		Settings: map[string]string{"execution.threads": fmt.Sprint(threads)}})
	if err != nil {
		return err
	}
	defer e.Close()
	s, err := e.NewSession(engine.SessionOptions{})
	if err != nil {
		return err
	}
	defer s.Close()
	in, out := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		var r request
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			return err
		}
		if err := out.Encode(measure(ctx, s, r)); err != nil {
			return err
		}
	}
	return in.Err()
}

func measure(ctx context.Context, s *engine.Session, r request) (a answer) {
	for i := range max(r.Runs, 1) {
		begin, cpu := time.Now(), processorTime()
		values, rows, err := execute(ctx, s, r.SQL, r.Dump && i == max(r.Runs, 1)-1)
		if err != nil {
			return answer{Error: err.Error()}
		}
		a.Millis, a.CPU = append(a.Millis, millis(time.Since(begin))), append(a.CPU, millis(processorTime()-cpu))
		a.Rows, a.Values = rows, values
	}
	return a
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// processorTime is what the process has used so far.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func execute(ctx context.Context, s *engine.Session, text string, dump bool) (values [][]string, rows int, err error) {
	result, err := s.Query(ctx, text)
	if err != nil {
		return nil, 0, err
	}
	defer result.Close()
	for {
		b, err := result.Next(ctx)
		if err != nil || b == nil {
			return values, rows, err
		}
		rows += b.Rows()
		if dump {
			values = appendRows(values, b)
		}
	}
}
