package tablestore

import (
	"context"
	"io"
	"math"

	"github.com/RoaringBitmap/roaring/v2"

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

// RunMerge is a choice of key files of a table's base to merge into one run.
type RunMerge struct {
	files []keyFile
	Keys  int64 // entries to read
}

// ChooseRuns returns a merge that reads at most room entries; nil when there is none. due tells whether a look-up has to
// visit more key files than it should, or a wasteful one, whether or not there is room to mend it.
func ChooseRuns(t *catalog.Table, room int64) (m *RunMerge, due bool) {
	files := keyFilesOf(t)
	infos := make([]maskindex.RunInfo, len(files))
	for i, f := range files {
		infos[i] = f.info
	}
	chosen := maskindex.PlanMerge(infos, uint64(room))
	if len(chosen) == 0 {
		return nil, maskindex.PlanMerge(infos, math.MaxUint64) != nil
	}
	m = &RunMerge{}
	for _, c := range chosen {
		m.files = append(m.files, files[c])
		m.Keys += int64(files[c].info.Keys)
	}
	return m, true
}

// MergeRuns merges key files and returns the edit that puts the merged run in their place.
func (s *Store) MergeRuns(ctx context.Context, t *catalog.Table, m *RunMerge) (*catalog.ReplaceRuns, error) {
	masks, err := s.CommittedMasks(ctx, t)
	if err != nil {
		return nil, err
	}
	edit := &catalog.ReplaceRuns{Table: t.ID}
	inputs := make([]string, len(m.files))
	for i, f := range m.files {
		inputs[i] = f.path
		if f.run != 0 {
			edit.Remove = append(edit.Remove, f.run)
		}
	}
	run, err := s.mergeKeyFiles(ctx, t.ID, inputs, maskindex.MergeOptions{Tablet: func(id uint64) maskindex.Fate {
		mask, err := masks.Of(id)
		return maskindex.Fate{Gone: err != nil, Dead: mask}
	}})
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

// IndexTablets merges the sidecars of the tablets of a load into a run, so that the first appends find one key file
// however many tablets there are. Rows of one key in several tablets are versions of one row, of which the last tablet's
// is in force: tablets with others are written anew without them. It returns the tablets to commit.
func (s *Store) IndexTablets(ctx context.Context, t *catalog.Table, descs []*tablet.Desc) ([]*tablet.Desc, []tablet.Run, error) {
	if len(descs) < 2 {
		return descs, nil, nil
	}
	older := map[tablet.ID]*roaring.Bitmap{}
	run, err := s.indexTablets(ctx, t, descs, func(p maskindex.Position) {
		rows := older[tablet.ID(p.Tablet)]
		if rows == nil {
			rows = roaring.New()
			older[tablet.ID(p.Tablet)] = rows
		}
		rows.Add(p.Row)
	})
	if err != nil || len(older) == 0 {
		return descs, []tablet.Run{run}, err
	}
	left := make([]*tablet.Desc, 0, len(descs))
	for _, d := range descs {
		if rows := older[d.ID]; rows != nil {
			if d, err = s.without(ctx, t, d, rows); err != nil {
				return nil, nil, err
			}
		}
		if d != nil {
			left = append(left, d)
		}
	}
	run, err = s.indexTablets(ctx, t, left, nil)
	return left, []tablet.Run{run}, err
}

func (s *Store) indexTablets(ctx context.Context, t *catalog.Table, descs []*tablet.Desc, superseded func(maskindex.Position)) (tablet.Run, error) {
	inputs := make([]string, len(descs))
	for i, d := range descs {
		inputs[i] = d.SidecarPath(t.ID)
	}
	return s.mergeKeyFiles(ctx, t.ID, inputs, maskindex.MergeOptions{Superseded: superseded})
}

// without writes a tablet anew without some of its rows; nil when none is left.
func (s *Store) without(ctx context.Context, t *catalog.Table, d *tablet.Desc, rows *roaring.Bitmap) (*tablet.Desc, error) {
	mask, err := maskindex.NewMask(rows, uint32(d.Rows))
	if err != nil || mask.All() {
		return nil, err
	}
	columns := Columns(t)
	batches, err := s.readTablet(ctx, t.ID, d, columns, ScanMask(mask))
	if err != nil {
		return nil, err
	}
	batch, err := Concat(columns, batches)
	if err != nil {
		return nil, err
	}
	return s.Write(ctx, t, Rows{Batch: batch}, 0)
}

func (s *Store) mergeKeyFiles(ctx context.Context, table tablet.TableID, paths []string, options maskindex.MergeOptions) (tablet.Run, error) {
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
	options.Name = path
	fate := options.Tablet
	options.Tablet = func(id uint64) maskindex.Fate {
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
	file, err := s.writeKeyFile(ctx, run.ID, path, func(w io.Writer) error {
		summary, err := maskindex.Merge(ctx, w, inputs, options)
		run.Rows = int64(summary.Keys)
		return err
	})
	run.Bytes, run.Checksum = file.bytes, file.sum
	return run, err
}
