package mongodb

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

const (
	// leastPartDocuments is how many documents one part covers at least, by the server's estimate.
	leastPartDocuments = 20_000
	// partsPerThread keeps the threads busy to the end when some parts are slower than others.
	partsPerThread = 4
	// samplesPerPart is how many _id are drawn for each bound between parts, to even the parts out.
	samplesPerPart = 20
	// batchBytes is how much a batch of the snapshot holds at most, beside its last row.
	batchBytes = 32 << 20
	// A part whose cursor is lost is read on from the last document, unless that fails partAttempts times in a row.
	partAttempts = 5
	retryPause   = 500 * time.Millisecond
)

// snapshot reads the collection in ranges of _id, in the order of its index: a document has one place there for as long
// as it lives, so none is read twice or skipped, whatever writers do. What they do meanwhile is in the stream, which
// begins before.
type snapshot struct {
	config
	client *mongo.Client
	layout *layout
	log    func(string, ...any)
	ids    families
	bounds []bson.Raw // part i is {_id: from} bounds[i-1] up to bounds[i]; the first and the last are open
	hint   bool

	mu      sync.Mutex
	at      position
	began   bson.Timestamp
	cluster bson.Raw       // the newest $clusterTime seen
	ended   bson.Timestamp // the newest operation time of a part
}

// newSnapshot notes the operation time and divides the collection.
func (s *source) newSnapshot(ctx context.Context) (*snapshot, error) {
	t, l, err := s.inspect(ctx)
	if err != nil {
		return nil, err
	}
	snap := &snapshot{config: s.config, client: s.client, layout: l, log: s.log, hint: !t.clustered}
	if err := snap.begin(ctx); err != nil {
		return nil, err
	}
	snap.at = position{Time: snap.began, UUID: bson.Binary{Subtype: bson.TypeBinaryUUID, Data: t.uuid[:]}}
	if t.clustered || t.collation {
		return snap, nil
	}
	return snap, snap.divide(ctx)
}

// begin reads the time that the stream begins after: that of a majority read. The reads that follow must not fall behind
// it, so that what happened up to it is in them.
func (s *snapshot) begin(ctx context.Context) error {
	session, err := s.client.StartSession(options.Session().SetCausalConsistency(true))
	if err != nil {
		return s.sourceError("starting a session", err)
	}
	defer session.EndSession(context.WithoutCancel(ctx))
	with := mongo.NewSessionContext(ctx, session)
	if err := s.source().FindOne(with, bson.D{}, options.FindOne().SetProjection(bson.D{{Key: idField, Value: 1}})).Err(); err != nil && !errors.Is(err, mongo.ErrNoDocuments) {
		return s.sourceError("reading the operation time", err)
	}
	at := session.OperationTime()
	if at == nil {
		return extension.Permanent(sqlerr.New(sqlerr.ObjectNotInPrerequisite, "the source does not say its operation time").Hintf("%s", replicaSetHint))
	}
	s.began, s.ended, s.cluster = *at, *at, session.ClusterTime()
	return nil
}

func (s *snapshot) source() *mongo.Collection {
	return s.client.Database(s.database).Collection(s.collection)
}

// divide draws some _id and takes bounds from them. The server sorts them, since it alone knows their order.
func (s *snapshot) divide(ctx context.Context) error {
	documents, err := s.source().EstimatedDocumentCount(ctx)
	if err != nil {
		return s.sourceError("counting the documents", err)
	}
	parts := int(min(documents/s.partDocuments, int64(s.snapshotThreads*partsPerThread)))
	if parts < 2 {
		return nil
	}
	cursor, err := s.source().Aggregate(ctx, mongo.Pipeline{
		{{Key: "$sample", Value: bson.D{{Key: "size", Value: parts * samplesPerPart}}}},
		{{Key: "$project", Value: bson.D{{Key: idField, Value: 1}}}},
		{{Key: "$sort", Value: bson.D{{Key: idField, Value: 1}}}},
	}, options.Aggregate().SetAllowDiskUse(true))
	if err != nil {
		return s.sourceError("drawing samples of _id", err)
	}
	defer cursor.Close(context.WithoutCancel(ctx))
	var drawn []bson.Raw
	for cursor.Next(ctx) {
		drawn = append(drawn, slices.Clone(cursor.Current))
	}
	if err := cursor.Err(); err != nil {
		return s.sourceError("drawing samples of _id", err)
	}
	for i := 1; i < parts && len(drawn) > 0; i++ {
		bound := drawn[i*len(drawn)/parts]
		if n := len(s.bounds); n == 0 || !slices.Equal(s.bounds[n-1], bound) {
			s.bounds = append(s.bounds, bound)
		}
	}
	return nil
}

// Position implements extension.Snapshot. Changes between the operation times at the beginning and at the end are
// partly in the rows already: until the stream is past them it repeats some.
func (s *snapshot) Position() extension.Position {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.at
	at.Family = int32(s.ids.seen.Load())
	if compareTime(s.ended, s.began) > 0 {
		at.Whole = s.ended
	}
	return at.encode()
}

func (s *snapshot) Parts() int { return len(s.bounds) + 1 }

func (s *snapshot) Read(ctx context.Context, part int, fn func(*vec.Batch) error) error {
	if part < 0 || part > len(s.bounds) {
		return sqlerr.New(sqlerr.Internal, "part %d of a snapshot of %d parts", part, len(s.bounds)+1)
	}
	r := &partReader{snapshot: s, rows: newRows(s.config, s.layout, &s.ids), fn: fn}
	if part > 0 {
		r.from = s.bounds[part-1]
	}
	if part < len(s.bounds) {
		r.to = s.bounds[part]
	}
	if err := r.read(ctx); err != nil {
		return err
	}
	r.report(s.log, "the snapshot")
	return nil
}

