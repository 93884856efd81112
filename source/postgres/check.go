package postgres

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// minVersion is the first version with streamed transactions and range scans by ctid.
const minVersion = 140000

// column is a target column with the source column that fills it.
type column struct {
	vec.Column
	key    bool
	source sourceType
	// wireTypmod is the type modifier that Relation messages carry.
	wireTypmod int32
	byText     bool // there is no binary decoder
	binary     decodeFunc
	text       decodeFunc
}

// plan checks that the source can serve the target and returns how each target column is filled. Every error of it is
// permanent and says what to do.
func (c config) plan(t *table, spec extension.TableSpec) ([]column, error) {
	for _, check := range []func(*table, extension.TableSpec) error{c.checkServer, c.checkTable, c.checkPublication, c.checkIdentity} {
		if err := check(t, spec); err != nil {
			return nil, extension.Permanent(err)
		}
	}
	columns, err := c.columns(t, spec)
	return columns, extension.Permanent(err)
}

func (c config) checkServer(t *table, _ extension.TableSpec) error {
	s := t.server
	switch {
	case s.version < minVersion:
		return sqlerr.New(sqlerr.FeatureNotSupported, "the source runs PostgreSQL %d; 14 is the oldest that can be streamed", s.version/10000).
			Hintf("upgrade the source")
	case s.recovery:
		return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "the source is a standby").Hintf("let the option connection name the primary")
	case s.walLevel != "logical":
		return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "the source has wal_level = %s, so its changes cannot be streamed", s.walLevel).
			Hintf("run ALTER SYSTEM SET wal_level = logical at the source and restart it (a managed service has a parameter for it)")
	}
	return nil
}

var relationKinds = map[string]string{"v": "a view", "m": "a materialized view", "f": "a foreign table", "S": "a sequence", "i": "an index", "c": "a composite type"}

func (c config) checkTable(t *table, _ extension.TableSpec) error {
	if !t.found {
		return sqlerr.New(sqlerr.UndefinedTable, "the source database %q has no table %s", t.server.database, c.table).
			Hintf("name it with its schema, such as public.orders, and quote a name with capitals: public.\"Orders\"")
	}
	switch {
	case t.kind == "p":
		return sqlerr.New(sqlerr.FeatureNotSupported, "%s is a partitioned table; a partitioned Postgres table cannot be streamed", t.qualified()).
			Hintf("stream each partition into a CDC table of its own, from a publication without publish_via_partition_root, and query them with UNION ALL")
	case t.kind != "r":
		kind := relationKinds[t.kind]
		if kind == "" {
			kind = "not a table"
		}
		return sqlerr.New(sqlerr.WrongObjectType, "%s is %s; only an ordinary table can be streamed", t.qualified(), kind).
			Hintf("name the table underneath in the option table")
	case t.persistence != "p":
		return sqlerr.New(sqlerr.WrongObjectType, "%s is unlogged or temporary, so its changes are not in the write-ahead log", t.qualified()).
			Hintf("run ALTER TABLE %s SET LOGGED at the source", t.qualified())
	case !t.readable:
		return sqlerr.New(sqlerr.InsufficientPrivilege, "the role of the option connection may not read %s", t.qualified()).
			Hintf("run at the source: GRANT USAGE ON SCHEMA %s TO role; GRANT SELECT ON %s TO role", niceIdent(t.schema), t.qualified())
	}
	return nil
}

func (c config) checkPublication(t *table, _ extension.TableSpec) error {
	p, name := t.publication, niceIdent(c.publication)
	switch {
	case !p.found:
		return sqlerr.New(sqlerr.UndefinedObject, "the source has no publication %s", name).
			Hintf("run at the source: CREATE PUBLICATION %s FOR TABLE %s", name, t.qualified())
	case !p.member:
		return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "the publication %s does not contain %s", name, t.qualified()).
			Hintf("run at the source: ALTER PUBLICATION %s ADD TABLE %s", name, t.qualified())
	case !p.inserts || !p.updates || !p.deletes || !p.trunc:
		return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "the publication %s leaves out some kinds of changes, so the table would drift from its source", name).
			Hintf("run at the source: ALTER PUBLICATION %s SET (publish = 'insert, update, delete, truncate')", name)
	}
	return nil
}

// checkIdentity sees to it that updates and deletes carry the merge key of the row they change.
func (c config) checkIdentity(t *table, spec extension.TableSpec) error {
	var key []string
	for _, i := range spec.Key {
		key = append(key, spec.Columns[i].Name)
	}
	candidates := t.identities()
	if len(candidates) == 0 {
		return c.noIdentity(t, key)
	}
	for _, ix := range candidates {
		if sameNames(ix.columns, key) {
			return nil
		}
	}
	var have []string
	for _, ix := range candidates {
		have = append(have, "("+strings.Join(ix.columns, ", ")+")")
	}
	return sqlerr.New(sqlerr.InvalidTableDefinition, "the merge key (%s) is not what identifies rows of %s at the source: %s",
		strings.Join(key, ", "), t.qualified(), strings.Join(have, " or ")).
		Hintf("create the CDC table with PRIMARY KEY %s NOT ENFORCED", have[0])
}

