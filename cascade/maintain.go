package cascade

import (
	"context"
	"errors"
	"time"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablestore"
	"github.com/tidemarkdb/tidemark/tablet"
)

// Maintain vacuums and merges base tablets and merges runs of the key index until nothing is worth doing or the
// budget is spent; a budget of 0 does nothing. A step that another commit got in the way of is left for the next time.
//
// A step has as many rows as are rewritten within what is left of the budget at the pace of the steps before it, but
// leastStep at least; a tablet that has more is vacuumed in parts. A step of more than leastStep rows that has not ended
// with the budget is abandoned. So the budget is overrun by no more than the time of a step of leastStep rows, or where
// a larger one is abandoned, of what cannot be interrupted: to sort its rows or to encode a row group of them. Merges of
// the key index are steps of their keys, with a pace of their own; those that do not fit wait.
func (c *Cascade) Maintain(ctx context.Context, budget time.Duration) error {
	if budget <= 0 {
		return nil
	}
	deadline := time.Now().Add(budget)
	for {
		if c.aside() {
			return nil
		}
		worked, err := c.maintainOnce(ctx, deadline)
		switch {
		case sqlerr.Code(err) == sqlerr.SerializationFailure || errors.Is(err, errAside) || errors.Is(err, errLate):
			return nil
		case err != nil:
			return err
		case !worked || time.Now().After(deadline) || ctx.Err() != nil:
			return ctx.Err()
		}
	}
}

// errLate ends a step that did not end within the budget.
var errLate = errors.New("maintenance is out of time")

// errAside ends a step that was about to commit while others wait for the table.
var errAside = errors.New("maintenance steps aside")

func (c *Cascade) aside() bool { return c.Aside != nil && c.Aside() }

// maintainOnce takes the step most worth doing and reports whether there was one.
func (c *Cascade) maintainOnce(ctx context.Context, deadline time.Time) (bool, error) {
	pin := c.Catalog.Pin()
	defer pin.Release()
	table, ok := pin.TableByID(c.Table)
	if !ok {
		return false, nil
	}
	ledger := c.Store.NewLedger()
	defer ledger.Discard()
	ctx = ledger.Context(ctx)
	merge, due := tablestore.ChooseRuns(table, c.keyPace.rowsIn(time.Until(deadline), firstKeyPace))
	switch {
	case merge != nil:
		return true, c.timed(ctx, &c.keyPace, merge.Keys, deadline, func(ctx context.Context) error {
			edit, err := c.Store.MergeRuns(ctx, table, merge)
			if err == nil {
				_, err = c.commit(ctx, edit)
			}
			return err
		})
	case due:
		c.keyPace.unused()
	}
	view := table.Tablets.View()
	base := make([]member, len(view.Base))
	for i, b := range view.Base {
		base[i] = member{desc: b.Desc, dead: b.Mask.Cardinality}
	}
	s := chooseStep(base, c.pace.rowsIn(time.Until(deadline), firstPace))
	if s.rows == 0 {
		return false, nil
	}
	return true, c.timed(ctx, &c.pace, s.rows, deadline, func(ctx context.Context) error {
		if s.part {
			return c.vacuumPart(ctx, table, view, s.group[0], s.rows)
		}
		return c.replace(ctx, table, view, s.group)
	})
}

// timed runs a step of so many rows, and notes its pace. That of a small step says little, which mostly waits for files.
func (c *Cascade) timed(ctx context.Context, pace *pace, rows int64, deadline time.Time, run func(context.Context) error) error {
	bounded, cancel := ctx, context.CancelFunc(func() {})
	if rows > leastStep {
		bounded, cancel = context.WithDeadline(ctx, deadline)
	}
	defer cancel()
	started := time.Now()
	err := run(bounded)
	switch {
	case err == nil:
		if rows >= leastStep {
			pace.ended(rows, time.Since(started))
		}
	case ctx.Err() == nil && bounded.Err() != nil:
		pace.abandoned()
		return errLate
	}
	return err
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
	return c.finish(ctx, edit)
}

// finish commits what a step has rewritten and makes the new tablets ready for queries.
func (c *Cascade) finish(ctx context.Context, edit *catalog.ReplaceTablets) error {
	if c.aside() {
		return errAside
	}
	after, err := c.commit(ctx, edit)
	if err != nil {
		return err
	}
	if now, ok := after.TableByID(c.Table); ok {
		var fresh []*tablet.Desc
		for _, w := range edit.Add {
			fresh = append(fresh, w.Desc)
		}
		c.Store.Warm(ctx, now, fresh...)
	}
	return nil
}
