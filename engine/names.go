package engine

import (
	"strings"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// object is a qualified name.
type object struct{ schema, name string }

// split returns schema and name as written; schema is "" for an unqualified name. A leading database name must be ours.
func split(n sql.Name) (object, error) {
	switch len(n) {
	case 1:
		return object{name: n[0].Name}, nil
	case 2:
		return object{n[0].Name, n[1].Name}, nil
	case 3:
		if n[0].Name == Database {
			return object{n[1].Name, n[2].Name}, nil
		}
		return object{}, sqlerr.New(sqlerr.FeatureNotSupported, "cross-database references are not implemented: %q", n[0].Name).
			Hintf("this database is %q", Database).At(n.Position())
	}
	return object{}, sqlerr.New(sqlerr.SyntaxError, "improper qualified name (too many dotted names)").
		Hintf("write schema.name").At(n.Position())
}

// known is the schema that a name stands for: DuckDB's scripts call the first schema main.
func known(snapshot *catalog.Snapshot, schema string) string {
	if schema == "main" && !snapshot.HasSchema("main") {
		return "public"
	}
	return schema
}

// target returns the name of an object to be created.
func (s *Session) target(snapshot *catalog.Snapshot, n sql.Name) (object, error) {
	o, err := split(n)
	if err != nil || o.schema != "" {
		o.schema = known(snapshot, o.schema)
		return o, err
	}
	o.schema, err = s.creationSchema(snapshot)
	if err != nil {
		return o, sqlerr.From(err).At(n.Position())
	}
	return o, nil
}

// relation finds the table or view of a name, along the search path when it is unqualified.
func (s *Session) relation(snapshot *catalog.Snapshot, n sql.Name) (*catalog.Table, *catalog.View, error) {
	o, err := split(n)
	if err != nil {
		return nil, nil, err
	}
	t, v, err := s.find(snapshot, o.schema, o.name)
	if err != nil {
		return nil, nil, sqlerr.From(err).At(n.Position())
	}
	return t, v, nil
}

func (s *Session) find(snapshot *catalog.Snapshot, schema, name string) (*catalog.Table, *catalog.View, error) {
	if schema != "" {
		return snapshot.Relation(known(snapshot, schema), name)
	}
	var missing error
	for _, schema := range s.searchPath() {
		schema = known(snapshot, schema)
		if !snapshot.HasSchema(schema) {
			continue
		}
		t, v, err := snapshot.Relation(schema, name)
		if err == nil {
			return t, v, nil
		}
		missing = err
	}
	if missing == nil {
		missing = sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", name).
			Hintf("no schema of the search path (%s) exists", strings.Join(s.searchPath(), ", "))
	}
	return nil, nil, missing
}

// table finds a table; a view of that name is an error.
func (s *Session) table(snapshot *catalog.Snapshot, n sql.Name) (*catalog.Table, error) {
	t, v, err := s.relation(snapshot, n)
	if err != nil {
		return nil, err
	}
	if v != nil {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "%q is not a table", v.Name).Hintf("it is a view").At(n.Position())
	}
	return t, nil
}

// cdcTable finds a CDC table; another table is an error.
func (s *Session) cdcTable(snapshot *catalog.Snapshot, n sql.Name) (*catalog.Table, error) {
	t, err := s.table(snapshot, n)
	if err != nil {
		return nil, err
	}
	if t.Kind != catalog.CDC {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "%q is not a CDC table", t.Name).
			Hintf("only tables made by CREATE CDC TABLE take a stream").At(n.Position())
	}
	return t, nil
}

// missingOK reports whether err only says that the object is not there.
func missingOK(err error) bool {
	switch sqlerr.Code(err) {
	case sqlerr.UndefinedTable, sqlerr.InvalidSchema, sqlerr.UndefinedObject:
		return true
	}
	return false
}
