package mongodb

import (
	"crypto/md5"
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/xdg-go/scram"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/integration/mongotest"
	"github.com/tidemarkdb/tidemark/integration/testcert"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

const (
	loginUser   = "app"
	loginSecret = "p@ss/word:ü"
)

// doorman stands before the server: it speaks TLS, answers logins (SCRAM, RFC 5802) as MongoDB does, and lets no other
// command through before one succeeded. Everything else is the server's.
type doorman struct {
	t        *testing.T
	listener net.Listener
	target   string
	scram    map[string]*scram.Server // by mechanism
	logins   atomic.Int64
	refuse   atomic.Bool // the user's rights have been revoked
}

func startDoorman(t *testing.T, target string, authority *testcert.Authority, host string) *doorman {
	t.Helper()
	certPEM, keyPEM := authority.Server(host)
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	digest := md5.Sum([]byte(loginUser + ":mongo:" + loginSecret)) // what SCRAM-SHA-1 takes for the password in MongoDB
	d := &doorman{t: t, listener: l, target: target, scram: map[string]*scram.Server{
		"SCRAM-SHA-256": accounts(t, scram.SHA256, loginSecret), "SCRAM-SHA-1": accounts(t, scram.SHA1, hex.EncodeToString(digest[:])),
	}}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go d.serve(c)
		}
	}()
	return d
}

