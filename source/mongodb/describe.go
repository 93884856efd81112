package mongodb

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// collection is what the server says about the source collection and itself.
type collection struct {
	found      bool
	kind       string // collection, view or timeseries
	uuid       [16]byte
	postImages bool
	clustered  bool // its documents lie in the order of _id, without an index on it
	collation  bool // its _id are compared by other rules than bytes
	names      []string
	server     server
}

type server struct {
	version []int // 7.0.12
	set     string
	sharded bool // a mongos
}

// Versions that matter.
var (
	splitVersions = [][]int{{6, 0, 9}, {7, 0, 0}} // in which $changeStreamSplitLargeEvent came to its line and all later ones
	leastVersion  = []int{4, 2, 0}                // startAfter
)

// describe asks the server about itself and the collection.
func (c config) describe(ctx context.Context, client *mongo.Client) (*collection, error) {
	out := &collection{}
	var hello struct {
		SetName string `bson:"setName"`
		Msg     string `bson:"msg"`
	}
	admin := client.Database("admin")
	if err := admin.RunCommand(ctx, bson.D{{Key: "hello", Value: 1}}).Decode(&hello); err != nil {
		return nil, c.sourceError("connecting", err)
	}
	var build struct {
		Version string `bson:"version"`
	}
	if err := admin.RunCommand(ctx, bson.D{{Key: "buildInfo", Value: 1}}).Decode(&build); err != nil {
		return nil, c.sourceError("asking for the version of the source", err)
	}
	out.server = server{version: parseVersion(build.Version), set: hello.SetName, sharded: hello.Msg == "isdbgrid"}
	cursor, err := client.Database(c.database).ListCollections(ctx, bson.D{})
	if err != nil {
		return nil, c.sourceError("listing the collections of the source", err)
	}
	defer cursor.Close(context.WithoutCancel(ctx))
	for cursor.Next(ctx) {
		out.look(c.collection, cursor.Current)
	}
	return out, c.sourceError("listing the collections of the source", cursor.Err())
}

// look reads one entry of listCollections.
func (t *collection) look(name string, entry bson.Raw) {
	var got struct {
		Name string `bson:"name"`
		Type string `bson:"type"`
		Info struct {
			UUID bson.Binary `bson:"uuid"`
		} `bson:"info"`
		Options struct {
			Images struct {
				Enabled bool `bson:"enabled"`
			} `bson:"changeStreamPreAndPostImages"`
			Clustered bson.RawValue `bson:"clusteredIndex"`
			Collation bson.RawValue `bson:"collation"`
		} `bson:"options"`
	}
	if err := bson.Unmarshal(entry, &got); err != nil {
		return
	}
	if !strings.HasPrefix(got.Name, "system.") {
		t.names = append(t.names, got.Name)
	}
	if got.Name != name {
		return
	}
	t.found, t.kind, t.postImages = true, got.Type, got.Options.Images.Enabled
	t.clustered, t.collation = got.Options.Clustered.Type != 0, got.Options.Collation.Type != 0
	copy(t.uuid[:], got.Info.UUID.Data)
}

func parseVersion(text string) (out []int) {
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == '.' || r == '-' }) {
		n, err := strconv.Atoi(part)
		if err != nil {
			break
		}
		out = append(out, n)
	}
	return out
}

// atLeast compares versions.
func (s server) atLeast(version []int) bool {
	for i, n := range version {
		if i >= len(s.version) || s.version[i] != n {
			return i < len(s.version) && s.version[i] > n
		}
	}
	return true
}

// splits reports whether the server can split events that exceed 16 MB.
func (s server) splits() bool {
	return s.atLeast(splitVersions[1]) || s.atLeast(splitVersions[0]) && s.version[1] == 0 || s.atLeast([]int{6, 1, 0})
}

// check refuses what cannot be streamed.
func (t *collection) check(c config) error {
	s, name := t.server, c.database+"."+c.collection
	switch {
	case s.set == "" && !s.sharded:
		return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "the source is a standalone server, which has no change streams").Hintf("%s", replicaSetHint)
	case len(s.version) > 0 && !s.atLeast(leastVersion):
		return sqlerr.New(sqlerr.FeatureNotSupported, "the source runs MongoDB %d.%d; 4.2 is the oldest that can be streamed", s.version[0], s.version[min(1, len(s.version)-1)]).
			Hintf("upgrade the source")
	case !t.found:
		return sqlerr.New(sqlerr.UndefinedTable, "the source has no collection %s", name).
			Hintf("%s; if it was dropped or renamed, detach the stream and attach a new one", t.advice(c))
	case t.kind != "" && t.kind != "collection":
		return sqlerr.New(sqlerr.WrongObjectType, "%s is a %s, which has no change stream", name, t.kind).
			Hintf("name the collection underneath in the option collection")
	}
	return nil
}

// advice says what to do about a collection that is not there.
func (t *collection) advice(c config) string {
	if near := sqlerr.Nearest(c.collection, t.names); near != "" {
		return fmt.Sprintf("did you mean %s? capitals count", near)
	}
	if len(t.names) == 0 {
		return fmt.Sprintf("the database %s has no collections that can be seen: check its name and the rights of the user, or run db.createCollection('%s')", c.database, c.collection)
	}
	const most = 10
	return fmt.Sprintf("run db.createCollection('%s') if it is still to come; the database has %s", c.collection, strings.Join(t.names[:min(len(t.names), most)], ", "))
}

// How much is looked at for misspelt columns.
const (
	sampleDocuments = 100
	sampleBytes     = 4 << 20 // beside the last document
)

// checkNames looks at some documents for columns that differ from a field in capitals only: they would be NULL in every
// row.
func (c config) checkNames(ctx context.Context, client *mongo.Client, l *layout) error {
	cursor, err := client.Database(c.database).Collection(c.collection).Find(ctx, bson.D{}, options.Find().SetLimit(sampleDocuments).SetBatchSize(sampleDocuments/10))
	if err != nil {
		return c.sourceError("looking at documents of the source", err)
	}
	defer cursor.Close(context.WithoutCancel(ctx))
	fields, looked := map[string]bool{}, 0
	for looked < sampleBytes && cursor.Next(ctx) {
		looked += len(cursor.Current)
		e, err := open(cursor.Current)
		for ok := err == nil; ok; {
			var name []byte
			if name, _, ok, err = e.next(); ok && err == nil {
				fields[string(name)] = true
			}
		}
	}
	if err := cursor.Err(); err != nil {
		return c.sourceError("looking at documents of the source", err)
	}
	for _, col := range l.columns {
		if len(col.path) != 1 || fields[col.path[0]] || c.fields[col.Name] != nil {
			continue
		}
		for name := range fields {
			if strings.EqualFold(name, col.path[0]) {
				return extension.Permanent(sqlerr.New(sqlerr.UndefinedColumn, "no document has the field %s that the column %s takes, but there is a field %s", col.path[0], col.Name, name).
					Hintf("names must be the same, capitals included: declare the column as \"%s\", or create the stream with fields = '%s = %s'", name, col.Name, name))
			}
		}
	}
	return nil
}
