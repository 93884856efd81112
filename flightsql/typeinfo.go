package flightsql

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	fsql "github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql/schema_ref"
)

// typeInfo describes a SQL type by ODBC's numbers, which JDBC's types share.
type typeInfo struct {
	name           string
	xdbc           int32 // SQL_... of ODBC
	size           int32 // digits, characters or display width
	prefix, suffix string
	params         []string // of CREATE TABLE
	numeric        bool
	maxScale       int32
}

var typeInfos = []typeInfo{
	{name: "boolean", xdbc: -7, size: 1},
	{name: "bigint", xdbc: -5, size: 19, numeric: true},
	{name: "bytea", xdbc: -4, size: 1 << 30, prefix: `'\x`, suffix: "'"},
	{name: "text", xdbc: -1, size: 1 << 30, prefix: "'", suffix: "'"},
	{name: "json", xdbc: -1, size: 1 << 30, prefix: "'", suffix: "'"},
	{name: "uuid", xdbc: -11, size: 36, prefix: "'", suffix: "'"},
	{name: "numeric", xdbc: 2, size: 38, params: []string{"precision", "scale"}, numeric: true, maxScale: 38},
	{name: "integer", xdbc: 4, size: 10, numeric: true},
	{name: "smallint", xdbc: 5, size: 5, numeric: true},
	{name: "real", xdbc: 7, size: 7, numeric: true},
	{name: "double precision", xdbc: 8, size: 15, numeric: true},
	{name: "varchar", xdbc: 12, size: 1 << 30, prefix: "'", suffix: "'", params: []string{"length"}},
	{name: "date", xdbc: 91, size: 10, prefix: "DATE '", suffix: "'"},
	{name: "time", xdbc: 92, size: 15, prefix: "TIME '", suffix: "'"},
	{name: "timetz", xdbc: 92, size: 21, prefix: "TIMETZ '", suffix: "'"},
	{name: "timestamp", xdbc: 93, size: 26, prefix: "TIMESTAMP '", suffix: "'"},
	{name: "timestamptz", xdbc: 93, size: 32, prefix: "TIMESTAMPTZ '", suffix: "'"},
	{name: "interval", xdbc: 110, size: 49, prefix: "INTERVAL '", suffix: "'"},
}

func (h *handler) GetFlightInfoXdbcTypeInfo(_ context.Context, _ fsql.GetXdbcTypeInfo, desc *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	return flightInfo(desc, schema_ref.XdbcTypeInfo, desc.Cmd), nil
}

// DoGetXdbcTypeInfo lists the types, or those of one ODBC number.
func (h *handler) DoGetXdbcTypeInfo(_ context.Context, c fsql.GetXdbcTypeInfo) (*arrow.Schema, <-chan flight.StreamChunk, error) {
	return single(schema_ref.XdbcTypeInfo, func(b *array.RecordBuilder) {
		for _, t := range typeInfos {
			if c.GetDataType() == nil || *c.GetDataType() == t.xdbc {
				t.append(b)
			}
		}
	})
}

// append adds the type as a row; the order is that of the schema.
func (t typeInfo) append(b *array.RecordBuilder) {
	text := func(i int, s string) {
		if s == "" {
			b.Field(i).AppendNull()
			return
		}
		b.Field(i).(*array.StringBuilder).Append(s)
	}
	number := func(i int, x int32) { b.Field(i).(*array.Int32Builder).Append(x) }
	flag := func(i int, x bool) { b.Field(i).(*array.BooleanBuilder).Append(x) }
	text(0, t.name)
	number(1, t.xdbc)
	number(2, t.size)
	text(3, t.prefix)
	text(4, t.suffix)
	if params := b.Field(5).(*array.ListBuilder); len(t.params) == 0 {
		params.AppendNull()
	} else {
		params.Append(true)
		for _, p := range t.params {
			params.ValueBuilder().(*array.StringBuilder).Append(p)
		}
	}
	number(6, 1) // nullable
	flag(7, t.xdbc == -1 || t.xdbc == 12)
	number(8, 3) // usable in every WHERE
	if t.numeric {
		flag(9, false)
	} else {
		b.Field(9).AppendNull()
	}
	flag(10, false)
	flag(11, false)
	text(12, t.name)
	if t.numeric {
		number(13, 0)
		number(14, t.maxScale)
	} else {
		b.Field(13).AppendNull()
		b.Field(14).AppendNull()
	}
	t.appendCodes(b)
}

// appendCodes adds the last columns: dates and times have a common code and a subcode of their own.
func (t typeInfo) appendCodes(b *array.RecordBuilder) {
	code, subcode := t.xdbc, int32(0)
	if t.xdbc >= 91 && t.xdbc <= 93 {
		code, subcode = 9, t.xdbc-90
	}
	b.Field(15).(*array.Int32Builder).Append(code)
	if subcode > 0 {
		b.Field(16).(*array.Int32Builder).Append(subcode)
	} else {
		b.Field(16).AppendNull()
	}
	if t.numeric {
		b.Field(17).(*array.Int32Builder).Append(10)
	} else {
		b.Field(17).AppendNull()
	}
	b.Field(18).AppendNull()
}
