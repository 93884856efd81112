package engine

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
)

// sequences hand out the numbers of all sequences of an engine. They are taken from the catalog in blocks, one commit
// for each, so that a number is given out once however many engines share the root; what is left of the blocks goes back
// when the engine closes.
type sequences struct {
	catalog *catalog.Catalog

	mu   sync.Mutex
	byID map[tablet.ID]*numbers
}

// numbers is the block at hand of one sequence.
type numbers struct {
	mu    sync.Mutex
	next  int64
	left  int64 // numbers of the block not given out
	end   int64 // the last of the block
	block int64 // how long the block was
	step  int64

	// pending says that the sequence was made in a transaction that is still open: position is where it is.
	pending  bool
	position catalog.Sequence
}

// The shortest and longest block. Blocks grow while they are used up.
const (
	minBlock = 32
	maxBlock = 1 << 16
)

func (q *sequences) of(id tablet.ID) *numbers {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.byID == nil {
		q.byID = map[tablet.ID]*numbers{}
	}
	n := q.byID[id]
	if n == nil {
		n = &numbers{}
		q.byID[id] = n
	}
	return n
}

// next takes a number of a sequence that a session sees as seen.
func (q *sequences) next(ctx context.Context, seen *catalog.Sequence) (int64, error) {
	n := q.of(seen.ID)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.left == 0 {
		if err := q.refill(ctx, n, seen); err != nil {
			return 0, err
		}
	}
	value := n.next
	if n.left--; n.left > 0 {
		n.next += n.step
	}
	return value, nil
}

// refill takes the next block.
func (q *sequences) refill(ctx context.Context, n *numbers, seen *catalog.Sequence) error {
	n.block = min(max(minBlock, 2*n.block), maxBlock)
	for run := 1; ; run++ {
		stored := q.stored(seen)
		at := stored
		if at == nil { // of an open transaction
			if !n.pending {
				n.pending, n.position = true, *seen
			}
			at = &n.position
		}
		first, count, err := block(at, n.block)
		if err != nil {
			return err
		}
		last := first + (count-1)*at.Increment
		if stored != nil {
			_, err = q.catalog.Commit(ctx, &catalog.TakeNumbers{ID: at.ID, Schema: at.Schema, Name: at.Name, From: at.Last, FromCalled: at.Called,
				Last: last, Called: true})
			if sqlerr.Code(err) == sqlerr.SerializationFailure && run < maxStatementRuns {
				continue
			}
			if err != nil {
				return err
			}
		} else {
			// The block ends with the number at hand, so that the commit finds the position exact.
			count, last = 1, first
			n.position.Last, n.position.Called = first, true
		}
		n.next, n.left, n.end, n.step = first, count, last, at.Increment
		return nil
	}
}

// stored returns a sequence as the newest catalog has it, nil when it was not committed yet.
func (q *sequences) stored(seen *catalog.Sequence) *catalog.Sequence {
	snapshot := q.catalog.Snapshot()
	if s, err := snapshot.Sequence(seen.Schema, seen.Name); err == nil && s.ID == seen.ID {
		return s
	}
	for s := range snapshot.Sequences("") {
		if s.ID == seen.ID {
			return s
		}
	}
	return nil
}

// block returns the first of up to n next numbers of a sequence, and how many there are before its end.
func block(s *catalog.Sequence, n int64) (first, count int64, err error) {
	first = s.Last
	if s.Called {
		switch {
		case s.Increment > 0 && uint64(s.Max)-uint64(s.Last) >= uint64(s.Increment),
			s.Increment < 0 && uint64(s.Last)-uint64(s.Min) >= -uint64(s.Increment):
			first += s.Increment
		case !s.Cycle && s.Increment > 0:
			return 0, 0, sqlerr.New(sqlerr.SequenceLimit, "nextval: reached maximum value of sequence %q (%d)", s.Name, s.Max).
				Hintf("ALTER SEQUENCE %s with a larger MAXVALUE, or RESTART it", s.Name)
		case !s.Cycle:
			return 0, 0, sqlerr.New(sqlerr.SequenceLimit, "nextval: reached minimum value of sequence %q (%d)", s.Name, s.Min).
				Hintf("ALTER SEQUENCE %s with a smaller MINVALUE, or RESTART it", s.Name)
		case s.Increment > 0:
			first = s.Min
		default:
			first = s.Max
		}
	}
	room := uint64(s.Max) - uint64(first)
	step := uint64(s.Increment)
	if s.Increment < 0 {
		room, step = uint64(first)-uint64(s.Min), -step
	}
	return first, int64(min(room/step, uint64(n)-1)) + 1, nil
}

