package mongodb

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/integration/mongotest"
	"github.com/tidemarkdb/tidemark/vec"
)

func TestEveryKindOfChange(t *testing.T) {
	for _, images := range []bool{false, true} {
		t.Run(fmt.Sprintf("images %v", images), func(t *testing.T) {
			server := mongotest.Database(t)
			docs := server.Collection("docs")
			if images {
				server.KeepImages("docs")
			}
			insert(t, docs, bson.M{"_id": int64(1), "n": 1, "note": "one"}, bson.M{"_id": int64(2), "n": 2})
			m := newMirror(t, server, target("*_id", vec.Int64Type, "n", vec.Int32Type, "note", vec.TextType))
			m.load()
			m.follow()
			insert(t, docs, bson.M{"_id": int64(3), "n": 3, "note": "three"})
			set(t, docs, int64(1), bson.D{{Key: "n", Value: 10}})
			if _, err := docs.ReplaceOne(background, bson.M{"_id": int64(2)}, bson.M{"note": "replaced"}); err != nil {
				t.Fatal(err)
			}
			if _, err := docs.UpdateOne(background, bson.M{"_id": int64(3)}, bson.M{"$unset": bson.M{"note": 1}}); err != nil {
				t.Fatal(err)
			}
			if err := docs.FindOneAndUpdate(background, bson.M{"_id": int64(1)}, bson.M{"$inc": bson.M{"n": 1}}).Err(); err != nil {
				t.Fatal(err)
			}
			insert(t, docs, bson.M{"_id": int64(4)}, bson.M{"_id": int64(5)})
			remove(t, docs, int64(4))
			m.until("eight events", func() bool { return m.counts.inserts+m.counts.updates+m.counts.deletes == 8 })
			want := map[string]string{"_id=1": "_id=1 n=11 note=one", "_id=2": "_id=2 n=NULL note=replaced", "_id=3": "_id=3 n=3 note=NULL", "_id=5": "_id=5 n=NULL note=NULL"}
			if d := difference(m.rows, want); d != "" {
				t.Error(d)
			}
			if m.counts != (counts{inserts: 3, updates: 4, deletes: 1}) {
				t.Errorf("counted %+v", m.counts)
			}
		})
	}
}

// TestSnapshotAndStreamBesideWritersHaveNoGapAndNoOverlap loads while several writers change documents, and checks that
// what the stream then makes of it is the collection.
func TestSnapshotAndStreamBesideWritersHaveNoGapAndNoOverlap(t *testing.T) {
	server := mongotest.Database(t)
	docs := server.Collection("docs")
	var first []any
	for i := range 3000 {
		first = append(first, bson.M{"_id": i, "n": 0, "writer": -1})
	}
	insert(t, docs, first...)
	m := newMirror(t, server, target("*_id", vec.Int64Type, "n", vec.Int64Type, "writer", vec.Int32Type), "snapshot_threads", "2")
	m.source.partDocuments = 500
	ctx, cancel := context.WithCancel(background)
	var writers sync.WaitGroup
	defer writers.Wait()
	defer cancel()
	started := make(chan struct{}, 4)
	for w := range 4 {
		writers.Go(func() {
			rng := rand.New(rand.NewPCG(7, uint64(w)))
			for i := 1; ctx.Err() == nil; i++ {
				id := rng.IntN(4000)
				if rng.IntN(5) == 0 {
					remove(t, docs, id)
				} else if _, err := docs.UpdateOne(background, bson.M{"_id": id}, bson.M{"$inc": bson.M{"n": 1}, "$set": bson.M{"writer": w}}, upsert); err != nil && !strings.Contains(err.Error(), "duplicate key") {
					t.Error(err)
				}
				if i == 20 {
					started <- struct{}{}
				}
			}
		})
	}
	for range 4 {
		<-started
	}
	snap, err := m.source.Snapshot(background)
	if err != nil {
		t.Fatal(err)
	}
	if snap.Parts() < 3 {
		t.Errorf("%d parts", snap.Parts())
	}
	snap.Close()
	m.load()
	m.follow()
	m.until("500 updates", func() bool { return m.counts.updates > 500 })
	cancel()
	writers.Wait()
	m.settle()
}

