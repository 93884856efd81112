package engine

import (
	"context"
	"errors"
	"strings"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablestore"
)

// createStream runs CREATE STREAM. It checks the options, not whether the source can be reached: RESUME does.
func (s *Session) createStream(ctx context.Context, t *sql.CreateStream) (*Result, error) {
	o, err := split(t.Name)
	if err != nil {
		return nil, err
	}
	def := s.engine.functions.Source(strings.ToLower(t.Source.Name))
	if def == nil {
		err := sqlerr.New(sqlerr.UndefinedObject, "there is no stream source %q", t.Source.Name).At(t.Source.Pos)
		if near := sqlerr.Nearest(t.Source.Name, s.engine.functions.SourceNames()); near != "" {
			return nil, err.Hintf("did you mean %s?", strings.ToUpper(near))
		}
		return nil, err.Hintf("the sources are %s", strings.ToUpper(strings.Join(s.engine.functions.SourceNames(), ", ")))
	}
	options, err := streamOptions(def, t)
	if err != nil {
		return nil, err
	}
	edit := &catalog.CreateStream{IfNotExists: t.IfNotExists, Stream: catalog.Stream{
		ID: catalog.NewStreamID(), Name: o.name, Kind: strings.ToUpper(def.Name), Options: options,
	}}
	return done("CREATE STREAM"), s.commit(ctx, edit)
}

// streamOptions checks the options against those the source knows and fills in defaults.
func streamOptions(def *extension.SourceDef, t *sql.CreateStream) (catalog.Options, error) {
	known := map[string]extension.OptionDef{}
	var names []string
	options := catalog.Options{}
	for _, o := range def.Options {
		known[o.Name] = o
		names = append(names, o.Name)
		if o.Default != "" {
			options[o.Name] = catalog.Option{Value: o.Default, Secret: o.Secret}
		}
	}
	for _, given := range t.Options {
		name := strings.ToLower(given.Name.Name)
		o, ok := known[name]
		if !ok {
			err := sqlerr.New(sqlerr.InvalidParameterValue, "a %s stream has no option %q", strings.ToUpper(def.Name), name).At(given.Name.Pos)
			if near := sqlerr.Nearest(name, names); near != "" {
				return nil, err.Hintf("did you mean %s?", near)
			}
			return nil, err.Hintf("its options are %s", strings.Join(names, ", "))
		}
		value, err := optionText(given)
		if err != nil {
			return nil, err
		}
		if o.Check != nil {
			if err := o.Check(value); err != nil {
				return nil, optionError(name, err).At(given.Name.Pos)
			}
		}
		options[name] = catalog.Option{Value: value, Secret: o.Secret}
	}
	for _, o := range def.Options {
		if _, ok := options[o.Name]; o.Required && !ok {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "a %s stream needs the option %s", strings.ToUpper(def.Name), o.Name).
				Hintf("%s: %s", o.Name, o.Description).At(t.Pos)
		}
	}
	return options, nil
}

// optionError keeps the hint of a source's own error.
func optionError(name string, err error) *sqlerr.Error {
	var own *sqlerr.Error
	if errors.As(err, &own) {
		return own
	}
	return sqlerr.New(sqlerr.InvalidParameterValue, "option %q: %w", name, err)
}

// dropStreams drops streams and, at their sources, what they kept there. A source that cannot be reached keeps what
// it has; the log says so, as the operator must then remove it by hand.
func (s *Session) dropStreams(ctx context.Context, snapshot *catalog.Snapshot, edits []catalog.Edit) (err error) {
	var streams []*catalog.Stream
	for _, e := range edits {
		if stream, err := snapshot.Stream(e.(*catalog.DropStream).Name); err == nil {
			streams = append(streams, stream)
		}
	}
	if err := s.commit(ctx, edits...); err != nil {
		return err
	}
	for _, stream := range streams {
		if err := s.engine.dropAtSource(ctx, stream); err != nil {
			s.engine.log.Warn("the source keeps what the dropped stream had there; remove it by hand", "stream", stream.Name, "error", err)
		}
	}
	return nil
}