// set moves a sequence. What is left of the block is forgotten.
func (q *sequences) set(ctx context.Context, seen *catalog.Sequence, value int64, called bool) error {
	if value < seen.Min || value > seen.Max {
		return sqlerr.New(sqlerr.NumericOutOfRange, "setval: value %d is out of bounds for sequence %q (%d..%d)", value, seen.Name, seen.Min, seen.Max).
			Hintf("set a number of the sequence's range")
	}
	n := q.of(seen.ID)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.left, n.block = 0, 0
	stored := q.stored(seen)
	if stored == nil {
		if !n.pending {
			n.pending, n.position = true, *seen
		}
		n.position.Last, n.position.Called = value, called
		return nil
	}
	_, err := q.catalog.Commit(ctx, &catalog.TakeNumbers{ID: stored.ID, Schema: stored.Schema, Name: stored.Name, Last: value, Called: called, Force: true})
	return err
}

// settle gives back what is left of a sequence's block and returns where the sequence is.
func (q *sequences) settle(ctx context.Context, seen *catalog.Sequence) (*catalog.Sequence, error) {
	n := q.of(seen.ID)
	n.mu.Lock()
	defer n.mu.Unlock()
	stored := q.stored(seen)
	if stored == nil {
		if n.pending {
			return &n.position, nil
		}
		return seen, nil
	}
	if n.left > 0 && stored.Called && stored.Last == n.end {
		moved := *stored
		moved.Last = n.next - n.step // a block that has numbers left gave out at least one
		_, err := q.catalog.Commit(ctx, &catalog.TakeNumbers{ID: stored.ID, Schema: stored.Schema, Name: stored.Name,
			From: stored.Last, FromCalled: true, Last: moved.Last, Called: moved.Called})
		if err != nil {
			return nil, err
		}
		stored = &moved
	}
	n.left, n.block = 0, 0
	return stored, nil
}

