package mongodb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/integration/mongotest"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

func TestOptionsAreChecked(t *testing.T) {
	good := map[string]string{"connection": "mongodb://u:p@127.0.0.1/", "database": "d", "collection": "c"}
	for _, c := range []struct{ name, value, want string }{
		{"connection", "", "needs the option connection"},
		{"connection", "postgres://u:secret@host", "is not a connection string"},
		{"connection", "mongodb://u:secret@", "cannot be read"},
		{"connection", "mongodb://u:sec:ret@host/", "cannot be read"},
		{"database", "", "needs the option database"},
		{"collection", "", "needs the option collection"},
		{"fields", "a", "is not a list such as"},
		{"fields", "a = b..c", "is not a list such as"},
		{"fields", "a = b, a = c", "twice"},
		{"json_format", "pretty", "relaxed or canonical"},
		{"key_format", "x", "plain or json"},
		{"on_misfit", "ignore", "error or null"},
		{"unique_id", "yes", "on or off"},
		{"snapshot_threads", "0", "from 1 to 64"},
		{"idle_interval", "1", "a duration"},
	} {
		options := map[string]string{}
		for k, v := range good {
			options[k] = v
		}
		options[c.name] = c.value
		_, err := Source().Open(background, extension.OpenRequest{Options: options})
		var e *sqlerr.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) || e.Hint == "" {
			t.Errorf("%s = %q: got %v, want %q and a hint", c.name, c.value, err, c.want)
		}
		if strings.Contains(fmt.Sprint(err), "secret") || strings.Contains(fmt.Sprint(err), "sec:ret") {
			t.Errorf("the error shows the password: %v", err)
		}
	}
	src, err := Source().Open(background, extension.OpenRequest{Options: good}) // as for DROP STREAM, without a table
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(src.Drop(background), src.Close(), src.Close()); err != nil {
		t.Error(err)
	}
}

func TestTheTargetIsChecked(t *testing.T) {
	for _, c := range []struct {
		spec    extension.TableSpec
		options []string
		want    string
	}{
		{target("*id", vec.Int64Type), nil, "is not the _id of the documents"},
		{target("*_id", vec.Int64Type, "*n", vec.Int32Type), nil, "is not the _id of the documents"},
		{target("*_id", vec.JSONType), nil, "cannot hold an _id"},
		{target("*_id", vec.Float64Type), nil, "cannot hold an _id"},
		{target("*_id", vec.TextType, "at", vec.TimeType), nil, "declare it TEXT or JSON"},
		{target("*_id", vec.TextType, "at", vec.TimeTZType), nil, "declare it TEXT or JSON"},
		{target("*_id", vec.TextType, "at", vec.ArrayType(vec.IntervalType)), nil, "declare it TEXT or JSON"},
		{target("*_id", vec.TextType, "doc", vec.ByteaType), []string{"document_column", "doc"}, "declare it JSON or TEXT"},
		{target("*_id", vec.TextType, "doc", vec.JSONType), []string{"document_column", "docs"}, "did you mean doc?"},
		{target("*_id", vec.TextType, "bad", vec.Int32Type), []string{"misfit_column", "bad"}, "declare it TEXT"},
		{target("*_id", vec.TextType), []string{"fields", "city = address.city"}, "which the CDC table does not have"},
	} {
		m := &mirror{t: t, spec: c.spec, opts: map[string]string{"connection": "mongodb://127.0.0.1:1/", "database": "d", "collection": "c"}}
		for i := 0; i < len(c.options); i += 2 {
			m.opts[c.options[i]] = c.options[i+1]
		}
		m.open()
		permanent(t, m.source.Check(background), c.want)
	}
}

