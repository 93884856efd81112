package catalog

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/tablet/pmap"
)

// The payload of a checkpoint:
//
//	u32 bytes | checkpointJSON
//	per table in order of identity: u32 bytes | setJSON | u32 n | n x base tablet | u32 n | n x staging tablet
//	base tablet:     u32 bytes | description | mask: u64 file, then unless it is 0: u64 offset, length, rows
//	staging tablet:  u32 bytes | description | u64 append | u32 part | u8 truncate before | u64 source micros
type checkpointJSON struct {
	Schemas   []*Schema           `json:"schemas"`
	Tables    []*Table            `json:"tables"` // in order of identity
	Views     []*View             `json:"views"`
	Sequences []*Sequence         `json:"sequences,omitempty"`
	Types     []*UserType         `json:"types,omitempty"`
	Streams   []*Stream           `json:"streams"`
	Settings  map[string]string   `json:"settings"`
	Garbage   map[uint64]*garbage `json:"garbage"`
	Horizon   uint64              `json:"horizon"`
}

type setJSON struct {
	Version     uint64       `json:"version"`
	RunsVersion uint64       `json:"runs_version"`
	Runs        []tablet.Run `json:"runs,omitempty"`
}

func encodeCheckpoint(s *Snapshot) ([]byte, error) {
	c := checkpointJSON{
		Schemas: slices.Collect(s.Schemas()), Views: slices.Collect(s.Views("")), Sequences: slices.Collect(s.Sequences("")), Types: slices.Collect(s.UserTypes()), Streams: slices.Collect(s.Streams()),
		Settings: maps.Collect(s.Settings()), Garbage: maps.Collect(s.garbage.All()), Horizon: s.horizon,
	}
	for _, t := range s.tables.All() {
		c.Tables = append(c.Tables, t)
	}
	b, err := appendJSON(nil, c)
	for _, t := range c.Tables {
		if err == nil {
			b, err = appendSet(b, t.Tablets)
		}
	}
	return b, err
}

var le = binary.LittleEndian

func appendJSON(b []byte, v any) ([]byte, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return append(le.AppendUint32(b, uint32(len(body))), body...), nil
}

func appendSet(b []byte, set *tablet.Set) ([]byte, error) {
	b, err := appendJSON(b, setJSON{set.Version(), set.RunsVersion(), set.Runs()})
	if err != nil {
		return nil, err
	}
	totals := set.Totals()
	b = le.AppendUint32(b, uint32(totals.BaseTablets))
	for t := range set.Base() {
		if b, err = appendDesc(b, t.Desc); err != nil {
			return nil, err
		}
		b = le.AppendUint64(b, uint64(t.Mask.File))
		if !t.Mask.IsZero() {
			b = le.AppendUint64(b, uint64(t.Mask.Offset))
			b = le.AppendUint64(b, uint64(t.Mask.Length))
			b = le.AppendUint64(b, uint64(t.Mask.Cardinality))
		}
	}
	b = le.AppendUint32(b, uint32(totals.StagingTablets))
	for t := range set.Staging() {
		if b, err = appendDesc(b, t.Desc); err != nil {
			return nil, err
		}
		b = le.AppendUint64(b, t.Append)
		b = le.AppendUint32(b, t.Part)
		truncate := byte(0)
		if t.TruncateBefore {
			truncate = 1
		}
		b = append(b, truncate)
		b = le.AppendUint64(b, uint64(t.SourceMicros))
	}
	return b, nil
}

func appendDesc(b []byte, d *tablet.Desc) ([]byte, error) {
	at := len(b)
	b, err := d.AppendBinary(append(b, 0, 0, 0, 0))
	if err != nil {
		return nil, err
	}
	le.PutUint32(b[at:], uint32(len(b)-at-4))
	return b, nil
}

// reader reads a checkpoint; the first fault sticks.
type reader struct {
	payload string
	at      int
	err     error
}

func (r *reader) take(n int) string {
	if r.err == nil && (n < 0 || n > len(r.payload)-r.at) {
		r.err = errors.New("the payload ends too early")
	}
	if r.err != nil {
		return ""
	}
	s := r.payload[r.at : r.at+n]
	r.at += n
	return s
}

