package maskindex

import (
	"cmp"
	"math"
	"slices"
)

// MaxRuns is the number of key files that a look-up should have to visit at most: each costs about 0.2 us a key of a
// small batch.
const MaxRuns = 8

// RunInfo describes a key file to PlanMerge.
type RunInfo struct {
	Keys uint64 // entries
	Gone uint64 // of them, those of tablets that left the table or of dead rows, as far as known
}

// wasteful is the share of useless entries, as a divisor, from which a file is worth rewriting.
const wasteful = 2

// PlanMerge returns which files to merge into one, as ascending indices, such that no more than room entries are read;
// nil when there is nothing to do or nothing that fits. Merging what it says until it says nothing leaves at most MaxRuns
// files, if all fits.
//
// It is size-tiered: it takes the smallest files, as many as needed, and goes on while the next is not larger than
// all taken together, so that an entry at least doubles its file each time it is rewritten. Where those do not fit it
// merges the smallest neighbours that do and of which none is larger than twice all before: then there are more files,
// but few of each size below room/2.
func PlanMerge(runs []RunInfo, room uint64) (inputs []int) {
	order := make([]int, len(runs))
	for i := range order {
		order[i] = i
	}
	useful := func(i int) uint64 { return runs[i].Keys - min(runs[i].Keys, runs[i].Gone) }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(useful(a), useful(b)) })
	if len(runs) <= MaxRuns {
		for _, i := range order {
			if runs[i].Gone > 0 && runs[i].Gone*wasteful >= runs[i].Keys && runs[i].Keys <= room {
				return []int{i}
			}
		}
		return nil
	}
	// tier returns the files of one merge: need of order, and those that follow while they are not larger than all before
	// so many times over.
	tier := func(order []int, need int, times uint64) (files []int, entries uint64) {
		sum := uint64(0)
		for n, i := range order {
			if n >= need && (useful(i) > times*sum || entries+runs[i].Keys > room) {
				break
			}
			sum += useful(i)
			entries += runs[i].Keys
			files = append(files, i)
		}
		return files, entries
	}
	inputs, entries := tier(order, len(runs)-MaxRuns+1, 1)
	for first := 0; entries > room; first++ {
		if first == len(order) {
			return nil
		}
		if inputs, entries = tier(order[first:], 1, 2); len(inputs) < 2 {
			entries = math.MaxUint64
		}
	}
	slices.Sort(inputs)
	return inputs
}
