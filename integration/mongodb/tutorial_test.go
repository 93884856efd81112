package mongodb

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	. "github.com/tidemarkdb/tidemark/integration/enginetest"
)

// TestTheTutorial runs the statements of docs/tutorial-mongodb.md over a collection like its own.
func TestTheTutorial(t *testing.T) {
	page, err := os.ReadFile("../../docs/tutorial-mongodb.md")
	if err != nil {
		t.Fatal(err)
	}
	var statements []string
	for _, m := range regexp.MustCompile(`(?s)flightsrv sql [^"]* -c "(.*?)"\n`).FindAllStringSubmatch(string(page), -1) {
		statements = append(statements, m[1])
	}
	if len(statements) != 7 {
		t.Fatalf("the tutorial has %d statements", len(statements))
	}
	h := newHouse(t)
	run := func(i int) []string {
		t.Helper()
		sql := strings.ReplaceAll(statements[i], "mongodb://127.0.0.1:27017/?replicaSet=rs0", h.source.URI)
		return Rows(t, h.s, strings.ReplaceAll(sql, "database = 'shop'", "database = '"+h.source.Name+"'"))
	}
	var documents []any
	for i := 1; i <= 1000; i++ {
		amount, err := bson.ParseDecimal128(fmt.Sprintf("%d.%d", i/10, i%10))
		if err != nil {
			t.Fatal(err)
		}
		city := "Bruges"
		if i%2 == 1 {
			city = "Ghent"
		}
		documents = append(documents, bson.D{{Key: "customerId", Value: i % 100}, {Key: "amount", Value: amount}, {Key: "createdAt", Value: time.Now()},
			{Key: "address", Value: bson.D{{Key: "city", Value: city}}}, {Key: "tags", Value: bson.A{"new"}}})
	}
	h.insert(documents...)
	h.source.KeepImages("orders")
	run(0)
	UntilRow(t, h.s, "SELECT count(*) FROM orders", "1000")
	Until(t, "the phase streaming", func() bool {
		got := run(1)
		return len(got) == 1 && strings.Contains(got[0], "enabled|streaming|t")
	})
	if got := run(2); len(got) != 2 || !strings.HasPrefix(got[0], "Bruges|500|") || !strings.HasPrefix(got[1], "Ghent|500|") {
		t.Errorf("cities: %q", got)
	}
	if _, err := h.orders.UpdateMany(background, bson.M{"customerId": 7}, bson.M{"$set": bson.M{"address.city": "Antwerp"}, "$push": bson.M{"tags": "moved"}}); err != nil {
		t.Fatal(err)
	}
	UntilRow(t, h.s, "SELECT count(*) FROM orders WHERE city = 'Antwerp'", "10")
	if got := run(3); len(got) != 3 || got[0] != "7|Antwerp|{new,moved}" {
		t.Errorf("customer 7: %q", got)
	}
	h.insert(bson.M{"customerId": 9, "amount": "a lot"})
	h.ends("a value of column amount")
	run(4)
	UntilRow(t, h.s, "SELECT count(*) FROM orders WHERE amount IS NULL AND doc->>'amount' = 'a lot'", "1")
	Rows(t, h.s, "ALTER CDC TABLE orders SUSPEND")
	run(5)
	run(6)
}
