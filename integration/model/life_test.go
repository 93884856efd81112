package model

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/integration/enginetest"
	"github.com/tidemarkdb/tidemark/integration/scripted"
	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/objstore/crashstore"
	"github.com/tidemarkdb/tidemark/objstore/errstore"
	"github.com/tidemarkdb/tidemark/tablestore"
)

// TestMain lets more lives run side by side than there are cores: most of one is waiting.
func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.parallel").Value.String() == fmt.Sprint(runtime.GOMAXPROCS(0)) {
		if err := flag.Set("test.parallel", fmt.Sprint(8*runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// TestLives runs TIDEMARK_SEEDS lives (300), from the seed TIDEMARK_SEED (1) on.
func TestLives(t *testing.T) {
	first, n := number(t, "TIDEMARK_SEED", 1), number(t, "TIDEMARK_SEEDS", 300)
	for seed := first; seed < first+n; seed++ {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			live(t, seed)
		})
	}
}

func number(t *testing.T, name string, otherwise uint64) uint64 {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s=%q: %v", name, text, err)
	}
	return n
}

// life is one CDC table with its two sources, its root and up to two engines.
type life struct {
	t      *testing.T
	seed   uint64
	random *rand.Rand
	steps  []string // what happened, for the report of a failure

	database *scripted.Database
	sources  map[string]*scripted.Table // by stream
	shape    shape
	table    string // its name now

	crash  *crashstore.Store // nil when the root is a directory
	store  *errstore.Store
	faulty bool

	engines [2]*engine.Engine
	pins    []pinned

	loaded string            // stream whose load the table was last seen with, "" before
	seen   map[string]uint64 // newest position seen of each stream since its load

	sighted sighting // the last look
}

// pinned is a transaction with what it read.
type pinned struct {
	engine  int
	session *engine.Session
	table   string
	rows    []string
}

const (
	lifeSteps = 40
	patience  = 30 * time.Second
)

func live(t *testing.T, seed uint64) {
	l := &life{
		t: t, seed: seed, random: rand.New(rand.NewPCG(seed, 7)), database: scripted.NewDatabase(),
		sources: map[string]*scripted.Table{}, seen: map[string]uint64{}, table: "t0",
	}
	l.shape = shapes[l.random.IntN(len(shapes))]
	for _, stream := range []string{"left", "right"} {
		l.sources[stream] = l.database.Create(stream, l.shape.columns(), l.shape.key()...)
	}
	l.found()
	defer l.closeAll()
	l.open(0)
	l.setUp()
	for range lifeSteps {
		l.step()
		l.look()
	}
	l.end()
}

// failf ends the life with the way it took.
func (l *life) failf(format string, args ...any) {
	l.t.Helper()
	l.t.Fatalf("seed %d (run it alone with TIDEMARK_SEED=%d TIDEMARK_SEEDS=1): %s\nsteps: %s", l.seed, l.seed,
		fmt.Sprintf(format, args...), strings.Join(l.steps, "; "))
}

func (l *life) note(format string, args ...any) {
	l.steps = append(l.steps, fmt.Sprintf(format, args...))
}

// found makes the root: a directory, or the disk of a machine that can lose power.
func (l *life) found() {
	if l.random.IntN(2) == 0 {
		l.crash = crashstore.New(l.seed)
		l.store = errstore.Wrap(l.crash, nil)
		return
	}
	local, err := objstore.OpenLocal(folder(l.t))
	if err != nil {
		l.t.Fatal(err)
	}
	l.store = errstore.Wrap(local, nil)
}

// inMemory is a folder whose files are kept in memory, where the system has one: waiting for a disk to sync would be most
// of a life, and what a crash does to files is the crash store's to try.
const inMemory = "/dev/shm"