func (s *snapshot) Close() error { return nil }

// noteTime keeps the newest operation time, of which every change is in the stream.
func (s *snapshot) noteTime(session *mongo.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := session.OperationTime(); at != nil && compareTime(*at, s.ended) > 0 {
		s.ended = *at
	}
}

// partReader reads one part.
type partReader struct {
	*snapshot
	*rows
	from, to bson.Raw // {_id: ...}; nil where open
	past     bool     // from itself has been read
	last     bson.Raw // a buffer
	n        int      // rows since the last batch
	fn       func(*vec.Batch) error
}

// read reads the part, again from the last document on when the cursor is lost.
func (r *partReader) read(ctx context.Context) error {
	for failures := 0; ; failures++ {
		last := slices.Clone(r.from)
		err := r.readOn(ctx)
		if err == nil || ctx.Err() != nil || !passing(err) || !r.hint {
			return errors.Join(ctx.Err(), r.snapshot.sourceError("reading the snapshot", err))
		}
		if !slices.Equal(last, r.from) {
			failures = 0
		}
		if failures+1 >= partAttempts {
			return r.snapshot.sourceError("reading the snapshot", err)
		}
		r.log("the cursor of the snapshot was lost, reading on", "collection", r.snapshot.database+"."+r.snapshot.collection, "error", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(r.snapshot.retryPause):
		}
	}
}

// passing reports failures of the connection or of a server that is no longer the primary.
func passing(err error) bool {
	if extension.IsPermanent(err) {
		return false
	}
	var e mongo.ServerError
	if errors.As(err, &e) {
		return e.HasErrorLabel("RetryableReadError") || e.HasErrorLabel("NetworkError") || slices.ContainsFunc(passingCodes, e.HasErrorCode)
	}
	return mongo.IsNetworkError(err) || mongo.IsTimeout(err)
}

// passingCodes are those after which a cursor may be opened again: not or no longer primary, shutting down,
// interrupted by an election, host gone, network timeout, cursor lost or killed.
var passingCodes = []int{6, 7, 43, 89, 91, 189, 237, 262, 9001, 10107, 11600, 11602, 13388, 13435, 13436}

// readOn opens a cursor at the place reached and reads to the end.
func (r *partReader) readOn(ctx context.Context) error {
	session, err := r.client.StartSession(options.Session().SetCausalConsistency(true))
	if err != nil {
		return err
	}
	defer session.EndSession(context.WithoutCancel(ctx))
	if r.cluster != nil {
		if err := session.AdvanceClusterTime(r.cluster); err != nil {
			return err
		}
	}
	began := r.began
	if err := session.AdvanceOperationTime(&began); err != nil {
		return err
	}
	cursor, err := r.source().Find(mongo.NewSessionContext(ctx, session), bson.D{}, r.options())
	if err != nil {
		return err
	}
	defer cursor.Close(context.WithoutCancel(ctx))
	for cursor.Next(ctx) {
		if err := r.take(cursor.Current); err != nil {
			return err
		}
	}
	if err := cursor.Err(); err != nil {
		return err
	}
	r.noteTime(session)
	if r.n == 0 {
		return nil
	}
	return r.flush()
}

// options bounds the cursor by min and max, which follow the order of the index over all types; comparisons in a filter
// would leave out documents whose _id has another type than the bound.
func (r *partReader) options() *options.FindOptionsBuilder {
	o := options.Find()
	if r.hint {
		o.SetHint(bson.D{{Key: idField, Value: 1}})
		if r.from != nil {
			o.SetMin(r.from)
		}
		if r.to != nil {
			o.SetMax(r.to)
		}
	}
	if paths := r.snapshot.layout.projection(""); paths != nil {
		o.SetProjection(inclusion(paths))
	}
	return o
}

// inclusion is the projection that keeps some paths.
func inclusion(paths []string) bson.D {
	out := bson.D{}
	for _, p := range paths {
		out = append(out, bson.E{Key: p, Value: 1})
	}
	return out
}

// take adds a document.
func (r *partReader) take(document bson.Raw) error {
	id, err := document.LookupErr(idField)
	if err != nil {
		return damaged("in the snapshot", err)
	}
	r.last = appendID(r.last[:0], id)
	if r.past && slices.Equal(r.last, r.from) { // the one that the lost cursor ended with
		return nil
	}
	if err := r.add(document, "in the snapshot"); err != nil {
		return err
	}
	if !r.past { // from is a bound, which others use
		r.from = nil
	}
	r.from, r.last, r.past = r.last, r.from, true
	if r.n++; r.n >= vec.MaxBatchRows || r.bytes >= batchBytes {
		return r.flush()
	}
	return nil
}

// appendID writes {_id: id}.
func appendID(dst []byte, id bson.RawValue) bson.Raw {
	const around = 4 + 1 + len(idField) + 1 + 1 // length, type, name with its end, end
	dst = binary.LittleEndian.AppendUint32(dst, uint32(around+len(id.Value)))
	dst = append(append(append(dst, byte(id.Type)), idField...), 0)
	return append(append(dst, id.Value...), 0)
}

func (r *partReader) flush() error {
	n := r.n
	r.n = 0
	return r.fn(vec.NewBatch(n, r.finish(n)...))
}
