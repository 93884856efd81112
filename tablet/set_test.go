package tablet

import (
	"slices"
	"testing"
)

func baseOf(id ID, rows int64) Base { return Base{Desc: &Desc{ID: id, Rows: rows, FileBytes: rows}} }

func mask(rows int64) MaskRef { return MaskRef{File: 5, Offset: 1, Length: 2, Cardinality: rows} }

// build applies steps to a set and fails the test when one is refused.
func build(t *testing.T, s *Set, version uint64, steps func(*Builder) error) *Set {
	t.Helper()
	b := s.Edit()
	if err := steps(b); err != nil {
		t.Fatal(err)
	}
	return b.Set(version)
}

func ids[T any](members []T, id func(T) ID) []ID {
	var out []ID
	for _, m := range members {
		out = append(out, id(m))
	}
	return out
}

func TestSetVersionsChangeWithTheirContents(t *testing.T) {
	empty := NewSet(1, 10)
	one := build(t, empty, 11, func(b *Builder) error { return b.AddBase(baseOf(1, 100)) })
	same := build(t, one, 12, func(*Builder) error { return nil })
	unmasked := build(t, one, 12, func(b *Builder) error { _, err := b.SetMask(1, MaskRef{}); return err })
	masked := build(t, one, 13, func(b *Builder) error { _, err := b.SetMask(1, mask(7)); return err })
	indexed := build(t, masked, 14, func(b *Builder) error { return b.ReplaceRuns(nil, []Run{{ID: 3}}) })
	staged := build(t, indexed, 15, func(b *Builder) error { return b.Stage(Staged{Desc: &Desc{ID: 4, Rows: 5}, Append: 1}) })

	if same != one || unmasked != one {
		t.Error("a build that changed nothing made another set")
	}
	for _, c := range []struct {
		set           *Set
		version, runs uint64
	}{{empty, 10, 0}, {one, 11, 0}, {masked, 13, 0}, {indexed, 13, 14}, {staged, 15, 14}} {
		if c.set.Version() != c.version || c.set.RunsVersion() != c.runs {
			t.Errorf("versions %d and %d, want %d and %d", c.set.Version(), c.set.RunsVersion(), c.version, c.runs)
		}
	}
	if got := staged.Totals(); got != (Totals{1, 1, 100, 5, 7, 100}) {
		t.Errorf("totals %+v", got)
	}
	if got := one.Totals(); got != (Totals{1, 0, 100, 0, 0, 100}) {
		t.Errorf("the set before has totals %+v now", got)
	}
	if b, _ := one.BaseTablet(1); !b.Mask.IsZero() {
		t.Error("the set before has the mask now")
	}
	if &staged.View().Base[0] != &indexed.View().Base[0] {
		t.Error("sets of one base lay it out twice")
	}
}

func TestStagingIsInOrderOfAppends(t *testing.T) {
	s := build(t, NewSet(1, 1), 2, func(b *Builder) error {
		for _, place := range []struct {
			id     ID
			append uint64
			part   uint32
		}{{9, 2, 1}, {8, 300, 0}, {7, 1, 0}, {6, 2, 0}} {
			if err := b.Stage(Staged{Desc: &Desc{ID: place.id}, Append: place.append, Part: place.part}); err != nil {
				return err
			}
		}
		return nil
	})
	want := []ID{7, 6, 9, 8}
	if got := ids(s.View().Staging, func(s Staged) ID { return s.ID }); !slices.Equal(got, want) {
		t.Errorf("staging %v, want %v", got, want)
	}
	if got, ok := s.StagedTablet(8); !ok || got.Append != 300 {
		t.Errorf("StagedTablet(8) = %+v, %t", got, ok)
	}
	if d, ok := s.Desc(9); !ok || d.ID != 9 {
		t.Errorf("Desc(9) = %+v, %t", d, ok)
	}
}

func TestBuilderRefusesWhatDoesNotFit(t *testing.T) {
	s := build(t, NewSet(1, 1), 2, func(b *Builder) error {
		if err := b.Stage(Staged{Desc: &Desc{ID: 2}, Append: 1}); err != nil {
			return err
		}
		return b.AddBase(baseOf(1, 10))
	})
	for name, step := range map[string]func(*Builder) error{
		"a base tablet twice":         func(b *Builder) error { return b.AddBase(baseOf(1, 1)) },
		"a staged tablet in the base": func(b *Builder) error { return b.AddBase(baseOf(2, 1)) },
		"a base tablet staged":        func(b *Builder) error { return b.Stage(Staged{Desc: &Desc{ID: 1}, Append: 2}) },
		"a place taken":               func(b *Builder) error { return b.Stage(Staged{Desc: &Desc{ID: 3}, Append: 1}) },
		"append 0":                    func(b *Builder) error { return b.Stage(Staged{Desc: &Desc{ID: 3}}) },
		"a part too large":            func(b *Builder) error { return b.Stage(Staged{Desc: &Desc{ID: 3}, Append: 2, Part: MaxPart + 1}) },
		"no description":              func(b *Builder) error { return b.AddBase(Base{}) },
		"no description staged":       func(b *Builder) error { return b.Stage(Staged{Append: 1}) },
		"removing what is not there":  func(b *Builder) error { _, err := b.RemoveBase(2); return err },
		"unstaging what is not there": func(b *Builder) error { _, err := b.Unstage(1); return err },
		"masking what is not there":   func(b *Builder) error { _, err := b.SetMask(2, mask(1)); return err },
		"a mask of more rows":         func(b *Builder) error { _, err := b.SetMask(1, mask(11)); return err },
		"a mask of no rows":           func(b *Builder) error { _, err := b.SetMask(1, mask(0)); return err },
		"removing a run not there":    func(b *Builder) error { return b.ReplaceRuns([]ID{1}, nil) },
		"a run twice":                 func(b *Builder) error { return b.ReplaceRuns(nil, []Run{{ID: 1}, {ID: 1}}) },
		"a run without identity":      func(b *Builder) error { return b.ReplaceRuns(nil, []Run{{}}) },
	} {
		if err := step(s.Edit()); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func TestRestoreGivesTheSetBack(t *testing.T) {
	s := build(t, NewSet(1, 1), 2, func(b *Builder) error {
		if err := b.AddBase(Base{Desc: &Desc{ID: 1, Rows: 10}, Mask: mask(3)}); err != nil {
			return err
		}
		if err := b.Stage(Staged{Desc: &Desc{ID: 2, Rows: 4}, Append: 7, Part: 3, TruncateBefore: true, SourceMicros: 5}); err != nil {
			return err
		}
		return b.ReplaceRuns(nil, []Run{{ID: 6, Tablets: []ID{1}}})
	})
	cleared := build(t, s, 9, func(b *Builder) error { b.Clear(); return nil })
	for _, s := range []*Set{NewSet(1, 5), s, cleared} {
		got, err := Restore(s.View())
		if err != nil {
			t.Fatal(err)
		}
		if got.Version() != s.Version() || got.RunsVersion() != s.RunsVersion() || got.Totals() != s.Totals() || got.Empty() != s.Empty() {
			t.Errorf("restored %+v, want %+v", got.View(), s.View())
		}
		if !slices.EqualFunc(got.View().Staging, s.View().Staging, func(a, b Staged) bool { return a == b }) || !slices.Equal(got.View().Base, s.View().Base) {
			t.Errorf("restored %+v, want %+v", got.View(), s.View())
		}
	}
}