func (e *Engine) dropAtSource(ctx context.Context, stream *catalog.Stream) error {
	def := e.functions.Source(strings.ToLower(stream.Kind))
	if def == nil {
		return nil
	}
	source, err := def.Open(ctx, extension.OpenRequest{
		Stream: stream.Name, Options: stream.Options.Values(), SpillDir: e.spill.path, Log: func(string, ...any) {},
	})
	if err != nil {
		return err
	}
	defer source.Close()
	return source.Drop(ctx)
}

// alterCDCTable runs ALTER CDC TABLE.
func (s *Session) alterCDCTable(ctx context.Context, t *sql.AlterCDCTable) (*Result, error) {
	snapshot, release := s.snapshot()
	defer release()
	table, err := s.cdcTable(snapshot, t.Table)
	if err != nil {
		if t.IfExists && missingOK(err) {
			return done("ALTER CDC TABLE"), nil
		}
		return nil, err
	}
	switch t.Action {
	case sql.AttachStream:
		err = s.attach(ctx, snapshot, table, t)
	case sql.DetachStream:
		if err = s.commit(ctx, &catalog.DetachStream{Table: table.ID}); err == nil && s.tx == nil {
			s.engine.workers.stop(ctx, table.ID)
		}
	case sql.Suspend:
		err = s.suspend(ctx, table)
	case sql.Resume:
		err = s.resume(ctx, table, t)
	}
	if err != nil {
		return nil, sqlerr.From(err).At(t.Pos)
	}
	return done("ALTER CDC TABLE"), nil
}

func (s *Session) attach(ctx context.Context, snapshot *catalog.Snapshot, table *catalog.Table, t *sql.AlterCDCTable) error {
	o, err := split(t.Stream)
	if err != nil {
		return err
	}
	stream, err := snapshot.Stream(o.name)
	if err != nil {
		return sqlerr.From(err).At(t.Stream.Position())
	}
	return s.commit(ctx, &catalog.AttachStream{Table: table.ID, Stream: stream.ID})
}

func (s *Session) suspend(ctx context.Context, table *catalog.Table) error {
	if table.Ingest.State == catalog.Failed {
		return nil // nothing runs but the final drain, which SUSPEND does not interrupt
	}
	err := s.commit(ctx, &catalog.SetIngestState{Table: table.ID, State: catalog.Paused})
	if err == nil && s.tx == nil {
		s.engine.workers.stop(ctx, table.ID)
	}
	return err
}

// resume binds the table's worker to this engine and starts it.
func (s *Session) resume(ctx context.Context, table *catalog.Table, t *sql.AlterCDCTable) error {
	if s.tx != nil && !(s.tx.implicit && len(s.tx.edits) == 0) {
		return sqlerr.New(sqlerr.ActiveTransaction, "ALTER CDC TABLE ... RESUME cannot run inside a transaction block").
			Hintf("run it as a single statement, after COMMIT or in autocommit mode")
	}
	if s.engine.options.ReadOnly {
		return readOnlyEngine()
	}
	for attempt := 0; ; attempt++ {
		newest, err := s.engine.catalog.Refresh(ctx)
		if err != nil {
			return err
		}
		if now, ok := newest.TableByID(table.ID); ok {
			table = now
		}
		err = s.resumeNow(ctx, table)
		if sqlerr.Code(err) != sqlerr.SerializationFailure || attempt == resumeRetries {
			return err
		}
	}
}

// resumeRetries is how often RESUME begins again because one of another engine came first: then it moves the worker here.
const resumeRetries = 5

func (s *Session) resumeNow(ctx context.Context, table *catalog.Table) error {
	ingest := table.Ingest
	switch {
	case !ingest.Attached():
		return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "CDC table %q has no stream attached", table.Name).
			Hintf("ALTER CDC TABLE %s ATTACH STREAM ... first", table.Name)
	case ingest.State == catalog.Failed:
		return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "ingestion of CDC table %q stopped for good: %s", table.Name, ingest.Reason).
			Hintf("repair the cause, then DETACH STREAM and attach a stream again")
	}
	if _, err := tablestore.KeyLayout(table); err != nil {
		return err
	}
	return s.engine.workers.resume(ctx, s.engine, table)
}
