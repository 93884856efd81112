package engine

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/maskindex"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablestore"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// errRewritten marks a serialization failure in which no two writers changed one row: tablets were rewritten, or the
// columns changed. A statement that is a transaction of its own is run again.
var errRewritten = errors.New("the table was rewritten meanwhile")

// guardKeys returns edits in which the first change of each table alone fences the keys that later ones add, as of
// base: within one commit the versions between are not known. Tables that base has not are the transaction's own.
func guardKeys(base *catalog.Snapshot, edits []catalog.Edit) []catalog.Edit {
	type first struct {
		edit   int
		fenced bool // TRUNCATE is
	}
	firsts := map[tablet.TableID]*first{}
	edits, out := fencesFirst(base, edits)
	for i, edit := range edits {
		switch e := edit.(type) {
		case *catalog.Truncate:
			if firsts[e.Table] == nil {
				firsts[e.Table] = &first{fenced: true}
			}
		case *catalog.Modify:
			f := firsts[e.Table]
			if f == nil {
				f = &first{edit: i}
				firsts[e.Table] = f
			}
			if e.KeysAsOf == 0 {
				continue
			}
			changed := *e
			changed.KeysAsOf = 0
			out[i] = &changed
			if t, ok := base.TableByID(e.Table); ok && !f.fenced {
				fenced := *out[f.edit].(*catalog.Modify)
				fenced.KeysAsOf = t.Tablets.Version()
				out[f.edit] = &fenced
			}
		}
	}
	return out
}

// fencesFirst returns edits, and a copy of the slice, in which what the edits expect of other tables comes first, as of
// base: the versions between are not known there either.
func fencesFirst(base *catalog.Snapshot, edits []catalog.Edit) (ordered, out []catalog.Edit) {
	fenced := map[tablet.TableID]bool{}
	var rest []catalog.Edit
	for _, edit := range edits {
		e, ok := edit.(*catalog.ExpectRows)
		if !ok {
			rest = append(rest, edit)
			continue
		}
		if t, ok := base.TableByID(e.Table); ok && !fenced[e.Table] {
			fenced[e.Table] = true
			ordered = append(ordered, &catalog.ExpectRows{Table: e.Table, AsOf: t.Tablets.Version()})
		}
	}
	ordered = append(ordered, rest...)
	return ordered, slices.Clone(ordered)
}

// rebase returns how edits made at base are made anew when other commits came first: rows that others left alone die
// and come as before, in tablets with the masks of both. Where another writer changed the same row the first
// committer wins.
func (s *Session) rebase(base *catalog.Snapshot) catalog.Rebase {
	return func(ctx context.Context, newest *catalog.Snapshot, edits []catalog.Edit, fault error) ([]catalog.Edit, error) {
		groups := map[tablet.TableID][]*catalog.Modify{}
		fixed := map[tablet.TableID]bool{}
		for _, edit := range edits {
			switch t := edit.(type) {
			case *catalog.ExpectRows:
				if now, ok := newest.TableByID(t.Table); !ok || now.Tablets.Version() != t.AsOf {
					return nil, rowsChanged(nameIn(base, t.Table))
				}
			case *catalog.Modify:
				groups[t.Table] = append(groups[t.Table], t)
			case *catalog.Truncate:
				fixed[t.Table] = true
			case *catalog.DropTable:
				fixed[t.Table] = true
			case *catalog.AlterColumns:
				fixed[t.Table] = true
			}
		}
		made := map[tablet.TableID]*catalog.Modify{}
		for id, group := range groups {
			before, ok := base.TableByID(id)
			if !ok || fixed[id] {
				continue
			}
			now, ok := newest.TableByID(id)
			if !ok {
				return nil, fault
			}
			if now.SchemaVersion != before.SchemaVersion {
				return nil, sqlerr.New(sqlerr.SerializationFailure, "the columns of table %q were changed: %w", before.Name, errRewritten).
					Hintf("run the transaction again")
			}
			r := &rebasing{session: s, store: s.engine.store, newest: newest, before: before, now: now}
			edit, err := r.merge(ctx, group)
			if err != nil {
				return nil, err
			}
			made[id] = edit
		}
		if len(made) == 0 {
			return nil, fault
		}
		var out []catalog.Edit
		for _, edit := range edits {
			m, ok := edit.(*catalog.Modify)
			if !ok || fixed[m.Table] {
				out = append(out, edit)
				continue
			}
			if _, ok := base.TableByID(m.Table); !ok {
				out = append(out, edit)
				continue
			}
			if united := made[m.Table]; united != nil { // in place of the first
				out = append(out, united)
				made[m.Table] = nil
			}
		}
		return out, nil
	}
}