// close gives back what is left of all blocks.
func (q *sequences) close(ctx context.Context) error {
	q.mu.Lock()
	ids := make([]tablet.ID, 0, len(q.byID))
	for id, n := range q.byID {
		if n.left > 0 {
			ids = append(ids, id)
		}
	}
	q.mu.Unlock()
	if len(ids) == 0 {
		return nil
	}
	var errs []error
	for s := range q.catalog.Snapshot().Sequences("") {
		if slices.Contains(ids, s.ID) {
			_, err := q.settle(ctx, s)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// positions returns the edits that store where sequences are which a transaction made and used.
func (q *sequences) positions(view *catalog.Snapshot, edits []catalog.Edit) []catalog.Edit {
	var out []catalog.Edit
	for _, edit := range edits {
		created, ok := edit.(*catalog.CreateSequence)
		if !ok {
			continue
		}
		n := q.of(created.Sequence.ID)
		n.mu.Lock()
		if n.pending {
			for s := range view.Sequences("") {
				if s.ID == created.Sequence.ID {
					out = append(out, &catalog.TakeNumbers{ID: s.ID, Schema: s.Schema, Name: s.Name, Last: n.position.Last, Called: n.position.Called, Force: true})
				}
			}
		}
		n.mu.Unlock()
	}
	return out
}

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

// createSequence runs CREATE SEQUENCE.
func (s *Session) createSequence(ctx context.Context, snapshot *catalog.Snapshot, t *sql.CreateSequence) error {
	o, err := s.newRelation(ctx, snapshot, t.Name, t.Temp)
	if err != nil {
		return err
	}
	q := catalog.Sequence{ID: tablet.NewID(), Schema: o.schema, Name: o.name, Type: "bigint", Increment: 1}
	if err := sequenceOptions(&q, t.Options, true); err != nil {
		return sqlerr.From(err).At(t.Pos)
	}
	if q.Last = q.Start; t.Options.OwnedBy != nil {
		if q.Owner, err = s.sequenceOwner(snapshot, t.Options.OwnedBy); err != nil {
			return err
		}
	}
	return s.commit(ctx, &catalog.CreateSequence{Sequence: q, IfNotExists: t.IfNotExists, OrReplace: t.OrReplace})
}

// sequenceOwner returns the table of OWNED BY table.column.
func (s *Session) sequenceOwner(snapshot *catalog.Snapshot, n sql.Name) (tablet.TableID, error) {
	if len(n) < 2 {
		return 0, sqlerr.New(sqlerr.SyntaxError, "invalid OWNED BY option").Hintf("specify OWNED BY table.column or OWNED BY NONE").At(n.Position())
	}
	t, err := s.table(snapshot, n[:len(n)-1])
	if err != nil {
		return 0, err
	}
	if _, ok := t.Column(n.Last().Name); !ok {
		return 0, missingColumn(t, n.Last())
	}
	return t.ID, nil
}

// sequenceOptions applies what a statement says to a sequence.
func sequenceOptions(q *catalog.Sequence, o sql.SequenceOptions, fresh bool) error {
	limits := map[string][2]int64{"smallint": {math.MinInt16, math.MaxInt16}, "integer": {math.MinInt32, math.MaxInt32}, "bigint": {math.MinInt64, math.MaxInt64}}
	if o.Type != nil {
		name := map[string]string{"smallint": "smallint", "int2": "smallint", "integer": "integer", "int": "integer", "int4": "integer", "bigint": "bigint", "int8": "bigint"}[o.Type.Name]
		if name == "" {
			return sqlerr.New(sqlerr.InvalidParameterValue, "sequence type must be smallint, integer, or bigint").Hintf("use BIGINT")
		}
		q.Type = name
	}
	limit := limits[q.Type]
	if o.Increment != nil {
		q.Increment = *o.Increment
	}
	retyped := !fresh && o.Type != nil
	if o.Min != nil {
		q.Min = *o.Min
	} else if fresh || o.NoMin || retyped {
		if q.Min = 1; q.Increment < 0 {
			q.Min = limit[0]
		}
	}
	if o.Max != nil {
		q.Max = *o.Max
	} else if fresh || o.NoMax || retyped {
		if q.Max = limit[1]; q.Increment < 0 {
			q.Max = -1
		}
	}
	if q.Min < limit[0] || q.Max > limit[1] {
		return sqlerr.New(sqlerr.InvalidParameterValue, "MINVALUE (%d) or MAXVALUE (%d) is out of range for sequence data type %s", q.Min, q.Max, q.Type).
			Hintf("use AS BIGINT, or a narrower range")
	}
	if o.Cycle != nil {
		q.Cycle = *o.Cycle
	}
	switch {
	case o.Start != nil:
		q.Start = *o.Start
	case fresh && q.Increment > 0:
		q.Start = q.Min
	case fresh:
		q.Start = q.Max
	}
	if fresh {
		return nil
	}
	if o.Restart {
		if q.Last, q.Called = q.Start, false; o.RestartAt != nil {
			q.Last = *o.RestartAt
		}
	}
	if q.Last < q.Min || q.Last > q.Max {
		return sqlerr.New(sqlerr.InvalidParameterValue, "RESTART value (%d) is not between MINVALUE (%d) and MAXVALUE (%d)", q.Last, q.Min, q.Max).
			Hintf("RESTART WITH a number of the range")
	}
	return nil
}

// alterSequence runs ALTER SEQUENCE with options.
func (s *Session) alterSequence(ctx context.Context, snapshot *catalog.Snapshot, t *sql.AlterSequence) error {
	found, err := findSequence(snapshot, s.searchPath(), t.Name)
	if err != nil {
		if t.IfExists && missingOK(err) {
			return nil
		}
		return sqlerr.From(err).At(t.Name.Position())
	}
	at, err := s.engine.sequences.settle(ctx, found)
	if err != nil {
		return err
	}
	q := *found
	q.Last, q.Called = at.Last, at.Called
	if err := sequenceOptions(&q, t.Options, false); err != nil {
		return sqlerr.From(err).At(t.Pos)
	}
	if len(t.Options.OwnedBy) > 0 {
		if q.Owner, err = s.sequenceOwner(snapshot, t.Options.OwnedBy); err != nil {
			return err
		}
	}
	return s.commit(ctx, &catalog.AlterSequence{Sequence: q})
}

// sequenceCalls calls fn for the names of sequences that the functions of an expression are given as literals.
func sequenceCalls(e sql.Expr, fn func(*sql.String) error) (err error) {
	sql.Walk(e, func(n sql.Node) bool {
		call, ok := n.(*sql.FuncCall)
		if !ok || len(call.Args) == 0 || err != nil {
			return err == nil
		}
		switch call.Name.Last().Name {
		case "nextval", "currval", "setval":
			arg := call.Args[0].Value
			if c, ok := arg.(*sql.Cast); ok {
				arg = c.Operand
			}
			if text, ok := arg.(*sql.String); ok {
				err = fn(text)
			}
		}
		return err == nil
	})
	return err
}

// pinSequences gives the sequences that a default takes numbers of their full names.
func (s *Session) pinSequences(snapshot *catalog.Snapshot, e sql.Expr) error {
	return sequenceCalls(e, func(text *sql.String) error {
		name, err := parseName(text.Value)
		if err != nil {
			return err
		}
		q, err := findSequence(snapshot, s.searchPath(), name)
		if err != nil {
			return sqlerr.From(err).At(text.Pos)
		}
		text.Value = sequenceName(q)
		return nil
	})
}

func sequenceName(q *catalog.Sequence) string {
	return sql.Text(&sql.Column{Name: sql.Name{{Name: q.Schema, Quoted: true}, {Name: q.Name, Quoted: true}}})
}

// users returns the columns whose defaults take numbers of a sequence, by table.
func users(snapshot *catalog.Snapshot, q *catalog.Sequence) map[*catalog.Table][]string {
	out := map[*catalog.Table][]string{}
	name := sequenceName(q)
	for t := range snapshot.Tables("") {
		for _, c := range t.Columns {
			if !strings.Contains(c.Default, "val(") {
				continue
			}
			if e, err := sql.ParseExpr(c.Default); err == nil {
				_ = sequenceCalls(e, func(text *sql.String) error {
					if text.Value == name {
						out[t] = append(out[t], c.Name)
					}
					return nil
				})
			}
		}
	}
	return out
}

// dropSequences runs DROP SEQUENCE. With CASCADE the defaults that use it go too.
func (s *Session) dropSequences(ctx context.Context, t *sql.Drop) error {
	return s.atomically(ctx, func() error {
		for _, name := range t.Names {
			if err := s.dropSequence(ctx, t, name); err != nil {
				return sqlerr.From(err).At(name.Position())
			}
		}
		return nil
	})
}

func (s *Session) dropSequence(ctx context.Context, t *sql.Drop, name sql.Name) error {
	snapshot, release := s.snapshot()
	defer release()
	q, err := findSequence(snapshot, s.searchPath(), name)
	if err != nil {
		if t.IfExists && missingOK(err) {
			return nil
		}
		return err
	}
	for table, names := range users(snapshot, q) {
		if !t.Cascade {
			return sqlerr.New(sqlerr.DependentObjects, "cannot drop sequence %s because other objects depend on it", q.Name).
				Detailf("default value for column %s of table %s depends on sequence %s", names[0], table.Name, q.Name).
				Hintf("use DROP SEQUENCE ... CASCADE to drop the default too")
		}
		columns := slices.Clone(table.Columns)
		for i := range columns {
			if slices.Contains(names, columns[i].Name) {
				columns[i].Default = ""
			}
		}
		if err := s.putColumns(ctx, table, columns, table.PrimaryIndex, 0); err != nil {
			return err
		}
	}
	return s.commit(ctx, &catalog.DropSequence{Schema: q.Schema, Name: q.Name})
}

// renameSequence runs ALTER SEQUENCE ... RENAME TO and SET SCHEMA, in the defaults that use it too.
func (s *Session) renameSequence(ctx context.Context, t *sql.Alter) error {
	snapshot, release := s.snapshot()
	defer release()
	found, err := findSequence(snapshot, s.searchPath(), t.Name)
	if err != nil {
		return sqlerr.From(err).At(t.Name.Position())
	}
	moved := *found
	if action := t.Actions[0]; action.Kind == sql.SetSchema {
		moved.Schema = action.NewName.Name
	} else {
		moved.Name = action.NewName.Name
	}
	at, err := s.engine.sequences.settle(ctx, found)
	if err != nil {
		return err
	}
	moved.Last, moved.Called = at.Last, at.Called
	for table := range users(snapshot, found) {
		columns := slices.Clone(table.Columns)
		for i := range columns {
			e, err := sql.ParseExpr(columns[i].Default)
			if err != nil {
				continue
			}
			_ = sequenceCalls(e, func(text *sql.String) error {
				if text.Value == sequenceName(found) {
					text.Value = sequenceName(&moved)
				}
				return nil
			})
			columns[i].Default = sql.Text(e)
		}
		if err := s.putColumns(ctx, table, columns, table.PrimaryIndex, 0); err != nil {
			return err
		}
	}
	return s.commit(ctx, &catalog.AlterSequence{Sequence: moved})
}
