package mongodb

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/tidemarkdb/tidemark/engine"
	. "github.com/tidemarkdb/tidemark/integration/enginetest"
	"github.com/tidemarkdb/tidemark/integration/mongotest"
)

func TestMain(m *testing.M) { os.Exit(mongotest.Main(m)) }

var background = context.Background()

// house is a source collection orders and an engine.
type house struct {
	t      *testing.T
	source *mongotest.Server
	orders *mongo.Collection
	root   string
	engine *engine.Engine
	s      *engine.Session
}

func newHouse(t *testing.T) *house {
	source := mongotest.Database(t)
	h := &house{t: t, source: source, orders: source.Collection("orders"), root: t.TempDir()}
	h.open()
	return h
}

func (h *house) open() {
	h.t.Helper()
	h.engine = Open(h.t, engine.Options{Root: h.root, Settings: map[string]string{"execution.cdc.append_max_read_ms": "20"}})
	h.s = Session(h.t, h.engine)
}

// stream makes a stream over orders; more is further options, each with a comma before it.
func (h *house) stream(name, more string) {
	h.t.Helper()
	Rows(h.t, h.s, fmt.Sprintf("CREATE STREAM %s FROM MONGODB WITH (connection = '%s', database = '%s', collection = 'orders'%s)", name, h.source.URI, h.source.Name, more))
}

func (h *house) insert(documents ...any) {
	h.t.Helper()
	if _, err := h.orders.InsertMany(background, documents); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) set(id any, fields bson.D) {
	h.t.Helper()
	if _, err := h.orders.UpdateOne(background, bson.D{{Key: "_id", Value: id}}, bson.D{{Key: "$set", Value: fields}}); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) remove(id any) {
	h.t.Helper()
	if _, err := h.orders.DeleteOne(background, bson.D{{Key: "_id", Value: id}}); err != nil {
		h.t.Fatal(err)
	}
}

func TestATableFollowsItsCollection(t *testing.T) {
	for _, mode := range []string{"read", "write"} {
		t.Run(mode, func(t *testing.T) {
			h := newHouse(t)
			h.insert(bson.D{{Key: "_id", Value: "a"}, {Key: "amount", Value: 12.5}, {Key: "address", Value: bson.D{{Key: "city", Value: "Ghent"}}}, {Key: "tags", Value: bson.A{"x", "y"}}},
				bson.D{{Key: "_id", Value: "b"}, {Key: "amount", Value: int32(7)}})
			h.stream("changes", ", fields = 'city = address.city', document_column = 'doc'")
			Rows(t, h.s, `CREATE CDC TABLE orders (_id TEXT, amount NUMERIC(12, 2), city TEXT, tags TEXT[], doc JSON, PRIMARY KEY (_id) NOT ENFORCED) WITH (merge_mode = '`+mode+`');
				ALTER CDC TABLE orders ATTACH STREAM changes; ALTER CDC TABLE orders RESUME`)
			const query = "SELECT _id, amount, city, tags, doc->>'note' FROM orders ORDER BY _id"
			UntilRow(t, h.s, "SELECT count(*) FROM orders", "2")
			Expect(t, h.s, query, "a|12.50|Ghent|{x,y}|NULL", "b|7.00|NULL|NULL|NULL")

			h.insert(bson.D{{Key: "_id", Value: "c"}, {Key: "amount", Value: int64(1)}, {Key: "note", Value: "new"}})
			h.set("a", bson.D{{Key: "address.city", Value: "Bruges"}})
			if _, err := h.orders.ReplaceOne(background, bson.D{{Key: "_id", Value: "b"}}, bson.D{{Key: "note", Value: "replaced"}}); err != nil {
				t.Fatal(err)
			}
			h.insert(bson.D{{Key: "_id", Value: "d"}})
			h.remove("d")
			h.insert(bson.D{{Key: "_id", Value: "last"}})
			UntilRow(t, h.s, "SELECT count(*) FROM orders WHERE _id = 'last'", "1")
			Expect(t, h.s, query, "a|12.50|Bruges|{x,y}|NULL", "b|NULL|NULL|NULL|replaced", "c|1.00|NULL|NULL|new", "last|NULL|NULL|NULL|NULL")

			// Over a restart of the engine nothing is lost and nothing comes twice.
			h.engine.Close()
			h.set("c", bson.D{{Key: "amount", Value: int64(2)}})
			h.remove("last")
			h.open()
			Expect(t, h.s, "SELECT state, has_worker FROM information_schema.cdc_ingests", "enabled|f")
			Rows(t, h.s, "ALTER CDC TABLE orders RESUME")
			UntilRow(t, h.s, "SELECT count(*) FROM orders WHERE _id = 'last'", "0")
			Expect(t, h.s, query, "a|12.50|Bruges|{x,y}|NULL", "b|NULL|NULL|NULL|replaced", "c|2.00|NULL|NULL|new")

			Rows(t, h.s, "ALTER CDC TABLE orders SUSPEND; ALTER CDC TABLE orders DETACH STREAM; ALTER CDC TABLE orders ATTACH STREAM changes")
			h.insert(bson.D{{Key: "_id", Value: "e"}})
			Rows(t, h.s, "ALTER CDC TABLE orders RESUME")
			UntilRow(t, h.s, "SELECT count(*) FROM orders WHERE _id = 'e'", "1") // the same stream continues
			Rows(t, h.s, "DROP TABLE orders; DROP STREAM changes")
		})
	}
}

