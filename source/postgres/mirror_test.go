package postgres

import (
	"context"
	"fmt"
	"os"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/integration/pgtest"
	"github.com/tidemarkdb/tidemark/vec"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// patience bounds every wait of a test.
const patience = 30 * time.Second

// target declares a table by names and types of its columns; a leading * marks a key column.
func target(columns ...any) extension.TableSpec {
	var spec extension.TableSpec
	for i := 0; i < len(columns); i += 2 {
		name, isKey := strings.CutPrefix(columns[i].(string), "*")
		if isKey {
			spec.Key = append(spec.Key, len(spec.Columns))
		}
		spec.Columns = append(spec.Columns, vec.Column{Name: name, Type: columns[i+1].(vec.Type), Nullable: !isKey})
	}
	return spec
}

// mirror is a table in memory, kept by a source as the engine keeps a CDC table.
type mirror struct {
	t        *testing.T
	server   *pgtest.Server
	spec     extension.TableSpec
	options  map[string]string
	source   *source
	stream   *stream
	rows     map[string][]string
	position extension.Position
	counts   counts
	truncs   int
	pending  []*extension.Changes // of a transaction that has not ended
	spill    string
	memory   int64
	commit   time.Time
}

// newMirror makes a publication of the table on the server and opens the source; it does not connect yet.
func newMirror(t *testing.T, server *pgtest.Server, spec extension.TableSpec, options ...string) *mirror {
	t.Helper()
	m := &mirror{t: t, server: server, spec: spec, rows: map[string][]string{}, spill: t.TempDir(), memory: 64 << 20,
		options: map[string]string{"connection": server.DSN, "table": "public.t", "slot": slotName(fmt.Sprint(t.Name(), time.Now().UnixNano()))}}
	for i := 0; i < len(options); i += 2 {
		m.options[options[i]] = options[i+1]
	}
	m.open()
	t.Cleanup(m.close)
	return m
}

func (m *mirror) open() {
	m.t.Helper()
	src, err := open(extension.OpenRequest{Stream: "s", Options: m.options, Table: m.spec, SpillDir: m.spill, MemoryBytes: m.memory})
	if err != nil {
		m.t.Fatal(err)
	}
	m.source = src
}

func (m *mirror) close() {
	if m.stream != nil {
		_ = m.stream.Close()
		m.stream = nil
	}
}

// publish makes the table's publication.
func publish(server *pgtest.Server) { server.Exec("CREATE PUBLICATION tidemark FOR TABLE t") }

// load replaces the mirror's rows by a snapshot's, all parts at once.
func (m *mirror) load() {
	m.t.Helper()
	snap, err := m.source.Snapshot(context.Background())
	if err != nil {
		m.t.Fatal(err)
	}
	m.read(snap)
}

func (m *mirror) read(snap extension.Snapshot) {
	m.t.Helper()
	defer snap.Close()
	m.rows = map[string][]string{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for part := range snap.Parts() {
		wg.Go(func() {
			err := snap.Read(context.Background(), part, func(b *vec.Batch) error {
				mu.Lock()
				defer mu.Unlock()
				for i := range b.N {
					row := m.texts(b.Cols, i)
					if _, twice := m.rows[m.key(row)]; twice {
						m.t.Errorf("key %s twice in the snapshot", m.key(row))
					}
					m.rows[m.key(row)] = row
				}
				return nil
			})
			if err != nil {
				m.t.Error(err)
			}
		})
	}
	wg.Wait()
	m.position = snap.Position()
}

func (m *mirror) texts(cols []*vec.Vector, i int) (row []string) {
	for _, c := range cols {
		row = append(row, vec.Format(c.Value(i)))
	}
	return row
}

func (m *mirror) key(row []string) string {
	var key []string
	for _, k := range m.spec.Key {
		key = append(key, row[k])
	}
	return strings.Join(key, "|")
}

// follow opens the stream after the mirror's position.
func (m *mirror) follow() {
	m.t.Helper()
	if err := m.tryFollow(); err != nil {
		m.t.Fatal(err)
	}
}

func (m *mirror) tryFollow() error {
	m.pending = nil
	st, err := m.source.Stream(context.Background(), m.position)
	if err == nil {
		m.stream = st.(*stream)
	}
	return err
}

// take keeps changes until their transaction has ended, as the engine does, and then applies them.
func (m *mirror) take(c *extension.Changes) {
	m.t.Helper()
	m.pending = append(m.pending, c)
	if !c.Boundary {
		return
	}
	for _, c := range m.pending {
		m.apply(c)
	}
	m.pending = nil
	if comparePosition(c.Position, m.position) < 0 {
		m.t.Errorf("the position goes back from %s to %s", formatPosition(m.position), formatPosition(c.Position))
	}
	m.position, m.commit = c.Position, c.CommitTime
}

func (m *mirror) apply(c *extension.Changes) {
	m.t.Helper()
	removed := map[int32][]string{}
	for i, op := range c.Ops {
		if op == extension.Truncate {
			m.rows = map[string][]string{}
			m.truncs++
			continue
		}
		row := m.texts(c.Cols, i)
		key := m.key(row)
		if op == extension.Delete {
			removed[int32(i)] = m.rows[key]
			delete(m.rows, key)
			continue
		}
		for col := range row {
			if c.Unchanged == nil || c.Unchanged[col] == nil || !c.Unchanged[col].Get(i) {
				continue
			}
			stored := m.rows[key]
			if k := c.KeyRow[i]; k != int32(i) {
				stored = removed[k]
			}
			if stored == nil {
				m.t.Fatalf("column %d of key %s is unchanged but no row is stored", col, key)
			}
			row[col] = stored[col]
		}
		m.rows[key] = row
	}
	m.counts.inserts += c.Inserts
	m.counts.updates += c.Updates
	m.counts.deletes += c.Deletes
}

// next applies what one call of Next returns.
func (m *mirror) next(wait time.Duration, maxRows int) (*extension.Changes, error) {
	c, err := m.stream.Next(context.Background(), wait, maxRows)
	if c != nil {
		m.take(c)
	}
	return c, err
}

// catchUp applies everything that has committed at the source.
func (m *mirror) catchUp() {
	m.t.Helper()
	if err := m.tryCatchUp(1000); err != nil {
		m.t.Fatal(err)
	}
}

func (m *mirror) tryCatchUp(maxRows int) error {
	m.t.Helper()
	until := parseLSN(m.t, m.server.Exec("SELECT pg_current_wal_flush_lsn()")[0][0])
	for end := time.Now().Add(patience); m.stream.seen < until || m.stream.replay != nil || m.stream.inside; {
		if _, err := m.next(100*time.Millisecond, maxRows); err != nil {
			return err
		}
		if time.Now().After(end) {
			m.t.Fatalf("the stream is at %s, not at %s", m.stream.seen, until)
		}
	}
	for { // what is received but not returned
		if c, err := m.next(time.Millisecond, maxRows); c == nil || err != nil {
			return err
		}
	}
}

// fail drives the stream until it fails, and returns the error.
func (m *mirror) fail() error {
	m.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if _, err := m.next(100*time.Millisecond, 1000); err != nil {
			if _, again := m.next(time.Millisecond, 1000); again == nil {
				m.t.Errorf("after %v the stream goes on", err)
			}
			return err
		}
	}
	m.t.Fatal("the stream does not fail")
	return nil
}

// equal compares the mirror with the table at the source.
func (m *mirror) equal() {
	m.t.Helper()
	m.equalTo(m.server.Exec("SET timezone = 'UTC'; SELECT " + m.selectList() + " FROM t"))
}

func (m *mirror) selectList() string {
	var list []string
	for _, c := range m.spec.Columns {
		list = append(list, quoteIdent(c.Name)) // as the output function prints it
	}
	return strings.Join(list, ", ")
}

func (m *mirror) equalTo(want [][]string) {
	m.t.Helper()
	var got, expected []string
	for _, row := range m.rows {
		got = append(got, strings.Join(row, " "))
	}
	for _, row := range want {
		expected = append(expected, strings.Join(row, " "))
	}
	sort.Strings(got)
	sort.Strings(expected)
	if len(got) != len(expected) {
		m.t.Fatalf("%d rows, want %d", len(got), len(expected))
	}
	for i := range got {
		if got[i] != expected[i] {
			m.t.Fatalf("row %d of %d:\n got %.300q\nwant %.300q", i, len(got), got[i], expected[i])
		}
	}
}

// wantError checks an error: permanent or not, and what its message says.
func wantError(t *testing.T, err error, permanent bool, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %q", parts)
	}
	if extension.IsPermanent(err) != permanent {
		t.Errorf("permanent: %v: %v", !permanent, err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%v\ndoes not say %q", err, part)
		}
	}
}

func parseLSN(t testing.TB, text string) pglogrepl.LSN {
	t.Helper()
	lsn, err := pglogrepl.ParseLSN(text)
	if err != nil {
		t.Fatal(err)
	}
	return lsn
}

// pgconnConn shortens the name of a session.
type pgconnConn = pgconn.PgConn

// spilled returns the number of spill files.
func (m *mirror) spilled() int {
	files, err := os.ReadDir(m.spill)
	if err != nil {
		m.t.Fatal(err)
	}
	return len(files)
}
