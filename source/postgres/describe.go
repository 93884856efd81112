package postgres

import (
	"context"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// table is what the source's catalog says about the source table and what surrounds it.
type table struct {
	found        bool
	oid          uint32
	schema, name string
	kind         string // pg_class.relkind
	persistence  string // pg_class.relpersistence
	identity     string // pg_class.relreplident
	readable     bool
	columns      []sourceColumn
	indexes      []index
	publication  publication
	server       server
}

type sourceColumn struct {
	name      string
	place     string // attnum
	typ       sourceType
	typmod    int32 // as Relation messages carry it: that of a domain's base type is not in it
	notNull   bool
	generated bool
}

// index is a valid, immediate, whole unique index over plain columns.
type index struct {
	name              string
	primary, identity bool
	columns           []string
	nullable          bool
}

type publication struct {
	found                            bool
	inserts, updates, deletes, trunc bool
	member                           bool
	columns                          map[string]bool // those published
	filter                           string          // SQL, or ""
}

type server struct {
	version  int // 150018 is 15.18
	walLevel string
	database string
	recovery bool
}

// columnListVersion is the first version whose publications have column lists and row filters.
const columnListVersion = 150000

// describe reads the catalog.
func (c config) describe(ctx context.Context, conn *pgconn.PgConn) (*table, error) {
	t := &table{}
	for _, step := range []func(context.Context, *pgconn.PgConn, config) error{t.readServer, t.readTable, t.readColumns, t.readIndexes, t.readPublication, t.lookAgain} {
		if err := step(ctx, conn, c); err != nil {
			return nil, sourceError("reading the catalog of the source", err)
		}
	}
	return t, nil
}

func (t *table) readServer(ctx context.Context, conn *pgconn.PgConn, _ config) error {
	got, err := rows(ctx, conn, `SELECT current_setting('server_version_num'), current_setting('wal_level'), current_database(), pg_is_in_recovery()`)
	if err != nil {
		return err
	}
	version, _ := strconv.Atoi(str(got[0][0]))
	t.server = server{version, str(got[0][1]), str(got[0][2]), str(got[0][3]) == "t"}
	return nil
}

func (t *table) readTable(ctx context.Context, conn *pgconn.PgConn, c config) error {
	got, err := rows(ctx, conn, `SELECT c.oid, n.nspname, c.relname, c.relkind, c.relpersistence, c.relreplident,
		has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass($1)`, c.table)
	if err != nil || len(got) == 0 {
		return err
	}
	r := got[0]
	oid, _ := strconv.ParseUint(str(r[0]), 10, 32)
	t.found, t.oid, t.schema, t.name = true, uint32(oid), str(r[1]), str(r[2])
	t.kind, t.persistence, t.identity, t.readable = str(r[3]), str(r[4]), str(r[5]), str(r[6]) == "t"
	return nil
}

// lookAgain sees a table that was dropped while its parts were read as missing.
func (t *table) lookAgain(ctx context.Context, conn *pgconn.PgConn, _ config) error {
	if !t.found {
		return nil
	}
	got, err := rows(ctx, conn, `SELECT FROM pg_class WHERE oid = $1::oid`, t.oidText())
	t.found = len(got) > 0
	return err
}

func (t *table) oidText() string { return strconv.FormatUint(uint64(t.oid), 10) }

func (t *table) readColumns(ctx context.Context, conn *pgconn.PgConn, _ config) error {
	if !t.found {
		return nil
	}
	got, err := rows(ctx, conn, `SELECT attname, attnum, atttypid, atttypmod, attnotnull, attgenerated <> ''
		FROM pg_attribute WHERE attrelid = $1::oid AND attnum > 0 AND NOT attisdropped ORDER BY attnum`, t.oidText())
	if err != nil {
		return err
	}
	for _, r := range got {
		typ, err := readType(ctx, conn, str(r[2]), str(r[3]))
		if err != nil {
			return err
		}
		typmod, _ := strconv.ParseInt(str(r[3]), 10, 32)
		t.columns = append(t.columns, sourceColumn{str(r[0]), str(r[1]), *typ, int32(typmod), str(r[4]) == "t", str(r[5]) == "t"})
	}
	return nil
}

// readType resolves a type: domains to what they are over, arrays to their elements.
func readType(ctx context.Context, conn *pgconn.PgConn, oid, typmod string) (*sourceType, error) {
	out := &sourceType{}
	for {
		got, err := rows(ctx, conn, `SELECT t.typtype, t.typbasetype, t.typtypmod, t.typelem, p.proname, format_type(t.oid, $2::int4)
			FROM pg_type t LEFT JOIN pg_proc p ON p.oid = t.typsend WHERE t.oid = $1::oid`, oid, typmod)
		if err != nil {
			return nil, err
		}
		if len(got) == 0 { // dropped between two queries: what uses it reports the column as missing next time
			return out, nil
		}
		r := got[0]
		if out.oid == 0 {
			id, _ := strconv.ParseUint(oid, 10, 32)
			out.oid, out.name = uint32(id), str(r[5])
		}
		if str(r[0]) == "d" {
			oid = str(r[1])
			if str(r[2]) != "-1" {
				typmod = str(r[2])
			}
			continue
		}
		mod, _ := strconv.ParseInt(typmod, 10, 32)
		out.typmod, out.kind = int32(mod), kindOfSend[str(r[4])]
		if out.kind == kindArray {
			out.elem, err = readType(ctx, conn, str(r[3]), typmod)
		}
		return out, err
	}
}

func (t *table) readIndexes(ctx context.Context, conn *pgconn.PgConn, _ config) error {
	if !t.found {
		return nil
	}
	got, err := rows(ctx, conn, `SELECT c.relname, i.indisprimary, i.indisreplident, i.indkey, i.indnkeyatts
		FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
		WHERE i.indrelid = $1::oid AND i.indisunique AND i.indimmediate AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
		ORDER BY NOT i.indisprimary, c.relname`, t.oidText())
	if err != nil {
		return err
	}
	for _, r := range got {
		ix := index{name: str(r[0]), primary: str(r[1]) == "t", identity: str(r[2]) == "t"}
		keys, _ := strconv.Atoi(str(r[4]))
		for i, place := range strings.Fields(str(r[3])) {
			for _, c := range t.columns {
				if c.place == place && i < keys {
					ix.columns = append(ix.columns, c.name)
					ix.nullable = ix.nullable || !c.notNull
				}
			}
		}
		t.indexes = append(t.indexes, ix)
	}
	return nil
}

// readPublication reads the table's membership first and whether the publication exists last, so that one dropped in
// between is seen as missing.
func (t *table) readPublication(ctx context.Context, conn *pgconn.PgConn, c config) error {
	if err := t.readMembership(ctx, conn, c); err != nil {
		return err
	}
	got, err := rows(ctx, conn, `SELECT pubinsert, pubupdate, pubdelete, pubtruncate FROM pg_publication WHERE pubname = $1`, c.publication)
	if err != nil || len(got) == 0 {
		return err
	}
	r := got[0]
	p := &t.publication
	p.found, p.inserts, p.updates, p.deletes, p.trunc = true, str(r[0]) == "t", str(r[1]) == "t", str(r[2]) == "t", str(r[3]) == "t"
	return nil
}

func (t *table) readMembership(ctx context.Context, conn *pgconn.PgConn, c config) error {
	what := "NULL"
	if t.server.version >= columnListVersion {
		what = "rowfilter"
	}
	const member = ` FROM pg_publication_tables t WHERE pubname = $1 AND schemaname = $2 AND tablename = $3`
	got, err := rows(ctx, conn, `SELECT `+what+member, c.publication, t.schema, t.name)
	if err != nil || len(got) == 0 {
		return err
	}
	p := &t.publication
	p.member, p.filter, p.columns = true, str(got[0][0]), map[string]bool{}
	if t.server.version < columnListVersion {
		for _, c := range t.columns {
			p.columns[c.name] = !c.generated
		}
		return nil
	}
	got, err = rows(ctx, conn, `SELECT unnest(t.attnames)`+member, c.publication, t.schema, t.name)
	p.member = len(got) > 0 // it may have left the publication since
	for _, r := range got {
		p.columns[str(r[0])] = true
	}
	return err
}

// qualified is the table's name for messages and statements.
func (t *table) qualified() string { return niceIdent(t.schema) + "." + niceIdent(t.name) }

func (t *table) column(name string) *sourceColumn {
	for i := range t.columns {
		if t.columns[i].name == name {
			return &t.columns[i]
		}
	}
	return nil
}
