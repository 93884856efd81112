package cascade

import (
	"context"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablestore"
	"github.com/tidemarkdb/tidemark/tablet"
)

// vacuumPart moves the live ones among the first rows of a tablet, from its first live row on, to a tablet of their own,
// and masks them where they were. The tablet goes with its last part.
func (c *Cascade) vacuumPart(ctx context.Context, t *catalog.Table, view *tablet.View, m member, rows int64) error {
	old, ok := baseOf(view, m.desc.ID)
	if !ok {
		return sqlerr.New(sqlerr.Internal, "tablet %s is not in the base", m.desc.ID)
	}
	dead, err := c.Store.DeadRows(ctx, t.ID, old)
	if err != nil {
		return err
	}
	from := firstOutside(dead)
	to := uint32(min(int64(from)+rows, old.Rows))
	batch, err := c.Store.ReadRange(ctx, t, old.Desc, dead, from, to)
	if err != nil {
		return err
	}
	written, err := c.write(ctx, t, batch)
	if err != nil {
		return err
	}
	moved := dead.Clone()
	moved.AddRange(uint64(from), uint64(to))
	changed := &catalog.Modify{Table: c.Table}
	if err := c.Store.ChangeMasks(ctx, changed, []tablestore.DeadMask{{Member: old, Dead: moved}}); err != nil {
		return err
	}
	return c.finish(ctx, &catalog.ReplaceTablets{Table: c.Table, Add: written, Masks: changed.Masks, Remove: changed.Remove, Epoch: c.Epoch})
}

func baseOf(view *tablet.View, id tablet.ID) (tablet.Base, bool) {
	for _, b := range view.Base {
		if b.ID == id {
			return b, true
		}
	}
	return tablet.Base{}, false
}

// firstOutside returns the least number that is not in a bitmap.
func firstOutside(b *roaring.Bitmap) uint32 {
	at := uint32(0)
	for it := b.Iterator(); it.HasNext() && it.Next() == at; {
		at++
	}
	return at
}
