package differential

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tidemarkdb/tidemark/integration/peer"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// lifeLength is how many statements a life has at most.
const lifeLength = 60

// TestLives changes tables with constraints at random, here and on PostgreSQL, and compares what every statement
// returns, what it fails with and what the tables hold after it. TIDEMARK_LIVES says how many lives.
func TestLives(t *testing.T) {
	seed, lives := setting(t, "TIDEMARK_SEED", 1), setting(t, "TIDEMARK_LIVES", 15)
	pair := &pair{t: t, ours: peer.Tidemark(t), theirs: peer.Postgres(t)}
	failed, ran, refusals := 0, 0, 0
	for number := range lives {
		l := newLife(seed, number)
		statements := l.definitions()
		for range lifeLength {
			statements = append(statements, l.statement())
		}
		if l.open {
			statements = append(statements, "COMMIT")
		}
		ran += len(statements)
		at, fault, refused := pair.live(statements)
		refusals += refused
		if fault == "" {
			continue
		}
		statements, fault = pair.shorten(statements[:at+1], fault)
		t.Errorf("seed %d, life %d: %s\n%s;", seed, number, fault, strings.Join(statements, ";\n"))
		if failed++; failed >= 10 {
			t.Fatalf("%d differences among %d lives", failed, number+1)
		}
	}
	t.Logf("%d statements, %d of them refused by both", ran, refusals)
	if refusals*2 > ran {
		t.Errorf("%d of %d statements were refused: the lives do too little", refusals, ran)
	}
}

// pair is a session of ours and one of another system, whose tables lead the same lives.
type pair struct {
	t            *testing.T
	ours, theirs peer.Peer
	schemas      int
}

// live runs statements in a new schema until the systems differ: it says at which one and how, and how many both
// refused.
func (p *pair) live(statements []string) (at int, fault string, refused int) {
	p.schemas++
	schema := fmt.Sprintf("life%d", p.schemas)
	for _, s := range []peer.Peer{p.ours, p.theirs} {
		do(p.t, s, "CREATE SCHEMA "+schema)
		do(p.t, s, "SET search_path = "+schema)
	}
	defer func() {
		for _, s := range []peer.Peer{p.ours, p.theirs} {
			_, _ = s.Run("ROLLBACK") // where one is open
			do(p.t, s, "DROP SCHEMA "+schema+" CASCADE")
		}
	}()
	for i, statement := range statements {
		// How many values a statement that fails took from a sequence is each system's own.
		for _, s := range []peer.Peer{p.ours, p.theirs} {
			_, _ = s.Run(fmt.Sprintf("SELECT setval('c_no_seq', %d)", 100*(i+1)))
		}
		got, err := p.ours.Run(statement)
		want, wantErr := p.theirs.Run(statement)
		switch {
		case err != nil && wantErr != nil:
			refused++
			if !sameFailure(sqlerr.Code(err), failureOf(wantErr)) {
				return i, fmt.Sprintf("fails with %v, PostgreSQL with %v", firstLine(err), firstLine(wantErr)), refused
			}
		case err != nil:
			return i, "fails: " + firstLine(err), refused
		case wantErr != nil:
			return i, "succeeds where PostgreSQL fails: " + firstLine(wantErr), refused
		default:
			if fault := got.Compare(want, false); fault != "" && len(want.Kinds) > 0 {
				return i, fault, refused
			}
		}
		for _, table := range lifeTables {
			query := "SELECT * FROM " + table
			got, err := p.ours.Run(query)
			want, wantErr := p.theirs.Run(query)
			if err != nil || wantErr != nil {
				if (err != nil) != (wantErr != nil) {
					return i, fmt.Sprintf("then %s: %v, PostgreSQL %v", query, err, wantErr), refused
				}
				continue // in a transaction that failed
			}
			if fault := got.Compare(want, false); fault != "" {
				return i, "then " + table + ": " + fault, refused
			}
		}
	}
	return 0, "", refused
}

// failureOf is the SQLSTATE of PostgreSQL's error.
func failureOf(err error) string {
	var failure *pgconn.PgError
	if errors.As(err, &failure) {
		return failure.Code
	}
	return ""
}

// sameFailure reports that two SQLSTATEs say the same: which of several constraints a statement breaks is found first
// is each system's own.
func sameFailure(a, b string) bool {
	broken := func(code string) bool { return strings.HasPrefix(code, "23") || code == sqlerr.CardinalityViolation }
	return a == b || broken(a) && broken(b)
}

// shorten leaves out statements without which the systems still differ.
func (p *pair) shorten(statements []string, fault string) ([]string, string) {
	for i := len(statements) - 2; i >= 0; i-- {
		fewer := slices.Delete(slices.Clone(statements), i, i+1)
		if at, found, _ := p.live(fewer); found != "" {
			statements, fault = fewer[:at+1], found
			i = min(i, len(statements)-1)
		}
	}
	return statements, fault
}
