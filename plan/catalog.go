package plan

import (
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/vec"
)

// Relation is what a name in FROM stands for: *Table, *View or *Virtual.
type Relation interface{ relation() }

// Table is a stored table at one version.
type Table struct {
	Schema  string
	Name    string
	ID      uint64
	Columns vec.Schema // user columns; hidden ones are not among them
	Key     []int      // places of the primary or merge key's columns, empty when none
	Sorted  []int      // places of the PRIMARY INDEX columns
	Stats   Statistics
	// Handle is the storage's own description, passed through to the executor's Storage; for a table function that
	// gave one, the extension.StoredSource.
	Handle any
}

// View is a stored query.
type View struct {
	Schema  string
	Name    string
	Query   sql.QueryExpr
	Columns []string // names, when the definition gave them
}

// Virtual is a table computed on the fly, such as those of information_schema.
type Virtual struct {
	Schema string
	Name   string
	Source extension.TableSource
}

func (*Table) relation()   {}
func (*View) relation()    {}
func (*Virtual) relation() {}

// AsOf asks for an older version of a table: by Version, or by Micros since 1970 when Version is 0.
type AsOf struct {
	Version uint64
	Micros  int64
}

// Catalog finds what names stand for, within one snapshot and session.
type Catalog interface {
	// Relation returns the relation of that name, looked up along the search path when schema is "". A name that does
	// not exist is an sqlerr with 42P01 and a hint. asOf is nil for the session's snapshot.
	Relation(schema, name string, asOf *AsOf) (Relation, error)
	// Functions returns the registry calls resolve in.
	Functions() *extension.Registry
	// Bind returns what table functions may use to bind.
	Bind() *extension.TableBind
}

// TypeCatalog is a [Catalog] with types of its own.
type TypeCatalog interface {
	// UserType returns the type of that name, looked up along the search path when schema is "".
	UserType(schema, name string) (vec.Type, bool)
}