func (r *reader) u32() uint32 {
	s := r.take(4)
	if s == "" {
		return 0
	}
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

func (r *reader) u64() uint64 { lo := r.u32(); return uint64(lo) | uint64(r.u32())<<32 }

func (r *reader) sized() string { return r.take(int(r.u32())) }

func (r *reader) json(into any) {
	if s := r.sized(); r.err == nil {
		r.err = unmarshalStrict([]byte(s), into)
	}
}

func (r *reader) desc() *tablet.Desc {
	s := r.sized()
	if r.err != nil {
		return nil
	}
	d, err := tablet.DecodeDesc(s)
	r.err = err
	return d
}

func (r *reader) base() tablet.Base {
	b := tablet.Base{Desc: r.desc()}
	if b.Mask.File = tablet.ID(r.u64()); b.Mask.File != 0 {
		b.Mask.Offset, b.Mask.Length, b.Mask.Cardinality = int64(r.u64()), int64(r.u64()), int64(r.u64())
	}
	return b
}

func (r *reader) staged() tablet.Staged {
	return tablet.Staged{Desc: r.desc(), Append: r.u64(), Part: r.u32(), TruncateBefore: r.take(1) == "\x01", SourceMicros: int64(r.u64())}
}

func (r *reader) set(table tablet.TableID) (*tablet.Set, error) {
	var s setJSON
	r.json(&s)
	v := &tablet.View{Table: table, Version: s.Version, RunsVersion: s.RunsVersion, Runs: s.Runs}
	for range r.u32() {
		if v.Base = append(v.Base, r.base()); r.err != nil {
			return nil, r.err
		}
	}
	for range r.u32() {
		if v.Staging = append(v.Staging, r.staged()); r.err != nil {
			return nil, r.err
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	return tablet.Restore(v)
}

func decodeCheckpoint(path string, h header, payload []byte) (*Snapshot, error) {
	r := &reader{payload: string(payload)}
	s, err := r.snapshot(h)
	if err != nil {
		return nil, damaged(path, headerSize+r.at, "%w", err)
	}
	return s, nil
}

func (r *reader) snapshot(h header) (*Snapshot, error) {
	var c checkpointJSON
	if r.json(&c); r.err != nil {
		return nil, r.err
	}
	d := (&Snapshot{}).draft(h.version, h.version, h.micros)
	d.horizon = c.Horizon
	for _, s := range c.Schemas {
		if s == nil {
			return nil, errors.New("a schema is missing")
		}
		d.schemas.set(s.Name, s)
	}
	for _, t := range c.Tables {
		if err := r.table(d, t); err != nil {
			return nil, err
		}
	}
	if r.at != len(r.payload) {
		return nil, fmt.Errorf("there are %d bytes too many", len(r.payload)-r.at)
	}
	for _, v := range c.Views {
		if v == nil {
			return nil, errors.New("a view is missing")
		}
		d.relations.set(keyFor(v.Schema, v.Name), relation{view: v})
	}
	for _, q := range c.Sequences {
		if q == nil {
			return nil, errors.New("a sequence is missing")
		}
		d.relations.set(keyFor(q.Schema, q.Name), relation{sequence: q})
	}
	for _, t := range c.Types {
		if t == nil {
			return nil, errors.New("a type is missing")
		}
		d.types.set(keyFor(t.Schema, t.Name), t)
	}
	for _, s := range c.Streams {
		if s == nil {
			return nil, errors.New("a stream is missing")
		}
		d.putStream(s)
	}
	for name, value := range c.Settings {
		d.settings.set(name, value)
	}
	for version, g := range c.Garbage {
		if g == nil {
			return nil, errors.New("a list of garbage is missing")
		}
		d.garbage.set(version, g)
	}
	return d.snapshot(h.previous), nil
}

func (r *reader) table(d *draft, t *Table) error {
	if t == nil || t.ID == 0 || (t.Kind == CDC) != (t.Ingest != nil) {
		return errors.New("a table has no proper description")
	}
	set, err := r.set(t.ID)
	if err != nil {
		return fmt.Errorf("table %s: %w", t.ID, err)
	}
	t.Tablets = set
	if err := d.replaceTable(&Table{}, t); err != nil {
		return err
	}
	if t.Ingest.Attached() {
		d.fedBy.set(t.Ingest.Stream, t.ID)
	}
	for b := range set.Base() {
		d.retainMask(b.Mask)
	}
	return nil
}

// emptyRoot is version 0 of every root.
func emptyRoot() *Snapshot {
	schemas := pmap.Map[string, *Schema]{}.Edit()
	schemas.Set(DefaultSchema, &Schema{Name: DefaultSchema})
	return &Snapshot{schemas: schemas.Map(), micros: math.MinInt64}
}
