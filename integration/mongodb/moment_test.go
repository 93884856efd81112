package mongodb

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	. "github.com/tidemarkdb/tidemark/integration/enginetest"
)

// TestALoadBesideWritersShowsOneMoment loads a collection again and again while amounts move between its documents, in
// transactions: whoever reads the table sees their sum, at the first sight of each load too.
func TestALoadBesideWritersShowsOneMoment(t *testing.T) {
	const documents, loads = 2000, 6
	h := newHouse(t)
	h.source.KeepImages("orders")
	var all []any
	for id := range documents {
		all = append(all, bson.D{{Key: "_id", Value: id}, {Key: "n", Value: 100}})
	}
	h.insert(all...)
	stop := make(chan struct{})
	var writers sync.WaitGroup
	writers.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			from, to := rand.IntN(documents), rand.IntN(documents)
			h.source.Transaction(func(ctx context.Context) error {
				for id, by := range map[int]int{from: -1, to: 1} {
					if from == to {
						return nil
					}
					if _, err := h.orders.UpdateOne(ctx, bson.D{{Key: "_id", Value: id}}, bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: by}}}}); err != nil {
						return err
					}
				}
				return nil
			})
		}
	})
	defer writers.Wait()
	defer close(stop)
	Rows(t, h.s, "CREATE CDC TABLE orders (_id BIGINT, n INTEGER, PRIMARY KEY (_id) NOT ENFORCED)")
	for load := range loads {
		h.stream(fmt.Sprint("changes", load), "")
		if load > 0 {
			Rows(t, h.s, "ALTER CDC TABLE orders DETACH STREAM")
		}
		Rows(t, h.s, fmt.Sprintf("ALTER CDC TABLE orders ATTACH STREAM changes%d; ALTER CDC TABLE orders RESUME", load))
		for applied := false; !applied; {
			applied = One(t, h.s, "SELECT phase = 'streaming' AND apply_count > 1 FROM information_schema.cdc_ingests") == "t"
			got := One(t, h.s, "SELECT count(*), sum(n) FROM orders")
			if got != fmt.Sprintf("%d|%d", documents, documents*100) && (load > 0 || got != "0|NULL") {
				t.Fatalf("load %d: %s", load, got)
			}
		}
	}
}
