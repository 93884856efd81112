package cascade

import (
	"context"
	"log/slog"
	"time"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/maskindex"
	"github.com/tidemarkdb/tidemark/metrics"
	"github.com/tidemarkdb/tidemark/tablestore"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// Cascade folds one table's staging into its base and maintains the base. One goroutine uses it.
type Cascade struct {
	Catalog *catalog.Catalog
	Store   *tablestore.Store
	Table   tablet.TableID
	Epoch   uint64         // of the worker it belongs to; every commit carries it
	Metrics *metrics.Table // may be nil
	Log     *slog.Logger
	Threads func() int // cores it may use

	// Aside reports whether maintenance should leave the table alone for now; nil: never. In write mode every commit of
	// maintenance makes a merge that is under way look for its keys again, and maintenance that never rests would keep
	// it from ever committing.
	Aside func() bool

	// Busy reports whether an append is being written or committed: work that can wait lets it pass; nil: never.
	Busy func() bool

	pace    pace // of rewriting rows
	keyPace pace // of merging the key index
}

// Run makes one cascade and counts it. It reports whether anything was staged. The table may be gone or no longer this
// worker's: then its commit fails and the error says so.
func (c *Cascade) Run(ctx context.Context) (drained bool, err error) {
	started := time.Now()
	ledger := c.Store.NewLedger()
	defer ledger.Discard()
	result, err := c.fold(ledger.Context(ctx))
	if err != nil {
		if ctx.Err() == nil {
			c.Metrics.CascadeFailed(time.Since(started))
		}
		return false, err
	}
	c.Metrics.CascadeCommitted(time.Since(started), result)
	return result.Drained, nil
}

// folding is a cascade under way: one snapshot of the table, and what becomes of it.
type folding struct {
	table *catalog.Table
	view  *tablet.View
	masks *maskindex.Masks
	edit  *catalog.Adopt
	count metrics.Cascade
}

func (c *Cascade) fold(ctx context.Context) (metrics.Cascade, error) {
	pin := c.Catalog.Pin()
	defer pin.Release()
	table, ok := pin.TableByID(c.Table)
	if !ok {
		return metrics.Cascade{}, nil
	}
	f := &folding{table: table, view: table.Tablets.View()}
	if len(f.view.Staging) == 0 {
		totals := table.Tablets.Totals()
		count := metrics.Cascade{BaseTablets: int64(totals.BaseTablets)}
		if table.Ingest != nil && table.Ingest.BaseSourceMicros != 0 {
			count.BaseAsOf = time.UnixMicro(table.Ingest.BaseSourceMicros)
		}
		return count, nil
	}
	var err error
	if f.masks, err = c.Store.Masks(ctx, table); err != nil {
		return f.count, err
	}
	newest := f.view.Staging[len(f.view.Staging)-1]
	f.edit = &catalog.Adopt{Table: c.Table, AsOf: newest.Append, Epoch: c.Epoch}
	if err := c.settleStaging(ctx, f); err != nil {
		return f.count, err
	}
	if err := c.settleMasks(ctx, f); err != nil {
		return f.count, err
	}
	after, err := c.commit(ctx, f.edit)
	if err != nil {
		return f.count, err
	}
	if now, ok := after.TableByID(c.Table); ok {
		c.Store.Adopted(ctx, table, now)
		totals := now.Tablets.Totals()
		f.count.StagingTablets, f.count.BaseTablets = int64(totals.StagingTablets), int64(totals.BaseTablets)
		if micros := now.Ingest.BaseSourceMicros; micros != 0 {
			f.count.BaseAsOf = time.UnixMicro(micros)
		}
	}
	f.count.Drained = true
	return f.count, nil
}

// commit makes an edit; the files it names stay.
func (c *Cascade) commit(ctx context.Context, edit catalog.Edit) (*catalog.Snapshot, error) {
	c.makeWay(ctx)
	after, err := c.Catalog.Commit(ctx, edit)
	tablestore.LedgerOf(ctx).Committed(err, edit)
	return after, err
}

// settleStaging decides what becomes of each staging tablet and writes the consolidated ones.
func (c *Cascade) settleStaging(ctx context.Context, f *folding) error {
	members := make([]member, len(f.view.Staging))
	for i, s := range f.view.Staging {
		mask, err := f.masks.Of(uint64(s.ID))
		if err != nil {
			return err
		}
		members[i] = member{desc: s.Desc, dead: int64(mask.Dead())}
		f.count.MaskedStaging += int64(mask.Dead())
	}
	chosen := chooseFates(members)
	for _, m := range chosen.retire {
		f.edit.Retired = append(f.edit.Retired, m.desc.ID)
	}
	f.count.Retired, f.count.Adopted = int64(len(chosen.retire)), int64(len(members)-len(chosen.retire))
	for _, m := range chosen.adopt {
		f.edit.Adopted = append(f.edit.Adopted, catalog.Adoption{Staged: m.desc.ID})
	}
	for _, group := range chosen.groups {
		written, err := c.rewrite(ctx, f.table, f.masks, group)
		if err != nil {
			return err
		}
		f.edit.Written = append(f.edit.Written, written...)
		for _, m := range group {
			f.edit.Retired = append(f.edit.Retired, m.desc.ID)
		}
	}
	return nil
}

// settleMasks writes down the masks of base tablets that staging added to, and of tablets adopted as they are.
func (c *Cascade) settleMasks(ctx context.Context, f *folding) error {
	var write []tablestore.TabletMask
	from := map[tablet.ID]tablet.MaskRef{}
	for _, b := range f.view.Base {
		mask, err := f.masks.Of(uint64(b.ID))
		if err != nil {
			return err
		}
		added := int64(mask.Dead()) - b.Mask.Cardinality
		if added == 0 {
			continue
		}
		f.count.MaskedBase += added
		if mask.All() {
			f.edit.Dropped = append(f.edit.Dropped, catalog.MaskedTablet{Tablet: b.ID, Mask: b.Mask})
			continue
		}
		from[b.ID] = b.Mask
		write = append(write, tablestore.TabletMask{Tablet: b.ID, Mask: mask})
	}
	for _, a := range f.edit.Adopted {
		mask, err := f.masks.Of(uint64(a.Staged))
		if err != nil {
			return err
		}
		if !mask.None() {
			write = append(write, tablestore.TabletMask{Tablet: a.Staged, Mask: mask})
		}
	}
	refs, err := c.Store.WriteMasks(ctx, c.Table, write)
	if err != nil {
		return err
	}
	for i := range f.edit.Adopted {
		f.edit.Adopted[i].Mask = refs[f.edit.Adopted[i].Staged]
	}
	for _, w := range write {
		if old, inBase := from[w.Tablet]; inBase {
			f.edit.Masks = append(f.edit.Masks, catalog.MaskChange{Tablet: w.Tablet, From: old, To: refs[w.Tablet]})
		}
	}
	return nil
}

// rewrite writes the live rows of tablets anew, sorted, as about one tablet.
func (c *Cascade) rewrite(ctx context.Context, t *catalog.Table, masks *maskindex.Masks, group []member) ([]tablet.Base, error) {
	var parts []*vec.Batch
	for _, m := range group { // one after the other: appends and queries need the other cores
		c.makeWay(ctx)
		part, err := c.Store.ReadLive(ctx, t, []*tablet.Desc{m.desc}, masks)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	batch, err := tablestore.Concat(tablestore.Columns(t), parts)
	if err != nil {
		return nil, err
	}
	return c.write(ctx, t, batch)
}

// write makes a tablet of rows, sorted; none when there are no rows.
func (c *Cascade) write(ctx context.Context, t *catalog.Table, batch *vec.Batch) ([]tablet.Base, error) {
	if batch.N == 0 {
		return nil, nil
	}
	c.makeWay(ctx)
	batch = tablestore.SortRows(t, batch)
	c.makeWay(ctx)
	desc, err := c.Store.Write(ctx, t, tablestore.Rows{Batch: batch}, c.Threads())
	if err != nil {
		return nil, err
	}
	return []tablet.Base{{Desc: desc}}, nil
}
