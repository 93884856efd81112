package tablestore

import (
	"context"
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/maskindex"
	"github.com/tidemarkdb/tidemark/tablet"
)

// keptBases is how many versions of a table's base stay ready: the newest, and one a running query may still use.
const keptBases = 3

// baseIdentity is comparable and differs whenever a base tablet or its committed mask does: sets of one base share
// their laid out slice, and holding its address keeps the address from being used again.
type baseIdentity struct {
	first *tablet.Base
	n     int
}

func identityOf(view *tablet.View) baseIdentity {
	if len(view.Base) == 0 {
		return baseIdentity{}
	}
	return baseIdentity{&view.Base[0], len(view.Base)}
}

// base is a table's base made ready for resolution.
type base struct {
	identity baseIdentity
	runs     uint64 // version of the runs its index was made of
	base     *maskindex.Base
	masks    map[tablet.MaskRef]*roaring.Bitmap
}

// Masks returns which rows of the table's tablets are dead, committed and resolved.
func (s *Store) Masks(ctx context.Context, t *catalog.Table) (*maskindex.Masks, error) {
	set, err := s.set(ctx, t)
	if err != nil {
		return nil, err
	}
	return s.masks.Masks(ctx, set)
}

// Warm does what the first query of a new state of a table would have to: it resolves the masks and, where queries read
// the table lately, decodes their columns of the fresh tablets. A failure is the query's to report.
func (s *Store) Warm(ctx context.Context, t *catalog.Table, fresh ...*tablet.Desc) {
	_, _ = s.Masks(ctx, t)
	s.warmPages(ctx, t, fresh)
}

// set returns the table's tablets as resolution takes them.
func (s *Store) set(ctx context.Context, t *catalog.Table) (maskindex.Set, error) {
	view := t.Tablets.View()
	b, err := s.baseOf(ctx, t, view)
	if err != nil {
		return maskindex.Set{}, err
	}
	set := maskindex.Set{Table: uint64(t.ID), Base: b, Staging: make([]maskindex.Tablet, len(view.Staging))}
	for i, staged := range view.Staging {
		set.Staging[i] = maskindex.Tablet{
			ID: uint64(staged.ID), Rows: uint32(staged.Rows), Keys: staged.SidecarPath(t.ID),
			Append: staged.Append, TruncateBefore: staged.TruncateBefore,
		}
	}
	return set, nil
}

func (s *Store) baseOf(ctx context.Context, t *catalog.Table, view *tablet.View) (*maskindex.Base, error) {
	identity := identityOf(view)
	s.mu.Lock()
	known := s.bases[t.ID]
	s.mu.Unlock()
	for _, b := range known {
		if b.identity == identity && b.runs == view.RunsVersion {
			return b.base, nil
		}
	}
	fresh, err := s.makeBase(ctx, t, view, known)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := append([]*base{fresh}, s.bases[t.ID]...)
	s.bases[t.ID] = kept[:min(len(kept), keptBases)]
	return fresh.base, nil
}

// makeBase reads the committed masks that no known base has already.
func (s *Store) makeBase(ctx context.Context, t *catalog.Table, view *tablet.View, known []*base) (*base, error) {
	b := &base{identity: identityOf(view), runs: view.RunsVersion, masks: map[tablet.MaskRef]*roaring.Bitmap{}}
	tablets := make([]maskindex.Tablet, len(view.Base))
	for i, member := range view.Base {
		committed, err := s.committed(ctx, member, known)
		if err != nil {
			return nil, err
		}
		if committed != nil {
			b.masks[member.Mask] = committed
		}
		tablets[i] = maskindex.Tablet{ID: uint64(member.ID), Rows: uint32(member.Rows), Committed: committed}
	}
	var err error
	b.base, err = maskindex.NewBase(b.identity, tablets, indexOf(t, view))
	return b, err
}

// committed returns a base tablet's committed mask, nil for none.
func (s *Store) committed(ctx context.Context, member tablet.Base, known []*base) (*roaring.Bitmap, error) {
	if member.Mask.IsZero() {
		return nil, nil
	}
	for _, b := range known {
		if m, ok := b.masks[member.Mask]; ok {
			return m, nil
		}
	}
	return s.readMask(ctx, member)
}

// indexOf names the key files that cover the base: the runs, and the sidecars of tablets in no run.
func indexOf(t *catalog.Table, view *tablet.View) []string {
	if len(t.MergeKey) == 0 {
		return nil
	}
	var names []string
	covered := map[tablet.ID]bool{}
	for _, r := range view.Runs {
		names = append(names, tablet.RunPath(t.ID, r.ID))
		for _, id := range r.Tablets {
			covered[id] = true
		}
	}
	for _, b := range view.Base {
		if !covered[b.ID] && b.SidecarBytes > 0 {
			names = append(names, b.SidecarPath(t.ID))
		}
	}
	return names
}

