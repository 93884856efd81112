package mongodb

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// inStream says for messages where a document was met.
const inStream = "in the change stream"

// apply turns a change into a row.
func (s *stream) apply(ctx context.Context, ev *event) error {
	op := extension.Update
	switch ev.op {
	case opInsert:
		op = extension.Insert
		s.run.counts.inserts++
	case opUpdate, opReplace:
		s.run.counts.updates++
	case opDelete:
		op = extension.Delete
		s.run.counts.deletes++
	case opDrop, opRename, opDropDatabase, opInvalidate:
		return s.ended(ctx, ev)
	default:
		return nil
	}
	if err := s.checkKey(ev); err != nil {
		return err
	}
	document := ev.full
	if op != extension.Delete && document.null() {
		if ev.op != opUpdate {
			return damaged(inStream, errBSON)
		}
		var err error
		if document, err = s.lookup(ctx, ev); err != nil {
			return err
		}
		if document.missing() { // deleted meanwhile: the delete is still to come, and does no harm then
			op = extension.Delete
		}
	}
	if op == extension.Delete {
		if err := s.run.addKey(ev.key.data, inStream); err != nil {
			return err
		}
	} else if err := s.run.add(document.data, inStream); err != nil {
		return err
	}
	s.run.ops = append(s.run.ops, op)
	return nil
}

// checkKey looks at what identifies the document: its _id, and in a sharded collection the fields of the shard key.
func (s *stream) checkKey(ev *event) error {
	if ev.key.kind != kindDocument {
		return damaged(inStream, errBSON)
	}
	if s.uniqueID {
		return nil
	}
	e, err := open(ev.key.data)
	if err != nil {
		return damaged(inStream, err)
	}
	for {
		name, _, ok, err := e.next()
		if err != nil {
			return damaged(inStream, err)
		}
		if !ok {
			return nil
		}
		if string(name) != idField {
			return extension.Permanent(sqlerr.New(sqlerr.InvalidTableDefinition,
				"%s.%s is sharded by %s, so two shards may have documents of the same _id", s.database, s.collection, name).
				Hintf("if the application sees to it that _id is unique over all shards, as generated ObjectIds are, create the stream with unique_id = 'on'"))
		}
	}
}

// lookup returns the document of a change that came without one, the zero value when it is gone. The server has looked
// already unless it was to give the image after the change, which it keeps for a limited time only.
func (s *stream) lookup(ctx context.Context, ev *event) (value, error) {
	if !s.table.postImages {
		return value{}, nil
	}
	o := options.FindOne()
	if paths := s.run.projection(""); paths != nil {
		o.SetProjection(inclusion(paths))
	}
	raw, err := s.client.Database(s.database).Collection(s.collection).FindOne(ctx, bson.Raw(ev.key.data), o).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return value{}, nil
	}
	if err != nil {
		return value{}, s.sourceError("looking a changed document up", err)
	}
	return value{kindDocument, raw}, nil
}

// ended says why no more changes of the collection are to come. A collection that is still there has only been moved
// between shards: the stream is opened anew after the event.
func (s *stream) ended(ctx context.Context, ev *event) error {
	what := map[string]string{
		opDrop: "was dropped", opRename: "was renamed", opDropDatabase: "was dropped with its database", opInvalidate: "was dropped or renamed",
	}[ev.op]
	t, err := s.describe(ctx, s.client)
	if err != nil {
		return err
	}
	if !t.found || t.uuid != s.table.uuid {
		return s.gone(what)
	}
	if ev.op != opInvalidate { // the stream goes on, or an invalidation follows
		return nil
	}
	s.boundary(ev.token, ev.time)
	return sqlerr.New(sqlerr.AdminShutdown, "the change stream of %s.%s was invalidated although the collection is still there", s.database, s.collection).
		Hintf("it is opened again after that place")
}

// gone is the error of a collection that is no longer what the CDC table was made for.
func (s *source) gone(what string) error {
	return extension.Permanent(sqlerr.New(sqlerr.UndefinedTable, "the collection %s.%s %s at the source", s.database, s.collection, what).
		Hintf("the table keeps its rows: detach the stream. To follow the collection that has this name now, or another name, attach a new stream, which loads the table anew"))
}