func TestKeysOfTypesThatNeedWriteMode(t *testing.T) {
	h := newHouse(t)
	id := bson.Binary{Subtype: bson.TypeBinaryUUID, Data: []byte("0123456789abcdef")}
	h.insert(bson.D{{Key: "_id", Value: id}, {Key: "n", Value: 1}})
	h.stream("changes", "")
	Refuses(t, h.s, "CREATE CDC TABLE orders (_id UUID, n INTEGER, PRIMARY KEY (_id) NOT ENFORCED)", "0A000", "write")
	Rows(t, h.s, `CREATE CDC TABLE orders (_id UUID, n INTEGER, PRIMARY KEY (_id) NOT ENFORCED) WITH (merge_mode = 'write');
		ALTER CDC TABLE orders ATTACH STREAM changes; ALTER CDC TABLE orders RESUME`)
	UntilRow(t, h.s, "SELECT _id, n FROM orders", "30313233-3435-3637-3839-616263646566|1")
	h.set(id, bson.D{{Key: "n", Value: 2}})
	UntilRow(t, h.s, "SELECT n FROM orders", "2")
	h.remove(id)
	UntilRow(t, h.s, "SELECT count(*) FROM orders", "0")
}

// follow makes a table orders (_id BIGINT, n INTEGER) and waits until it is loaded.
func (h *house) follow(more string) {
	h.t.Helper()
	h.stream("changes", more)
	Rows(h.t, h.s, `CREATE CDC TABLE orders (_id BIGINT, n INTEGER, PRIMARY KEY (_id) NOT ENFORCED) WITH (cascade_interval = '20 milliseconds');
		ALTER CDC TABLE orders ATTACH STREAM changes; ALTER CDC TABLE orders RESUME`)
	UntilRow(h.t, h.s, "SELECT phase FROM information_schema.cdc_ingests", "streaming")
}

// streams waits until the change stream is open: then a change arrives.
func (h *house) streams() {
	h.t.Helper()
	h.insert(bson.M{"_id": 0})
	UntilRow(h.t, h.s, "SELECT count(*) FROM orders WHERE _id = 0", "1")
}

// ends waits for the attachment to end in error with a reason.
func (h *house) ends(reason string) {
	h.t.Helper()
	UntilRow(h.t, h.s, "SELECT state FROM information_schema.cdc_ingests", "error")
	if got := One(h.t, h.s, "SELECT last_error FROM information_schema.cdc_ingests"); !strings.Contains(got, reason) {
		h.t.Errorf("the reason is %q, want %q", got, reason)
	}
	Refuses(h.t, h.s, "ALTER CDC TABLE orders RESUME", "55000", reason)
}

