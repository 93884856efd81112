package benchmarks

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/vec"
)

// kind says how the values of a column are compared.
type kind int

const (
	asText   kind = iota
	asNumber      // exactly, whatever the number of zeros behind the point
	asFloat       // to nine digits
)

func kindsOf(ours vec.Schema, theirs []string) []kind {
	kinds := make([]kind, len(ours))
	for i, c := range ours {
		switch {
		case c.Type.IsFloat(), c.Type.IsNumeric() && (theirs[i] == "DOUBLE" || theirs[i] == "FLOAT"):
			kinds[i] = asFloat
		case c.Type.IsNumeric():
			kinds[i] = asNumber
		}
	}
	return kinds
}

func (k kind) equal(a, b *string) bool {
	if a == nil || b == nil {
		return a == b
	}
	switch k {
	case asNumber:
		x, okX := new(big.Rat).SetString(*a)
		y, okY := new(big.Rat).SetString(*b)
		return okX && okY && x.Cmp(y) == 0
	case asFloat:
		x, errX := strconv.ParseFloat(*a, 64)
		y, errY := strconv.ParseFloat(*b, 64)
		return errX == nil && errY == nil && (x == y || math.Abs(x-y) <= 1e-9*max(math.Abs(x), math.Abs(y), 1e-3))
	}
	return *a == *b
}

// compare says how got differs from the answer, "" when it does not.
func (q *query) compare(got [][]*string, schema vec.Schema) string {
	if len(got) != len(q.Rows) {
		return fmt.Sprintf("%d rows, want %d", len(got), len(q.Rows))
	}
	kinds := kindsOf(schema, q.Types)
	all := make([]int, len(kinds))
	for i := range all {
		all[i] = i
	}
	if difference(kinds, all, got, q.Rows) == "" {
		return ""
	}
	keys, err := sortKeys(q.SQL, schema)
	if err != nil {
		return err.Error()
	}
	if fault := difference(kinds, keys, got, q.Rows); fault != "" {
		return "in the order of the sort keys: " + fault
	}
	if fault := difference(kinds, all, sorted(kinds, got), sorted(kinds, q.Rows)); fault != "" {
		return "as a set: " + fault
	}
	return ""
}

// difference compares the given columns row by row.
func difference(kinds []kind, columns []int, got, want [][]*string) string {
	for i := range want {
		for _, c := range columns {
			if !kinds[c].equal(got[i][c], want[i][c]) {
				return fmt.Sprintf("row %d, column %d: got %s, want %s", i, c, shown(got[i][c]), shown(want[i][c]))
			}
		}
	}
	return ""
}

func shown(s *string) string {
	if s == nil {
		return "NULL"
	}
	return strconv.Quote(*s)
}

// sorted returns the rows in an order that does not depend on how numbers are written.
func sorted(kinds []kind, rows [][]*string) [][]*string {
	out := slices.Clone(rows)
	slices.SortFunc(out, func(a, b []*string) int {
		for c, k := range kinds {
			if order := k.order(a[c], b[c]); order != 0 {
				return order
			}
		}
		return 0
	})
	return out
}

func (k kind) order(a, b *string) int {
	switch {
	case k.equal(a, b):
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	case k == asText:
		return cmp.Compare(*a, *b)
	}
	x, _ := strconv.ParseFloat(*a, 64)
	y, _ := strconv.ParseFloat(*b, 64)
	return cmp.Compare(x, y)
}

// sortKeys returns the result columns that the query sorts by, up to the first key that is none of them.
func sortKeys(text string, schema vec.Schema) ([]int, error) {
	statements, err := sql.Parse(text)
	if err != nil {
		return nil, err
	}
	q, ok := statements[len(statements)-1].(*sql.Query)
	if !ok {
		return nil, nil
	}
	var keys []int
	for _, item := range q.OrderBy {
		at := -1
		switch e := item.Expr.(type) {
		case *sql.Number:
			if n, err := strconv.Atoi(e.Text); err == nil {
				at = n - 1
			}
		case *sql.Column:
			at = slices.IndexFunc(schema, func(c vec.Column) bool { return strings.EqualFold(c.Name, e.Name.Last().Name) })
		}
		if at < 0 || at >= len(schema) {
			break
		}
		keys = append(keys, at)
	}
	return keys, nil
}

// text makes a row for the tests of this file; "NULL" is NULL.
func text(values ...string) []*string {
	row := make([]*string, len(values))
	for i, v := range values {
		if v != "NULL" {
			row[i] = &v
		}
	}
	return row
}

func TestCompareFindsDifferences(t *testing.T) {
	schema := vec.Schema{{Name: "a", Type: vec.TextType}, {Name: "n", Type: vec.DecimalType(10, 2)}, {Name: "f", Type: vec.Float64Type}}
	q := &query{SQL: "SELECT a, n, f FROM t ORDER BY a", Types: []string{"VARCHAR", "DECIMAL(10,1)", "DOUBLE"},
		Rows: [][]*string{text("x", "1.5", "2"), text("x", "2.5", "NULL"), text("y", "3", "0.3")}}
	for _, c := range []struct {
		name string
		rows [][]*string
		same bool
	}{
		{"equal", [][]*string{text("x", "1.50", "2"), text("x", "2.50", "NULL"), text("y", "3.00", "0.30000000000000004")}, true},
		{"ties in another order", [][]*string{text("x", "2.50", "NULL"), text("x", "1.50", "2"), text("y", "3.00", "0.3")}, true},
		{"another decimal", [][]*string{text("x", "1.51", "2"), text("x", "2.50", "NULL"), text("y", "3.00", "0.3")}, false},
		{"another float", [][]*string{text("x", "1.50", "2"), text("x", "2.50", "NULL"), text("y", "3.00", "0.3001")}, false},
		{"no NULL", [][]*string{text("x", "1.50", "2"), text("x", "2.50", "0"), text("y", "3.00", "0.3")}, false},
		{"not sorted", [][]*string{text("y", "3.00", "0.3"), text("x", "1.50", "2"), text("x", "2.50", "NULL")}, false},
		{"a row short", [][]*string{text("x", "1.50", "2"), text("x", "2.50", "NULL")}, false},
	} {
		if fault := q.compare(c.rows, schema); (fault == "") != c.same {
			t.Errorf("%s: %q", c.name, fault)
		}
	}
}
