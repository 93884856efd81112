package slt

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/integration/peer"
	"github.com/tidemarkdb/tidemark/integration/pgtest"
)

var update = flag.Bool("update", false, "write the values of queries as PostgreSQL, else DuckDB, answers them")

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

func files(t *testing.T) []string {
	paths, err := filepath.Glob("testdata/*.slt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files in testdata: %v", err)
	}
	return paths
}

func parse(t *testing.T, path string) []Record {
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	records, err := Parse(bytes.NewReader(content))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return records
}

func TestFiles(t *testing.T) {
	peers := map[string]func(testing.TB) peer.Peer{"tidemark": peer.Tidemark}
	if os.Getenv("TIDEMARK_SLT_PEERS") != "" || *update {
		peers["postgresql"], peers["duckdb"] = peer.Postgres, peer.Duck
	}
	for _, path := range files(t) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".slt"), func(t *testing.T) {
			if *update {
				fill(t, path)
			}
			records := parse(t, path)
			for name, start := range peers {
				r := &Runner{Peer: start(t)}
				for i := range records {
					if err := r.Run(&records[i]); err != nil {
						t.Errorf("%s: %s:%d: %v\n%s", name, path, records[i].Line, err, records[i].SQL)
					}
				}
			}
		})
	}
}

// fill writes the values of the queries of a file that have none.
func fill(t *testing.T, path string) {
	records := parse(t, path)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Split(string(content), "\n")
	peers := []*Runner{{Peer: peer.Postgres(t)}, {Peer: peer.Duck(t)}}
	answers := make([][]string, len(records))
	for i := range records {
		record := &records[i]
		for _, r := range peers {
			if record.Kind != Query {
				_ = r.Run(record)
				continue
			}
			answer, err := r.Peer.Run(record.SQL)
			if err != nil || r.halted || r.skips(record) || record.Fails || answers[i] != nil {
				continue
			}
			cells := r.cells(record, answer)
			if r.threshold > 0 && len(cells) > r.threshold {
				answers[i] = []string{strings.Join([]string{strconv.Itoa(len(cells)), "values hashing to", hash(cells)}, " ")}
				continue
			}
			answers[i] = strings.Split(strings.TrimSuffix(lines(cells, max(1, len(answer.Kinds))), "\n"), "\n")
			if len(cells) == 0 {
				answers[i] = []string{}
			}
		}
	}
	for i := range slices.Backward(records) {
		if r := &records[i]; answers[i] != nil && len(r.Values) == 0 {
			block := append([]string{}, answers[i]...)
			text = slices.Replace(text, r.valuesAt[0], r.valuesAt[1], block...)
		}
	}
	if err := os.WriteFile(path, []byte(strings.Join(text, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}
