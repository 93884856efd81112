package cascade

import (
	"context"
	"errors"
	"time"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
)

// Maintain vacuums and merges base tablets and merges runs of the key index until nothing is worth doing or the
// budget is spent; a budget of 0 does nothing. A step that another commit got in the way of is left for the next time.
func (c *Cascade) Maintain(ctx context.Context, budget time.Duration) error {
	if budget <= 0 {
		return nil
	}
	deadline := time.Now().Add(budget)
	for {
		if c.aside() {
			return nil
		}
		worked, err := c.maintainOnce(ctx)
		switch {
		case sqlerr.Code(err) == sqlerr.SerializationFailure || errors.Is(err, errAside):
			return nil
		case err != nil:
			return err
		case !worked || time.Now().After(deadline) || ctx.Err() != nil:
			return ctx.Err()
		}
	}
}

// errAside ends a step that was about to commit while others wait for the table.
var errAside = errors.New("maintenance steps aside")

func (c *Cascade) aside() bool { return c.Aside != nil && c.Aside() }

// maintainOnce takes the step most worth doing and reports whether there was one.
func (c *Cascade) maintainOnce(ctx context.Context) (bool, error) {
	pin := c.Catalog.Pin()
	defer pin.Release()
	table, ok := pin.TableByID(c.Table)
	if !ok {
		return false, nil
	}
	ledger := c.Store.NewLedger()
	defer ledger.Discard()
	ctx = ledger.Context(ctx)
	if edit, err := c.Store.MergeRuns(ctx, table); err != nil || edit != nil {
		if err == nil {
			_, err = c.commit(ctx, edit)
		}
		return true, err
	}
	view := table.Tablets.View()
	base := make([]member, len(view.Base))
	for i, b := range view.Base {
		base[i] = member{desc: b.Desc, dead: b.Mask.Cardinality}
	}
	if worst := chooseVacuum(base); len(worst) > 0 {
		return true, c.replace(ctx, table, view, groupBySize(worst)[0])
	}
	if groups := chooseMerge(base); len(groups) > 0 {
		return true, c.replace(ctx, table, view, groups[0])
	}
	return false, nil
}

// replace writes the live rows of base tablets anew in one commit. Rows that staging supersedes stay, as their
// masks are resolved by key against the new tablet.
func (c *Cascade) replace(ctx context.Context, t *catalog.Table, view *tablet.View, group []member) error {
	masks, err := c.Store.CommittedMasks(ctx, t)
	if err != nil {
		return err
	}
	written, err := c.rewrite(ctx, t, masks, group)
	if err != nil {
		return err
	}
	edit := &catalog.ReplaceTablets{Table: c.Table, Add: written, Epoch: c.Epoch}
	refs := map[tablet.ID]tablet.MaskRef{}
	for _, b := range view.Base {
		refs[b.ID] = b.Mask
	}
	for _, m := range group {
		edit.Remove = append(edit.Remove, catalog.MaskedTablet{Tablet: m.desc.ID, Mask: refs[m.desc.ID]})
	}
	if c.aside() {
		return errAside
	}
	after, err := c.commit(ctx, edit)
	if err != nil {
		return err
	}
	if now, ok := after.TableByID(c.Table); ok {
		var fresh []*tablet.Desc
		for _, w := range written {
			fresh = append(fresh, w.Desc)
		}
		c.Store.Warm(ctx, now, fresh...)
	}
	return nil
}
