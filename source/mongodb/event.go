package mongodb

import (
	"bytes"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

const kindDocument = bson.TypeEmbeddedDocument

// The kinds of changes that matter; the others do not touch documents.
const (
	opInsert       = "insert"
	opUpdate       = "update"
	opReplace      = "replace"
	opDelete       = "delete"
	opDrop         = "drop"
	opRename       = "rename"
	opDropDatabase = "dropDatabase"
	opInvalidate   = "invalidate"
)

// event is one change event. What it refers to is borrowed from the documents it was read from.
type event struct {
	op    string
	token bson.Raw
	time  bson.Timestamp
	key   value // documentKey
	full  value // fullDocument; null or missing when there is none
	// Of a transaction over several documents:
	transaction bool
	session     []byte
	number      int64
	// Of an event that was split because it is too large; 0 of 0 when it was not.
	fragment, fragments int64
}

// read takes over what a change event, or a fragment of one, holds.
func (ev *event) read(raw []byte) error {
	e, err := open(raw)
	if err != nil {
		return err
	}
	for {
		name, v, ok, err := e.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if err := ev.take(string(name), v); err != nil {
			return err
		}
	}
	if ev.token.Validate() != nil { // it becomes part of a position
		return fmt.Errorf("%w: a change without a resume token", errBSON)
	}
	return nil
}

func (ev *event) take(name string, v value) (err error) {
	var text []byte
	switch {
	case name == "_id" && v.kind == kindDocument:
		ev.token = v.data
	case name == "operationType" && v.kind == bson.TypeString:
		text, err = v.text()
		ev.op = string(text)
	case name == "clusterTime" && v.kind == bson.TypeTimestamp:
		ev.time = v.timestamp()
	case name == "documentKey" && v.kind == kindDocument:
		ev.key = v
	case name == "fullDocument":
		ev.full = v
	case name == "lsid" && v.kind == kindDocument:
		ev.session = v.data
	case name == "txnNumber" && v.kind == bson.TypeInt64:
		ev.transaction, ev.number = true, v.int64()
	case name == "splitEvent" && v.kind == kindDocument:
		ev.fragment, ev.fragments, err = split(v.data)
	}
	return err
}

// split reads {fragment: int, of: int}.
func split(document []byte) (fragment, of int64, err error) {
	for name, into := range map[string]*int64{"fragment": &fragment, "of": &of} {
		v, err := field(document, name)
		if err != nil {
			return 0, 0, err
		}
		switch v.kind {
		case bson.TypeInt32, bson.TypeInt64:
			*into = v.int64()
		default:
			return 0, 0, fmt.Errorf("%w: splitEvent without %s", errBSON, name)
		}
	}
	return fragment, of, nil
}

// follows reports whether next is a change of the same transaction as ev.
func (ev *event) follows(next *event) bool {
	return ev.transaction && next.transaction && ev.number == next.number && bytes.Equal(ev.session, next.session) && ev.time == next.time
}

// assembly puts split events together.
type assembly struct{ partial *event }

// add reads a change event and returns it, or nil when more of its fragments are to come.
func (a *assembly) add(raw []byte) (*event, error) {
	if a.partial == nil {
		ev := &event{}
		if err := ev.read(raw); err != nil {
			return nil, err
		}
		if ev.fragments == 0 {
			return ev, nil
		}
		if ev.fragment != 1 {
			return nil, brokenSplit(1, ev)
		}
		a.partial = ev
	} else {
		want := a.partial.fragment + 1
		if err := a.partial.read(raw); err != nil {
			return nil, err
		}
		if a.partial.fragment != want {
			return nil, brokenSplit(want, a.partial)
		}
	}
	if a.partial.fragment < a.partial.fragments {
		return nil, nil
	}
	ev := a.partial
	a.partial = nil
	return ev, nil
}

// brokenSplit is transient: the stream starts anew before the event.
func brokenSplit(want int64, ev *event) error {
	return sqlerr.New(sqlerr.ForeignDataError, "the source sent fragment %d of %d of a change where fragment %d was due", ev.fragment, ev.fragments, want).
		Hintf("the stream is opened again before the change")
}

// damaged is the error of a document that cannot be read.
func damaged(where string, err error) error {
	return extension.Permanent(sqlerr.New(sqlerr.ForeignDataError, "a document %s cannot be read: %w", where, err).
		Hintf("validate the collection at the source: db.collection.validate({full: true})"))
}