func folder(t *testing.T) string {
	dir, err := os.MkdirTemp(inMemory, "tidemark-model-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func (l *life) open(i int) {
	e, err := engine.Open(context.Background(), engine.Options{
		Store: l.store, Name: fmt.Sprintf("engine%d", i), Register: l.database.Register,
		Settings: map[string]string{"execution.cdc.append_max_read_ms": strconv.Itoa(1 + l.random.IntN(6))},
		Log:      slog.New(slog.DiscardHandler),
	})
	if err != nil {
		if l.faulty || l.crashed() {
			return
		}
		l.failf("engine %d does not open: %v", i, err)
	}
	l.engines[i] = e
}

func (l *life) close(i int) {
	if l.engines[i] == nil {
		return
	}
	l.pins = slices.DeleteFunc(l.pins, func(p pinned) bool {
		if p.engine == i {
			p.session.Close()
		}
		return p.engine == i
	})
	l.engines[i].Close()
	l.engines[i] = nil
}

func (l *life) closeAll() {
	l.close(0)
	l.close(1)
}

func (l *life) crashed() bool { return l.crash != nil && l.crash.Crashed() }

// any returns one of the open engines.
func (l *life) any() int {
	i := l.random.IntN(2)
	if l.engines[i] == nil {
		i = 1 - i
	}
	return i
}

// sql runs statements on an engine. They may fail only while the store does.
func (l *life) sql(i int, text string) ([]string, error) {
	s, err := l.engines[i].NewSession(engine.SessionOptions{})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	out, err := enginetest.Try(s, text)
	if err != nil && !l.faulty && !l.crashed() {
		l.failf("engine %d: %s: %v", i, text, err)
	}
	return out, err
}

func (l *life) setUp() {
	with := []string{"cascade_interval = '" + l.pick("3 milliseconds", "3 milliseconds", "30 milliseconds", "1 hour") + "'"}
	index := ""
	if l.random.IntN(3) == 0 {
		index = " PRIMARY INDEX (n)"
	}
	if l.random.IntN(4) == 0 {
		with = append(with, "merge_mode = 'write'")
	}
	l.note("%s key, %s%s, crash %v", l.shape.name, strings.Join(with, " "), index, l.crash != nil)
	l.sql(0, fmt.Sprintf(`CREATE STREAM left_stream FROM SCRIPTED WITH ("table" = 'left'); CREATE STREAM right_stream FROM SCRIPTED WITH ("table" = 'right');
		CREATE CDC TABLE t0 (%s, n BIGINT, note TEXT, PRIMARY KEY (%s) NOT ENFORCED)%s WITH (%s);
		ALTER CDC TABLE t0 ATTACH STREAM left_stream`, l.shape.ddl(), l.shape.names(), index, strings.Join(with, ", ")))
	if l.random.IntN(2) == 0 {
		l.change()
	}
	l.sql(0, "ALTER CDC TABLE t0 RESUME")
}

func (l *life) pick(of ...string) string { return of[l.random.IntN(len(of))] }

// end repairs everything, lets the table catch up, and checks the root.
func (l *life) end() {
	l.reboot()
	l.heal()
	for i := range l.engines {
		if l.engines[i] == nil {
			l.open(i)
		}
	}
	i := l.any()
	state := l.ingest(i)
	if state.stream == "" {
		l.sql(i, "ALTER CDC TABLE "+l.table+" ATTACH STREAM left_stream")
	}
	l.note("final resume on engine %d", i)
	l.sql(i, "ALTER CDC TABLE "+l.table+" RESUME")
	l.settle(i)
	l.look()
	l.closeAll()
	report, err := catalog.Check(context.Background(), l.store, catalog.CheckOptions{Verify: tablestore.Verifier(l.store)})
	if err != nil {
		l.failf("checking the root: %v", err)
	}
	for _, p := range report.Problems {
		l.failf("check finds in %s: %v", p.Path, p.Err)
	}
}

// heal ends the store's faults.
func (l *life) heal() {
	l.store.SetRule(nil)
	l.faulty = false
}

// reboot brings a machine that lost power back, without the engines that ran on it.
func (l *life) reboot() {
	if !l.crashed() {
		if l.crash != nil {
			l.crash.CrashAt(0)
		}
		return
	}
	l.note("reboot")
	l.closeAll()
	next, err := l.crash.Reboot()
	if err != nil {
		l.t.Fatal(err)
	}
	l.crash = next
	l.heal()
	l.store = errstore.Wrap(next, nil)
	l.open(0)
	if l.engines[0] == nil {
		l.failf("the root does not open after a crash")
	}
}

// ingestState is what the catalog says of the attachment.
type ingestState struct {
	stream string // of the source, "" when none is attached
	state  string
	worker bool // on the engine asked
}

func (l *life) ingest(i int) ingestState {
	// What other engines did a moment ago counts.
	if err := l.engines[i].Ready(context.Background()); err != nil && !l.faulty && !l.crashed() {
		l.failf("engine %d is not ready: %v", i, err)
	}
	out, err := l.sql(i, "SELECT table_name, stream_name, state, has_worker FROM information_schema.cdc_ingests")
	if err != nil || len(out) == 0 {
		return ingestState{}
	}
	cells := strings.Split(out[0], "|")
	if cells[2] == "error" {
		why, _ := l.sql(i, "SELECT last_error FROM information_schema.cdc_ingests")
		l.failf("the attachment is in error: %v", why)
	}
	return ingestState{strings.TrimSuffix(cells[1], "_stream"), cells[2], cells[3] == "t"}
}

// settle waits until the worker of an engine has applied what its source committed, for as long as it makes progress.
func (l *life) settle(i int) {
	stream := l.ingest(i).stream
	want := fmt.Sprintf("%d", l.sources[stream].End())
	deadline, reached := time.Now().Add(patience), ""
	for {
		out, err := l.sql(i, "SELECT coalesce(position, '') FROM information_schema.streams WHERE stream_name = '"+stream+"_stream'")
		if err == nil && len(out) == 1 && out[0] == want {
			return
		}
		if now := fmt.Sprint(out); now != reached {
			deadline, reached = time.Now().Add(patience), now
		}
		if time.Now().After(deadline) {
			shown, _ := l.sql(i, "SELECT * FROM information_schema.cdc_ingests")
			l.failf("the table never got to position %s of %s: it is at %v, %v", want, stream, out, shown)
		}
		time.Sleep(time.Millisecond)
	}
}

// look reads the table on an engine and compares.
func (l *life) look() {
	l.reboot()
	i := l.any()
	if l.engines[i] == nil {
		l.open(0)
		if i = 0; l.engines[0] == nil {
			return // faults keep it from opening
		}
	}
	acked := map[string]uint64{}
	for name, source := range l.sources {
		acked[name] = source.Acked()
	}
	if err := l.engines[i].Ready(context.Background()); err != nil {
		if l.faulty || l.crashed() {
			return
		}
		l.failf("engine %d is not ready: %v", i, err)
	}
	s, err := l.engines[i].NewSession(engine.SessionOptions{})
	if err != nil {
		l.t.Fatal(err)
	}
	if !l.compare(i, s, acked) {
		s.Close()
	}
	l.pins = slices.DeleteFunc(l.pins, func(p pinned) bool {
		got, err := enginetest.Try(p.session, "SELECT * FROM "+p.table)
		if err != nil && (l.faulty || l.crashed()) {
			p.session.Close() // the error failed the transaction
			return true
		}
		if slices.Sort(got); err != nil || !slices.Equal(got, p.rows) {
			l.failf("a transaction on engine %d read %d rows and now %d others: %v", p.engine, len(p.rows), len(got), err)
		}
		return false
	})
	if len(l.pins) > 3 {
		l.pins[0].session.Close()
		l.pins = l.pins[1:]
	}
}

// compare reads the table in a transaction, which it sometimes keeps as a pin, and reports whether it did.
func (l *life) compare(i int, s *engine.Session, acked map[string]uint64) bool {
	read := func(text string) ([]string, bool) {
		out, err := enginetest.Try(s, text)
		if err != nil && !l.faulty && !l.crashed() {
			l.failf("engine %d: %s: %v", i, text, err)
		}
		return out, err == nil
	}
	if _, ok := read("BEGIN"); !ok {
		return false
	}
	where, ok := read("SELECT stream_name, position FROM information_schema.streams WHERE table_name IS NOT NULL")
	if !ok {
		return false
	}
	rows, ok := read("SELECT * FROM " + l.table)
	if !ok {
		return false
	}
	slices.Sort(rows)
	l.judge(where, rows, acked)
	if !l.questions(read, rows) || !l.follow(read, rows) || l.random.IntN(6) > 0 {
		return false
	}
	l.pins = append(l.pins, pinned{i, s, l.table, rows})
	return true
}

// judge compares rows with what the source held.
func (l *life) judge(where, rows []string, acked map[string]uint64) {
	if len(where) == 1 {
		stream, position, _ := strings.Cut(where[0], "|")
		stream = strings.TrimSuffix(stream, "_stream")
		if position != "NULL" {
			at := scripted.Position(position)
			if l.loaded != stream { // reseeded
				l.loaded, l.seen[stream] = stream, 0
			}
			if at < l.seen[stream] {
				l.failf("stream %s went back from position %d to %d", stream, l.seen[stream], at)
			}
			if at < acked[stream] {
				l.failf("stream %s: position %d was acknowledged, the table is at %d", stream, acked[stream], at)
			}
			l.seen[stream] = at
			if want := l.lines(stream, at); !slices.Equal(rows, want) {
				l.failf("at position %d of %s the table holds %d rows, the source %d, or they differ:\ngot  %s\nwant %s", at, stream,
					len(rows), len(want), difference(rows, want), difference(want, rows))
			}
			return
		}
	}
	// The stream that loaded the table is detached: the position is not shown, but it is one of those since the last look.
	if l.loaded == "" {
		for stream, source := range l.sources {
			for at := range source.End() + 1 {
				if slices.Equal(rows, l.lines(stream, at)) {
					return
				}
			}
		}
		l.failf("a table whose stream has not shown a position holds %d rows of no moment", len(rows))
	}
	for at := l.seen[l.loaded]; at <= l.sources[l.loaded].End(); at++ {
		if slices.Equal(rows, l.lines(l.loaded, at)) {
			l.seen[l.loaded] = at
			return
		}
	}
	// It may have been loaded by the other stream between two looks, and detached again.
	other := map[string]string{"left": "right", "right": "left"}[l.loaded]
	for at := range l.sources[other].End() + 1 {
		if slices.Equal(rows, l.lines(other, at)) {
			l.loaded, l.seen[other] = other, at
			return
		}
	}
	l.failf("detached from %s after position %d, the table holds %d rows of no moment since", l.loaded, l.seen[l.loaded], len(rows))
}

func (l *life) lines(stream string, at uint64) []string {
	return slices.Sorted(maps.Values(l.sources[stream].At(at)))
}

// difference returns some of a that are not in b.
func difference(a, b []string) string {
	var out []string
	for _, x := range a {
		if _, found := slices.BinarySearch(b, x); !found && len(out) < 5 {
			out = append(out, x)
		}
	}
	return strings.Join(out, " ")
}

// questions asks for parts of the table that pruning and statistics answer, in the same transaction. It reports whether
// its statement ran.
func (l *life) questions(read func(string) ([]string, bool), rows []string) bool {
	from := l.random.Int64N(keySpace)
	to := from + l.random.Int64N(40)
	count, in, sum := len(rows), 0, int64(0)
	for _, r := range rows {
		cells := strings.Split(r, "|")
		n, err := strconv.ParseInt(cells[len(cells)-2], 10, 64)
		if err != nil {
			continue // NULL
		}
		sum += n
		if n >= from && n <= to {
			in++
		}
	}
	got, ok := read(fmt.Sprintf("SELECT (SELECT count(*) FROM %[1]s), (SELECT count(*) FROM %[1]s WHERE n BETWEEN %[2]d AND %[3]d), (SELECT coalesce(sum(n), 0) FROM %[1]s)",
		l.table, from, to))
	if want := fmt.Sprintf("%d|%d|%d", count, in, sum); ok && got[0] != want {
		l.failf("count(*), count of n between %d and %d, sum(n): got %s, want %s", from, to, got[0], want)
	}
	return ok
}

var errInjected = errors.New("injected: no space left on device")
