package engine

import (
	"context"
	"sync"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
)

// sessionSequences are the sequences as one statement of a session sees them. It implements extension.Sequences.
type sessionSequences struct {
	ctx      context.Context
	session  *Session
	snapshot *catalog.Snapshot
	path     []string

	mu    sync.Mutex
	found map[string]*catalog.Sequence
}

// lastNumbers is what nextval gave in a session.
type lastNumbers struct {
	mu   sync.Mutex
	last tablet.ID
	by   map[tablet.ID]int64
}

func (n *lastNumbers) put(id tablet.ID, value int64, taken bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.by == nil {
		n.by = map[tablet.ID]int64{}
	}
	n.by[id] = value
	if taken {
		n.last = id
	}
}

func (n *lastNumbers) forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last, n.by = 0, nil
}

// find returns the sequence of a name in SQL text.
func (q *sessionSequences) find(name string) (*catalog.Sequence, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if s := q.found[name]; s != nil {
		return s, nil
	}
	n, err := parseName(name)
	if err != nil {
		return nil, err
	}
	s, err := findSequence(q.snapshot, q.path, n)
	if err != nil {
		return nil, err
	}
	if q.found == nil {
		q.found = map[string]*catalog.Sequence{}
	}
	q.found[name] = s
	return s, nil
}

// parseName reads a name as it is written in SQL.
func parseName(text string) (sql.Name, error) {
	e, err := sql.ParseExpr(text)
	if c, ok := e.(*sql.Column); err == nil && ok {
		return c.Name, nil
	}
	return nil, sqlerr.New(sqlerr.InvalidName, "invalid name syntax: %q", text).Hintf("write schema.name, with double quotes where SQL needs them")
}

func findSequence(snapshot *catalog.Snapshot, path []string, n sql.Name) (*catalog.Sequence, error) {
	o, err := split(n)
	if err != nil {
		return nil, err
	}
	if o.schema != "" {
		return snapshot.Sequence(known(snapshot, o.schema), o.name)
	}
	missing := error(sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", o.name).Hintf("CREATE SEQUENCE %s makes it", o.name))
	for _, schema := range path {
		s, err := snapshot.Sequence(known(snapshot, schema), o.name)
		if err == nil {
			return s, nil
		}
		if !missingOK(err) {
			return nil, err
		}
	}
	return nil, missing
}

func (q *sessionSequences) writable() error {
	switch {
	case q.session.readOnly:
		return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for a sequence: user %q has the role reader", q.session.user).
			Hintf("ask for the role admin")
	case q.session.engine.options.ReadOnly:
		return readOnlyEngine()
	}
	return nil
}

// Next implements extension.Sequences.
func (q *sessionSequences) Next(name string) (int64, error) {
	s, err := q.find(name)
	if err == nil {
		err = q.writable()
	}
	if err != nil {
		return 0, err
	}
	value, err := q.session.engine.sequences.next(q.ctx, s)
	if err == nil {
		q.session.numbers.put(s.ID, value, true)
	}
	return value, err
}

// Current implements extension.Sequences.
func (q *sessionSequences) Current(name string) (int64, error) {
	s, err := q.find(name)
	if err != nil {
		return 0, err
	}
	n := q.session.numbers
	n.mu.Lock()
	defer n.mu.Unlock()
	value, ok := n.by[s.ID]
	if !ok {
		return 0, sqlerr.New(sqlerr.ObjectNotInPrerequisite, "currval of sequence %q is not yet defined in this session", s.Name).
			Hintf("nextval('%s') takes a number first", s.Name)
	}
	return value, nil
}

// Last implements extension.Sequences.
func (q *sessionSequences) Last() (int64, error) {
	n := q.session.numbers
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.last == 0 {
		return 0, sqlerr.New(sqlerr.ObjectNotInPrerequisite, "lastval is not yet defined in this session").Hintf("nextval takes a number first")
	}
	return n.by[n.last], nil
}

// Set implements extension.Sequences.
func (q *sessionSequences) Set(name string, value int64, called bool) error {
	s, err := q.find(name)
	if err == nil {
		err = q.writable()
	}
	if err == nil {
		err = q.session.engine.sequences.set(q.ctx, s, value, called)
	}
	if err == nil && called {
		q.session.numbers.put(s.ID, value, false)
	}
	return err
}
