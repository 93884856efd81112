package engine_test

import (
	"testing"

	"github.com/tidemarkdb/tidemark/engine"
)

func TestSummarize(t *testing.T) {
	_, s := open(t, engine.Options{})
	rows(t, s, "CREATE TABLE t (a INTEGER, b TEXT, d DATE, j JSON, l INTEGER[], o BOOLEAN, u UUID, i INTERVAL)")
	rows(t, s, "INSERT INTO t (a, b, d, j, l, o) VALUES (1, 'x', '2024-01-01', '{}', '{1}', true), (2, NULL, '2024-01-03', NULL, NULL, false), (3, 'z', '2024-01-02', '[]', '{2}', NULL), (4, 'z', NULL, NULL, NULL, NULL)")
	got := rows(t, s, "SUMMARIZE t")
	want := []string{
		"a|integer|1|4|4|2.5|1.2909944487358056|1|2|3|4|0.00", "b|text|x|z|2|NULL|NULL|NULL|NULL|NULL|4|25.00",
		"d|date|2024-01-01|2024-01-03|3|NULL|NULL|2024-01-01|2024-01-02|2024-01-03|4|25.00",
	}
	for i, w := range want {
		if got[i] != w {
			t.Errorf("%s, want %s", got[i], w)
		}
	}
	if len(got) != 8 {
		t.Errorf("%d rows for 8 columns", len(got))
	}
	expect(t, s, "SUMMARIZE SELECT a, a FROM t WHERE a > 10", "a|integer|NULL|NULL|0|NULL|NULL|NULL|NULL|NULL|0|NULL", "a|integer|NULL|NULL|0|NULL|NULL|NULL|NULL|NULL|0|NULL")
}
