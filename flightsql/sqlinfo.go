package flightsql

import (
	"context"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	fsql "github.com/apache/arrow-go/v18/arrow/flight/flightsql"

	"github.com/tidemarkdb/tidemark/engine"
)

// Bits and values of SqlInfo, as FlightSql.proto defines them.
const (
	transactionSupported  = 1      // SQL_SUPPORTED_TRANSACTION_TRANSACTION
	caseLower             = 3      // SQL_CASE_SENSITIVITY_LOWERCASE
	caseSensitive         = 1      // SQL_CASE_SENSITIVITY_CASE_INSENSITIVE + 0: stored as written, see below
	nullsHigh             = 0      // SQL_NULLS_SORTED_HIGH
	isolationRepeatable   = 3      // SQL_TRANSACTION_REPEATABLE_READ
	forwardOnly           = 1 << 1 // SQL_RESULT_SET_TYPE_FORWARD_ONLY
	readOnlyConcurrency   = 1 << 1 // SQL_RESULT_SET_CONCURRENCY_READ_ONLY
	allSubqueries         = 1<<0 | 1<<1 | 1<<2 | 1<<3
	bothUnions            = 1<<0 | 1<<1
	schemaInAllStatements = 1<<0 | 1<<1 | 1<<2
)

// maxIdentifier bounds nothing in the engine; clients size fields by it.
const maxIdentifier = int64(65535)

// sqlInfo returns every code a client is known to ask for, in the types clients expect: JDBC casts the limits 541 to
// 562 to BIGINT and the rest of the numbers to INTEGER, and fails on codes that are missing.
func sqlInfo(e *engine.Engine, o Options) map[uint32]any {
	info := map[uint32]any{
		0: "Tidemark", 1: o.Version, 2: arrow.PkgVersion, 3: false, 4: true, 5: false, 6: "", 7: "",
		8: int32(transactionSupported), 9: true, 10: true, 11: true,
		100: int32(0), 101: int32(o.SessionIdle.Milliseconds()),
		500: false, 501: true, 502: true, 503: int64(caseLower), 504: `"`, 505: int64(caseSensitive), 506: true,
		507: int64(nullsHigh), 508: keywords, 509: functionNames(e, "math"), 510: functionNames(e, "text"), 511: []string{},
		512: functionNames(e, "temporal"), 513: `\`, 514: "",
		515: true, 516: true, 517: map[int32][]int32{}, 518: true, 519: false, 520: true, 521: true,
		522: int32(3), 523: true, 524: true, 525: int32(1<<0 | 1<<1 | 1<<2), 526: int32(1 << 0), 527: false, 528: int32(3),
		529: "schema", 530: "procedure", 531: "database", 532: true, 533: int32(schemaInAllStatements), 534: int32(0),
		535: int32(0), 536: false, 537: false, 538: int32(allSubqueries), 539: true, 540: int32(bothUnions),
		563: false, 564: int32(isolationRepeatable), 565: true, 566: false, 567: int32(1 << isolationRepeatable),
		568: int32(forwardOnly), 569: int32(readOnlyConcurrency), 570: int32(readOnlyConcurrency),
		571: false, 572: false, 573: true, 574: true, 575: false, 576: false,
	}
	for code := uint32(541); code <= 562; code++ {
		info[code] = int64(0) // no limit
	}
	info[556] = false // maximum row size includes blobs
	for _, code := range []uint32{543, 552, 554, 555, 559, 562} {
		info[code] = maxIdentifier
	}
	return info
}

// functionNames lists the functions of a category.
func functionNames(e *engine.Engine, category string) []string {
	names := []string{}
	for _, name := range e.Functions().FunctionNames() {
		for _, f := range e.Functions().Defs(name) {
			if f.Def.Category == category && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// keywords are reserved words beyond those of SQL:2003.
var keywords = []string{
	"analyze", "attach", "cdc", "copy", "describe", "detach", "exclude", "explain", "ilike", "limit", "offset", "qualify",
	"resume", "returning", "show", "stream", "suspend", "truncate", "vacuum",
}

// DoGetSqlInfo leaves out codes that are not known: a request with one of them shall not fail as a whole.
func (h *handler) DoGetSqlInfo(ctx context.Context, c fsql.GetSqlInfo) (*arrow.Schema, <-chan flight.StreamChunk, error) {
	asked := c.GetInfo()
	known := knownCodes{}
	for _, code := range asked {
		if _, ok := h.info[code]; ok {
			known = append(known, code)
		}
	}
	if len(asked) == 0 || len(known) == 0 {
		for code := range h.info {
			known = append(known, code)
		}
		slices.Sort(known)
	}
	return h.BaseServer.DoGetSqlInfo(ctx, known)
}

type knownCodes []uint32

func (k knownCodes) GetInfo() []uint32 { return k }
