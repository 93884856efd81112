package engine_test

import (
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

func TestCDCWait(t *testing.T) {
	_, s := open(t, engine.Options{Settings: fastIngest})
	refuses(t, s, "CALL cdc_wait('orders', '1')", sqlerr.UndefinedTable, "orders")
	refuses(t, s, "CALL cdc_wat('orders', '1')", sqlerr.UndefinedFunction, "cdc_wait")
	rows(t, s, cdcSetup)
	refuses(t, s, "CALL cdc_wait('public.orders', '1', '50 milliseconds')", sqlerr.QueryCanceled, "did not reach position 1")
	refuses(t, s, "CALL cdc_wait('orders', 'first')", sqlerr.InvalidParameterValue, "not a position")
	rows(t, s, "ALTER CDC TABLE orders RESUME; CALL cdc_wait('orders', '20000', interval '1 minute')")
	if got := rows(t, s, "SELECT position::BIGINT >= 20000 FROM information_schema.streams"); got[0] != "t" {
		t.Error("the wait ended before the position was reached")
	}
	rows(t, s, "CALL cdc_wait('orders', '40000', 60)")
	rows(t, s, "ALTER CDC TABLE orders SUSPEND")
	verify(t, s)
}

// writeSetup is cdcSetup in write mode.
var writeSetup = strings.Replace(cdcSetup, "merge_mode = 'read'", "merge_mode = 'write'", 1)

func TestWriteModeTakesChangesOfUsers(t *testing.T) {
	_, s := open(t, engine.Options{Settings: fastIngest})
	rows(t, s, writeSetup+"; ALTER CDC TABLE orders RESUME; CALL cdc_wait('orders', '5000')")
	tag(t, s, "INSERT INTO orders (id, status) VALUES (-1, 'mine'), (-2, 'mine')", "INSERT 0 2")
	tag(t, s, "UPDATE orders SET amount = 7 WHERE id < 0", "UPDATE 2")
	rows(t, s, "ALTER TABLE orders ADD COLUMN note TEXT DEFAULT 'n'")
	rows(t, s, "CALL cdc_wait('orders', '40000')")
	expect(t, s, "SELECT id, amount, note FROM orders WHERE id < 0 ORDER BY id", "-2|7.00|n", "-1|7.00|n")
	refuses(t, s, "INSERT INTO orders (id) VALUES (-1)", sqlerr.UniqueViolation, "Key (id)=(-1)")
	tag(t, s, "DELETE FROM orders WHERE id < 0", "DELETE 2")
	expect(t, s, "SELECT count(*) - count(DISTINCT id), last_error FROM orders, information_schema.cdc_ingests GROUP BY 2", "0|NULL")
	rows(t, s, "ALTER CDC TABLE orders SUSPEND; ALTER TABLE orders DROP COLUMN note")
	verify(t, s)
	rows(t, s, "TRUNCATE orders")
	expect(t, s, "SELECT count(*) FROM orders", "0")
}

func TestTimeTravel(t *testing.T) {
	_, s := open(t, engine.Options{})
	rows(t, s, "CREATE TABLE t (id BIGINT, n INTEGER); INSERT INTO t VALUES (1, 1), (2, 2)")
	at := rows(t, s, "SELECT now()")[0]
	rows(t, s, "UPDATE t SET n = 10 WHERE id = 1; DELETE FROM t WHERE id = 2; ALTER TABLE t ADD COLUMN m INTEGER")
	expect(t, s, "SELECT * FROM t FOR SYSTEM_TIME AS OF '"+at+"' ORDER BY id", "1|1", "2|2")
	expect(t, s, "SELECT * FROM t AT (VERSION => 2) ORDER BY id", "1|1", "2|2")
	expect(t, s, "SELECT * FROM t", "1|10|NULL")
	expect(t, s, "SELECT old.n, t.n FROM t JOIN t AT (VERSION => 2) AS old USING (id)", "1|10")
	refuses(t, s, "SELECT * FROM t AT (VERSION => 1000)", sqlerr.InvalidParameterValue, "does not exist yet")
}
