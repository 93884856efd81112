package mongodb

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

// awaitTime is how long the server waits for changes before it answers with none, which is also the cursor's sign of
// life.
const awaitTime = 500 * time.Millisecond

// batch is one answer of the server.
type batch struct {
	events []bson.Raw
	token  bson.Raw // everything before it has been delivered
	// waited says that the server had nothing more when it answered; the first answer of a cursor does not say that.
	waited bool
	err    error // ended the feed
}

// feed reads a change stream ahead, one answer (at most 16 MB and a document) at a time. It keeps the cursor alive while
// nobody takes. The driver itself opens the cursor again after an election or a lost connection.
type feed struct {
	stream *mongo.ChangeStream
	out    chan batch
	cancel context.CancelFunc
	ended  sync.WaitGroup
	cursor int64 // its number: another one is another cursor
}

func startFeed(stream *mongo.ChangeStream) *feed {
	ctx, cancel := context.WithCancel(context.Background())
	f := &feed{stream: stream, out: make(chan batch), cancel: cancel}
	f.ended.Go(func() { f.loop(ctx) })
	return f
}

func (f *feed) loop(ctx context.Context) {
	for {
		b := f.read(ctx)
		select {
		case f.out <- b:
		case <-ctx.Done():
			return
		}
		if b.err != nil {
			return
		}
	}
}

// read returns the next answer. The context has no deadline: one would end the stream for good when it passes.
func (f *feed) read(ctx context.Context) (b batch) {
	for f.stream.TryNext(ctx) {
		b.events = append(b.events, slices.Clone(f.stream.Current))
		if f.stream.RemainingBatchLength() == 0 {
			break
		}
	}
	if b.err = f.stream.Err(); b.err == nil && f.stream.ID() == 0 && len(b.events) == 0 {
		b.err = sqlerr.New(sqlerr.AdminShutdown, "the source ended the change stream").Hintf("it is opened again")
	}
	b.token = slices.Clone(f.stream.ResumeToken())
	b.waited = f.stream.ID() == f.cursor
	f.cursor = f.stream.ID()
	return b
}

func (f *feed) stop() {
	f.cancel()
	f.ended.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = f.stream.Close(ctx)
}
