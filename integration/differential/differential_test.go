package differential

import (
	_ "embed"
	"fmt"
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
		if p.Name() == "duckdb" {
			statement = strings.ReplaceAll(statement, `E'a\nb'`, "'a\nb'")
		}
		do(t, p, statement)
	}
	return p
}

// scattered makes the tables on a system of ours with a statement, and so a tablet, for each row.
func scattered(t *testing.T, p peer.Peer) peer.Peer {
	do(t, p, "SET execution.threads = 2")
	withTables(t, p)
	for name := range base {
		do(t, p, "CREATE TABLE whole AS SELECT * FROM "+name)
		do(t, p, "DELETE FROM "+name)
		n, err := p.Run("SELECT count(*) FROM whole")
		if err != nil {
			t.Fatal(err)
		}
		rows, err := strconv.Atoi(*n.Rows[0][0])
		if err != nil {
			t.Fatal(err)
		}
		for row := range rows {
			do(t, p, fmt.Sprintf("INSERT INTO %s SELECT * FROM whole OFFSET %d LIMIT 1", name, row))
		}
		do(t, p, "DROP TABLE whole")
	}
	return p
}

func do(t *testing.T, p peer.Peer, statement string) {
	t.Helper()
	if _, err := p.Run(statement); err != nil {
		t.Fatalf("%s: %v\n%s", p.Name(), err, statement)
	}
}

func TestPostgres(t *testing.T) { run(t, peer.Postgres(t), false) }

func TestDuck(t *testing.T) { run(t, peer.Duck(t), true) }

func run(t *testing.T, reference peer.Peer, portable bool) {
	seed, queries := setting(t, "TIDEMARK_SEED", 1), setting(t, "TIDEMARK_QUERIES", 300)
	c := comparison{withTables(t, peer.Tidemark(t)), scattered(t, peer.Tidemark(t)), withTables(t, reference)}
	do(t, c.ours, "SET execution.threads = 1")
	failed := 0
	var counts [undecided + 1]uint64
	for number := range queries {
		g := newGenerator(seed, number, portable)
		query := g.statement()
		fault, found := c.differs(query)
		counts[found]++
		if fault == "" {
			continue
		}
		query, fault = c.shrink(query, fault)
		t.Errorf("seed %d, query %d: %s\n%s;", seed, number, fault, query)
		if failed++; failed >= 20 {
			t.Fatalf("%d differences among %d queries", failed, number+1)
		}
	}
	t.Logf("%d queries, %d answered by both, %d too slow for %s", queries, counts[answered], counts[undecided], reference.Name())
	if counts[answered] < queries*8/10 {
		t.Errorf("only %d of %d queries are answered by both systems: the generator writes too much that fails", counts[answered], queries)
	}
	if counts[undecided]*100 > queries {
		t.Errorf("%d of %d queries take %s too long to tell: the generator writes too much that is slow", counts[undecided], queries, reference.Name())
	}
}
