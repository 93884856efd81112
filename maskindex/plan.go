package maskindex

import (
	"cmp"
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

// PlanMerge returns which files to merge into one, as ascending indices; nil when there is nothing to do. Merging
// what it says until it says nothing leaves at most MaxRuns files.
//
// It is size-tiered: it takes the smallest files, as many as needed, and goes on while the next is not larger than
// all taken together, so that an entry at least doubles its file each time it is rewritten.
func PlanMerge(runs []RunInfo) (inputs []int) {
	order := make([]int, len(runs))
	for i := range order {
		order[i] = i
	}
	useful := func(i int) uint64 { return runs[i].Keys - min(runs[i].Keys, runs[i].Gone) }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(useful(a), useful(b)) })
	if len(runs) <= MaxRuns {
		for _, i := range order {
			if runs[i].Gone > 0 && runs[i].Gone*wasteful >= runs[i].Keys {
				return []int{i}
			}
		}
		return nil
	}
	need, sum := len(runs)-MaxRuns+1, uint64(0)
	for n, i := range order {
		if n >= need && useful(i) > sum {
			break
		}
		sum += useful(i)
		inputs = append(inputs, i)
	}
	slices.Sort(inputs)
	return inputs
}
