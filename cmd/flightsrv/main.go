// Command flightsrv is Tidemark: a server of CDC tables over Arrow Flight SQL, a shell, a demonstration and a checker.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

// command is one subcommand.
type command struct {
	name    string
	summary string
	run     func(ctx context.Context, args []string, stdout, stderr io.Writer) error
}

func commands() []command {
	return []command{
		{"serve", "serve a data root over Arrow Flight SQL", serve},
		{"sql", "run SQL, embedded over a data root or on a server", runSQL},
		{"demo", "stream made-up changes into a CDC table and watch it", demo},
		{"check", "verify a data root, and repair what can be", check},
		{"version", "print the version", version},
	}
}

// errReported ends the process with status 1 without another message.
var errReported = errors.New("reported already")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run executes a command line and returns the exit status: 0, 1 for a failure, 2 for a wrong command line.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 || slices.Contains([]string{"-h", "--help", "help"}, args[0]) {
		usage(stdout)
		return 0
	}
	for _, c := range commands() {
		if c.name != args[0] {
			continue
		}
		switch err := c.run(ctx, args[1:], stdout, stderr); {
		case err == nil, errors.Is(err, flag.ErrHelp):
			return 0
		case errors.Is(err, errUsage):
			fmt.Fprintf(stderr, "flightsrv %s: %v\nrun 'flightsrv %s --help' for the flags\n", c.name, err, c.name)
			return 2
		case errors.Is(err, errReported):
			return 1
		default:
			printError(stderr, err)
			return 1
		}
	}
	fmt.Fprintf(stderr, "flightsrv: there is no command %q", args[0])
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	if near := sqlerr.Nearest(args[0], names); near != "" {
		fmt.Fprintf(stderr, "; did you mean %q?", near)
	}
	fmt.Fprintln(stderr)
	usage(stderr)
	return 2
}

func usage(w io.Writer) {
	fmt.Fprintln(w, "flightsrv keeps analytic tables in step with operational databases and serves them with SQL.")
	fmt.Fprintln(w, "\nusage: flightsrv COMMAND [flags]")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-8s %s\n", c.name, c.summary)
	}
	fmt.Fprintln(w, "\n'flightsrv COMMAND --help' lists a command's flags.")
}

// errUsage marks a wrong command line.
var errUsage = errors.New("wrong command line")

// parseFlags parses args; an unknown flag or a left-over argument is errUsage, --help prints the flags.
func parseFlags(flags *flag.FlagSet, args []string, stdout io.Writer) error {
	flags.SetOutput(io.Discard)
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		flags.SetOutput(stdout)
		fmt.Fprintf(stdout, "usage: flightsrv %s [flags]\n", flags.Name())
		flags.PrintDefaults()
		return err
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%w: unexpected argument %q", errUsage, flags.Arg(0))
	}
	return nil
}

// printError writes an error as psql does: message, SQLSTATE, position, detail, hint.
func printError(w io.Writer, err error) {
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		fmt.Fprintf(w, "ERROR: %v\n", err)
		return
	}
	fmt.Fprintf(w, "ERROR:  %s: %s\n", e.Code, e.Message)
	if e.Pos > 0 {
		fmt.Fprintf(w, "POSITION: %d\n", e.Pos)
	}
	if e.Detail != "" {
		fmt.Fprintf(w, "DETAIL: %s\n", e.Detail)
	}
	if e.Hint != "" {
		fmt.Fprintf(w, "HINT: %s\n", e.Hint)
	}
}

// listFlag is a flag that may be given several times.
type listFlag []string

func (l *listFlag) String() string { return strings.Join(*l, ",") }

func (l *listFlag) Set(s string) error {
	*l = append(*l, s)
	return nil
}