func TestTheSourceIsChecked(t *testing.T) {
	server := mongotest.Database(t)
	insert(t, server.Collection("docs"), bson.M{"_id": 1, "customerId": 7, "name": "x"})
	spec := target("*_id", vec.Int64Type)
	m := newMirror(t, server, spec, "collection", "doc")
	permanent(t, m.source.Check(background), "did you mean docs?")
	m = newMirror(t, server, spec, "collection", "quite_another")
	permanent(t, m.source.Check(background), "the database has docs")
	m = newMirror(t, server, spec, "database", server.Name+"_none")
	permanent(t, m.source.Check(background), "has no collections that can be seen")
	m = newMirror(t, server, target("*_id", vec.Int64Type, "customerid", vec.Int32Type))
	permanent(t, m.source.Check(background), "fields = 'customerid = customerId'")
	m = newMirror(t, server, target("*_id", vec.Int64Type, "customerid", vec.Int32Type), "fields", "customerid = customerId")
	m.load()
	if m.rows["_id=1"] != "_id=1 customerid=7" {
		t.Errorf("%v", m.rows)
	}
	m = newMirror(t, server, target("*id", vec.Int64Type, "name", vec.TextType), "fields", "id = _id")
	m.load()
	if m.rows["id=1"] != "id=1 name=x" {
		t.Errorf("%v", m.rows)
	}
}

func TestWhatServersCanLack(t *testing.T) {
	c := config{database: "d", collection: "c"}
	set := server{version: []int{7, 0, 0}, set: "rs0"}
	for _, got := range []struct {
		t    collection
		want string
	}{
		{collection{server: server{version: []int{7, 0, 0}}, found: true}, "rs.initiate()"},
		{collection{server: server{version: []int{4, 0, 28}, set: "rs0"}, found: true}, "4.2 is the oldest"},
		{collection{server: set, found: true, kind: "view"}, "name the collection underneath"},
		{collection{server: set, found: true, kind: "timeseries"}, "name the collection underneath"},
	} {
		permanent(t, extension.Permanent(got.t.check(c)), got.want)
	}
	if err := (&collection{server: server{sharded: true}, found: true, kind: "collection"}).check(c); err != nil {
		t.Error(err)
	}
	for text, want := range map[string]bool{"6.0.8": false, "6.0.9": true, "6.0.19-rc1": true, "6.3.0": true, "7.0.0": true, "5.0.20": false, "8.2.1": true, "4.4": false, "": false} {
		if got := (server{version: parseVersion(text)}).splits(); got != want {
			t.Errorf("splits(%s) = %v", text, got)
		}
	}
}

func TestServerErrors(t *testing.T) {
	c := config{connection: "mongodb://u:secret@h/", database: "shop"}
	for _, e := range []struct {
		err       error
		permanent bool
		want      string
	}{
		{mongo.CommandError{Code: 286, Message: "gone"}, true, "no longer reaches back"},
		{mongo.CommandError{Code: 136, Message: "gone"}, true, "no longer reaches back"},
		{mongo.CommandError{Code: 260, Message: "x"}, true, "means nothing to this server"},
		{mongo.CommandError{Code: 9, Message: "Bad resume token"}, true, "means nothing to this server"},
		{mongo.CommandError{Code: 280, Message: "x"}, true, "load the table anew"},
		{mongo.CommandError{Code: 10334, Message: "x"}, true, "6.0.9"},
		{mongo.CommandError{Code: 40573, Message: "x"}, true, "rs.initiate()"},
		{mongo.CommandError{Code: 13, Message: "not authorized"}, false, "role: 'read', db: 'shop'"},
		{mongo.CommandError{Code: 18, Message: "x"}, false, "authSource"},
		{mongo.CommandError{Code: 11600, Message: "x"}, false, "tried again"},
		{mongo.CommandError{Message: "connection reset", Labels: []string{"NetworkError"}}, false, "cannot be reached"},
		{errors.New("dial mongodb://u:secret@h/: refused"), false, "cannot be reached"},
		{errors.New("connection() error occurred during connection handshake: auth error: sasl"), false, "refuses the login"},
	} {
		got := c.sourceError("reading", e.err)
		if extension.IsPermanent(got) != e.permanent || !strings.Contains(got.Error(), e.want) || strings.Contains(got.Error(), "secret") {
			t.Errorf("%v gave %v (permanent: %v)", e.err, got, extension.IsPermanent(got))
		}
	}
	if c.sourceError("reading", nil) != nil || !errors.Is(c.sourceError("reading", context.Canceled), context.Canceled) {
		t.Error("no error, or that of a context, is changed")
	}
}

func TestAWrongPositionIsRefused(t *testing.T) {
	server := mongotest.Database(t)
	server.Collection("docs")
	m := newMirror(t, server, target("*_id", vec.Int64Type))
	m.load()
	at, err := decodePosition(m.at)
	if err != nil {
		t.Fatal(err)
	}
	token, err := bson.Marshal(bson.D{{Key: "_data", Value: "garbage"}})
	if err != nil {
		t.Fatal(err)
	}
	at.Token = token
	m.at = at.encode()
	permanent(t, m.tryFollow(), "means nothing to this server")
	m.at = extension.Position("not one of ours")
	permanent(t, m.tryFollow(), "another kind of source")
	m.at = nil
	permanent(t, m.tryFollow(), "another kind of source")
}

