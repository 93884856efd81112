package catalog

import (
	"iter"
	"strings"
	"time"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/tablet/pmap"
)

// Snapshot is everything at one version. It is immutable and may be used from any goroutine. Hold a [Pin] while files
// it names are read.
type Snapshot struct {
	version  uint64
	micros   int64  // commit time, Unix microseconds
	checksum uint64 // of the log file that led here

	schemas   pmap.Map[string, *Schema]
	tables    pmap.Map[tablet.TableID, *Table]
	relations pmap.Map[relationKey, relation] // tables, views, sequences and indexes: one name space
	types     pmap.Map[relationKey, *UserType]
	streams   pmap.Map[string, *Stream]
	streamIDs pmap.Map[StreamID, *Stream]
	fedBy     pmap.Map[StreamID, tablet.TableID] // attachments
	settings  pmap.Map[string, string]

	masks   pmap.Map[tablet.ID, int]   // references to each mask file
	garbage pmap.Map[uint64, *garbage] // files forgotten, by the version of the commit that forgot them
	horizon uint64                     // versions below it are no longer readable
}

// relationKey is schema and name around a NUL, which neither can contain.
type relationKey string

type relation struct {
	table    *Table
	view     *View
	sequence *Sequence
	index    *indexOf
}

func keyFor(schema, name string) relationKey { return relationKey(schema + "\x00" + name) }

// Version returns the number of the commit that led here; 0 is the empty root.
func (s *Snapshot) Version() uint64 { return s.version }

// Time returns when that commit was made, by the clock of its process; it never goes back from one version to the
// next. The empty root has the zero time.
func (s *Snapshot) Time() time.Time {
	if s.version == 0 {
		return time.Time{}
	}
	return time.UnixMicro(s.micros)
}

// HasSchema reports whether a schema exists.
func (s *Snapshot) HasSchema(name string) bool {
	_, ok := s.schemas.Get(name)
	return ok
}

// Schemas yields the schemas in name order.
func (s *Snapshot) Schemas() iter.Seq[*Schema] { return values(s.schemas) }

// Table returns a table by name. The error is 3F000, 42P01 with a suggestion, or 42809 when the name is a view's.
func (s *Snapshot) Table(schema, name string) (*Table, error) {
	table, view, err := s.Relation(schema, name)
	if err != nil {
		return nil, err
	}
	if view != nil {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "%q is not a table", name).Hintf("it is a view: use it in a query, or name a table")
	}
	return table, nil
}

// View returns a view by name. The error is 3F000, 42P01 with a suggestion, or 42809 when the name is a table's.
func (s *Snapshot) View(schema, name string) (*View, error) {
	_, view, err := s.Relation(schema, name)
	if err == nil && view == nil {
		err = sqlerr.New(sqlerr.WrongObjectType, "%q is not a view", name).Hintf("it is a table: use DROP TABLE or ALTER TABLE")
	}
	return view, err
}

// Relation returns the table or the view of a name; exactly one is not nil without an error.
func (s *Snapshot) Relation(schema, name string) (*Table, *View, error) {
	if r, ok := s.relations.Get(keyFor(schema, name)); ok {
		switch {
		case r.sequence != nil:
			return nil, nil, sqlerr.New(sqlerr.WrongObjectType, "%q is a sequence", name).Hintf("nextval('%s') takes its next number", name)
		case r.index != nil:
			return nil, nil, sqlerr.New(sqlerr.WrongObjectType, "%q is an index", name).Hintf("name the table")
		}
		return r.table, r.view, nil
	}
	if !s.HasSchema(schema) {
		return nil, nil, s.noSchema(schema)
	}
	return nil, nil, s.noRelation(schema, name)
}

// TableByID returns a table by its identity.
func (s *Snapshot) TableByID(id tablet.TableID) (*Table, bool) { return s.tables.Get(id) }

// Tables yields the tables of a schema in name order; of all schemas, ordered by schema, when schema is "".
func (s *Snapshot) Tables(schema string) iter.Seq[*Table] {
	return func(yield func(*Table) bool) {
		for r := range s.relationsOf(schema) {
			if r.table != nil && !yield(r.table) {
				return
			}
		}
	}
}

// Views yields the views of a schema in name order; of all schemas, ordered by schema, when schema is "".
func (s *Snapshot) Views(schema string) iter.Seq[*View] {
	return func(yield func(*View) bool) {
		for r := range s.relationsOf(schema) {
			if r.view != nil && !yield(r.view) {
				return
			}
		}
	}
}

func (s *Snapshot) relationsOf(schema string) iter.Seq[relation] {
	return func(yield func(relation) bool) {
		prefix := relationKey("")
		if schema != "" {
			prefix = keyFor(schema, "")
		}
		for key, r := range s.relations.From(prefix) {
			if !strings.HasPrefix(string(key), string(prefix)) || !yield(r) {
				return
			}
		}
	}
}

