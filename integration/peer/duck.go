package peer

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/tidemarkdb/tidemark/integration/pyvenv"
)

// duckProgram answers one statement a line, in JSON.
//
//go:embed duck.py
var duckProgram string

type duck struct {
	t   testing.TB
	in  io.Writer
	out *bufio.Reader
}

// Duck starts a DuckDB with an empty database in memory.
func Duck(t testing.TB) Peer {
	t.Helper()
	cmd := exec.Command(pyvenv.Python(t), "-c", duckProgram, strconv.FormatFloat(patience.Seconds(), 'f', -1, 64))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close() // which ends the program
		if err := cmd.Wait(); err != nil {
			t.Errorf("DuckDB: %v", err)
		}
	})
	return duck{t, in, bufio.NewReader(out)}
}

func (duck) Name() string { return "duckdb" }

func (s duck) Run(statement string) (*Answer, error) {
	request, err := json.Marshal(statement)
	if err != nil {
		s.t.Fatal(err)
	}
	var reply struct {
		Error   string
		TooSlow bool
		Kinds   []Kind
		Rows    [][]*string
	}
	_, err = s.in.Write(append(request, '\n'))
	if err == nil {
		var line []byte
		if line, err = s.out.ReadBytes('\n'); err == nil {
			err = json.Unmarshal(line, &reply)
		}
	}
	if err != nil {
		s.t.Fatalf("DuckDB is gone: %v\n%s", err, statement)
	}
	if reply.TooSlow {
		return nil, ErrTooSlow
	}
	if reply.Error != "" {
		return nil, errors.New(reply.Error)
	}
	return &Answer{Kinds: reply.Kinds, Rows: reply.Rows}, nil
}