// DeadRows returns the rows of a base tablet that its committed mask hides. The caller must not change the bitmap.
func (s *Store) DeadRows(ctx context.Context, table tablet.TableID, member tablet.Base) (*roaring.Bitmap, error) {
	s.mu.Lock()
	known := s.bases[table]
	s.mu.Unlock()
	dead, err := s.committed(ctx, member, known)
	if err != nil || dead != nil {
		return dead, err
	}
	return roaring.New(), nil
}

// readMask reads one committed mask from its Puffin file.
func (s *Store) readMask(ctx context.Context, member tablet.Base) (*roaring.Bitmap, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path := member.Mask.Path()
	return maskindex.ReadVector(path, object{s.Objects, path}, maskindex.BlobRef{Offset: member.Mask.Offset, Length: member.Mask.Length, Cardinality: member.Mask.Cardinality})
}

// CommittedMasks returns the masks of the base alone, without what staging adds.
func (s *Store) CommittedMasks(ctx context.Context, t *catalog.Table) (*maskindex.Masks, error) {
	b, err := s.baseOf(ctx, t, t.Tablets.View())
	if err != nil {
		return nil, err
	}
	return s.masks.Masks(ctx, maskindex.Set{Table: uint64(t.ID), Base: b})
}

// TabletMask is a mask to be committed.
type TabletMask struct {
	Tablet tablet.ID
	Mask   *maskindex.Mask
}

// WriteMasks writes masks as deletion vectors of one Puffin file, durable when it returns, and says where each lies.
// Without masks it writes nothing.
func (s *Store) WriteMasks(ctx context.Context, table tablet.TableID, masks []TabletMask) (map[tablet.ID]tablet.MaskRef, error) {
	if len(masks) == 0 {
		return nil, nil
	}
	file := tablet.NewID()
	vectors := make([]maskindex.Vector, len(masks))
	for i, m := range masks {
		vectors[i] = maskindex.Vector{Path: tablet.ParquetPath(table, m.Tablet), Dead: m.Mask.Bitmap()}
	}
	path := tablet.MaskPath(file)
	LedgerOf(ctx).note(file, path)
	out, err := s.Objects.Create(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("creating %s: %w", path, err)
	}
	defer out.Abort()
	blobs, _, err := maskindex.WritePuffin(out, vectors)
	if err != nil {
		return nil, err
	}
	if err := out.Close(); err != nil {
		return nil, fmt.Errorf("closing %s: %w", path, err)
	}
	refs := make(map[tablet.ID]tablet.MaskRef, len(masks))
	for i, m := range masks {
		refs[m.Tablet] = tablet.MaskRef{
			File: file, Offset: blobs[i].Offset, Length: blobs[i].Length, Cardinality: int64(m.Mask.Dead()),
		}
	}
	return refs, nil
}

// DeadMask is a base tablet whose mask becomes Dead.
type DeadMask struct {
	Member tablet.Base
	Dead   *roaring.Bitmap
}

// ChangeMasks writes masks to one file and adds to edit what they change; a tablet none of whose rows lives is removed.
func (s *Store) ChangeMasks(ctx context.Context, edit *catalog.Modify, masks []DeadMask) error {
	var write []TabletMask
	from := map[tablet.ID]tablet.MaskRef{}
	for _, m := range masks {
		mask, err := maskindex.NewMask(m.Dead, uint32(m.Member.Rows))
		if err != nil {
			return err
		}
		if mask.All() {
			edit.Remove = append(edit.Remove, catalog.MaskedTablet{Tablet: m.Member.ID, Mask: m.Member.Mask})
			continue
		}
		write = append(write, TabletMask{Tablet: m.Member.ID, Mask: mask})
		from[m.Member.ID] = m.Member.Mask
	}
	refs, err := s.WriteMasks(ctx, edit.Table, write)
	if err != nil {
		return err
	}
	for _, w := range write {
		edit.Masks = append(edit.Masks, catalog.MaskChange{Tablet: w.Tablet, From: from[w.Tablet], To: refs[w.Tablet]})
	}
	return nil
}

// Adopted makes a table ready for queries after a cascade, without looking keys up where the masks before imply them.
func (s *Store) Adopted(ctx context.Context, before, after *catalog.Table) {
	from, err := s.set(ctx, before)
	if err != nil {
		return
	}
	to, err := s.set(ctx, after)
	if err != nil {
		return
	}
	if !s.masks.Adopt(from, to, nil) {
		_, _ = s.Masks(ctx, after)
	}
	s.warmPages(ctx, after, newTablets(before, after))
}