// rowsChanged is the error of a change that was checked against rows which others changed meanwhile.
func rowsChanged(table string) error {
	return sqlerr.New(sqlerr.SerializationFailure, "rows of table %q, whose keys had to be looked at, were changed: %w", table, errRewritten).
		Hintf("run the transaction again")
}

func nameIn(snapshot *catalog.Snapshot, id tablet.TableID) string {
	if t, ok := snapshot.TableByID(id); ok {
		return t.Name
	}
	return id.String()
}

// rebasing makes the changes of one table anew.
type rebasing struct {
	session     *Session
	store       *tablestore.Store
	newest      *catalog.Snapshot
	before, now *catalog.Table

	added map[tablet.ID]tablet.Base
	final map[tablet.ID]*tablet.MaskRef // of tablets of before: the mask they got, nil when all rows died
	own   map[tablet.ID]*roaring.Bitmap // rows that died here
	keyed bool
}

// merge returns one edit with what the edits of group come to, on top of now.
func (r *rebasing) merge(ctx context.Context, group []*catalog.Modify) (*catalog.Modify, error) {
	r.collect(group)
	edit := &catalog.Modify{Table: r.now.ID, SchemaVersion: r.now.SchemaVersion}
	edit.Add = append(edit.Add, slices.SortedFunc(maps.Values(r.added), func(a, b tablet.Base) int { return cmp.Compare(a.ID, b.ID) })...)
	if err := r.unite(ctx, edit); err != nil {
		return nil, err
	}
	if !r.keyed {
		return edit, nil
	}
	if len(r.now.MergeKey) > 0 {
		if err := r.verifyKeys(ctx); err != nil {
			return nil, err
		}
	}
	edit.KeysAsOf = r.now.Tablets.Version()
	return edit, r.verifyUniques(ctx, edit)
}

// verifyUniques looks again whether the rows added break a UNIQUE constraint or index.
func (r *rebasing) verifyUniques(ctx context.Context, edit *catalog.Modify) error {
	if len(uniqueKeys(r.now)) == 0 {
		return nil
	}
	rules := r.session.newRules(r.newest, r.now, allColumns, false)
	for _, b := range r.added {
		batch, err := r.live(ctx, b, rules.places)
		if err != nil {
			return err
		}
		rules.rows = append(rules.rows, batch)
	}
	if len(rules.rows) == 0 {
		return nil
	}
	after, err := r.newest.Preview(edit)
	if err != nil {
		return err
	}
	now, ok := after.TableByID(r.now.ID)
	if !ok {
		return sqlerr.New(sqlerr.Internal, "table %q is missing", r.now.Name)
	}
	v := &verifier{rules: rules, ctx: ctx, snapshot: after, names: map[string]plan.Relation{
		"t": r.session.engine.planTable(now), "n": &plan.Virtual{Name: "n", Source: rules.added()},
	}}
	for _, u := range rules.uniques {
		if err := v.unique(u); err != nil {
			return err
		}
	}
	return nil
}

// live reads columns of the rows of an added tablet that are not dead.
func (r *rebasing) live(ctx context.Context, b tablet.Base, places []int) (*vec.Batch, error) {
	dead, err := r.store.DeadRows(ctx, r.now.ID, b)
	if err != nil {
		return nil, err
	}
	mask, err := maskindex.NewMask(dead, uint32(b.Rows))
	if err != nil {
		return nil, err
	}
	return r.store.ReadColumns(ctx, r.now, b.Desc, mask, places)
}

