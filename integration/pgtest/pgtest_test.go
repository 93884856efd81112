package pgtest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// killedVariable makes the test program one that starts a server, prints where it is and waits to be killed.
const killedVariable = "PGTEST_KILLED"

func TestMain(m *testing.M) {
	if os.Getenv(killedVariable) == "" {
		os.Exit(Main(m))
	}
	s := Start(&mainTB{})
	fmt.Println(s.folder)
	fmt.Println(s.DSN)
	select {}
}

// A process that is killed leaves neither its server nor the server's folder.
func TestServerEndsWithItsProcess(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), killedVariable+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewReader(out)
	folder, dsn := line(t, lines), line(t, lines)
	connect := func() error {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		conn, err := pgconn.Connect(ctx, dsn)
		if err == nil {
			_ = conn.Close(ctx)
		}
		return err
	}
	if err := connect(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
		_, err := os.Stat(folder)
		if os.IsNotExist(err) && connect() != nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("a minute after its process the server's folder says %v, the server %v", err, connect())
		}
	}
}

func line(t *testing.T, from *bufio.Reader) string {
	t.Helper()
	text, err := from.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(text)
}
