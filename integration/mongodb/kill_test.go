package mongodb

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"golang.org/x/sync/errgroup"

	"github.com/tidemarkdb/tidemark/engine"
	. "github.com/tidemarkdb/tidemark/integration/enginetest"
	"github.com/tidemarkdb/tidemark/integration/mongotest"
	"github.com/tidemarkdb/tidemark/integration/served"
)

const (
	clients        = 3
	ownAccounts    = 1000 // of each client: the stand-in server has no write conflicts
	initialBalance = 100
	total          = clients * ownAccounts * initialBalance
)

// workload moves money between the accounts of each client in transactions.
type workload struct {
	accounts *mongo.Collection
	commits  atomic.Int64
}

func (w *workload) prepare(t *testing.T) {
	var all []any
	for id := range clients * ownAccounts {
		all = append(all, bson.D{{Key: "_id", Value: id}, {Key: "balance", Value: initialBalance}, {Key: "version", Value: 0}})
	}
	if _, err := w.accounts.InsertMany(background, all); err != nil {
		t.Fatal(err)
	}
}

// client works until ctx ends; its accounts are those of its number and new ones beyond.
func (w *workload) client(ctx context.Context, n int, rng *rand.Rand) error {
	session, err := w.accounts.Database().Client().StartSession()
	if err != nil {
		return err
	}
	defer session.EndSession(background)
	fresh := 1_000_000 * (n + 1)
	for ctx.Err() == nil {
		steps := 1 + rng.IntN(5)
		_, err := session.WithTransaction(background, func(tx context.Context) (any, error) {
			for range steps {
				a, b := n*ownAccounts+rng.IntN(ownAccounts), n*ownAccounts+rng.IntN(ownAccounts)
				switch rng.IntN(8) {
				case 0: // an account of its own for some of the money
					fresh++
					if _, err := w.accounts.InsertOne(tx, bson.D{{Key: "_id", Value: fresh}, {Key: "balance", Value: 7}, {Key: "version", Value: 1}}); err != nil {
						return nil, err
					}
					b = -1
				case 1: // and back
					if fresh > 1_000_000*(n+1) {
						if _, err := w.accounts.DeleteOne(tx, bson.D{{Key: "_id", Value: fresh}}); err != nil {
							return nil, err
						}
						fresh, b = fresh-1, -2
					}
				}
				if err := w.move(tx, a, b); err != nil {
					return nil, err
				}
			}
			return nil, nil
		})
		if err != nil {
			return err
		}
		w.commits.Add(1)
	}
	return nil
}

// move takes 7 from a and gives it to b; b of -1 stands for an account that has it already, -2 for one that a gets it of.
func (w *workload) move(ctx context.Context, a, b int) error {
	change := func(id, by int) error {
		_, err := w.accounts.UpdateOne(ctx, bson.D{{Key: "_id", Value: id}}, bson.D{{Key: "$inc", Value: bson.D{{Key: "balance", Value: by}, {Key: "version", Value: 1}}}})
		return err
	}
	switch b {
	case -1:
		return change(a, -7)
	case -2:
		return change(a, 7)
	}
	if err := change(a, -7); err != nil {
		return err
	}
	return change(b, 7)
}