func TestADropEndsTheAttachmentAfterWhatCameBefore(t *testing.T) {
	h := newHouse(t)
	h.insert(bson.M{"_id": 1, "n": 1})
	h.follow("")
	h.streams()
	h.insert(bson.M{"_id": 2, "n": 2})
	if err := h.orders.Drop(background); err != nil {
		t.Fatal(err)
	}
	h.ends("was dropped at the source")
	Expect(t, h.s, "SELECT _id, n FROM orders ORDER BY _id", "0|NULL", "1|1", "2|2")
	// A collection made anew is loaded by a new stream.
	Rows(t, h.s, "ALTER CDC TABLE orders DETACH STREAM")
	h.orders = h.source.Collection("orders")
	h.insert(bson.M{"_id": 3, "n": 3})
	h.stream("again", "")
	Rows(t, h.s, "ALTER CDC TABLE orders ATTACH STREAM again; ALTER CDC TABLE orders RESUME")
	UntilRow(t, h.s, "SELECT string_agg(_id::text, ',') FROM orders", "3")
}

func TestARenameEndsTheAttachment(t *testing.T) {
	h := newHouse(t)
	h.follow("")
	h.streams()
	rename := bson.D{{Key: "renameCollection", Value: h.source.Name + ".orders"}, {Key: "to", Value: h.source.Name + ".archive"}}
	if err := h.source.Client.Database("admin").RunCommand(background, rename).Err(); err != nil {
		t.Fatal(err)
	}
	h.ends("was renamed at the source")
}

func TestALostPositionEndsTheAttachment(t *testing.T) {
	h := newHouse(t)
	h.insert(bson.M{"_id": 1})
	h.follow("")
	Rows(t, h.s, "ALTER CDC TABLE orders SUSPEND")
	h.insert(bson.M{"_id": 2})
	h.source.Admin("testTrimOplog", 1)
	Rows(t, h.s, "ALTER CDC TABLE orders RESUME")
	h.ends("no longer reaches back")
	Expect(t, h.s, "SELECT _id FROM orders", "1")
}

func TestAnIdleStreamMovesOn(t *testing.T) {
	h := newHouse(t)
	h.follow(", idle_interval = '50ms'")
	position := func() string { return One(t, h.s, "SELECT coalesce(position, '') FROM information_schema.streams") }
	before := position()
	if _, err := h.source.Collection("others").InsertOne(background, bson.M{"_id": 1}); err != nil {
		t.Fatal(err)
	}
	Until(t, "a newer position", func() bool { return position() != before })
	h.insert(bson.M{"_id": 1})
	UntilRow(t, h.s, "SELECT count(*) FROM orders", "1")
}

func TestACollectionDroppedMeanwhile(t *testing.T) {
	h := newHouse(t)
	h.insert(bson.M{"_id": 1})
	h.follow("")
	Rows(t, h.s, "ALTER CDC TABLE orders SUSPEND")
	if err := h.orders.Drop(background); err != nil {
		t.Fatal(err)
	}
	Rows(t, h.s, "ALTER CDC TABLE orders RESUME")
	h.ends("if it was dropped or renamed, detach the stream and attach a new one")
	Expect(t, h.s, "SELECT _id FROM orders", "1")
}

func TestAMisfitEndsTheAttachmentOrBecomesNull(t *testing.T) {
	h := newHouse(t)
	h.insert(bson.M{"_id": 1, "n": "one"})
	h.stream("changes", "")
	h.stream("lenient", ", on_misfit = 'null', misfit_column = 'misfits'")
	Rows(t, h.s, `CREATE CDC TABLE orders (_id BIGINT, n INTEGER, misfits TEXT, PRIMARY KEY (_id) NOT ENFORCED);
		ALTER CDC TABLE orders ATTACH STREAM changes; ALTER CDC TABLE orders RESUME`)
	h.ends("does not fit INTEGER: it is a string")
	Rows(t, h.s, "ALTER CDC TABLE orders DETACH STREAM; ALTER CDC TABLE orders ATTACH STREAM lenient; ALTER CDC TABLE orders RESUME")
	UntilRow(t, h.s, "SELECT _id, n, misfits FROM orders", "1|NULL|n")
	h.set(1, bson.D{{Key: "n", Value: 1}})
	UntilRow(t, h.s, "SELECT _id, n, misfits FROM orders", "1|1|NULL")
}

