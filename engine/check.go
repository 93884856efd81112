package engine

import (
	"context"
	"os"
	"time"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablestore"
)

// CheckOptions say what Check looks at.
type CheckOptions struct {
	Root      string
	Repair    bool          // delete files that no readable version names
	OrphanAge time.Duration // only those at least this old; 0: 24 hours
	Quick     bool          // leave the contents of data files out
}

// Check verifies a data root that need not be open: the log, that every file it names is there, and unless Quick the
// checksum of every one. Faults are in the report; the error is for what kept it from looking.
func Check(ctx context.Context, options CheckOptions) (*catalog.Report, error) {
	if _, err := os.Stat(options.Root); err != nil {
		return nil, sqlerr.New(sqlerr.UndefinedFile, "data root %s: %w", options.Root, err).Hintf("name the directory that serve was given")
	}
	store, err := objstore.OpenLocal(options.Root)
	if err != nil {
		return nil, err
	}
	check := catalog.CheckOptions{Repair: options.Repair, OrphanAge: options.OrphanAge}
	if !options.Quick {
		check.Verify = tablestore.Verifier(store)
	}
	return catalog.Check(ctx, store, check)
}
