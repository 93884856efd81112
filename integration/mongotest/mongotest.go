package mongotest

import (
	"bufio"
	"context"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/tidemarkdb/tidemark/integration/cache"
)

//go:embed CdcServer.java
var program []byte

// limit bounds every step of starting the server.
const limit = time.Minute

// Server is a running server, or a test's view of it.
type Server struct {
	URI    string // connection string
	Name   string // of the test's own database
	Client *mongo.Client

	t testing.TB
}

// shared is the server that the tests of one package share.
var shared struct {
	once   sync.Once
	server *Server
	err    error
	stdin  io.Closer
	ended  chan struct{}
}

var databases atomic.Int64

// Main runs the tests of a package, which may use [Database], and stops their server; TestMain calls it.
func Main(m *testing.M) int {
	defer func() {
		if shared.stdin != nil {
			_ = shared.stdin.Close()
			<-shared.ended
		}
	}()
	return m.Run()
}

// Database returns the shared server with an empty database of the test's own.
func Database(t testing.TB) *Server {
	t.Helper()
	shared.once.Do(func() { shared.server, shared.err = start() })
	if shared.err != nil {
		t.Fatalf("starting the server: %v", shared.err)
	}
	s := *shared.server
	s.t, s.Name = t, fmt.Sprintf("test%d", databases.Add(1))
	client, err := mongo.Connect(options.Client().ApplyURI(s.URI))
	if err != nil {
		t.Fatal(err)
	}
	s.Client = client
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	return &s
}

// Collection returns a collection of the test's database, which it makes when needed.
func (s *Server) Collection(name string) *mongo.Collection {
	s.t.Helper()
	db := s.Client.Database(s.Name)
	names, err := db.ListCollectionNames(context.Background(), bson.D{{Key: "name", Value: name}})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, n := range names {
		if n == name {
			return db.Collection(name)
		}
	}
	if err := db.CreateCollection(context.Background(), name); err != nil {
		s.t.Fatal(err)
	}
	return db.Collection(name)
}

// Admin runs a command in the database admin.
func (s *Server) Admin(command string, argument any) bson.Raw {
	s.t.Helper()
	raw, err := s.Client.Database("admin").RunCommand(context.Background(), bson.D{{Key: command, Value: argument}}).Raw()
	if err != nil {
		s.t.Fatalf("%s: %v", command, err)
	}
	return raw
}

// KeepImages turns on images of a collection's documents after their changes.
func (s *Server) KeepImages(collection string) {
	s.t.Helper()
	err := s.Client.Database(s.Name).RunCommand(context.Background(), bson.D{{Key: "collMod", Value: collection},
		{Key: "changeStreamPreAndPostImages", Value: bson.D{{Key: "enabled", Value: true}}}}).Err()
	if err != nil {
		s.t.Fatal(err)
	}
}

// Transaction runs fn in a transaction.
func (s *Server) Transaction(fn func(ctx context.Context) error) {
	s.t.Helper()
	session, err := s.Client.StartSession()
	if err != nil {
		s.t.Fatal(err)
	}
	defer session.EndSession(context.Background())
	if _, err := session.WithTransaction(context.Background(), func(ctx context.Context) (any, error) { return nil, fn(ctx) }); err != nil {
		s.t.Fatal(err)
	}
}

// start runs the server until the tests' process ends or closes its standard input.
func start() (*Server, error) {
	folder, err := prepare()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("java", "-Xmx1g", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off", "-cp",
		filepath.Join(folder, "lib", "*")+string(os.PathListSeparator)+classes(folder), "CdcServer")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("java: %w", err)
	}
	shared.stdin, shared.ended = stdin, make(chan struct{})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	go func() {
		_, _ = io.Copy(io.Discard, stdout)
		_ = cmd.Wait()
		close(shared.ended)
	}()
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "LISTENING ")
	if err != nil || !ok {
		return nil, fmt.Errorf("the server said %q: %v", line, err)
	}
	return &Server{URI: "mongodb://" + address + "/?replicaSet=rs0&heartbeatFrequencyMS=500"}, nil
}

// classes is the folder of the compiled program, one for each of its versions.
func classes(folder string) string {
	return filepath.Join(folder, fmt.Sprintf("classes-%x", sha256.Sum256(program))[:24])
}

// prepare fetches the libraries and compiles the program unless that has been done, and returns the folder they are in.
func prepare() (folder string, err error) {
	repository, err := cache.Repository()
	if err != nil {
		return "", err
	}
	here := filepath.Join(repository, "integration", "mongotest")
	err = cache.Fill("mongodb", func(at string) error {
		folder = at
		libraries := filepath.Join(folder, "lib")
		err := once(filepath.Join(libraries, ".done"), "mvn", "-q", "-B", "-f", filepath.Join(here, "pom.xml"),
			"dependency:copy-dependencies", "-DoutputDirectory="+libraries, "-DincludeScope=runtime")
		if err != nil {
			return err
		}
		out := classes(folder)
		return once(filepath.Join(out, ".done"), "javac", "-nowarn", "-d", out, "-cp", filepath.Join(libraries, "*"), filepath.Join(here, "CdcServer.java"))
	})
	return folder, err
}

// once runs a program unless it left the file done behind earlier.
func once(done, program string, args ...string) error {
	if _, err := os.Stat(done); err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*limit)
	defer cancel()
	if out, err := exec.CommandContext(ctx, program, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", program, err, out)
	}
	return os.WriteFile(done, nil, 0o644)
}
