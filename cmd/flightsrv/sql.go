package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/vec"
)

// stdin is where the shell reads from; tests replace it.
var stdin io.Reader = os.Stdin

// connection runs statements, embedded or on a server.
type connection interface {
	// query runs one statement. next yields batches until nil and must be called to the end or close be called.
	query(ctx context.Context, text string) (*answer, error)
	zone() *time.Location
	close()
}

// answer is the result of one statement.
type answer struct {
	schema vec.Schema
	tag    string
	next   func(context.Context) (*vec.Batch, error)
	close  func()
}

func runSQL(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("sql", flag.ContinueOnError)
	root := flags.String("root", "", "run embedded over the data root in this `directory`")
	addr := flags.String("addr", "", "connect to the server at `HOST:PORT`, or grpc+tls://HOST:PORT")
	authority := flags.String("tls-ca", "", "PEM `file` of the authority that the server's certificate must come from; the system's when empty")
	text := flags.String("c", "", "run this `SQL` and exit")
	file := flags.String("f", "", "run the SQL in this `file` and exit")
	format := flags.String("format", "table", "output: table, csv or json")
	user := flags.String("user", "", "user name on the server")
	password := flags.String("password", os.Getenv("TIDEMARK_PASSWORD"), "password; better given in TIDEMARK_PASSWORD")
	readOnly := flags.Bool("read-only", false, "with --root: refuse everything that changes it")
	if err := parseFlags(flags, args, stdout); err != nil {
		return err
	}
	if _, err := newPrinter(*format, io.Discard, time.UTC); err != nil {
		return err
	}
	if (*root == "") == (*addr == "") {
		return fmt.Errorf("%w: give either --root or --addr", errUsage)
	}
	conn, err := connect(ctx, *root, *addr, *authority, *user, *password, *readOnly)
	if err != nil {
		return err
	}
	defer conn.close()
	s := &shell{conn: conn, format: *format, stdout: stdout, stderr: stderr}
	switch {
	case *text != "":
		return s.script(ctx, *text)
	case *file != "":
		content, err := os.ReadFile(*file)
		if err != nil {
			return err
		}
		return s.script(ctx, string(content))
	}
	return s.prompt(ctx, stdin)
}

func connect(ctx context.Context, root, addr, authority, user, password string, readOnly bool) (connection, error) {
	if addr != "" {
		return dial(ctx, addr, authority, user, password)
	}
	e, err := engine.Open(ctx, engine.Options{Root: root, ReadOnly: readOnly, AllowAnyPath: true})
	if err != nil {
		return nil, err
	}
	session, err := e.NewSession(engine.SessionOptions{User: user})
	if err != nil {
		e.Close()
		return nil, err
	}
	return &embedded{e, session}, nil
}

// embedded is a connection to an engine in this process.
type embedded struct {
	engine  *engine.Engine
	session *engine.Session
}

func (c *embedded) query(ctx context.Context, text string) (*answer, error) {
	r, err := c.session.Query(ctx, text)
	if err != nil {
		return nil, err
	}
	return &answer{schema: r.Schema, tag: r.Tag, next: r.Next, close: r.Close}, nil
}

func (c *embedded) zone() *time.Location {
	name, err := c.session.Setting("timezone")
	if err != nil {
		return time.UTC
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	return zone
}

func (c *embedded) close() {
	c.session.Close()
	c.engine.Close()
}

// shell runs statements and prints their results.
type shell struct {
	conn           connection
	format         string
	stdout, stderr io.Writer
}

// script runs every statement of text; the first failure ends it.
func (s *shell) script(ctx context.Context, text string) error {
	statements, rest := splitStatements(text)
	if !isBlank(rest) {
		statements = append(statements, rest)
	}
	for _, statement := range statements {
		if isBlank(statement) {
			continue
		}
		if err := s.run(ctx, statement); err != nil {
			printError(s.stderr, err)
			return errReported
		}
	}
	return nil
}

// run runs one statement and prints what it gives. Rows that came before a failure are printed.
func (s *shell) run(ctx context.Context, statement string) error {
	a, err := s.conn.query(ctx, statement)
	if err != nil {
		return err
	}
	defer a.close()
	p, err := newPrinter(s.format, s.stdout, s.conn.zone())
	if err != nil {
		return err
	}
	p.begin(a.schema)
	for {
		batch, err := a.next(ctx)
		if err != nil {
			return errors.Join(p.end(a.tag), err)
		}
		if batch == nil {
			break
		}
		p.batch(batch.Compact())
	}
	if len(a.schema) == 0 && s.format != "table" {
		return nil
	}
	return p.end(a.tag)
}

// prompt reads statements from in until its end. On a terminal it prompts and goes on after a failure; statements
// from a pipe end at the first one.
func (s *shell) prompt(ctx context.Context, in io.Reader) error {
	interactive := isTerminal(in)
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	pending := ""
	ask := func() {
		if !interactive {
			return
		}
		if isBlank(pending) {
			fmt.Fprint(s.stdout, "tidemark> ")
		} else {
			fmt.Fprint(s.stdout, "      ... ")
		}
	}
	failed := false
	handle := func(statement string) bool {
		if err := s.run(ctx, statement); err != nil {
			printError(s.stderr, err)
			failed = true
			return interactive && ctx.Err() == nil
		}
		return true
	}
	for ask(); lines.Scan(); ask() {
		line := lines.Text()
		if isBlank(pending) {
			if word := strings.TrimSpace(line); word == `\q` || word == "exit" || word == "quit" {
				return nil
			}
		}
		var statements []string
		statements, pending = splitStatements(pending + line + "\n")
		for _, statement := range statements {
			if !isBlank(statement) && !handle(statement) {
				return errReported
			}
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if !isBlank(pending) && !handle(pending) {
		return errReported
	}
	if failed && !interactive {
		return errReported
	}
	return nil
}

// isTerminal reports whether in is a terminal.
func isTerminal(in io.Reader) bool {
	f, ok := in.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
