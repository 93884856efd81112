package engine_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// modelRow is the value of a key; version changes whenever a statement writes the row, even with the same values.
type modelRow struct {
	n       int
	text    string
	version int
}

type modelState map[int]modelRow

// dmlModel runs random statements against table t and a map.
type dmlModel struct {
	t       *testing.T
	seed    uint64
	rng     *rand.Rand
	root    string
	engine  *engine.Engine
	a, b    *engine.Session
	now     modelState // committed
	base    modelState // committed when a's transaction began, nil when none is open
	mine    modelState // what a sees
	saved   modelState // at a's savepoint
	writes  int
	low     int // the first key of the statement before
	history []string
}

// TestDMLFollowsAModel plays statements, transactions, concurrent writers, maintenance and restarts from one seed and
// compares every row after each step.
func TestDMLFollowsAModel(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			m := &dmlModel{t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 7)), root: t.TempDir(), now: modelState{}}
			m.reopen()
			rows(t, m.a, "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, s TEXT)")
			for range 150 {
				m.step()
				m.compare()
			}
		})
	}
}

func (m *dmlModel) reopen() {
	if m.engine != nil {
		m.engine.Close()
	}
	m.engine, m.a = open(m.t, engine.Options{Root: m.root, Settings: map[string]string{"execution.maintenance_delay": "10m"}})
	m.b = session(m.t, m.engine)
	m.base = nil
}

// view is what session a sees.
func (m *dmlModel) view() modelState {
	if m.base != nil {
		return m.mine
	}
	return m.now
}

func (m *dmlModel) step() {
	switch k := m.rng.IntN(30); {
	case m.base == nil && k < 4:
		m.run(m.a, "BEGIN", "")
		m.base, m.mine, m.saved = maps.Clone(m.now), maps.Clone(m.now), nil
		rows(m.t, m.a, "SELECT count(*) FROM t") // pins the snapshot
	case m.base != nil && k < 2:
		m.run(m.a, "ROLLBACK", "")
		m.base = nil
	case m.base != nil && k < 5:
		m.commit()
	case m.base != nil && k == 5:
		m.run(m.a, "SAVEPOINT p", "")
		m.saved = maps.Clone(m.mine)
	case m.base != nil && k == 6 && m.saved != nil:
		m.run(m.a, "ROLLBACK TO p", "")
		m.mine = maps.Clone(m.saved)
	case m.base == nil && k == 7:
		m.reopen()
	case m.base == nil && k == 8:
		m.run(m.a, "VACUUM t", "")
	case m.base == nil && k == 9 && m.rng.IntN(4) == 0:
		m.run(m.a, "TRUNCATE t", "")
		clear(m.now)
	case k < 18 && m.base != nil:
		m.write(m.b, m.now)
	default:
		m.write(m.a, m.view())
	}
}

// run runs a statement that must end with the SQLSTATE given, "" for success.
func (m *dmlModel) run(s *engine.Session, query, code string) {
	m.t.Helper()
	m.history = append(m.history, query)
	_, err := tryRows(m.t.Context(), s, query)
	if got := codeOf(err); got != code {
		m.t.Fatalf("seed %d: %s: got %v, want SQLSTATE %q\n%s", m.seed, query, err, code, m.recent())
	}
}

func codeOf(err error) string {
	if err == nil {
		return ""
	}
	return sqlerr.Code(err)
}

func (m *dmlModel) recent() string {
	return strings.Join(m.history[max(0, len(m.history)-40):], "\n")
}

// write runs a random statement in a session that sees state, and changes state as it must. In a transaction a
// statement that fails is rolled back to a savepoint, as it would end it.
func (m *dmlModel) write(s *engine.Session, state modelState) {
	query, after := m.statement(state)
	code := ""
	if after == nil {
		code = sqlerr.UniqueViolation
	}
	inTransaction := m.base != nil && s == m.a
	if code != "" && inTransaction {
		m.run(s, "SAVEPOINT q", "")
		m.run(s, query, code)
		m.run(s, "ROLLBACK TO q", "")
		m.run(s, "RELEASE q", "")
		return
	}
	m.run(s, query, code)
	if after != nil {
		clear(state)
		maps.Copy(state, after)
	}
}

func (m *dmlModel) row(n int, text string) modelRow {
	m.writes++
	return modelRow{n, text, m.writes}
}

