package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// release is the version of this source tree.
const release = "0.1.0"

func version(_ context.Context, args []string, stdout, _ io.Writer) error {
	flags := flag.NewFlagSet("version", flag.ContinueOnError)
	if err := parseFlags(flags, args, stdout); err != nil {
		return err
	}
	revision := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = " " + s.Value[:min(12, len(s.Value))]
			}
		}
	}
	_, err := fmt.Fprintf(stdout, "tidemark %s%s %s %s/%s\n", release, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
