package mongodb

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

const (
	// linger is how long a run that ends at a boundary waits for more when nothing has arrived: it joins the small
	// answers of a busy source into one run.
	linger = 2 * time.Millisecond
	// runBytes ends a run of large documents before its rows reach the number asked for.
	runBytes = 64 << 20
	// silenceLimit is how long the server may take to answer although it was asked to wait for awaitTime only.
	silenceLimit = 60 * time.Second
)

// stream reads the change stream of one collection. One goroutine runs Next; feed runs beside it.
type stream struct {
	*source
	table    *collection
	feed     *feed
	run      *run
	assembly assembly

	pending []bson.Raw     // events of the answer at hand that are still to be handled
	answer  batch          // that answer
	handled bool           // nothing is left to do about it
	last    event          // the last event handled; its time is that of the position before the first
	place   bson.Raw       // the resume token of the last event handled
	held    bool           // events after the last boundary have been handled
	skip    bson.Timestamp // changes up to here are in the snapshot
	whole   bson.Timestamp // up to here changes overlap with the snapshot: they make one unit

	scanned  position      // everything up to it has been handled
	reported position      // the last position returned by Next
	at       time.Time     // when that was
	logged   time.Time     // when misfits were last reported
	silent   time.Duration // waited for the server since it last said something
	err      error         // ended the stream
}

// newStream opens the change stream at the position.
func (s *source) newStream(ctx context.Context, from extension.Position) (*stream, error) {
	at, err := decodePosition(from)
	if err != nil {
		return nil, extension.Permanent(err)
	}
	t, l, err := s.inspect(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(t.uuid[:], at.UUID.Data) {
		return nil, s.gone("was dropped and made anew")
	}
	changes, err := s.watch(ctx, t, l, at)
	if err != nil {
		return nil, s.sourceError("opening the change stream", err)
	}
	ids := &families{}
	ids.seen.Store(uint32(at.Family))
	out := &stream{
		source: s, table: t, run: &run{rows: newRows(s.config, l, ids)}, feed: startFeed(changes), handled: true,
		place: at.Token, whole: at.Whole, scanned: at, reported: at, at: time.Now(), logged: time.Now(),
	}
	out.last.time = at.Time
	if len(at.Token) == 0 {
		out.skip = at.Time
	}
	s.log("streaming", "collection", s.database+"."+s.collection, "after", formatPosition(from), "post_images", t.postImages)
	return out, nil
}

// watch opens the change stream after a position. Images of documents after their change are taken where the collection
// keeps them; else the server looks the document up as it is by then.
func (s *source) watch(ctx context.Context, t *collection, l *layout, at position) (*mongo.ChangeStream, error) {
	o := options.ChangeStream().SetMaxAwaitTime(awaitTime).SetFullDocument(options.UpdateLookup)
	if t.postImages {
		o.SetFullDocument(options.WhenAvailable)
	}
	if len(at.Token) > 0 {
		o.SetStartAfter(at.Token) // other than resumeAfter it accepts the token of an invalidation
	} else {
		o.SetStartAtOperationTime(&at.Time) // inclusive: handle leaves out what has that time
	}
	pipeline := mongo.Pipeline{}
	if paths := l.projection("fullDocument."); paths != nil {
		paths = append(paths, "operationType", "clusterTime", "documentKey", "lsid", "txnNumber")
		pipeline = append(pipeline, bson.D{{Key: "$project", Value: inclusion(paths)}})
	} else {
		pipeline = append(pipeline, bson.D{{Key: "$project", Value: bson.D{{Key: "updateDescription", Value: 0}}}})
	}
	if t.server.splits() {
		pipeline = append(pipeline, bson.D{{Key: "$changeStreamSplitLargeEvent", Value: bson.D{}}})
	}
	return s.client.Database(s.database).Collection(s.collection).Watch(ctx, pipeline, o)
}

// Next implements extension.Stream.
func (s *stream) Next(ctx context.Context, wait time.Duration, maxRows int) (*extension.Changes, error) {
	if s.err != nil {
		return nil, s.err
	}
	out, err := s.collect(ctx, time.Now().Add(max(wait, time.Millisecond)), max(maxRows, 1))
	s.reportMisfits(err != nil)
	if err != nil {
		// What came whole before the fault is delivered first.
		s.err = err
		if out = s.run.takeWhole(); out == nil {
			return nil, err
		}
	}
	if out != nil && out.Boundary {
		s.reported, s.at = s.run.lastBoundary(out), time.Now()
	}
	return out, nil
}

// collect handles events until the run is full, or time is up, or a pause follows a boundary. What is not known to be whole
// stays for the next call unless there is too much of it.
func (s *stream) collect(ctx context.Context, deadline time.Time, maxRows int) (*extension.Changes, error) {
	for {
		if len(s.run.ops) >= maxRows || s.run.bytes >= runBytes {
			return s.run.take(), nil
		}
		if len(s.pending) > 0 {
			raw := s.pending[0]
			s.pending = s.pending[1:]
			if err := s.handle(ctx, raw); err != nil {
				return nil, err
			}
			continue
		}
		if !s.handled {
			s.handled = true
			if s.answer.err != nil {
				return nil, s.sourceError("reading the change stream", s.answer.err)
			}
			s.endOfAnswer()
			continue
		}
		due := len(s.run.ops) == 0 && (s.run.ended || s.idle()) || len(s.run.ops) > 0 && !time.Now().Before(deadline)
		if !due {
			arrived, err := s.receive(ctx, deadline)
			if err != nil {
				return nil, err
			}
			if arrived {
				continue
			}
		}
		if !s.run.ended {
			return nil, nil
		}
		return s.run.take(), nil
	}
}

// idle reports whether the position alone is due, and makes it the end of the empty run.
func (s *stream) idle() bool {
	if s.held || time.Since(s.at) < s.idleInterval || comparePlaces(s.scanned, s.reported) <= 0 {
		return false
	}
	s.run.commit(s.scanned)
	return true
}

// receive takes the server's next answer; false when the deadline has passed, ctx has ended or, after a boundary,
// nothing more has arrived.
func (s *stream) receive(ctx context.Context, deadline time.Time) (bool, error) {
	began := time.Now()
	until := deadline
	if lingering := began.Add(linger); len(s.run.ops) > 0 && !s.held && lingering.Before(deadline) {
		until = lingering
	}
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case b := <-s.feed.out:
		s.silent = 0
		s.answer, s.pending, s.handled = b, b.events, false
		return true, nil
	case <-ctx.Done():
		return false, nil
	case <-timer.C:
	}
	if s.silent += time.Since(began); s.silent > s.silence {
		return false, sqlerr.New(sqlerr.ConnectionFailure, "the source has not said anything for %s", s.silent.Round(time.Second)).
			Hintf("it is connected to again; check the source and the network if it persists")
	}
	return false, nil
}