func TestWrongStatements(t *testing.T) {
	h := newHouse(t)
	Refuses(t, h.s, "CREATE STREAM x FROM MONGODB WITH (connection = 'mongodb://h/', database = 'd', colection = 'c')", "22023", "did you mean collection?")
	Refuses(t, h.s, "CREATE STREAM x FROM MONGODB WITH (database = 'd', collection = 'c')", "22023", "needs the option connection")
	Refuses(t, h.s, "CREATE STREAM x FROM MONGODB WITH (connection = 'h:27017', database = 'd', collection = 'c')", "22023", "mongodb://user")
	Rows(t, h.s, "CREATE STREAM x FROM MONGODB WITH (connection = 'mongodb://ada:s3cret@h/', database = 'd', collection = 'c')")
	if options := One(t, h.s, "SELECT options FROM information_schema.streams"); strings.Contains(options, "s3cret") || !strings.Contains(options, "collection = 'c'") {
		t.Errorf("options are shown as %s", options)
	}
	Refuses(t, h.s, "CREATE STREAM x FROM MONGODBB WITH (connection = 'mongodb://h/')", "42704", "did you mean MONGODB?")
	h.stream("changes", "")
	Rows(t, h.s, "CREATE CDC TABLE orders (id BIGINT, PRIMARY KEY (id) NOT ENFORCED); ALTER CDC TABLE orders ATTACH STREAM changes; ALTER CDC TABLE orders RESUME")
	h.ends("fields = 'id = _id'")
}

// TestNoCommitTimes checks what the specification says of sources without commit times, and waiting for a position.
func TestNoCommitTimes(t *testing.T) {
	h := newHouse(t)
	h.insert(bson.M{"_id": 1, "n": 1})
	h.follow("")
	session, err := h.source.Client.StartSession()
	if err != nil {
		t.Fatal(err)
	}
	defer session.EndSession(background)
	if _, err := h.orders.InsertOne(mongo.NewSessionContext(background, session), bson.M{"_id": 2, "n": 2}); err != nil {
		t.Fatal(err)
	}
	at := session.OperationTime()
	Rows(t, h.s, fmt.Sprintf("CALL cdc_wait('orders', '%d.%d', '30 seconds')", at.T, at.I))
	Expect(t, h.s, "SELECT n FROM orders WHERE _id = 2", "2") // one reads what one wrote
	Expect(t, h.s, "SELECT live_lag_ms >= 0, apply_count >= 1 FROM information_schema.cdc_ingests", "t|t")
	Expect(t, h.s, "SELECT source_commit_time FROM information_schema.streams", "NULL")
	Until(t, "a cascade", func() bool { return h.gauge("tidemark_cdc_base_tablets") >= 2 })
	for _, name := range []string{"tidemark_cdc_staging_as_of_timestamp_seconds", "tidemark_cdc_base_as_of_timestamp_seconds"} {
		if got := h.gauge(name); !math.IsNaN(got) {
			t.Errorf("%s is %v, want NaN", name, got)
		}
	}
}

// gauge returns the only series of a name.
func (h *house) gauge(name string) float64 {
	h.t.Helper()
	families, err := h.engine.Metrics().Gather()
	if err != nil {
		h.t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name && len(f.Metric) == 1 {
			return f.Metric[0].GetGauge().GetValue()
		}
	}
	return -1
}

// TestWideDocuments streams documents of which each answer of the server holds a few only.
func TestWideDocuments(t *testing.T) {
	h := newHouse(t)
	h.source.KeepImages("orders")
	h.stream("changes", ", document_column = 'doc'")
	Rows(t, h.s, `CREATE CDC TABLE orders (_id BIGINT, doc TEXT, PRIMARY KEY (_id) NOT ENFORCED);
		ALTER CDC TABLE orders ATTACH STREAM changes; ALTER CDC TABLE orders RESUME`)
	UntilRow(t, h.s, "SELECT phase FROM information_schema.cdc_ingests", "streaming")
	filler := strings.Repeat("0123456789", 100_000)
	for i := range 40 {
		h.insert(bson.D{{Key: "_id", Value: i}, {Key: "filler", Value: filler}, {Key: "n", Value: i}})
	}
	UntilRow(t, h.s, "SELECT count(*), count(DISTINCT _id), min(length(doc)) > 1000000, sum((doc::json->>'n')::int) FROM orders", fmt.Sprintf("40|40|t|%d", 39*40/2))
}
