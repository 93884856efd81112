package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
)

// DefaultOrphanAge is how old an orphan must be before Check deletes it: more than the longest load takes.
const DefaultOrphanAge = 24 * time.Hour

// CheckOptions say what Check does beyond verifying the log and that every named file exists with its size.
type CheckOptions struct {
	Repair    bool          // delete orphans, and damaged checkpoints the log can do without
	OrphanAge time.Duration // only orphans this old are deleted, since younger ones may be about to be committed; 0: DefaultOrphanAge, negative: any age

	// Verify, when not nil, checks the contents of a file of the newest version; its error becomes a problem.
	Verify func(ctx context.Context, file FileRef) error

	Now func() time.Time // clock for the age of orphans, time.Now when nil
}

// Report is what Check found.
type Report struct {
	Version   uint64 // newest version
	Tables    int    // tables at that version
	Files     int    // files they name
	Bytes     int64  // of these files
	Forgotten int    // files only older versions name, which a sweep will delete
	Problems  []Problem
	Orphans   []Orphan // files no version names
}

// OK reports that no problem is left. Orphans are none: they cost space alone.
func (r *Report) OK() bool {
	return !slices.ContainsFunc(r.Problems, func(p Problem) bool { return !p.Repaired })
}

// Problem is one fault.
type Problem struct {
	Path     string
	Err      error
	Repaired bool
}

// Orphan is a file no readable version names, left behind by a crash.
type Orphan struct {
	Path    string
	Bytes   int64
	Age     time.Duration
	Removed bool
}

// tempCleaner is a store whose crashed writers leave files outside of the listing.
type tempCleaner interface {
	CleanTemp(ctx context.Context, age time.Duration) (int, error)
}

