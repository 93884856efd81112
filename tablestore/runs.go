package tablestore

import (
	"context"
	"io"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/maskindex"
	"github.com/tidemarkdb/tidemark/tablet"
)

// keyFile is a sidecar or run that covers part of a table's base.
type keyFile struct {
	path string
	run  tablet.ID // zero for a sidecar
	info maskindex.RunInfo
}

// MergeRuns merges key files of the table's base when there are more than a look-up should visit, and returns the
// edit that puts the merged run in their place; nil when there is nothing to do.
func (s *Store) MergeRuns(ctx context.Context, t *catalog.Table) (*catalog.ReplaceRuns, error) {
	files := keyFilesOf(t)
	infos := make([]maskindex.RunInfo, len(files))
	for i, f := range files {
		infos[i] = f.info
	}
	chosen := maskindex.PlanMerge(infos)
	if len(chosen) == 0 {
		return nil, nil
	}
	masks, err := s.CommittedMasks(ctx, t)
	if err != nil {
		return nil, err
	}
	edit := &catalog.ReplaceRuns{Table: t.ID}
	inputs := make([]string, len(chosen))
	for i, c := range chosen {
		inputs[i] = files[c].path
		if files[c].run != 0 {
			edit.Remove = append(edit.Remove, files[c].run)
		}
	}
	run, err := s.mergeKeyFiles(ctx, t.ID, inputs, func(id uint64) maskindex.Fate {
		mask, err := masks.Of(id)
		return maskindex.Fate{Gone: err != nil, Dead: mask}
	})
	if err != nil {
		return nil, err
	}
	if run.Rows > 0 {
		edit.Add = append(edit.Add, run)
	}
	return edit, nil
}

// keyFilesOf lists what covers the base of a table, the runs first.
func keyFilesOf(t *catalog.Table) []keyFile {
	if len(t.MergeKey) == 0 {
		return nil
	}
	var files []keyFile
	covered := map[tablet.ID]bool{}
	for _, r := range t.Tablets.Runs() {
		f := keyFile{path: tablet.RunPath(t.ID, r.ID), run: r.ID, info: maskindex.RunInfo{Keys: uint64(r.Rows)}}
		live := int64(0)
		for _, id := range r.Tablets {
			covered[id] = true
			if b, ok := t.Tablets.BaseTablet(id); ok {
				live += b.Live()
			}
		}
		f.info.Gone = uint64(max(0, r.Rows-live))
		files = append(files, f)
	}
	for b := range t.Tablets.Base() {
		if !covered[b.ID] && b.SidecarBytes > 0 {
			files = append(files, keyFile{path: b.SidecarPath(t.ID), info: maskindex.RunInfo{Keys: uint64(b.Rows)}})
		}
	}
	return files
}

// IndexTablets merges the sidecars of new tablets, no two rows of which have one key, into runs, so that the first
// appends find a few key files however many tablets there are.
func (s *Store) IndexTablets(ctx context.Context, t *catalog.Table, descs []*tablet.Desc) ([]tablet.Run, error) {
	if len(descs) <= maskindex.MaxRuns {
		return nil, nil
	}
	inputs := make([]string, len(descs))
	for i, d := range descs {
		inputs[i] = d.SidecarPath(t.ID)
	}
	run, err := s.mergeKeyFiles(ctx, t.ID, inputs, nil)
	if err != nil {
		return nil, err
	}
	return []tablet.Run{run}, nil
}

func (s *Store) mergeKeyFiles(ctx context.Context, table tablet.TableID, paths []string, fate func(uint64) maskindex.Fate) (tablet.Run, error) {
	var inputs []*maskindex.File
	for _, path := range paths {
		f, release, err := s.keyFiles.Acquire(ctx, path)
		if err != nil {
			return tablet.Run{}, err
		}
		defer release()
		inputs = append(inputs, f)
	}
	run := tablet.Run{ID: tablet.NewID()}
	path := tablet.RunPath(table, run.ID)
	seen := map[uint64]bool{}
	keep := func(id uint64) maskindex.Fate {
		f := maskindex.Fate{}
		if fate != nil {
			f = fate(id)
		}
		if !f.Gone && !seen[id] {
			seen[id] = true
			run.Tablets = append(run.Tablets, tablet.ID(id))
		}
		return f
	}
	file, err := s.writeKeyFile(ctx, path, func(w io.Writer) error {
		summary, err := maskindex.Merge(ctx, w, inputs, maskindex.MergeOptions{Name: path, Tablet: keep})
		run.Rows = int64(summary.Keys)
		return err
	})
	run.Bytes, run.Checksum = file.bytes, file.sum
	return run, err
}
