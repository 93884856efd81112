package mongodb

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/integration/mongotest"
	"github.com/tidemarkdb/tidemark/vec"
)

func TestMain(m *testing.M) { os.Exit(mongotest.Main(m)) }

var background = context.Background()

var upsert = options.UpdateOne().SetUpsert(true)

// target makes a TableSpec of names and types in turn; a * before a name makes it a key column, a ! NOT NULL.
func target(pairs ...any) extension.TableSpec {
	spec := extension.TableSpec{}
	for i := 0; i < len(pairs); i += 2 {
		name := pairs[i].(string)
		col := vec.Column{Name: strings.TrimLeft(name, "*!"), Type: pairs[i+1].(vec.Type), Nullable: true}
		if name[0] == '*' {
			spec.Key = append(spec.Key, len(spec.Columns))
		}
		col.Nullable = name[0] != '*' && name[0] != '!'
		spec.Columns = append(spec.Columns, col)
	}
	return spec
}

// mirror keeps the rows of a source collection as the engine would: by key, in the order of changes.
type mirror struct {
	t      *testing.T
	server *mongotest.Server
	spec   extension.TableSpec
	opts   map[string]string
	source *source
	stream extension.Stream
	at     extension.Position

	rows       map[string]string
	counts     counts
	boundaries int
	logged     []string
}

// newMirror opens a source over the collection docs of the test's database; options come in pairs.
func newMirror(t *testing.T, server *mongotest.Server, spec extension.TableSpec, opts ...string) *mirror {
	t.Helper()
	m := &mirror{t: t, server: server, spec: spec, rows: map[string]string{}, opts: map[string]string{
		"connection": server.URI, "database": server.Name, "collection": "docs",
	}}
	for i := 0; i < len(opts); i += 2 {
		m.opts[opts[i]] = opts[i+1]
	}
	m.open()
	return m
}

func (m *mirror) tryOpen() error {
	src, err := Source().Open(background, extension.OpenRequest{
		Stream: "s", Options: m.opts, Table: m.spec, Log: func(msg string, args ...any) { m.logged = append(m.logged, fmt.Sprint(msg, args)) },
	})
	if err != nil {
		return err
	}
	m.source = src.(*source)
	m.source.retryPause = 10 * time.Millisecond
	m.t.Cleanup(func() { src.Close() })
	return nil
}

func (m *mirror) open() {
	m.t.Helper()
	if err := m.tryOpen(); err != nil {
		m.t.Fatal(err)
	}
}

// load replaces the rows by a snapshot.
func (m *mirror) load() {
	m.t.Helper()
	if err := m.source.Check(background); err != nil {
		m.t.Fatal(err)
	}
	m.rows = map[string]string{}
	if err := m.tryLoad(); err != nil {
		m.t.Fatal(err)
	}
}

func (m *mirror) tryLoad() error {
	snap, err := m.source.Snapshot(background)
	if err != nil {
		return err
	}
	defer snap.Close()
	for part := range snap.Parts() {
		err := snap.Read(background, part, func(b *vec.Batch) error {
			for i := range b.N {
				key, row := m.row(b.Cols, i)
				if _, twice := m.rows[key]; twice {
					return fmt.Errorf("the snapshot has %s twice", key)
				}
				m.rows[key] = row
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	m.at = snap.Position()
	return nil
}

// row prints a row and its key.
func (m *mirror) row(cols []*vec.Vector, i int) (key, row string) {
	var cells []string
	for c, col := range cols {
		cell := "NULL"
		if !col.IsNull(i) {
			cell = string(vec.AppendText(nil, col, i))
		}
		cells = append(cells, m.spec.Columns[c].Name+"="+cell)
	}
	return cells[m.spec.Key[0]], strings.Join(cells, " ")
}

// follow opens the stream at the position reached.
func (m *mirror) follow() {
	m.t.Helper()
	if err := m.tryFollow(); err != nil {
		m.t.Fatal(err)
	}
}

func (m *mirror) tryFollow() error {
	stream, err := m.source.Stream(background, m.at)
	if err == nil {
		m.stream = stream
		m.t.Cleanup(func() { stream.Close() })
	}
	return err
}

// next applies what Next returns.
func (m *mirror) next(wait time.Duration, maxRows int) (*extension.Changes, error) {
	c, err := m.stream.Next(background, wait, maxRows)
	if err != nil || c == nil {
		return c, err
	}
	for i, op := range c.Ops {
		key, row := m.row(c.Cols, i)
		if op == extension.Delete {
			delete(m.rows, key)
		} else {
			m.rows[key] = row
		}
	}
	m.counts.inserts += c.Inserts
	m.counts.updates += c.Updates
	m.counts.deletes += c.Deletes
	if c.Boundary {
		m.boundaries++
		m.at = c.Position
		m.stream.Ack(c.Position)
	}
	return c, nil
}

// until applies changes until a condition holds.
func (m *mirror) until(what string, condition func() bool) {
	m.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !condition(); {
		if time.Now().After(deadline) {
			m.t.Fatalf("waited in vain for %s; %d rows, counted %+v, %d boundaries", what, len(m.rows), m.counts, m.boundaries)
		}
		if _, err := m.next(50*time.Millisecond, 1000); err != nil {
			m.t.Fatal(err)
		}
	}
}

// settle applies changes until the rows are those of the collection.
func (m *mirror) settle() {
	m.t.Helper()
	other := *m
	other.rows = map[string]string{}
	if err := other.tryLoad(); err != nil {
		m.t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); !maps.Equal(m.rows, other.rows); {
		if time.Now().After(deadline) {
			m.t.Fatalf("the rows stay different:\n%s", difference(m.rows, other.rows))
		}
		if _, err := m.next(50*time.Millisecond, 1000); err != nil {
			m.t.Fatal(err)
		}
	}
}

func difference(got, want map[string]string) string {
	var out []string
	for k, v := range want {
		if got[k] != v {
			out = append(out, fmt.Sprintf("got  %s\nwant %s", got[k], v))
		}
	}
	for k, v := range got {
		if _, ok := want[k]; !ok {
			out = append(out, "got  "+v+"\nwant nothing")
		}
	}
	slices.Sort(out)
	return strings.Join(out[:min(len(out), 10)], "\n")
}

// failure applies changes until the stream fails.
func (m *mirror) failure() error {
	m.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; {
		if _, err := m.next(50*time.Millisecond, 1000); err != nil {
			return err
		}
		if time.Now().After(deadline) {
			m.t.Fatal("the stream does not fail")
		}
	}
}

// permanent checks that an error is permanent and has a text, hint included.
func permanent(t *testing.T, err error, contains string) {
	t.Helper()
	if !extension.IsPermanent(err) || !strings.Contains(fmt.Sprintf("%v", err), contains) {
		t.Errorf("got %v (permanent: %v), want %q", err, extension.IsPermanent(err), contains)
	}
}

// must fails the test on an error of a write.
func must[T any](t *testing.T) func(T, error) T {
	return func(x T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
}

func insert(t *testing.T, c *mongo.Collection, documents ...any) {
	t.Helper()
	must[*mongo.InsertManyResult](t)(c.InsertMany(background, documents))
}

func set(t *testing.T, c *mongo.Collection, id any, fields bson.D) {
	t.Helper()
	must[*mongo.UpdateResult](t)(c.UpdateOne(background, bson.D{{Key: "_id", Value: id}}, bson.D{{Key: "$set", Value: fields}}))
}

func remove(t *testing.T, c *mongo.Collection, id any) {
	t.Helper()
	must[*mongo.DeleteResult](t)(c.DeleteOne(background, bson.D{{Key: "_id", Value: id}}))
}