// identities returns the unique indexes whose columns every update and delete carries.
func (t *table) identities() (out []index) {
	for _, ix := range t.indexes {
		switch t.identity {
		case "d":
			if ix.primary {
				out = append(out, ix)
			}
		case "i":
			if ix.identity {
				out = append(out, ix)
			}
		case "f":
			if !ix.nullable {
				out = append(out, ix)
			}
		}
	}
	return out
}

func (c config) noIdentity(t *table, key []string) error {
	keyList := strings.Join(key, ", ")
	switch t.identity {
	case "f":
		return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "%s has no primary key and no unique index over NOT NULL columns, so nothing identifies its rows", t.qualified()).
			Hintf("run at the source: ALTER TABLE %s ADD PRIMARY KEY (%s)", t.qualified(), keyList)
	case "n":
		return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "%s has REPLICA IDENTITY NOTHING, so its updates and deletes do not say which row they change", t.qualified()).
			Hintf("run at the source: ALTER TABLE %s REPLICA IDENTITY DEFAULT (the table needs a primary key)", t.qualified())
	case "i":
		return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "the index that REPLICA IDENTITY of %s names is gone", t.qualified()).
			Hintf("run at the source: ALTER TABLE %s REPLICA IDENTITY DEFAULT (the table needs a primary key)", t.qualified())
	}
	return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "%s has no primary key that can serve as its replica identity, so its updates and deletes do not say which row they change", t.qualified()).
		Hintf("run at the source: ALTER TABLE %s ADD PRIMARY KEY (%s); or REPLICA IDENTITY USING INDEX with a unique index over those columns", t.qualified(), keyList)
}

func sameNames(a, b []string) bool {
	x, y := slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(x, y)
}

// columns pairs target and source columns.
func (c config) columns(t *table, spec extension.TableSpec) ([]column, error) {
	out := make([]column, len(spec.Columns))
	for i, target := range spec.Columns {
		src := t.column(target.Name)
		if src == nil {
			return nil, c.missingColumn(t, target.Name)
		}
		if src.generated {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "column %s of %s is generated, and generated columns are not in the stream of changes", niceIdent(src.name), t.qualified()).
				Hintf("leave the column out of the CDC table and compute it in queries")
		}
		if !t.publication.columns[src.name] {
			return nil, sqlerr.New(sqlerr.ObjectNotInPrerequisite, "the publication %s has a column list that leaves out %s of %s", niceIdent(c.publication), niceIdent(src.name), t.qualified()).
				Hintf("leave the column out of the CDC table, or publish it: ALTER PUBLICATION %s SET TABLE ... with the column in the list", niceIdent(c.publication))
		}
		if err := src.typ.fits(target.Type); err != nil {
			return nil, sqlerr.New(sqlerr.DatatypeMismatch, "column %s is %s at the source, which does not fit %s", niceIdent(src.name), src.typ.name, upper(target.Type.String())).
				Hintf("%v", err)
		}
		out[i] = newColumn(target, src.typ, slices.Contains(spec.Key, i))
		out[i].wireTypmod = src.typmod
	}
	return out, nil
}

func newColumn(target vec.Column, src sourceType, key bool) column {
	col := column{Column: target, key: key, source: src, byText: src.byText(target.Type), text: textDecoder(src, target.Type)}
	if !col.byText {
		col.binary = binaryDecoder(src, target.Type)
	}
	return col
}

func (c config) missingColumn(t *table, name string) error {
	err := sqlerr.New(sqlerr.UndefinedColumn, "%s has no column %s at the source", t.qualified(), niceIdent(name))
	names := make([]string, len(t.columns))
	for i, col := range t.columns {
		names[i] = col.name
	}
	if near := sqlerr.Nearest(name, names); near != "" {
		return err.Hintf("did you mean %s? names must be the same, capitals included", niceIdent(near))
	}
	return err.Hintf("the CDC table may only have columns of the source table: %s", strings.Join(names, ", "))
}

// anyByText reports whether the server has to send text, since a column has no binary decoder.
func anyByText(columns []column) bool {
	return slices.ContainsFunc(columns, func(c column) bool { return c.byText })
}

// valueError is the error of one value that its column cannot take. It is permanent: the value comes again on a retry.
func valueError(c *column, where string, raw []byte, err error) error {
	const most = 60
	shown := fmt.Sprintf("%q", raw[:min(len(raw), most)])
	if len(raw) > most {
		shown += "..."
	}
	return extension.Permanent(sqlerr.New(sqlerr.DataException, "a value of column %s (%s at the source) %s does not fit %s: %v",
		niceIdent(c.Name), c.source.name, where, upper(c.Type.String()), err).Detailf("the value as the source sent it: %s", shown))
}

// nullError is the error of a NULL that its column cannot take.
func nullError(c *column, where string) error {
	hint := "declare the column without NOT NULL, in a new CDC table"
	if c.key {
		hint = "a merge key column holds no NULL; repair the row at the source"
	}
	return extension.Permanent(sqlerr.New(sqlerr.NotNullViolation, "column %s is NULL %s", niceIdent(c.Name), where).Hintf("%s", hint))
}
