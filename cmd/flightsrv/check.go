package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/tidemarkdb/tidemark/engine"
)

func check(ctx context.Context, args []string, stdout, _ io.Writer) error {
	flags := flag.NewFlagSet("check", flag.ContinueOnError)
	root := flags.String("root", "", "`directory` of the data root")
	repair := flags.Bool("repair", false, "remove files that no version names")
	age := flags.Duration("orphan-age", 24*time.Hour, "with --repair: remove only files at least this old, as younger ones may be about to be committed")
	quick := flags.Bool("quick", false, "verify the log and that files are there, not their contents")
	if err := parseFlags(flags, args, stdout); err != nil {
		return err
	}
	if *root == "" {
		return fmt.Errorf("%w: --root is required", errUsage)
	}
	report, err := engine.Check(ctx, engine.CheckOptions{Root: *root, Repair: *repair, OrphanAge: *age, Quick: *quick})
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "version %d, %d tables, %d files\n", report.Version, report.Tables, report.Files)
	for _, p := range report.Problems {
		fmt.Fprintf(stdout, "problem: %s: %v\n", p.Path, p.Err)
	}
	removed := 0
	for _, o := range report.Orphans {
		state := "kept"
		if o.Removed {
			state = "removed"
			removed++
		}
		fmt.Fprintf(stdout, "orphan: %s, %d bytes, %s old, %s\n", o.Path, o.Bytes, o.Age.Round(time.Second), state)
	}
	if len(report.Problems) > 0 {
		fmt.Fprintf(stdout, "%d problems\n", len(report.Problems))
		return errReported
	}
	fmt.Fprintf(stdout, "ok, %d orphans, %d removed\n", len(report.Orphans), removed)
	return nil
}
