package model

import (
	"fmt"
	"strings"
	"time"

	"github.com/tidemarkdb/tidemark/integration/scripted"
	"github.com/tidemarkdb/tidemark/vec"
)

// keySpace is the number of different keys; few, so that changes meet.
const keySpace = 400

// shape is a kind of merge key: columns and how a number becomes their values.
type shape struct {
	name  string
	parts []part
}

type part struct {
	name string
	sql  string
	typ  vec.Type
	text func(n int64) string
}

var shapes = []shape{
	{"bigint", []part{{"id", "BIGINT", vec.Int64Type, func(n int64) string { return fmt.Sprint(n*1_000_003 - 50_000_000) }}}},
	{"integer", []part{{"id", "INTEGER", vec.Int32Type, func(n int64) string { return fmt.Sprint(n - 100) }}}},
	{"text", []part{{"id", "TEXT", vec.TextType, func(n int64) string { return fmt.Sprintf("key-%d-%s", n, strings.Repeat("é", int(n%5))) }}}},
	{"date", []part{{"id", "DATE", vec.DateType, func(n int64) string {
		return time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, int(n)).Format("2006-01-02")
	}}}},
	{"timestamptz", []part{{"id", "TIMESTAMPTZ", vec.TimestampTZType, moment}}},
	{"timestamp", []part{{"id", "TIMESTAMP", vec.TimestampType, moment}}},
	{"numeric", []part{{"id", "NUMERIC(12,3)", vec.DecimalType(12, 3), func(n int64) string { return fmt.Sprintf("%d.%03d", n-200, n) }}}},
	{"wide numeric", []part{{"id", "NUMERIC(30,2)", vec.DecimalType(30, 2), func(n int64) string { return fmt.Sprintf("%d12345678901234567.25", n) }}}},
	{"boolean and bigint", []part{
		{"flag", "BOOLEAN", vec.BoolType, func(n int64) string { return []string{"false", "true"}[n%2] }},
		{"id", "BIGINT", vec.Int64Type, func(n int64) string { return fmt.Sprint(n / 2) }},
	}},
	{"integer and text", []part{
		{"a", "INTEGER", vec.Int32Type, func(n int64) string { return fmt.Sprint(n % 7) }},
		{"b", "TEXT", vec.TextType, func(n int64) string { return fmt.Sprint("x", n/7) }},
	}},
}

func moment(n int64) string {
	return time.Date(1999, 12, 31, 23, 0, 0, 0, time.UTC).Add(time.Duration(n) * 777 * time.Second).Format("2006-01-02 15:04:05")
}

func (s shape) columns() []vec.Column {
	var out []vec.Column
	for _, p := range s.parts {
		out = append(out, vec.Column{Name: p.name, Type: p.typ})
	}
	return append(out, vec.Column{Name: "n", Type: vec.Int64Type, Nullable: true}, vec.Column{Name: "note", Type: vec.TextType, Nullable: true})
}

func (s shape) key() []int {
	var out []int
	for i := range s.parts {
		out = append(out, i)
	}
	return out
}

func (s shape) names() string {
	var out []string
	for _, p := range s.parts {
		out = append(out, p.name)
	}
	return strings.Join(out, ", ")
}

func (s shape) ddl() string {
	var out []string
	for _, p := range s.parts {
		out = append(out, p.name+" "+p.sql)
	}
	return strings.Join(out, ", ")
}

// row returns the row of a key number.
func (s shape) row(key int64, n, note vec.Value) scripted.Row {
	var out scripted.Row
	for _, p := range s.parts {
		v, err := vec.Parse(p.typ, p.text(key), time.UTC)
		if err != nil {
			panic(err)
		}
		out = append(out, v)
	}
	return append(out, n, note)
}