// Stream returns a stream by name; the error is 42704 with a suggestion.
func (s *Snapshot) Stream(name string) (*Stream, error) {
	if stream, ok := s.streams.Get(name); ok {
		return stream, nil
	}
	err := sqlerr.New(sqlerr.UndefinedObject, "stream %q does not exist", name)
	if near := sqlerr.Nearest(name, keys(s.streams)); near != "" {
		return nil, err.Hintf("did you mean %q?", near)
	}
	return nil, err.Hintf("create it with CREATE STREAM, or see information_schema.streams for those there are")
}

// StreamByID returns a stream by its identity.
func (s *Snapshot) StreamByID(id StreamID) (*Stream, bool) { return s.streamIDs.Get(id) }

// Streams yields the streams in name order.
func (s *Snapshot) Streams() iter.Seq[*Stream] { return values(s.streams) }

// FedBy returns the table a stream is attached to.
func (s *Snapshot) FedBy(stream StreamID) (*Table, bool) {
	id, ok := s.fedBy.Get(stream)
	if !ok {
		return nil, false
	}
	return s.tables.Get(id)
}

// Setting returns a persisted setting and whether there is one.
func (s *Snapshot) Setting(name string) (string, bool) { return s.settings.Get(name) }

// Settings yields the persisted settings in name order.
func (s *Snapshot) Settings() iter.Seq2[string, string] { return s.settings.All() }

// Files yields every file the snapshot names, with sizes and checksums where they are known.
func (s *Snapshot) Files() iter.Seq[FileRef] {
	return func(yield func(FileRef) bool) {
		for id, t := range s.tables.All() {
			for f := range tableFiles(id, t.Tablets) {
				if !yield(f) {
					return
				}
			}
		}
		for id := range s.masks.All() {
			if !yield(FileRef{File: tablet.File{Kind: tablet.MaskFile, ID: id}, Size: -1}) {
				return
			}
		}
	}
}

// FileRef names a file with what the catalog knows of it.
type FileRef struct {
	tablet.File
	Size     int64  // bytes; -1 when not known
	Checksum uint64 // xxh3-64 of the file; 0 when not known
}

func tableFiles(id tablet.TableID, set *tablet.Set) iter.Seq[FileRef] {
	return func(yield func(FileRef) bool) {
		ref := func(kind tablet.FileKind, file tablet.ID, size int64, sum uint64) bool {
			return yield(FileRef{tablet.File{Kind: kind, Table: id, ID: file}, size, sum})
		}
		both := func(d *tablet.Desc) bool {
			return ref(tablet.ParquetFile, d.ID, d.FileBytes, d.Checksum) &&
				(d.SidecarBytes == 0 || ref(tablet.SidecarFile, d.ID, d.SidecarBytes, d.SidecarSum))
		}
		for b := range set.Base() {
			if !both(b.Desc) {
				return
			}
		}
		for t := range set.Staging() {
			if !both(t.Desc) {
				return
			}
		}
		for _, r := range set.Runs() {
			if !ref(tablet.RunFile, r.ID, r.Bytes, r.Checksum) {
				return
			}
		}
	}
}

func (s *Snapshot) noSchema(name string) error {
	err := sqlerr.New(sqlerr.InvalidSchema, "schema %q does not exist", name)
	if near := sqlerr.Nearest(name, keys(s.schemas)); near != "" {
		return err.Hintf("did you mean %q?", near)
	}
	return err.Hintf("create it with CREATE SCHEMA %s", name)
}

func (s *Snapshot) noRelation(schema, name string) error {
	err := sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", display(schema, name))
	var here, elsewhere []string
	home := ""
	for key, r := range s.relations.All() {
		in, other, _ := strings.Cut(string(key), "\x00")
		if in == schema {
			here = append(here, other)
		} else if other == name && (r.table != nil || r.view != nil) {
			home = in
			elsewhere = append(elsewhere, in+"."+other)
		}
	}
	if home != "" {
		return err.Hintf("did you mean %q?", elsewhere[0])
	}
	if near := sqlerr.Nearest(name, here); near != "" {
		return err.Hintf("did you mean %q?", near)
	}
	return err.Hintf("see information_schema.tables for the tables there are")
}

// display leaves out the schema every session finds by itself.
func display(schema, name string) string {
	if schema == DefaultSchema {
		return name
	}
	return schema + "." + name
}

func values[K ~string, V any](m pmap.Map[K, V]) iter.Seq[V] {
	return func(yield func(V) bool) {
		for _, v := range m.All() {
			if !yield(v) {
				return
			}
		}
	}
}

func keys[K ~string, V any](m pmap.Map[K, V]) []K {
	out := make([]K, 0, m.Len())
	for k := range m.All() {
		out = append(out, k)
	}
	return out
}