// handle acts on one event, or on a fragment of one.
func (s *stream) handle(ctx context.Context, raw bson.Raw) error {
	ev, err := s.assembly.add(raw)
	if err != nil {
		if errors.Is(err, errBSON) {
			return damaged("in the change stream", err)
		}
		return err
	}
	if ev == nil {
		s.held = true
		return nil
	}
	if compareTime(ev.time, s.skip) <= 0 && ev.op != opInvalidate {
		return nil
	}
	if s.held && !s.last.follows(ev) && !s.overlapping(ev.time) {
		s.whole = bson.Timestamp{}
		s.boundary(s.place, s.last.time)
	}
	if err := s.apply(ctx, ev); err != nil {
		return err
	}
	s.last, s.place = *ev, ev.token
	if s.held = ev.transaction || s.overlapping(ev.time); !s.held {
		s.whole = bson.Timestamp{}
		s.boundary(s.place, ev.time)
	}
	return nil
}

// overlapping reports whether a change of that time may be in the snapshot already. The first change beyond makes the
// rows the state of one moment again, which is when readers may see it.
func (s *stream) overlapping(at bson.Timestamp) bool {
	return s.whole != bson.Timestamp{} && compareTime(at, s.whole) <= 0
}

// boundary marks the end of what belongs together.
func (s *stream) boundary(token bson.Raw, at bson.Timestamp) {
	s.held = false
	s.scanned = position{Time: at, Token: token, UUID: s.reported.UUID, Family: int32(s.run.ids.seen.Load()), Whole: s.whole}
	s.run.commit(s.scanned)
}

// endOfAnswer draws conclusions from the end of an answer: nothing more of the last transaction is to come when the
// server has looked past it, and what overlaps with the snapshot is over when the server has looked beyond.
func (s *stream) endOfAnswer() {
	token := s.answer.token
	if len(token) == 0 || s.assembly.partial != nil {
		return
	}
	at := tokenTime(token)
	if compareTime(at, s.last.time) < 0 {
		at = s.last.time
	}
	drained := len(s.answer.events) == 0 && s.answer.waited
	if s.last.transaction && s.held && compareTime(at, s.last.time) == 0 && !drained {
		return
	}
	if s.whole != (bson.Timestamp{}) {
		if compareTime(at, s.whole) < 0 || compareTime(at, s.whole) == 0 && !drained {
			return
		}
		s.whole = bson.Timestamp{}
	}
	if s.held {
		s.boundary(token, at)
		return
	}
	s.scanned = position{Time: at, Token: token, UUID: s.reported.UUID, Family: int32(s.run.ids.seen.Load())}
}

// comparePlaces compares where two positions lie.
func comparePlaces(a, b position) int {
	if c := compareTime(a.Time, b.Time); c != 0 {
		return c
	}
	switch x, y := a.data(), b.data(); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// reportMisfits writes what became NULL into the log now and then.
func (s *stream) reportMisfits(now bool) {
	const interval = 10 * time.Second
	if now || time.Since(s.logged) >= interval {
		s.run.report(s.log, "the change stream")
		s.logged = time.Now()
	}
}

// Ack implements extension.Stream. The source keeps nothing for us: the position committed here is all there is.
func (s *stream) Ack(extension.Position) {}

// Close implements extension.Stream.
func (s *stream) Close() error {
	s.feed.stop()
	s.run.report(s.log, "the change stream")
	if s.err == nil {
		s.err = sqlerr.New(sqlerr.ConnectionFailure, "the stream is closed").Hintf("open another one")
	}
	return nil
}
