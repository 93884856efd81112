package postgres

import (
	"errors"
	"time"

	"github.com/jackc/pglogrepl"

	"github.com/tidemarkdb/tidemark/extension"
)

// errMessage is a pgoutput message that does not have the form the protocol documents (PostgreSQL documentation,
// "Logical Replication Message Formats").
var errMessage = errors.New("it is malformed")

// change acts on one pgoutput message.
func (s *stream) change(data []byte) error {
	if len(data) == 0 {
		return errMessage
	}
	r := &cursor{rest: data[1:]}
	switch data[0] {
	case 'B':
		s.skip = pglogrepl.LSN(r.uint64()) < s.after
		s.inside = true
	case 'C':
		r.uint8()
		r.uint64()
		end, at := pglogrepl.LSN(r.uint64()), commitTime(r.uint64())
		if r.bad {
			return errMessage
		}
		s.ended(end, at, s.skip)
		s.inside, s.skip = false, false
	case 'S':
		s.chunk = r.uint32()
	case 'E':
		s.chunk = 0
	case 'A':
		top, xid := r.uint32(), r.uint32()
		if !r.bad {
			s.spools.abort(top, xid)
		}
	case 'c':
		return s.streamCommit(r)
	case 'R', 'I', 'U', 'D', 'T':
		return s.tableMessage(data)
	case 'Y', 'O', 'M': // types are known from the catalog; origins and logical messages do not concern tables
		return nil
	default:
		return errMessage
	}
	if r.bad {
		return errMessage
	}
	return nil
}

// ended notes the end of a transaction.
func (s *stream) ended(end pglogrepl.LSN, at time.Time, skipped bool) {
	s.received(end)
	if !skipped {
		s.run.commit(max(end, s.after), at)
	}
}

// tableMessage acts on a message about tables at once, or keeps it when its transaction has not committed.
func (s *stream) tableMessage(data []byte) error {
	if s.chunk == 0 {
		if s.skip && data[0] != 'R' {
			return nil
		}
		return s.apply(data, &s.relation)
	}
	if len(data) < 5 {
		return errMessage
	}
	r := &cursor{rest: data[1:]}
	xid := r.uint32()
	if !s.concerns(data[0], r.rest) {
		return nil
	}
	return s.spools.add(s.chunk, xid, data[:1], r.rest)
}

// concerns reports whether a message is about our table, so that it has to be kept.
func (s *stream) concerns(kind byte, body []byte) bool {
	r := &cursor{rest: body}
	if kind != 'T' {
		return r.uint32() == s.table.oid
	}
	n := r.uint32()
	r.uint8()
	for range n {
		if r.uint32() == s.table.oid {
			return true
		}
		if r.bad {
			break
		}
	}
	return false
}

// apply acts on a message about tables; relation is where the layout of our table's rows is kept.
func (s *stream) apply(data []byte, layout **relation) error {
	r := &cursor{rest: data[1:]}
	kind := data[0]
	if kind == 'T' {
		if s.concerns(kind, r.rest) {
			s.run.truncate()
		}
		return nil
	}
	oid := r.uint32()
	if kind == 'R' {
		return s.applyRelation(r, oid, layout)
	}
	if r.bad {
		return errMessage
	}
	if oid != s.table.oid {
		return nil
	}
	if *layout == nil {
		return errMessage // a row before its Relation
	}
	if err := (*layout).fault; err != nil {
		return err
	}
	switch kind {
	case 'I':
		return s.insert(r, *layout)
	case 'U':
		return s.update(r, *layout)
	}
	return s.delete(r, *layout)
}

func (s *stream) applyRelation(r *cursor, oid uint32, layout **relation) error {
	if oid == s.table.oid {
		next, err := s.parseRelation(r)
		if err == nil {
			*layout = next
		}
		return err
	}
	if schema, name := r.text(), r.text(); schema == s.table.schema && name == s.table.name {
		return tableChanged("%s was dropped and made anew at the source", s.table.qualified())
	}
	return nil
}

// tuple is a row as a message carries it. Where the new row left a large value out, that of the old one stands in: of a
// key only the key columns mean something, the others are marked NULL whatever they hold; a full old row means all.
type tuple struct {
	fields []field
	place  []int
	old    *tuple
	full   bool // old is a full row
}

