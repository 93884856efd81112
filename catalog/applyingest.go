package catalog

import (
	"bytes"
	"errors"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
)

// ErrFenced is wrapped by the error of an edit whose epoch is over: another engine took the table's ingestion, or its
// stream was detached. The worker must stop.
var ErrFenced = errors.New("the worker's epoch is over")

func (e *CreateStream) apply(d *draft) error {
	if _, taken := d.streams.get(e.Stream.Name); taken {
		if e.IfNotExists {
			return nil
		}
		return sqlerr.New(sqlerr.DuplicateObject, "stream %q already exists", e.Stream.Name).Hintf("choose another name, or drop the one there is first")
	}
	if _, taken := d.streamIDs.get(e.Stream.ID); taken {
		return broken("stream identity %s is taken", e.Stream.ID)
	}
	s := e.Stream
	d.putStream(&s)
	return nil
}

func (e *CreateStream) validate() error {
	if e.Stream.ID == 0 || e.Stream.Loaded != 0 || e.Stream.Kind == "" {
		return broken("stream %q has no identity or no kind, or is loaded already", e.Stream.Name)
	}
	return validateName("stream", e.Stream.Name)
}

func (d *draft) putStream(s *Stream) {
	d.streams.set(s.Name, s)
	d.streamIDs.set(s.ID, s)
}

// setLoaded changes the table a stream says it loaded, if it still is from.
func (d *draft) setLoaded(id StreamID, from, to tablet.TableID) {
	if s, ok := d.streamIDs.get(id); ok && s.Loaded == from {
		changed := *s
		changed.Loaded = to
		d.putStream(&changed)
	}
}

func (e *DropStream) apply(d *draft) error {
	s, ok := d.streams.get(e.Name)
	if !ok {
		if e.IfExists {
			return nil
		}
		_, err := d.current().Stream(e.Name)
		return err
	}
	if t, attached := d.current().FedBy(s.ID); attached {
		return sqlerr.New(sqlerr.DependentObjects, "cannot drop stream %q because it is attached to table %q", e.Name, t.Name).
			Hintf("run ALTER CDC TABLE %s DETACH STREAM first", display(t.Schema, t.Name))
	}
	d.streams.remove(s.Name)
	d.streamIDs.remove(s.ID)
	return nil
}

// cdc returns a table for a change of its ingestion, as a copy with a copy of its ingest.
func (d *draft) cdc(id tablet.TableID) (*Table, *Ingest, error) {
	t, err := d.table(id)
	if err != nil {
		return nil, nil, err
	}
	if t.Ingest == nil {
		return nil, nil, sqlerr.New(sqlerr.WrongObjectType, "table %q is not a CDC table", t.Name).Hintf("only a table made by CREATE CDC TABLE takes a stream")
	}
	changed, ingest := *t, *t.Ingest
	changed.Ingest = &ingest
	return &changed, &ingest, nil
}

// attached is cdc for a table with a stream.
func (d *draft) attached(id tablet.TableID) (*Table, *Ingest, error) {
	t, ingest, err := d.cdc(id)
	if err == nil && !ingest.Attached() {
		err = t.unattached()
	}
	return t, ingest, err
}

func (t *Table) unattached() error {
	return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "table %q has no stream attached", t.Name).
		Hintf("run ALTER CDC TABLE %s ATTACH STREAM first", display(t.Schema, t.Name))
}

func (t *Table) fence(epoch uint64) error {
	if epoch == t.Ingest.Epoch && t.Ingest.Attached() {
		return nil
	}
	return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "ingestion of table %q at epoch %d ended, the table is at epoch %d: %w", t.Name, epoch, t.Ingest.Epoch, ErrFenced).
		Hintf("another engine took it over, or the stream was detached; run ALTER CDC TABLE ... RESUME to bring it back here")
}

func (t *Table) refuseFailed() error {
	if t.Ingest.State != Failed {
		return nil
	}
	return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "ingestion of table %q stopped for good: %s", t.Name, t.Ingest.Reason).
		Hintf("detach the stream, repair the cause, and attach it or a new stream again")
}

func (e *AttachStream) apply(d *draft) error {
	t, ingest, err := d.cdc(e.Table)
	if err != nil {
		return err
	}
	s, ok := d.streamIDs.get(e.Stream)
	if !ok {
		return sqlerr.New(sqlerr.UndefinedObject, "stream %s no longer exists", e.Stream).Hintf("it was dropped meanwhile")
	}
	if ingest.Attached() {
		return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "table %q has a stream attached already", t.Name).
			Hintf("run ALTER CDC TABLE %s DETACH STREAM first", display(t.Schema, t.Name))
	}
	if other, taken := d.current().FedBy(s.ID); taken {
		return sqlerr.New(sqlerr.ObjectInUse, "stream %q feeds table %q already, and one stream feeds one table", s.Name, other.Name).
			Hintf("create another stream, or detach this one first")
	}
	ingest.Stream, ingest.State, ingest.Reason, ingest.Owner = s.ID, Paused, "", ""
	ingest.Epoch++
	d.fedBy.set(s.ID, t.ID)
	d.putTable(t)
	return nil
}