// collect follows the edits to what is left of them in the end.
func (r *rebasing) collect(group []*catalog.Modify) {
	r.added, r.final, r.own = map[tablet.ID]tablet.Base{}, map[tablet.ID]*tablet.MaskRef{}, map[tablet.ID]*roaring.Bitmap{}
	for _, m := range group {
		r.keyed = r.keyed || m.KeysAsOf != 0
		for _, gone := range m.Remove {
			if _, mine := r.added[gone.Tablet]; mine {
				delete(r.added, gone.Tablet)
			} else {
				r.final[gone.Tablet] = nil
			}
		}
		for _, c := range m.Masks {
			if b, mine := r.added[c.Tablet]; mine {
				b.Mask = c.To
				r.added[c.Tablet] = b
			} else {
				to := c.To
				r.final[c.Tablet] = &to
			}
		}
		for _, b := range m.Add {
			r.added[b.ID] = b
		}
	}
}

// unite adds the masks to edit: what died there and here.
func (r *rebasing) unite(ctx context.Context, edit *catalog.Modify) error {
	var write []tablestore.DeadMask
	for _, id := range slices.Sorted(maps.Keys(r.final)) {
		before, ok := r.before.Tablets.BaseTablet(id)
		if !ok {
			return sqlerr.New(sqlerr.Internal, "table %q has no tablet %s to change", r.before.Name, id)
		}
		now, ok := r.now.Tablets.BaseTablet(id)
		if !ok {
			return sqlerr.New(sqlerr.SerializationFailure, "tablets of table %q were replaced: %w", r.now.Name, errRewritten).
				Hintf("run the transaction again")
		}
		dead, err := r.store.DeadRows(ctx, r.before.ID, before)
		if err != nil {
			return err
		}
		own, err := r.ownDead(ctx, before, dead)
		if err != nil {
			return err
		}
		theirs, err := r.store.DeadRows(ctx, r.now.ID, now)
		if err != nil {
			return err
		}
		if roaring.AndNot(theirs, dead).Intersects(own) {
			return sqlerr.New(sqlerr.SerializationFailure, "could not serialize access due to concurrent update of table %q", r.now.Name).
				Hintf("another transaction changed the same row first: run the transaction again")
		}
		r.own[id] = own
		if to := r.final[id]; to != nil && now.Mask == before.Mask {
			edit.Masks = append(edit.Masks, catalog.MaskChange{Tablet: id, From: now.Mask, To: *to})
			continue
		}
		write = append(write, tablestore.DeadMask{Member: now, Dead: roaring.Or(theirs, own)})
	}
	return r.store.ChangeMasks(ctx, edit, write)
}

// ownDead returns the rows of a tablet that died here.
func (r *rebasing) ownDead(ctx context.Context, b tablet.Base, before *roaring.Bitmap) (*roaring.Bitmap, error) {
	to := r.final[b.ID]
	if to == nil {
		all := roaring.New()
		all.AddRange(0, uint64(b.Rows))
		return roaring.AndNot(all, before), nil
	}
	b.Mask = *to
	after, err := r.store.DeadRows(ctx, r.before.ID, b)
	if err != nil {
		return nil, err
	}
	return roaring.AndNot(after, before), nil
}

// verifyKeys looks again whether the keys of the rows added are free.
func (r *rebasing) verifyKeys(ctx context.Context) error {
	check := newKeyCheck(r.now)
	for _, b := range r.added {
		batch, err := r.live(ctx, b, check.places)
		if err != nil {
			return err
		}
		if _, err := check.addKeys(batch.Cols, batch.N); err != nil {
			return err
		}
	}
	if check.adds == 0 {
		return nil
	}
	return check.verify(ctx, r.store, r.now, func(id tablet.ID, row uint32) bool {
		own := r.own[id]
		return own != nil && own.Contains(row)
	})
}