// TestKills has two processes of the server take turns: the one that ingests is killed at a random moment, the other
// takes over.
func TestKills(t *testing.T) {
	seconds, err := strconv.Atoi(os.Getenv("TIDEMARK_CHAOS_SECONDS"))
	if err != nil {
		seconds = 12
	}
	seed, err := strconv.ParseUint(os.Getenv("TIDEMARK_SEED"), 10, 64)
	if err != nil {
		seed = uint64(time.Now().UnixNano() & 0xffff)
	}
	t.Logf("seed %d, %d seconds", seed, seconds)
	source := mongotest.Database(t)
	work := &workload{accounts: source.Collection("accounts")}
	source.KeepImages("accounts")
	work.prepare(t)

	binary, root := served.Build(t), t.TempDir()
	pair := make([]*served.Server, 2)
	for i := range pair {
		pair[i] = served.New(t, binary, root)
		pair[i].Start()
	}
	pair[0].SQL(fmt.Sprintf(`CREATE STREAM changes FROM MONGODB WITH (connection = '%s', database = '%s', collection = 'accounts');
		CREATE CDC TABLE accounts (_id BIGINT, balance BIGINT, version INTEGER, PRIMARY KEY (_id) NOT ENFORCED) WITH (cascade_interval = '1 second');
		ALTER CDC TABLE accounts ATTACH STREAM changes; SET execution.cdc.append_max_read_ms = 100; ALTER CDC TABLE accounts RESUME`, source.URI, source.Name))
	reading := Session(t, Open(t, engine.Options{Root: root, ReadOnly: true}))

	ctx, cancel := context.WithCancel(background)
	defer cancel()
	var working errgroup.Group
	for n := range clients {
		working.Go(func() error { return work.client(ctx, n, rand.New(rand.NewPCG(seed, uint64(n)))) })
	}
	Until(t, "the load and the changes made during it", func() bool {
		return One(t, reading, "SELECT coalesce(sum(balance), 0) FROM accounts") == strconv.Itoa(total) && work.commits.Load() > 20
	})
	time.AfterFunc(time.Duration(seconds)*time.Second, cancel)
	answers := make(chan int, 1)
	go func() { answers <- watch(t, ctx, reading) }()
	kills := takeTurns(ctx, pair, rand.New(rand.NewPCG(seed, 99)), time.Duration(seconds)*time.Second)
	if err := working.Wait(); err != nil {
		t.Fatal(err)
	}
	seen := <-answers
	compare(t, work, reading)
	t.Logf("%d transactions, %d kills, %d consistent answers", work.commits.Load(), kills, seen)
	if kills < 4 || seen < 20 || work.commits.Load() < 20 {
		t.Errorf("too little happened")
	}
}

// takeTurns kills the process that ingests and lets the other resume until ctx ends; it returns the number of kills.
func takeTurns(ctx context.Context, pair []*served.Server, rng *rand.Rand, length time.Duration) int {
	for kills := 0; ; kills++ {
		select {
		case <-ctx.Done():
			return kills
		case <-time.After(time.Duration(rng.Int64N(int64(length)/6)) / 2):
		}
		victim, heir := pair[kills%2], pair[(kills+1)%2]
		victim.Kill()
		heir.SQL("SET execution.cdc.append_max_read_ms = 100; ALTER CDC TABLE accounts RESUME")
		victim.Start()
	}
}

// watch queries until ctx ends: every answer is a state between two transactions. It returns the number of answers.
func watch(t *testing.T, ctx context.Context, s *engine.Session) int {
	answers := 0
	want := strconv.Itoa(total)
	for ctx.Err() == nil {
		got, err := Try(s, "SELECT sum(balance), count(*) = count(DISTINCT _id), count(*) FROM accounts")
		if err != nil {
			t.Error(err)
			return answers
		}
		cells := strings.Split(got[0], "|")
		if answers++; cells[0] != want || cells[1] != "t" {
			t.Errorf("a query saw sum, unique keys, rows = %s, want the sum %s", got[0], want)
			return answers
		}
	}
	return answers
}

// compare waits until the table has the collection's last change, then compares every row with its document.
func compare(t *testing.T, work *workload, s *engine.Session) {
	t.Helper()
	if _, err := work.accounts.InsertOne(background, bson.D{{Key: "_id", Value: -1}, {Key: "balance", Value: 0}, {Key: "version", Value: 0}}); err != nil {
		t.Fatal(err)
	}
	UntilRow(t, s, "SELECT count(*) FROM accounts WHERE _id = -1", "1")
	cursor, err := work.accounts.Find(background, bson.D{}, options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for cursor.Next(background) {
		var d struct {
			ID               int64 `bson:"_id"`
			Balance, Version int64
		}
		if err := cursor.Decode(&d); err != nil {
			t.Fatal(err)
		}
		want = append(want, fmt.Sprintf("%d|%d|%d", d.ID, d.Balance, d.Version))
	}
	got := Rows(t, s, "SELECT _id, balance, version FROM accounts ORDER BY _id")
	if len(got) != len(want) {
		t.Fatalf("the table has %d rows, the collection %d documents", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("row %d of %d is %s, want %s", i, len(got), got[i], want[i])
		}
	}
}