// accounts returns a SCRAM server that knows one user.
func accounts(t *testing.T, hash scram.HashGeneratorFcn, password string) *scram.Server {
	t.Helper()
	client, err := hash.NewClient(loginUser, password, "")
	if err != nil {
		t.Fatal(err)
	}
	stored, err := client.GetStoredCredentialsWithError(scram.KeyFactors{Salt: "0123456789abcdef", Iters: 4096})
	if err != nil {
		t.Fatal(err)
	}
	server, err := hash.NewServer(func(user string) (scram.StoredCredentials, error) {
		if user != loginUser {
			return scram.StoredCredentials{}, fmt.Errorf("no user %s", user)
		}
		return stored, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return server
}

const (
	opQuery = 2004
	opMsg   = 2013
)

// serve passes one connection's messages on.
func (d *doorman) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", d.target)
	if err != nil {
		return
	}
	defer server.Close()
	var writing sync.Mutex
	go func() {
		defer client.Close()
		for {
			message, err := readMessage(server)
			if err != nil {
				return
			}
			writing.Lock()
			_, err = client.Write(message)
			writing.Unlock()
			if err != nil {
				return
			}
		}
	}()
	var login *scram.ServerConversation
	for {
		message, err := readMessage(client)
		if err != nil {
			return
		}
		answer := d.answer(message, &login)
		if answer == nil {
			if _, err := server.Write(message); err != nil {
				return
			}
			continue
		}
		writing.Lock()
		_, err = client.Write(reply(message, answer))
		writing.Unlock()
		if err != nil {
			return
		}
	}
}

// answer returns the doorman's own answer to a message, nil for those that are the server's.
func (d *doorman) answer(message []byte, login **scram.ServerConversation) bson.D {
	if op := binary.LittleEndian.Uint32(message[12:]); op == opQuery { // the handshake
		return nil
	} else if op != opMsg || len(message) < 26 {
		return fault(59, "CommandNotFound", "this is no command")
	}
	command := bson.Raw(message[21:])
	elements, err := command.Elements()
	if err != nil || len(elements) == 0 {
		return fault(9, "FailedToParse", "this is no document")
	}
	switch name := elements[0].Key(); name {
	case "hello", "isMaster", "ismaster", "endSessions":
		return nil
	case "saslStart", "saslContinue":
		if name == "saslStart" {
			mechanism := d.scram[command.Lookup("mechanism").StringValue()]
			if mechanism == nil {
				return fault(334, "MechanismUnavailable", "this mechanism is not offered")
			}
			*login = mechanism.NewConversation()
		}
		_, payload := command.Lookup("payload").Binary()
		if *login == nil {
			return fault(17, "ProtocolError", "no login has begun")
		}
		said := ""
		if len(payload) > 0 {
			if said, err = (*login).Step(string(payload)); err != nil {
				return fault(codeAuthenticationFailed, "AuthenticationFailed", "Authentication failed.")
			}
		}
		if (*login).Done() {
			d.logins.Add(1)
		}
		return bson.D{{Key: "conversationId", Value: 1}, {Key: "done", Value: (*login).Done()}, {Key: "payload", Value: []byte(said)}, {Key: "ok", Value: 1}}
	default:
		switch {
		case *login == nil || !(*login).Valid():
			return fault(codeUnauthorized, "Unauthorized", "command "+name+" requires authentication")
		case d.refuse.Load():
			return fault(codeUnauthorized, "Unauthorized", "not authorized on the database to execute command "+name)
		}
		return nil
	}
}

func fault(code int32, name, text string) bson.D {
	return bson.D{{Key: "ok", Value: 0}, {Key: "errmsg", Value: text}, {Key: "code", Value: code}, {Key: "codeName", Value: name}}
}

func readMessage(r io.Reader) ([]byte, error) {
	head := make([]byte, 16)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	n := int(binary.LittleEndian.Uint32(head))
	if n < 16 || n > 64<<20 {
		return nil, fmt.Errorf("a message of %d bytes", n)
	}
	message := append(head, make([]byte, n-16)...)
	_, err := io.ReadFull(r, message[16:])
	return message, err
}

// reply makes the message that answers a request with a document.
func reply(request []byte, document bson.D) []byte {
	body, err := bson.Marshal(document)
	if err != nil {
		panic(err) // of the documents above
	}
	out := make([]byte, 21, 21+len(body))
	binary.LittleEndian.PutUint32(out, uint32(21+len(body)))
	copy(out[8:12], request[4:8])
	binary.LittleEndian.PutUint32(out[12:], opMsg)
	return append(out, body...)
}

// behind returns the connection string of a doorman.
func (d *doorman) behind(user, password, more string) string {
	escape := strings.NewReplacer("@", "%40", "/", "%2F", ":", "%3A", "ü", "%C3%BC")
	login := ""
	if user != "" {
		login = escape.Replace(user) + ":" + escape.Replace(password) + "@"
	}
	return "mongodb://" + login + d.listener.Addr().String() + "/?directConnection=true&heartbeatFrequencyMS=500&serverSelectionTimeoutMS=1500" + more
}

// TestLoginAndTLS reads a collection through TLS and a login by each mechanism, and checks what refusals say.
func TestLoginAndTLS(t *testing.T) {
	server := mongotest.Database(t)
	docs := server.Collection("docs")
	insert(t, docs, bson.M{"_id": 1}, bson.M{"_id": 2})
	address := strings.TrimPrefix(strings.SplitN(server.URI, "/?", 2)[0], "mongodb://")
	authority := testcert.New(t)
	d := startDoorman(t, address, authority, "127.0.0.1")
	trusted := "&tls=true&tlsCAFile=" + authority.Path
	spec := target("*_id", vec.Int64Type)

	for _, mechanism := range []string{"&authMechanism=SCRAM-SHA-256", "&authMechanism=SCRAM-SHA-1", ""} {
		before := d.logins.Load()
		m := newMirror(t, server, spec, "connection", d.behind(loginUser, loginSecret, trusted+"&authSource=admin"+mechanism))
		if err := m.source.Check(t.Context()); err != nil {
			t.Fatalf("%s: %v", mechanism, err)
		}
		m.load()
		m.follow()
		insert(t, docs, bson.M{"_id": 10 + before})
		m.settle()
		if d.logins.Load() == before {
			t.Errorf("%s: nobody logged in", mechanism)
		}
		m.stream.Close()
	}

	other := startDoorman(t, address, authority, "mongo.example.com")
	for name, c := range map[string]struct{ connection, code, want string }{
		"wrong password":         {d.behind(loginUser, "wrong "+loginSecret, trusted), sqlerr.InvalidPassword, "check the user, the password and authSource"},
		"unknown user":           {d.behind("nobody", loginSecret, trusted), sqlerr.InvalidPassword, "check the user, the password and authSource"},
		"no login":               {d.behind("", "", trusted), sqlerr.InsufficientPrivilege, "requires authentication"},
		"another authority":      {d.behind(loginUser, loginSecret, "&tls=true&tlsCAFile="+testcert.New(t).Path), sqlerr.ConnectionFailure, "tlsCAFile"},
		"another name":           {other.behind(loginUser, loginSecret, trusted), sqlerr.ConnectionFailure, "name the host"},
		"no TLS":                 {d.behind(loginUser, loginSecret, ""), sqlerr.ConnectionFailure, "tls=true"},
		"TLS the server has not": {"mongodb://" + address + "/?directConnection=true&serverSelectionTimeoutMS=1500" + trusted, sqlerr.ConnectionFailure, "tls=true"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMirror(t, server, spec, "connection", c.connection)
			err := m.source.Check(t.Context())
			if sqlerr.Code(err) != c.code || !strings.Contains(fmt.Sprint(err), c.want) || extension.IsPermanent(err) {
				t.Errorf("got %v, want SQLSTATE %s and %q", err, c.code, c.want)
			}
			if text := fmt.Sprint(err); strings.Contains(text, loginSecret) || strings.Contains(text, "p%40ss") {
				t.Errorf("the error shows the password: %v", err)
			}
		})
	}
}

// TestRightsTakenAway revokes the user's rights while the stream runs.
func TestRightsTakenAway(t *testing.T) {
	server := mongotest.Database(t)
	docs := server.Collection("docs")
	authority := testcert.New(t)
	d := startDoorman(t, strings.TrimPrefix(strings.SplitN(server.URI, "/?", 2)[0], "mongodb://"), authority, "127.0.0.1")
	m := newMirror(t, server, target("*_id", vec.Int64Type), "connection", d.behind(loginUser, loginSecret, "&tls=true&tlsCAFile="+authority.Path))
	m.load()
	m.follow()
	insert(t, docs, bson.M{"_id": 1})
	m.settle()
	d.refuse.Store(true)
	err := m.failure()
	if sqlerr.Code(err) != sqlerr.InsufficientPrivilege || !strings.Contains(fmt.Sprint(err), "grantRolesToUser") || extension.IsPermanent(err) {
		t.Errorf("got %v", err)
	}
	d.refuse.Store(false)
	insert(t, docs, bson.M{"_id": 2})
	m.stream.Close()
	m.open()
	m.follow()
	m.settle()
}
