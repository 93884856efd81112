package flightsql

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tidemarkdb/tidemark/engine"
)

// session is what belongs to one caller. Its registry's mutex guards it.
type session struct {
	caller       caller
	engine       *engine.Session
	used         time.Time
	active       int // RPCs that use it now
	transactions map[string]*transaction
	prepared     map[string]*prepared
	tickets      map[string]*ticket
	closed       bool
}

// sessions is the registry of sessions, transactions, prepared statements and tickets.
type sessions struct {
	engine     *engine.Engine
	limit      int
	idle       time.Duration
	resultIdle time.Duration

	mu    sync.Mutex
	byKey map[string]*session
	ended sync.WaitGroup // sessions being closed
}

func newSessions(e *engine.Engine, o Options) *sessions {
	return &sessions{engine: e, limit: o.MaxSessions, idle: o.SessionIdle, resultIdle: o.ResultIdle, byKey: map[string]*session{}}
}

// of returns the caller's session, making it when it is missing and create is set; nil, nil when it is not. release
// tells that the RPC is done with it.
func (r *sessions) of(ctx context.Context, create bool) (s *session, release func(), err error) {
	c := callerOf(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.byKey[c.key]
	if !ok {
		if !create {
			return nil, func() {}, nil
		}
		if len(r.byKey) >= r.limit {
			return nil, nil, status.Errorf(codes.ResourceExhausted, "there are %d sessions already; close some", r.limit)
		}
		inner, err := r.engine.NewSession(engine.SessionOptions{User: c.user, ReadOnly: c.role == Reader})
		if err != nil {
			return nil, nil, err
		}
		s = &session{caller: c, engine: inner, transactions: map[string]*transaction{}, prepared: map[string]*prepared{},
			tickets: map[string]*ticket{}}
		r.byKey[c.key] = s
	}
	s.used = time.Now()
	s.active++
	return s, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		s.active--
		s.used = time.Now()
	}, nil
}

// count returns how many sessions there are.
func (r *sessions) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.byKey)
}

// end closes the session of a key, if there is one.
func (r *sessions) end(key string) bool {
	r.mu.Lock()
	s, ok := r.byKey[key]
	if ok {
		r.remove(s)
	}
	r.mu.Unlock()
	return ok
}

// remove takes a session out and closes it in the background: closing waits for its running statement. r.mu is held.
func (r *sessions) remove(s *session) {
	delete(r.byKey, s.caller.key)
	s.closed = true
	transactions, tickets := s.transactions, s.tickets
	s.transactions, s.tickets, s.prepared = nil, nil, nil
	r.ended.Go(func() {
		for _, t := range tickets {
			t.close()
		}
		for _, t := range transactions {
			t.engine.Close()
		}
		s.engine.Close()
	})
}

// expire ends what nobody used for long.
func (r *sessions) expire(now time.Time) {
	r.mu.Lock()
	var dropped []*ticket
	for _, s := range r.byKey {
		if s.active == 0 && now.Sub(s.used) > r.idle {
			r.remove(s)
			continue
		}
		for id, t := range s.tickets {
			if t.unread() && now.Sub(t.made) > r.resultIdle {
				delete(s.tickets, id)
				dropped = append(dropped, t)
			}
		}
		for id, p := range s.prepared {
			if now.Sub(p.used) > r.idle {
				delete(s.prepared, id)
			}
		}
	}
	r.mu.Unlock()
	for _, t := range dropped {
		t.close()
	}
}

// close ends every session and waits for it.
func (r *sessions) close() {
	r.mu.Lock()
	for _, s := range r.byKey {
		r.remove(s)
	}
	r.mu.Unlock()
	r.ended.Wait()
}

// find looks an identifier up in every session of the caller's user, its own first: clients reconnect.
func find[T any](r *sessions, ctx context.Context, in func(*session) map[string]T, id []byte) (*session, T, bool) {
	c := callerOf(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, ok := r.byKey[c.key]; ok {
		if x, ok := in(s)[string(id)]; ok {
			s.used = time.Now()
			return s, x, true
		}
	}
	for _, s := range r.byKey {
		if s.caller.user != c.user {
			continue
		}
		if x, ok := in(s)[string(id)]; ok {
			s.used = time.Now()
			return s, x, true
		}
	}
	var none T
	return nil, none, false
}

func transactionsOf(s *session) map[string]*transaction { return s.transactions }
func preparedOf(s *session) map[string]*prepared        { return s.prepared }
func ticketsOf(s *session) map[string]*ticket           { return s.tickets }

// sessionEnded is the error of an RPC whose session was closed under it.
func sessionEnded() error {
	return status.Error(codes.Aborted, "the session was closed meanwhile; connect again")
}

// put files x under a new identifier.
func put[T any](r *sessions, s *session, in func(*session) map[string]T, x T) ([]byte, error) {
	id := randomID()
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.closed {
		return nil, sessionEnded()
	}
	in(s)[string(id)] = x
	return id, nil
}

// take removes an identifier from a session and reports whether it was there.
func take[T any](r *sessions, s *session, in func(*session) map[string]T, id []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := in(s)[string(id)]
	delete(in(s), string(id))
	return ok
}

// hold keeps a session from expiring until the function it returns is called.
func (r *sessions) hold(s *session) func() {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.active++
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		s.active--
		s.used = time.Now()
	}
}
