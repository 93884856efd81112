package differential

import (
	_ "embed"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/integration/peer"
	"github.com/tidemarkdb/tidemark/integration/pgtest"
)

//go:embed tables.sql
var tables string

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// setting returns a number from the environment.
func setting(t *testing.T, name string, usual uint64) uint64 {
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// withTables makes the tables on a system.
func withTables(t *testing.T, p peer.Peer) peer.Peer {
	for _, statement := range strings.Split(tables, ";\n") {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		if p.Name() == "duckdb" {
			statement = strings.ReplaceAll(statement, `E'a\nb'`, "'a\nb'")
		}
		if _, err := p.Run(statement); err != nil {
			t.Fatalf("%s: %v\n%s", p.Name(), err, statement)
		}
	}
	return p
}

func TestPostgres(t *testing.T) { run(t, peer.Postgres(t), false) }

func TestDuck(t *testing.T) { run(t, peer.Duck(t), true) }

func run(t *testing.T, reference peer.Peer, portable bool) {
	seed, queries := setting(t, "TIDEMARK_SEED", 1), setting(t, "TIDEMARK_QUERIES", 300)
	c := comparison{withTables(t, peer.Tidemark(t)), withTables(t, reference)}
	failed, answered := 0, 0
	for number := range queries {
		g := newGenerator(seed, number, portable)
		query := g.statement()
		fault, both := c.differs(query)
		if both {
			answered++
		}
		if fault == "" {
			continue
		}
		query, fault = c.shrink(query, fault)
		t.Errorf("seed %d, query %d: %s\n%s;", seed, number, fault, query)
		if failed++; failed >= 20 {
			t.Fatalf("%d differences among %d queries", failed, number+1)
		}
	}
	t.Logf("%d queries, %d answered by both", queries, answered)
	if answered < int(queries)*8/10 {
		t.Errorf("only %d of %d queries are answered by both systems: the generator writes too much that fails", answered, queries)
	}
}
