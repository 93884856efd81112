package cascade

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/tidemarkdb/tidemark/tablestore"
	"github.com/tidemarkdb/tidemark/tablet"
)

// Shares and counts of the policy.
const (
	// vacuumShare is the share of dead rows from which a tablet is rewritten.
	vacuumShare = 0.20
	// mergeFanIn tablets of one size class make it worth merging them.
	mergeFanIn = 4
)

// member is one tablet with what a choice needs to know of it.
type member struct {
	desc *tablet.Desc
	dead int64 // committed or resolved, as the choice needs
}

func (m member) live() int64 { return m.desc.Rows - m.dead }

func (m member) share() float64 { return float64(m.dead) / float64(max(1, m.desc.Rows)) }

// liveBytes estimates the Parquet bytes of the live rows.
func (m member) liveBytes() int64 {
	return int64(float64(m.desc.FileBytes) * float64(m.live()) / float64(max(1, m.desc.Rows)))
}

// wellSized reports whether a tablet is large enough to be left as it is.
func (m member) wellSized() bool {
	return m.live() >= tablestore.TargetRows/2 || m.liveBytes() >= tablestore.TargetBytes/2
}

// fates sorts staging tablets into those to retire, to adopt as they are, and to write anew in groups, each of which
// makes about one well-sized tablet.
type fates struct {
	retire, adopt []member
	groups        [][]member
}

func chooseFates(staged []member) fates {
	var f fates
	var small []member
	for _, m := range staged {
		switch {
		case m.live() == 0:
			f.retire = append(f.retire, m)
		case m.wellSized() && m.share() < vacuumShare:
			f.adopt = append(f.adopt, m)
		default:
			small = append(small, m)
		}
	}
	for _, g := range groupBySize(small) {
		if len(g) == 1 && g[0].share() < vacuumShare {
			f.adopt = append(f.adopt, g[0])
			continue
		}
		f.groups = append(f.groups, g)
	}
	return f
}

// groupBySize cuts members, in their order, into runs whose live rows make at most one target tablet.
func groupBySize(members []member) [][]member {
	var groups [][]member
	var rows, size int64
	for _, m := range members {
		if len(groups) == 0 || rows+m.live() > tablestore.TargetRows || size+m.liveBytes() > tablestore.TargetBytes {
			groups = append(groups, nil)
			rows, size = 0, 0
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], m)
		rows += m.live()
		size += m.liveBytes()
	}
	return groups
}

// step is what maintenance does next: group is rewritten as about one tablet, or with part the first rows of its only
// tablet. No rows: there is nothing to do.
type step struct {
	group []member
	rows  int64
	part  bool
}

// chooseStep returns the step most worth doing among those of about room rows at most.
func chooseStep(base []member, room int64) step {
	if worst := chooseVacuum(base); len(worst) > 0 {
		s := cut(groupBySize(worst)[0], room)
		if len(s.group) == 0 {
			return step{group: worst[:1], rows: room, part: true}
		}
		return s
	}
	for _, group := range chooseMerge(base) {
		if s := cut(group, room); len(s.group) > 1 {
			return s
		}
	}
	return step{}
}

// cut leaves the first members of a group, as many as have room rows.
func cut(group []member, room int64) (s step) {
	for i, m := range group {
		if s.rows+m.desc.Rows > room {
			return step{group: group[:i], rows: s.rows}
		}
		s.rows += m.desc.Rows
	}
	return step{group: group, rows: s.rows}
}

// chooseVacuum returns the base tablets to rewrite because of their dead rows, the worst first.
func chooseVacuum(base []member) []member {
	var out []member
	for _, m := range base {
		if m.dead > 0 && m.share() >= vacuumShare {
			out = append(out, m)
		}
	}
	slices.SortStableFunc(out, func(a, b member) int { return cmp.Compare(b.share(), a.share()) })
	return out
}

// chooseMerge returns groups of small base tablets to merge: those of a size class with at least mergeFanIn members,
// smallest class first. Classes grow fourfold, so a row is rewritten about once a class.
func chooseMerge(base []member) [][]member {
	classes := map[int][]member{}
	for _, m := range base {
		if !m.wellSized() {
			class := bits.Len64(uint64(m.live())) / 2
			classes[class] = append(classes[class], m)
		}
	}
	var groups [][]member
	for class := range 64 {
		if len(classes[class]) < mergeFanIn {
			continue
		}
		for _, g := range groupBySize(classes[class]) {
			if len(g) > 1 {
				groups = append(groups, g)
			}
		}
	}
	return groups
}
