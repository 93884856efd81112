// Package pgcatalog shows the catalog of a data root as the relations of PostgreSQL's pg_catalog, which tools read to
// find out what there is.
//
// # Concepts
//
// A [Relation] is one relation: its columns, and what fills it from a [View]. [All] lists them. A View is what one
// session sees at one version of the catalog, an [Objects] the same by numbers: it answers the functions that turn
// names into oids and oids into names and definitions.
//
// Objects of pg_catalog are numbered by oids. Types have those of PostgreSQL. An object of the root has one made from
// its identity: that of a table, index of a table, or sequence does not change when it is renamed, and none changes
// when the server restarts or another server opens the root.
//
// # Invariants
//
//   - An oid stands for one object of its kind; all oids lie within 32 bits.
//   - Columns have the names, order and (where there is one) types of PostgreSQL 15.
//   - What a relation cannot know is NULL or PostgreSQL's value for none, never a guess.
//
// # Adding a relation
//
// Write its line into the table of its subject with a function that adds its rows, and a query over it into the tests.
package pgcatalog