// at returns the field of a target column.
func (t *tuple) at(c *column, i int) field {
	f := t.fields[t.place[i]]
	if f.kind == 'u' && t.old != nil && (t.full || c.key) {
		return t.old.fields[t.place[i]]
	}
	return f
}

// read parses the row of layout l that follows, reusing t.
func (t *tuple) read(r *cursor, l *relation) error {
	parsed, err := parseTuple(r, t.fields)
	if err != nil {
		return err
	}
	if len(parsed) != l.sent {
		return errMessage
	}
	*t = tuple{fields: parsed, place: l.place}
	return nil
}

func (s *stream) insert(r *cursor, l *relation) error {
	if r.uint8() != 'N' {
		return errMessage
	}
	if err := s.now.read(r, l); err != nil {
		return err
	}
	if err := s.run.add(extension.Insert, "in an insert", &s.now); err != nil {
		return err
	}
	s.run.counts.inserts++
	return nil
}

// update appends the new row and, when the key moved, the delete of the old key before it.
func (s *stream) update(r *cursor, l *relation) error {
	const where = "in an update"
	kind, old := r.uint8(), (*tuple)(nil)
	full := kind == 'O'
	if kind == 'K' || kind == 'O' {
		if err := s.old.read(r, l); err != nil {
			return err
		}
		old, kind = &s.old, r.uint8()
	}
	if kind != 'N' {
		return errMessage
	}
	if err := s.now.read(r, l); err != nil {
		return err
	}
	s.now.old, s.now.full = old, full
	if old != nil && !s.run.sameKey(old, &s.now) {
		row := int32(len(s.run.ops))
		if err := s.run.addKey(extension.Delete, where, old); err != nil {
			return err
		}
		s.run.moved = append(s.run.moved, [2]int32{row, row + 1})
	}
	if err := s.run.add(extension.Update, where, &s.now); err != nil {
		return err
	}
	s.run.counts.updates++
	return nil
}

func (s *stream) delete(r *cursor, l *relation) error {
	if kind := r.uint8(); kind != 'K' && kind != 'O' {
		return errMessage
	}
	if err := s.old.read(r, l); err != nil {
		return err
	}
	if err := s.run.addKey(extension.Delete, "in a delete", &s.old); err != nil {
		return err
	}
	s.run.counts.deletes++
	return nil
}

// replay is a streamed transaction that has committed and is being delivered.
type replay struct {
	*spoolReader
	layout *relation // the server sends one in every streamed transaction
	skip   bool      // it committed before the position
	end    pglogrepl.LSN
	at     time.Time
}

// streamCommit begins the delivery of a streamed transaction.
//
//	xid int32 | flags byte | commit lsn | end lsn | time int64
func (s *stream) streamCommit(r *cursor) error {
	top := r.uint32()
	r.uint8()
	commit, end, at := pglogrepl.LSN(r.uint64()), pglogrepl.LSN(r.uint64()), commitTime(r.uint64())
	if r.bad {
		return errMessage
	}
	sp := s.spools.take(top)
	if sp == nil {
		s.ended(end, at, commit < s.after)
		return nil
	}
	reader, err := sp.reader()
	if err != nil {
		sp.close()
		return err
	}
	s.replay = &replay{spoolReader: reader, skip: commit < s.after, end: end, at: at}
	return nil
}

// replayNext delivers the next message of the replay.
func (s *stream) replayNext() error {
	message, dropped, err := s.replay.next()
	if err != nil {
		return err
	}
	if message != nil {
		// A layout sent within a rolled back savepoint counts as sent in the whole transaction.
		if (dropped || s.replay.skip) && message[0] != 'R' {
			return nil
		}
		return s.apply(message, &s.replay.layout)
	}
	// The server counts a layout it sent within the transaction as sent, unless it was invalidated; then a later one
	// was or will be received.
	if l := s.replay.layout; l != nil && (s.relation == nil || l.received > s.relation.received) {
		s.relation = l
	}
	s.replay.spool.close()
	s.ended(s.replay.end, s.replay.at, s.replay.skip)
	s.replay = nil
	return nil
}

// commitTime converts microseconds since 2000.
func commitTime(micros uint64) time.Time { return time.UnixMicro(int64(micros) + epochMicros).UTC() }