// Check verifies the root in a store: the chain of log files and their checksums, that every checkpoint says what the
// log says, and every file the newest version names. With Repair it deletes orphans, and checkpoints that are wrong
// while the log leads past them; nothing else. Faults of the root are problems in the report; the error is for a store
// that does not answer.
func Check(ctx context.Context, store objstore.Store, options CheckOptions) (*Report, error) {
	if options.OrphanAge == 0 {
		options.OrphanAge = DefaultOrphanAge
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	k := &checker{store: store, options: options, report: &Report{}}
	s, err := k.log(ctx)
	if err != nil || s == nil {
		return k.report, err
	}
	return k.report, k.files(ctx, s)
}

type checker struct {
	store   objstore.Store
	options CheckOptions
	report  *Report

	leftovers []string // log files before the cut
}

func (k *checker) problem(path string, err error) {
	k.report.Problems = append(k.report.Problems, Problem{Path: path, Err: err})
}

// log verifies the log and returns the newest snapshot, nil when it cannot be known.
func (k *checker) log(ctx context.Context) (*Snapshot, error) {
	checkpoints, err := listVersions(ctx, k.store, checkpointPrefix, 0)
	if err != nil {
		return nil, err
	}
	entries, err := listVersions(ctx, k.store, logDir, 0)
	if err != nil {
		return nil, err
	}
	s, err := k.start(ctx, &checkpoints, &entries)
	if err != nil || s == nil {
		return nil, err
	}
	for _, v := range entries {
		next, _, err := readEntry(ctx, k.store, s)
		if err != nil {
			return nil, k.fault(entryPath(v), err)
		}
		s = next
		if len(checkpoints) > 0 && checkpoints[0] == v {
			if err := k.checkpoint(ctx, s); err != nil {
				return nil, err
			}
			checkpoints = checkpoints[1:]
		}
	}
	for _, v := range checkpoints {
		k.problem(checkpointPath(v), damaged(checkpointPath(v), 0, "the log ends at version %d, before it", s.version))
	}
	return s, nil
}

// start finds where the unbroken end of the log begins, reads the state there, nil when there is none, and leaves in the
// lists what follows it. What lies before belongs to a log that was cut: a sweep stopped, or a crash undid deletions.
func (k *checker) start(ctx context.Context, checkpoints, entries *[]uint64) (*Snapshot, error) {
	all := *entries
	first := len(all) - 1
	for first > 0 && all[first-1] == all[first]-1 {
		first--
	}
	if first <= 0 && (len(all) == 0 && len(*checkpoints) == 0 || len(all) > 0 && all[0] == 1) {
		return emptyRoot(), nil
	}
	from := slices.IndexFunc(*checkpoints, func(v uint64) bool { return len(all) == 0 || v+1 >= all[first] })
	if from < 0 {
		path := entryPath(all[first] - 1)
		k.problem(path, missing(all[first]-1, all[first]))
		return nil, nil
	}
	begin := (*checkpoints)[from]
	s, err := readCheckpoint(ctx, k.store, begin)
	if err != nil {
		return nil, k.fault(checkpointPath(begin), err)
	}
	for _, v := range (*checkpoints)[:from] {
		k.leftover(checkpointPath(v))
	}
	for _, v := range all[:max(first, 0)] {
		k.leftover(entryPath(v))
	}
	*checkpoints = (*checkpoints)[from+1:]
	*entries = slices.DeleteFunc(all, func(v uint64) bool { return v <= begin })
	return s, nil
}

// leftover notes a log file before the cut as an orphan.
func (k *checker) leftover(path string) {
	k.leftovers = append(k.leftovers, path)
}

// checkpoint compares a checkpoint with the state the log leads to, which makes a wrong one dispensable.
func (k *checker) checkpoint(ctx context.Context, s *Snapshot) error {
	path := checkpointPath(s.version)
	found := len(k.report.Problems)
	if err := k.compare(ctx, path, s); err != nil {
		return err
	}
	if len(k.report.Problems) == found || !k.options.Repair {
		return nil
	}
	if err := k.store.Delete(ctx, path); err != nil {
		return fmt.Errorf("deleting a damaged checkpoint: %w", err)
	}
	k.report.Problems[found].Repaired = true
	return nil
}

func (k *checker) compare(ctx context.Context, path string, s *Snapshot) error {
	stored, err := readCheckpoint(ctx, k.store, s.version)
	if err != nil {
		return k.fault(path, err)
	}
	want, err := encodeCheckpoint(s)
	if err != nil {
		return err
	}
	have, err := encodeCheckpoint(stored)
	if err != nil {
		return err
	}
	if string(want) != string(have) || stored.checksum != s.checksum {
		k.problem(path, damaged(path, headerSize, "it does not say what the log says"))
	}
	return nil
}

// fault notes a fault of the root as a problem, and returns others.
func (k *checker) fault(path string, err error) error {
	if sqlerr.Code(err) == sqlerr.DataCorrupted || errors.Is(err, objstore.ErrNotFound) {
		k.problem(path, err)
		return nil
	}
	return err
}

// files verifies the data files against the newest snapshot.
func (k *checker) files(ctx context.Context, s *Snapshot) error {
	k.report.Version, k.report.Tables = s.version, s.tables.Len()
	named := make(map[string]FileRef)
	for f := range s.Files() {
		named[f.Path()] = f
	}
	k.report.Files = len(named)
	for _, path := range k.leftovers {
		info, err := k.store.Stat(ctx, path)
		if err == nil {
			err = k.orphan(ctx, info, true)
		}
		if err != nil && !errors.Is(err, objstore.ErrNotFound) {
			return err
		}
	}
	forgotten := make(map[string]bool)
	for _, g := range s.garbage.All() {
		for _, path := range g.Files {
			forgotten[path] = true
		}
	}
	for _, dir := range []string{tablet.TablesDir, tablet.MasksDir} {
		for info, err := range k.store.List(ctx, dir, "") {
			if err != nil {
				return fmt.Errorf("listing the data files: %w", err)
			}
			if err := k.file(ctx, info, named, forgotten); err != nil {
				return err
			}
		}
	}
	for path := range named { // what was found has been taken out
		k.problem(path, sqlerr.New(sqlerr.DataCorrupted, "%s: %w", path, objstore.ErrNotFound).
			Hintf("restore the file from a copy of the data root"))
	}
	slices.SortFunc(k.report.Problems, func(a, b Problem) int { return strings.Compare(a.Path, b.Path) })
	if cleaner, ok := k.store.(tempCleaner); ok && k.options.Repair {
		_, err := cleaner.CleanTemp(ctx, max(0, k.options.OrphanAge))
		return err
	}
	return nil
}

func (k *checker) file(ctx context.Context, info objstore.Info, named map[string]FileRef, forgotten map[string]bool) error {
	ref, ok := named[info.Path]
	if !ok {
		if forgotten[info.Path] {
			k.report.Forgotten++
			return nil
		}
		return k.orphan(ctx, info, tablet.ParsePath(info.Path).Kind != tablet.UnknownFile)
	}
	delete(named, info.Path)
	k.report.Bytes += info.Size
	if ref.Size >= 0 && ref.Size != info.Size {
		k.problem(info.Path, damaged(info.Path, int(min(ref.Size, info.Size)), "the file should have %d bytes and has %d", ref.Size, info.Size))
		return nil
	}
	if k.options.Verify == nil {
		return nil
	}
	if err := k.options.Verify(ctx, ref); err != nil {
		if ctx.Err() != nil {
			return err
		}
		k.problem(info.Path, err)
	}
	return nil
}

// orphan notes a file nothing names; ours says that no other program can have put it there.
func (k *checker) orphan(ctx context.Context, info objstore.Info, ours bool) error {
	o := Orphan{Path: info.Path, Bytes: info.Size, Age: k.options.Now().Sub(info.ModTime)}
	if k.options.Repair && ours && o.Age >= k.options.OrphanAge {
		if err := k.store.Delete(ctx, info.Path); err != nil {
			return fmt.Errorf("deleting an orphan: %w", err)
		}
		o.Removed = true
	}
	k.report.Orphans = append(k.report.Orphans, o)
	return nil
}