func TestPositionsAsTextAndInOrder(t *testing.T) {
	var last extension.Position
	for i, text := range []string{"", "5.0", "5.1", "5.1@8200000005000000010A", "5.1@8200000005000000010B", "6.0@82", "4294967295.4294967295"} {
		p, err := parsePosition(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := formatPosition(p); got != text {
			t.Errorf("%q became %q", text, got)
		}
		if i > 0 && (comparePosition(last, p) >= 0 || comparePosition(p, last) <= 0 || comparePosition(p, p) != 0) {
			t.Errorf("%q does not come after %q", text, formatPosition(last))
		}
		last = p
	}
	for _, text := range []string{"5", "5.", "a.b", "5.1@", "5.1@xyz", "4294967296.0", "5.1.2"} {
		if p, err := parsePosition(text); err == nil {
			t.Errorf("%q is %s", text, formatPosition(p))
		}
	}
}

// proxy passes bytes between clients and the server until told to fall silent or to cut its connections.
type proxy struct {
	listener net.Listener
	target   string
	mu       sync.Mutex
	silent   bool
	conns    []net.Conn
}

func startProxy(t *testing.T, target string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, target: target}
	t.Cleanup(func() { l.Close(); p.cut() })
	go func() {
		for {
			a, err := l.Accept()
			if err != nil {
				return
			}
			b, err := net.Dial("tcp", target)
			if err != nil {
				a.Close()
				continue
			}
			p.mu.Lock()
			p.conns = append(p.conns, a, b)
			p.mu.Unlock()
			go p.pass(a, b)
			go p.pass(b, a)
		}
	}()
	return p
}

func (p *proxy) pass(to, from net.Conn) {
	defer to.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		p.mu.Lock()
		silent := p.silent
		p.mu.Unlock()
		if silent {
			continue
		}
		if _, err := io.Copy(to, strings.NewReader(string(buf[:n]))); err != nil {
			return
		}
	}
}

func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		c.Close()
	}
	p.conns = nil
}

func (p *proxy) mute(silent bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent = silent
}

func TestCutConnectionsAndSilentServers(t *testing.T) {
	server := mongotest.Database(t)
	docs := server.Collection("docs")
	address := strings.TrimPrefix(strings.SplitN(server.URI, "/?", 2)[0], "mongodb://")
	p := startProxy(t, address)
	m := newMirror(t, server, target("*_id", vec.Int64Type), "connection",
		"mongodb://"+p.listener.Addr().String()+"/?directConnection=true&heartbeatFrequencyMS=500&serverSelectionTimeoutMS=2000")
	m.load()
	m.follow()
	for i := range 3 { // the driver connects again by itself
		insert(t, docs, bson.M{"_id": i})
		p.cut()
		insert(t, docs, bson.M{"_id": 10 + i})
		m.until("both inserts", func() bool { return m.counts.inserts >= int64(2*i+2) })
	}
	if m.counts != (counts{inserts: 6}) {
		t.Errorf("counted %+v", m.counts)
	}
	m.source.silence = 300 * time.Millisecond
	p.mute(true)
	err := m.failure()
	if extension.IsPermanent(err) || sqlerr.Code(err) != sqlerr.ConnectionFailure {
		t.Errorf("got %v", err)
	}
	p.mute(false)
	p.cut()
	m.stream.Close()
	insert(t, docs, bson.M{"_id": 20})
	m.open()
	m.follow()
	m.settle()
	if m.counts != (counts{inserts: 7}) {
		t.Errorf("counted %+v", m.counts)
	}
}

func TestTheReferencePageHasEveryOption(t *testing.T) {
	page, err := os.ReadFile("../../docs/sources/mongodb.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, def := range optionDefs {
		if !strings.Contains(string(page), "| `"+def.Name+"`") && !strings.Contains(string(page), ", `"+def.Name+"` | required") {
			t.Errorf("docs/sources/mongodb.md does not have the option %s", def.Name)
		}
	}
}