func (e *DetachStream) apply(d *draft) error {
	t, ingest, err := d.attached(e.Table)
	if err != nil {
		return err
	}
	d.fedBy.remove(ingest.Stream)
	ingest.Stream, ingest.State, ingest.Reason, ingest.Owner = 0, "", "", ""
	ingest.Wanted, ingest.Yielding = "", false
	ingest.Epoch++
	d.putTable(t)
	return nil
}

func (e *SetIngestState) apply(d *draft) error {
	t, ingest, err := d.cdc(e.Table)
	if err == nil && e.Epoch != 0 {
		err = t.fence(e.Epoch)
	}
	if err == nil && !ingest.Attached() {
		err = t.unattached()
	}
	if err != nil {
		return err
	}
	switch {
	case e.State == Enabled:
		if err := t.refuseFailed(); err != nil {
			return err
		}
	case ingest.State == Failed:
		return nil // the first reason stays, and suspending changes nothing
	}
	ingest.State, ingest.Reason = e.State, e.Reason
	if e.State != Enabled {
		ingest.Wanted, ingest.Yielding = "", false
	}
	d.putTable(t)
	return nil
}

func (e *SetIngestState) validate() error {
	switch e.State {
	case Enabled, Paused:
		if e.Reason == "" {
			return nil
		}
	case Failed:
		if e.Reason != "" {
			return nil
		}
	}
	return broken("ingest state %q with reason %q", e.State, e.Reason)
}

func (e *RequestWorker) apply(d *draft) error {
	t, ingest, err := d.attached(e.Table)
	if err != nil {
		return err
	}
	if err := t.refuseFailed(); err != nil {
		return err
	}
	ingest.State, ingest.Wanted, ingest.Yielding = Enabled, e.Engine, false
	d.putTable(t)
	return nil
}

func (e *RequestWorker) validate() error { return validateName("engine", e.Engine) }

func (e *YieldWorker) apply(d *draft) error {
	t, ingest, err := d.cdc(e.Table)
	if err == nil {
		err = t.fence(e.Epoch)
	}
	if err != nil {
		return err
	}
	if ingest.Wanted == "" {
		return outdated("nobody asks for the worker of table %q any more", t.Name)
	}
	ingest.Yielding = !e.Done
	if e.Done {
		ingest.Owner = ""
		ingest.Epoch++
	}
	d.putTable(t)
	return nil
}

func (e *AcquireWorker) apply(d *draft) error {
	t, ingest, err := d.attached(e.Table)
	if err != nil {
		return err
	}
	if err := t.refuseFailed(); err != nil {
		return err
	}
	if ingest.Epoch != e.FromEpoch {
		return outdated("the ingestion of table %q was taken or changed", t.Name)
	}
	ingest.Owner, ingest.State = e.Engine, Enabled
	ingest.Wanted, ingest.Yielding = "", false
	ingest.Epoch++
	d.putTable(t)
	return nil
}

func (e *AcquireWorker) validate() error { return validateName("engine", e.Engine) }

// working returns a table for a worker's load or append.
func (d *draft) working(id tablet.TableID, epoch uint64) (*Table, *Ingest, error) {
	t, ingest, err := d.cdc(id)
	if err != nil {
		return nil, nil, err
	}
	if err := t.fence(epoch); err != nil {
		return nil, nil, err
	}
	return t, ingest, t.refuseFailed()
}

func (t *Table) refuseUnloaded() error {
	if t.Ingest.LoadDone() {
		return nil
	}
	return broken("changes arrive for table %q before its initial load", t.Name)
}

// advance moves the stream position of a table. changed says that rows came with it.
func (i *Ingest) advance(p Progress, micros int64, changed bool) error {
	if p.LastSeq < i.LastSeq && p.LastSeq != 0 {
		return broken("the change sequence would go back from %d to %d", i.LastSeq, p.LastSeq)
	}
	i.Position, i.PositionText = bytes.Clone(p.Position), p.PositionText
	i.LastSeq = max(i.LastSeq, p.LastSeq)
	if p.SourceMicros != 0 {
		i.SourceMicros = p.SourceMicros
	}
	if changed {
		i.CommitMicros = micros
	}
	return nil
}
