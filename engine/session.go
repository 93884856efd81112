package engine

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/exec"
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// SessionOptions describe who a session is for.
type SessionOptions struct {
	User     string // "" is tidemark
	Settings map[string]string
	ReadOnly bool // refuse statements that change more than the session
}

// Session runs statements one after the other, with settings and at most one transaction of its own. Statements of
// one session wait for each other; results may be read while the next statement runs.
type Session struct {
	engine   *Engine
	user     string
	readOnly bool
	settings *values  // shared with forks
	parent   *Session // of a fork

	mu       sync.Mutex // one statement at a time
	tx       *transaction
	prepared map[string]*sql.Prepare
	cursors  map[string]*cursor
	random   randomSource
	numbers  *lastNumbers // shared with forks
	usage    *exec.Usage  // of the statement that runs
	text     string       // of the statement that runs
	temp     string       // name of the session's schema of temporary tables, "" before the first

	ingesting sync.Mutex    // one Ingest at a time
	incoming  *plan.Virtual // rows of the running Ingest, else nil

	named  map[string]plan.Relation // what bare names stand for in a part of a statement that the engine makes
	pinned *catalog.Snapshot        // what all parts of a statement with several read, else nil
}

// NewSession returns a session with the engine's settings.
func (e *Engine) NewSession(options SessionOptions) (*Session, error) {
	s := &Session{engine: e, user: options.User, readOnly: options.ReadOnly, settings: &values{}, numbers: &lastNumbers{}, prepared: map[string]*sql.Prepare{}}
	if s.user == "" {
		s.user = "tidemark"
	}
	for name, value := range options.Settings {
		if err := s.set(name, value); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Close rolls an open transaction back and drops temporary tables; idempotent.
func (s *Session) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rollback()
	s.closeCursors(true)
	if s.parent != nil {
		s.handBack()
		return
	}
	s.dropTemporary()
}

// Engine returns the engine of the session.
func (s *Session) Engine() *Engine { return s.engine }

// Query runs the statements of text and returns the result of the last. args are the values of $1 and so on, which
// only a single statement can have. In autocommit mode each statement is a transaction of its own.
func (s *Session) Query(ctx context.Context, text string, args ...vec.Value) (*Result, error) {
	var statements []sql.Statement
	err := guard(func() (err error) {
		statements, err = sql.Parse(text)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(statements) > 1 && len(args) > 0 {
		return nil, sqlerr.New(sqlerr.SyntaxError, "several statements cannot share parameters").Hintf("send them one by one")
	}
	result := done("")
	for i, statement := range statements {
		result.Close()
		result, err = s.run(ctx, statement, text, args)
		if err != nil {
			return nil, err
		}
		if i < len(statements)-1 {
			if err := drain(ctx, result); err != nil {
				return nil, err
			}
		}
	}
	return result, nil
}

func drain(ctx context.Context, r *Result) error {
	for {
		batch, err := r.Next(ctx)
		if err != nil || batch == nil {
			return err
		}
	}
}

// run executes one statement under the session's lock, with transaction rules and the statement timeout applied.
func (s *Session) run(ctx context.Context, statement sql.Statement, text string, args []vec.Value) (result *Result, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.engine.ctx.Err() != nil {
		return nil, sqlerr.New(sqlerr.AdminShutdown, "the engine is shutting down").Hintf("connect again when it is back")
	}
	if err := s.checkFailed(statement); err != nil {
		return nil, err
	}
	if err := s.refuseChange(statement); err != nil {
		return nil, err
	}
	entry := s.engine.queries.start(s.user, text)
	s.usage, s.text = &entry.usage, text
	cancelTimeout := func() {}
	if millis := s.settings.integer("statement_timeout"); millis > 0 {
		ctx, cancelTimeout = context.WithTimeout(ctx, time.Duration(millis)*time.Millisecond)
	}
	err = guard(func() (err error) {
		work := s.statementWork()
		defer work.release()
		result, err = s.dispatch(work.context(ctx), statement, text, args)
		return err
	})
	if err != nil {
		cancelTimeout()
		err = canceled(ctx, err)
		s.fail(err)
		entry.finish(0, err)
		return nil, err
	}
	s.track(result, entry, cancelTimeout)
	return result, nil
}

// canceled gives a context's end the SQLSTATE clients know.
func canceled(ctx context.Context, err error) error {
	if ctx.Err() == nil || sqlerr.Code(err) == sqlerr.QueryCanceled {
		return err
	}
	if context.Cause(ctx) == context.DeadlineExceeded {
		return sqlerr.New(sqlerr.QueryCanceled, "canceling statement due to statement timeout")
	}
	return sqlerr.New(sqlerr.QueryCanceled, "canceling statement due to user request")
}

// track counts the rows of a result and records its end.
func (s *Session) track(r *Result, entry *queryEntry, release func()) {
	next, closeInner := r.next, r.close
	rows := int64(0)
	var failure error
	tx := s.tx
	if next == nil {
		release()
		entry.finish(max(0, r.RowsAffected), nil)
		return
	}
	r.next = func(ctx context.Context) (batch *vec.Batch, err error) {
		err = guard(func() (err error) {
			batch, err = next(ctx)
			return err
		})
		if err != nil {
			failure = canceled(ctx, err)
			if tx != nil {
				tx.failed.Store(true)
			}
			return nil, failure
		}
		if batch != nil {
			rows += int64(batch.Rows())
			batch = batch.Compact()
		}
		return batch, nil
	}
	r.close = func() {
		if closeInner != nil {
			closeInner()
		}
		release()
		entry.finish(rows, failure)
	}
}

// set changes a setting of the scope it belongs to.
func (s *Session) set(name, value string) error {
	described, err := lookupSetting(name)
	if err != nil {
		return err
	}
	if described.scope == EngineScope {
		return s.engine.settings.put(name, value)
	}
	return s.settings.put(name, value)
}

// setting returns a setting's value in force: the session's, else the engine's, else the initial one.
func (s *Session) setting(name string) string {
	described, ok := settings[name]
	if !ok {
		return ""
	}
	s.settings.mu.RLock()
	value, own := s.settings.set[name]
	s.settings.mu.RUnlock()
	if own && described.scope == SessionScope {
		return value
	}
	return s.engine.settings.get(name)
}

// Setting returns a setting by name, as SHOW does.
func (s *Session) Setting(name string) (string, error) {
	if _, err := lookupSetting(name); err != nil {
		return "", err
	}
	return s.setting(name), nil
}

// Set changes a setting, as SET does.
func (s *Session) Set(name, value string) error { return s.set(strings.ToLower(name), value) }

// searchPath returns the schemas unqualified names are looked up in, temporary tables first.
func (s *Session) searchPath() []string {
	var path []string
	if s.temp != "" {
		path = append(path, s.temp)
	}
	for _, name := range strings.Split(s.setting(settingSearchPath), ",") {
		name = strings.TrimSpace(name)
		if quoted, ok := strings.CutPrefix(name, `"`); ok {
			name = strings.ReplaceAll(strings.TrimSuffix(quoted, `"`), `""`, `"`)
		}
		if name == "$user" {
			name = s.user
		}
		if name != "" && !slices.Contains(path, name) {
			path = append(path, name)
		}
	}
	return path
}

// creationSchema returns the schema that unqualified new objects go to: the first of the search path that exists.
func (s *Session) creationSchema(snapshot *catalog.Snapshot) (string, error) {
	for _, name := range s.searchPath() {
		name = known(snapshot, name)
		if name != s.temp && snapshot.HasSchema(name) {
			return name, nil
		}
	}
	return "", sqlerr.New(sqlerr.InvalidSchema, "no schema has been selected to create in").
		Hintf("SET search_path to a schema that exists, or qualify the name")
}

// eval returns what functions may use beside their arguments.
func (s *Session) eval(ctx context.Context) *extension.Eval {
	zone, err := time.LoadLocation(s.setting(settingTimeZone))
	if err != nil {
		zone = time.UTC
	}
	now := time.Now()
	if s.tx != nil {
		now = s.tx.started
	}
	schema := "public"
	for _, name := range s.searchPath() {
		if name != s.temp {
			schema = name
			break
		}
	}
	snapshot := s.engine.catalog.Snapshot()
	if s.tx != nil && s.tx.view != nil {
		snapshot = s.tx.view
	}
	return &extension.Eval{
		Objects:   s.objects(snapshot),
		Sequences: &sessionSequences{ctx: ctx, session: s, snapshot: snapshot, path: s.searchPath()},
		Ctx:       ctx, Now: now, Zone: zone, Random: s.random.next, Seed: s.random.seed, Setting: s.Setting, Query: s.text, User: s.user, Database: Database, Schema: schema,
	}
}
