package engine

import (
	"maps"

	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// Fork returns a session of the same user that shares the settings of s and sees its temporary tables, but has a
// transaction of its own: a client with several transactions on one connection runs each on a fork. Close forks before s.
func (s *Session) Fork() *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &Session{
		engine: s.engine, user: s.user, readOnly: s.readOnly, settings: s.settings, numbers: s.numbers, prepared: maps.Clone(s.prepared),
		temp: s.temp, parent: s,
	}
}

// handBack gives the schema of temporary tables, if the fork made one, to the session it was forked from.
func (s *Session) handBack() {
	made := s.temp
	s.temp = ""
	if made == "" {
		return
	}
	s.parent.mu.Lock()
	defer s.parent.mu.Unlock()
	switch s.parent.temp {
	case "":
		s.parent.temp = made
	case made:
	default: // both made one at the same time
		s.temp = made
		s.dropTemporary()
	}
}

// refuseChange returns why a session that may only read does not run a statement.
func (s *Session) refuseChange(statement sql.Statement) error {
	if !s.readOnly || s.onlyReads(statement) {
		return nil
	}
	return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied: user %q has the role reader", s.user).
		Hintf("readers may query and change settings of their session; ask for the role admin").At(statement.Position())
}

// onlyReads reports whether a statement changes nothing but the session.
func (s *Session) onlyReads(statement sql.Statement) bool {
	if changesData(statement) {
		return false
	}
	switch t := statement.(type) {
	case sql.QueryExpr, *sql.Show, *sql.Describe, *sql.Transaction, *sql.SetTransaction, *sql.Use, *sql.Discard, *sql.Deallocate,
		*sql.DeclareCursor, *sql.Fetch, *sql.CloseCursor,
		*sql.Execute: // what it executes was checked when it was prepared
		return true
	case *sql.Explain:
		return s.onlyReads(t.Statement)
	case *sql.Prepare:
		return s.onlyReads(t.Statement)
	case *sql.Set:
		return settings[t.Name].scope == SessionScope
	case *sql.Reset:
		return settings[t.Name].scope == SessionScope
	}
	return false
}
