package catalog

import (
	"cmp"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/tablet/pmap"
)

// garbage is the files one commit forgot.
type garbage struct {
	Micros int64    `json:"micros"` // when
	Files  []string `json:"files"`  // paths
}

// draft is a snapshot being made from another by the edits of one commit.
type draft struct {
	from       *Snapshot
	version    uint64 // of the commit
	setVersion uint64 // of the tablet sets it changes: version, or one no commit uses
	micros     int64  // commit time

	schemas   editing[string, *Schema]
	tables    editing[tablet.TableID, *Table]
	relations editing[relationKey, relation]
	types     editing[relationKey, *UserType]
	streams   editing[string, *Stream]
	streamIDs editing[StreamID, *Stream]
	fedBy     editing[StreamID, tablet.TableID]
	settings  editing[string, string]
	masks     editing[tablet.ID, int]
	garbage   editing[uint64, *garbage]
	horizon   uint64

	forgotten []tablet.File
	replaying bool // the edits were checked when they were committed
}

// editing is a map that is copied when it is first written.
type editing[K cmp.Ordered, V any] struct {
	frozen pmap.Map[K, V]
	editor *pmap.Editor[K, V]
}

func (e *editing[K, V]) get(key K) (V, bool) {
	if e.editor != nil {
		return e.editor.Get(key)
	}
	return e.frozen.Get(key)
}

func (e *editing[K, V]) edit() *pmap.Editor[K, V] {
	if e.editor == nil {
		e.editor = e.frozen.Edit()
	}
	return e.editor
}

func (e *editing[K, V]) set(key K, value V) { e.edit().Set(key, value) }

func (e *editing[K, V]) remove(key K) { e.edit().Delete(key) }

// freeze returns the map as it is now; a later write copies it again.
func (e *editing[K, V]) freeze() pmap.Map[K, V] {
	if e.editor != nil {
		e.frozen, e.editor = e.editor.Map(), nil
	}
	return e.frozen
}

func edit[K cmp.Ordered, V any](m pmap.Map[K, V]) editing[K, V] { return editing[K, V]{frozen: m} }

// draft starts a snapshot that follows s.
func (s *Snapshot) draft(version, setVersion uint64, micros int64) *draft {
	return &draft{
		from: s, version: version, setVersion: setVersion, micros: max(micros, s.micros),
		schemas: edit(s.schemas), tables: edit(s.tables), relations: edit(s.relations), types: edit(s.types), streams: edit(s.streams),
		streamIDs: edit(s.streamIDs), fedBy: edit(s.fedBy), settings: edit(s.settings), masks: edit(s.masks),
		garbage: edit(s.garbage), horizon: s.horizon,
	}
}

// snapshot ends the draft.
func (d *draft) snapshot(checksum uint64) *Snapshot {
	d.collect()
	return &Snapshot{
		version: d.version, micros: d.micros, checksum: checksum,
		schemas: d.schemas.freeze(), tables: d.tables.freeze(), relations: d.relations.freeze(),
		types: d.types.freeze(), streams: d.streams.freeze(), streamIDs: d.streamIDs.freeze(), fedBy: d.fedBy.freeze(),
		settings: d.settings.freeze(), masks: d.masks.freeze(), garbage: d.garbage.freeze(), horizon: d.horizon,
	}
}

// collect records the files nothing names any more as garbage of this commit.
func (d *draft) collect() {
	var files []string
	for _, f := range d.forgotten {
		if f.Kind == tablet.MaskFile {
			if n, _ := d.masks.get(f.ID); n > 0 {
				continue // forgotten and named again in one commit
			}
		}
		files = append(files, f.Path())
	}
	d.forgotten = nil
	if len(files) > 0 {
		d.garbage.set(d.version, &garbage{Micros: d.micros, Files: files})
	}
}

func (d *draft) forget(kind tablet.FileKind, table tablet.TableID, id tablet.ID) {
	d.forgotten = append(d.forgotten, tablet.File{Kind: kind, Table: table, ID: id})
}

func (d *draft) forgetTablet(table tablet.TableID, t *tablet.Desc) {
	d.forget(tablet.ParquetFile, table, t.ID)
	if t.SidecarBytes > 0 {
		d.forget(tablet.SidecarFile, table, t.ID)
	}
}

func (d *draft) forgetSet(set *tablet.Set) {
	for b := range set.Base() {
		d.forgetTablet(set.Table(), b.Desc)
		d.releaseMask(b.Mask)
	}
	for s := range set.Staging() {
		d.forgetTablet(set.Table(), s.Desc)
	}
	for _, r := range set.Runs() {
		d.forget(tablet.RunFile, set.Table(), r.ID)
	}
}

func (d *draft) retainMask(m tablet.MaskRef) {
	if !m.IsZero() {
		n, _ := d.masks.get(m.File)
		d.masks.set(m.File, n+1)
	}
}

func (d *draft) releaseMask(m tablet.MaskRef) {
	if m.IsZero() {
		return
	}
	if n, _ := d.masks.get(m.File); n > 1 {
		d.masks.set(m.File, n-1)
		return
	}
	d.masks.remove(m.File)
	d.forget(tablet.MaskFile, 0, m.File)
}

// table returns a table an edit names by identity.
func (d *draft) table(id tablet.TableID) (*Table, error) {
	if t, ok := d.tables.get(id); ok {
		return t, nil
	}
	return nil, sqlerr.New(sqlerr.UndefinedTable, "table %s no longer exists", id).Hintf("it was dropped meanwhile")
}

// putTable replaces a table by a changed copy of the same name.
func (d *draft) putTable(t *Table) {
	d.tables.set(t.ID, t)
	d.relations.set(keyFor(t.Schema, t.Name), relation{table: t})
}

// current is the draft as a snapshot, for lookups that make messages.
func (d *draft) current() *Snapshot {
	return &Snapshot{schemas: d.schemas.freeze(), relations: d.relations.freeze(), types: d.types.freeze(), streams: d.streams.freeze(),
		tables: d.tables.freeze(), streamIDs: d.streamIDs.freeze(), fedBy: d.fedBy.freeze()}
}

// outdated is the error of an edit another commit got in the way of.
func outdated(format string, args ...any) error {
	return sqlerr.New(sqlerr.SerializationFailure, format, args...).Hintf("another commit came first: run the statement or transaction again")
}

// broken is the error of an edit that could fit no snapshot: its maker has a defect.
func broken(format string, args ...any) error {
	return sqlerr.New(sqlerr.Internal, format, args...).Hintf("this is a defect: please report it")
}