// TestWhatOverlapsWithTheSnapshotIsOneUnit checks that no boundary lies within the changes that the snapshot may have
// already: readers would see documents go back to older states.
func TestWhatOverlapsWithTheSnapshotIsOneUnit(t *testing.T) {
	server := mongotest.Database(t)
	server.KeepImages("docs")
	docs := server.Collection("docs")
	insert(t, docs, bson.M{"_id": 1, "n": 0}, bson.M{"_id": 2, "n": 0})
	m := newMirror(t, server, target("*_id", vec.Int64Type, "n", vec.Int64Type))
	snap, err := m.source.Snapshot(background)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 5; n++ { // after the stream's beginning, before the part is read
		set(t, docs, 1, bson.D{{Key: "n", Value: n}})
	}
	if err := snap.Read(background, 0, func(b *vec.Batch) error {
		for i := range b.N {
			key, row := m.row(b.Cols, i)
			m.rows[key] = row
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	m.at = snap.Position()
	if m.rows["_id=1"] != "_id=1 n=5" {
		t.Fatalf("read %v", m.rows)
	}
	m.follow()
	for m.counts.updates < 5 {
		c, err := m.next(50*time.Millisecond, 1)
		if err != nil {
			t.Fatal(err)
		}
		if c != nil && c.Boundary && m.rows["_id=1"] != "_id=1 n=5" {
			t.Errorf("a boundary with %s, which is older than the snapshot", m.rows["_id=1"])
		}
	}
	m.until("a boundary", func() bool { return m.boundaries > 0 })
	set(t, docs, 2, bson.D{{Key: "n", Value: 6}})
	m.settle()
	if at, err := decodePosition(m.at); err != nil || at.Whole != (bson.Timestamp{}) {
		t.Errorf("position %+v, %v", at, err)
	}
}

func TestTransactionsAreNotCut(t *testing.T) {
	server := mongotest.Database(t)
	docs := server.Collection("docs")
	m := newMirror(t, server, target("*_id", vec.Int64Type, "n", vec.Int64Type))
	m.load()
	m.follow()
	const each = 30
	for n := range 3 {
		server.Transaction(func(ctx context.Context) error {
			for i := range each {
				if _, err := docs.InsertOne(ctx, bson.M{"_id": n*each + i, "n": n}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	rows, boundaries := 0, 0
	for rows < 3*each || boundaries == 0 {
		c, err := m.next(time.Second, 7)
		if err != nil {
			t.Fatal(err)
		}
		if c == nil {
			continue
		}
		rows += c.Rows()
		if c.Boundary {
			boundaries++
			if rows%each != 0 {
				t.Errorf("a boundary after %d rows of transactions of %d", rows, each)
			}
		}
	}
	m.until("the last boundary", func() bool { return m.boundaries > 0 && len(m.rows) == 3*each })
	insert(t, docs, bson.M{"_id": 1000})
	m.settle()
}

func TestRestartContinuesAtThePosition(t *testing.T) {
	server := mongotest.Database(t)
	docs := server.Collection("docs")
	m := newMirror(t, server, target("*_id", vec.Int64Type, "n", vec.Int64Type))
	m.load()
	m.follow()
	seen := 0
	for round := range 10 {
		for i := range 20 {
			insert(t, docs, bson.M{"_id": round*20 + i, "n": round})
		}
		for stop := seen + 13; seen < stop; { // stop amid what is there
			c, err := m.next(50*time.Millisecond, 5)
			if err != nil {
				t.Fatal(err)
			}
			if c != nil {
				seen += c.Rows()
			}
		}
		m.stream.Close()
		m.source.Close()
		m.open()
		m.follow()
	}
	m.until("all inserts", func() bool { return m.counts.inserts >= 200 })
	m.settle()
	if m.counts != (counts{inserts: 200}) {
		t.Errorf("counted %+v: lost or twice", m.counts)
	}
}

func TestIdleStreamsReportTheirPosition(t *testing.T) {
	server := mongotest.Database(t)
	m := newMirror(t, server, target("*_id", vec.Int64Type), "idle_interval", "20ms")
	server.Collection("docs")
	m.load()
	start := m.at
	m.follow()
	others := server.Collection("others")
	insert(t, others, bson.M{"_id": 1}, bson.M{"_id": 2})
	m.until("a position", func() bool { return m.boundaries > 0 })
	if comparePosition(m.at, start) <= 0 || m.counts != (counts{}) {
		t.Errorf("position %s after %s, counted %+v", formatPosition(m.at), formatPosition(start), m.counts)
	}
	// The oplog may forget everything before it now.
	server.Admin("testTrimOplog", 1)
	m.stream.Close()
	m.at = start
	permanent(t, m.lost(), "no longer reaches back")
}

// lost opens the stream at a position that the oplog has forgotten.
func (m *mirror) lost() error {
	if err := m.tryFollow(); err != nil {
		return err
	}
	return m.failure()
}

func TestDropAndRenameEndTheStreamWithAReason(t *testing.T) {
	for name, end := range map[string]func(*mongotest.Server) error{
		"was dropped": func(s *mongotest.Server) error { return s.Collection("docs").Drop(background) },
		"was renamed": func(s *mongotest.Server) error {
			return s.Client.Database("admin").RunCommand(background, bson.D{{Key: "renameCollection", Value: s.Name + ".docs"}, {Key: "to", Value: s.Name + ".archive"}}).Err()
		},
		"was dropped with its database": func(s *mongotest.Server) error { return s.Client.Database(s.Name).Drop(background) },
	} {
		t.Run(name, func(t *testing.T) {
			server := mongotest.Database(t)
			insert(t, server.Collection("docs"), bson.M{"_id": 1})
			m := newMirror(t, server, target("*_id", vec.Int64Type))
			m.load()
			m.follow()
			insert(t, server.Collection("docs"), bson.M{"_id": 2})
			if err := end(server); err != nil {
				t.Fatal(err)
			}
			err := m.failure()
			if !extension.IsPermanent(err) || !strings.Contains(err.Error(), "attach a new stream") {
				t.Errorf("got %v", err)
			}
			if _, ok := m.rows["_id=2"]; !ok {
				t.Errorf("what came before is missing: %v", m.rows)
			}
			// Another collection of the name is not the one that was loaded.
			insert(t, server.Collection("docs"), bson.M{"_id": 9})
			permanent(t, m.tryFollow(), "made anew")
		})
	}
}

// TestAPhantomDropIsNotBelieved sends the events of a drop while the collection is there, as moving a database to
// another shard does.
func TestAPhantomDropIsNotBelieved(t *testing.T) {
	server := mongotest.Database(t)
	docs := server.Collection("docs")
	m := newMirror(t, server, target("*_id", vec.Int64Type))
	m.load()
	m.follow()
	insert(t, docs, bson.M{"_id": 1})
	server.Admin("testPhantomDrop", server.Name+".docs")
	insert(t, docs, bson.M{"_id": 2})
	err := m.failure()
	if extension.IsPermanent(err) || !strings.Contains(err.Error(), "invalidated") {
		t.Fatalf("got %v", err)
	}
	m.stream.Close()
	m.follow()
	m.settle()
	if m.counts != (counts{inserts: 2}) {
		t.Errorf("counted %+v", m.counts)
	}
}

func TestAMissingDocumentOfAnUpdateIsADelete(t *testing.T) {
	for _, images := range []bool{false, true} {
		server := mongotest.Database(t)
		docs := server.Collection("docs")
		if images {
			server.KeepImages("docs")
		}
		insert(t, docs, bson.M{"_id": 1, "n": 1}, bson.M{"_id": 2, "n": 1})
		m := newMirror(t, server, target("*_id", vec.Int64Type, "n", vec.Int64Type))
		m.load()
		set(t, docs, 1, bson.D{{Key: "n", Value: 2}})
		set(t, docs, 2, bson.D{{Key: "n", Value: 3}})
		remove(t, docs, 1)
		if images { // the images have expired: the documents are looked up instead
			server.Admin("testExpireImages", 1)
		}
		m.follow()
		m.until("all changes", func() bool { return m.counts.deletes == 1 })
		if m.rows["_id=2"] != "_id=2 n=3" || len(m.rows) != 1 || m.counts != (counts{updates: 2, deletes: 1}) {
			t.Errorf("images %v: %v, counted %+v", images, m.rows, m.counts)
		}
	}
}

func TestLargeEventsAreSplitAndPutTogether(t *testing.T) {
	server := mongotest.Database(t)
	docs := server.Collection("docs")
	m := newMirror(t, server, target("*_id", vec.Int64Type, "big", vec.TextType, "doc", vec.JSONType), "document_column", "doc")
	m.load()
	m.follow()
	large := strings.Repeat("x", 300_000) // the test server splits beyond 200,000
	for i := range 5 {
		insert(t, docs, bson.M{"_id": i, "big": large}, bson.M{"_id": 100 + i, "big": "small"})
		set(t, docs, i, bson.D{{Key: "n", Value: i}})
	}
	m.settle()
	// Again, with the stream opened anew all the time: a split event is whole or not there.
	for i := range 5 {
		insert(t, docs, bson.M{"_id": 200 + i, "big": large}, bson.M{"_id": 300 + i})
		m.stream.Close()
		m.follow()
		if _, err := m.next(20*time.Millisecond, 1); err != nil {
			t.Fatal(err)
		}
	}
	m.settle()
}

// TestRunsOfLargeDocumentsAreBounded asks for any number of rows: what Next returns ends by size.
func TestRunsOfLargeDocumentsAreBounded(t *testing.T) {
	server := mongotest.Database(t)
	docs := server.Collection("docs")
	m := newMirror(t, server, target("*_id", vec.Int64Type, "doc", vec.JSONType), "document_column", "doc")
	m.load()
	m.follow()
	const count, size = 150, 1 << 20
	filler := strings.Repeat("x", size)
	for i := range count {
		insert(t, docs, bson.M{"_id": i, "filler": filler})
	}
	runs := 0
	for m.counts.inserts < count {
		c, err := m.next(10*time.Second, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		if c == nil {
			continue
		}
		if runs++; c.Rows()*size > runBytes+size {
			t.Errorf("%d rows of a megabyte at once", c.Rows())
		}
	}
	if runs < count*size/runBytes {
		t.Errorf("%d runs", runs)
	}
}

func TestManyWritersOfTheSameKeys(t *testing.T) {
	server := mongotest.Database(t)
	server.KeepImages("docs")
	docs := server.Collection("docs")
	m := newMirror(t, server, target("*_id", vec.Int64Type, "n", vec.Int64Type))
	m.load()
	m.follow()
	var writers sync.WaitGroup
	for range 6 {
		writers.Go(func() {
			for i := range 150 {
				if _, err := docs.UpdateOne(background, bson.M{"_id": i % 5}, bson.M{"$inc": bson.M{"n": 1}}, upsert); err != nil && !strings.Contains(err.Error(), "duplicate key") {
					t.Error(err)
				}
			}
		})
	}
	newest := map[string]int{}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		if _, err := m.next(20*time.Millisecond, 1); err != nil {
			t.Fatal(err)
		}
		for key, row := range m.rows {
			var id, n int
			if _, err := fmt.Sscanf(row, "_id=%d n=%d", &id, &n); err != nil {
				t.Fatal(row)
			}
			if n < newest[key] {
				t.Fatalf("%s went back from %d to %d", key, newest[key], n)
			}
			newest[key] = n
		}
	}
	m.settle()
}

func TestElectionsAndLostCursorsAreHandled(t *testing.T) {
	server := mongotest.Database(t)
	docs := server.Collection("docs")
	m := newMirror(t, server, target("*_id", vec.Int64Type, "n", vec.Int64Type))
	m.load()
	m.follow()
	for i := range 3 {
		insert(t, docs, bson.M{"_id": i, "n": i})
		m.until("the insert", func() bool { return m.counts.inserts == int64(2*i+1) })
		if i == 1 {
			server.Admin("testKillCursors", 1)
		} else {
			server.Admin("replSetStepDown", 300)
		}
		for deadline := time.Now().Add(20 * time.Second); ; { // the writer waits for the primary to be back
			_, err := docs.InsertOne(background, bson.M{"_id": 100 + i})
			if err == nil {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal(err)
			}
		}
		m.until("the insert after it", func() bool { return m.counts.inserts == int64(2*i+2) })
	}
	m.settle()
	if m.counts != (counts{inserts: 6}) {
		t.Errorf("counted %+v", m.counts)
	}
}

func TestTheSnapshotReadsOnAfterLostCursors(t *testing.T) {
	server := mongotest.Database(t)
	docs := server.Collection("docs")
	var first []any
	for i := range 20_000 {
		first = append(first, bson.M{"_id": i, "n": i})
	}
	insert(t, docs, first...)
	m := newMirror(t, server, target("*_id", vec.Int64Type, "n", vec.Int64Type))
	snap, err := m.source.Snapshot(background)
	if err != nil {
		t.Fatal(err)
	}
	server.Admin("testLoseFinds", 2)
	err = snap.Read(background, 0, func(b *vec.Batch) error {
		for i := range b.N {
			key, row := m.row(b.Cols, i)
			if m.rows[key] != "" {
				t.Fatalf("%s twice", key)
			}
			m.rows[key] = row
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.rows) != 20_000 || strings.Count(strings.Join(m.logged, "\n"), "reading on") != 2 {
		t.Errorf("%d rows; log %q", len(m.rows), m.logged)
	}
}

func TestTheStreamEndsWithItsContextAndItsClose(t *testing.T) {
	server := mongotest.Database(t)
	server.Collection("docs")
	m := newMirror(t, server, target("*_id", vec.Int64Type))
	m.load()
	m.follow()
	ctx, cancel := context.WithCancel(background)
	time.AfterFunc(20*time.Millisecond, cancel)
	if c, err := m.stream.Next(ctx, time.Minute, 10); c != nil || err != nil {
		t.Errorf("got %v, %v", c, err)
	}
	m.stream.Close()
	m.stream.Close()
	if _, err := m.stream.Next(background, time.Second, 10); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestABusySourceDoesNotStretchARead has answers ready at every moment: Next returns when its time is over, long before the
// run is full.
func TestABusySourceDoesNotStretchARead(t *testing.T) {
	s := bareStream(t, map[string]string{}, target("*_id", vec.Int64Type))
	s.feed = &feed{out: make(chan batch)}
	s.silence = time.Minute
	document := bson.D{{Key: "_id", Value: int64(1)}}
	change, err := bson.Marshal(bson.D{{Key: "_id", Value: bson.D{{Key: "_data", Value: "82"}}}, {Key: "operationType", Value: "insert"},
		{Key: "clusterTime", Value: bson.Timestamp{T: 1}}, {Key: "documentKey", Value: document}, {Key: "fullDocument", Value: document}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(background)
	var sender sync.WaitGroup
	defer sender.Wait()
	defer cancel()
	sender.Go(func() {
		for {
			select {
			case s.feed.out <- batch{events: []bson.Raw{change}}:
			case <-ctx.Done():
				return
			}
		}
	})
	for range 3 {
		const documentBytes = 22
		c, err := s.Next(background, 10*time.Millisecond, 1<<30)
		if err != nil || c == nil || !c.Boundary || c.Rows() >= runBytes/documentBytes {
			t.Fatalf("got %v, %v", c, err)
		}
	}
}

// TestBoundariesBetweenEndlessTransactions has one transaction follow the other without a pause: each is whole when the
// next begins, so that reads end at boundaries.
func TestBoundariesBetweenEndlessTransactions(t *testing.T) {
	server := mongotest.Database(t)
	docs := server.Collection("docs")
	m := newMirror(t, server, target("*_id", vec.Int64Type))
	m.load()
	m.follow()
	ctx, cancel := context.WithCancel(background)
	var writer sync.WaitGroup
	defer writer.Wait()
	defer cancel()
	const each = 3
	writer.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			server.Transaction(func(tx context.Context) error {
				for j := range each {
					if _, err := docs.InsertOne(tx, bson.M{"_id": i*each + j}); err != nil {
						return err
					}
				}
				return nil
			})
		}
	})
	for m.boundaries < 10 {
		c, err := m.next(30*time.Millisecond, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if c != nil && (!c.Boundary || m.counts.inserts%each != 0) {
			t.Fatalf("a read ends after %d rows, at a boundary: %v", m.counts.inserts, c.Boundary)
		}
	}
}

// TestAPermanentErrorComesAfterWhatCameBefore drops the collection before the change is read: it is delivered first.
func TestAPermanentErrorComesAfterWhatCameBefore(t *testing.T) {
	server := mongotest.Database(t)
	docs := server.Collection("docs")
	m := newMirror(t, server, target("*_id", vec.Int64Type))
	m.load()
	m.follow()
	insert(t, docs, bson.M{"_id": 1})
	if err := docs.Drop(background); err != nil {
		t.Fatal(err)
	}
	m.until("the insert", func() bool { return m.counts.inserts == 1 })
	permanent(t, m.failure(), "was dropped")
}