// statement returns a random statement and the state it leads to; nil when a key is taken twice.
func (m *dmlModel) statement(state modelState) (string, modelState) {
	after := maps.Clone(state)
	low := m.rng.IntN(60)
	if m.rng.IntN(3) == 0 {
		low = m.low // writers meet at the same keys
	}
	m.low = low
	high := low + m.rng.IntN(8)
	n := m.rng.IntN(100)
	within := func(id int) bool { return id >= low && id <= high }
	switch m.rng.IntN(7) {
	case 0:
		taken := false
		for id := low; id <= high; id++ {
			if _, ok := state[id]; ok {
				taken = true
			}
			after[id] = m.row(n, "new")
		}
		if taken {
			after = nil
		}
		return fmt.Sprintf("INSERT INTO t SELECT i, %d, 'new' FROM generate_series(%d, %d) AS g (i)", n, low, high), after
	case 1:
		for id := low; id <= high; id++ {
			if old, ok := state[id]; ok {
				after[id] = m.row(old.n+n, old.text)
			} else {
				after[id] = m.row(n, "up")
			}
		}
		return fmt.Sprintf("INSERT INTO t SELECT i, %d, 'up' FROM generate_series(%d, %d) AS g (i) ON CONFLICT (id) DO UPDATE SET n = t.n + excluded.n", n, low, high), after
	case 2:
		for id := low; id <= high; id++ {
			if _, ok := state[id]; !ok {
				after[id] = m.row(n, "ig")
			}
		}
		return fmt.Sprintf("INSERT INTO t SELECT i, %d, 'ig' FROM generate_series(%d, %d) AS g (i) ON CONFLICT DO NOTHING", n, low, high), after
	case 3:
		for id, old := range state {
			if within(id) {
				after[id] = m.row(old.n+n, old.text)
			}
		}
		return fmt.Sprintf("UPDATE t SET n = n + %d WHERE id BETWEEN %d AND %d", n, low, high), after
	case 4:
		for id := range state {
			if within(id) {
				delete(after, id)
			}
		}
		return fmt.Sprintf("DELETE FROM t WHERE id BETWEEN %d AND %d", low, high), after
	case 5:
		for id := range state {
			if within(id) {
				delete(after, id)
			}
		}
		for id, old := range state {
			if within(id) {
				if _, taken := after[id+3]; taken {
					return shift(low, high), nil
				}
				after[id+3] = m.row(old.n, old.text)
			}
		}
		return shift(low, high), after
	}
	for id := low; id <= high; id++ {
		switch old, ok := state[id]; {
		case !ok:
			after[id] = m.row(n, "merged")
		case old.n%2 == 0:
			delete(after, id)
		default:
			after[id] = m.row(n, "odd")
		}
	}
	return fmt.Sprintf(`MERGE INTO t USING generate_series(%d, %d) AS g (i) ON t.id = g.i WHEN MATCHED AND t.n %% 2 = 0 THEN DELETE
		WHEN MATCHED THEN UPDATE SET n = %d, s = 'odd' WHEN NOT MATCHED THEN INSERT VALUES (g.i, %d, 'merged')`, low, high, n, n), after
}

func shift(low, high int) string {
	return fmt.Sprintf("UPDATE t SET id = id + 3 WHERE id BETWEEN %d AND %d", low, high)
}

// commit ends a's transaction: rows that it and the commits since its beginning both changed fail it, then keys that
// both added.
func (m *dmlModel) commit() {
	own := changedKeys(m.base, m.mine)
	theirs := changedKeys(m.base, m.now)
	code := ""
	result := maps.Clone(m.now)
	for id := range own {
		if _, stored := m.base[id]; stored && theirs[id] {
			code = sqlerr.SerializationFailure
		}
		delete(result, id)
	}
	for id := range own {
		row, live := m.mine[id]
		if !live {
			continue
		}
		if _, stored := m.base[id]; !stored && code == "" {
			if _, taken := m.now[id]; taken {
				code = sqlerr.UniqueViolation
			}
		}
		result[id] = row
	}
	m.run(m.a, "COMMIT", code)
	if code == "" {
		m.now = result
	}
	m.base = nil
}

// changedKeys returns the keys whose row is not the one it was.
func changedKeys(from, to modelState) map[int]bool {
	out := map[int]bool{}
	for id, row := range from {
		if now, ok := to[id]; !ok || now.version != row.version {
			out[id] = true
		}
	}
	for id := range to {
		if _, ok := from[id]; !ok {
			out[id] = true
		}
	}
	return out
}

// compare looks at every row in both sessions.
func (m *dmlModel) compare() {
	m.t.Helper()
	for i, s := range []*engine.Session{m.a, m.b} {
		state := m.now
		if i == 0 {
			state = m.view()
		}
		var want []string
		for _, id := range slices.Sorted(maps.Keys(state)) {
			want = append(want, fmt.Sprintf("%d|%d|%s", id, state[id].n, state[id].text))
		}
		if got := rows(m.t, s, "SELECT id, n, s FROM t ORDER BY id"); !slices.Equal(got, want) {
			m.t.Fatalf("seed %d: session %d\ngot  %v\nwant %v\n%s", m.seed, i, got, want, m.recent())
		}
	}
}
