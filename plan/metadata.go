package plan

import "github.com/tidemarkdb/tidemark/vec"

// markMetadata flags aggregates that the metadata of a table can answer: counts, minima and maxima of whole columns.
func markMetadata(_ *optimizer, n Node) Node {
	return mapNode(n, func(n Node) Node {
		agg, ok := n.(*Aggregate)
		if !ok || len(agg.Groups) > 0 || len(agg.Sets) > 0 || len(agg.Aggregates) == 0 {
			return n
		}
		scan, ok := agg.Input.(*Scan)
		if !ok || len(scan.Filters) > 0 {
			return n
		}
		for i := range agg.Aggregates {
			if !fromMetadata(&agg.Aggregates[i]) {
				return n
			}
		}
		c := *agg
		c.FromMetadata = true
		return &c
	})
}

func fromMetadata(a *AggCall) bool {
	if a.Filter != nil {
		return false
	}
	switch a.Name {
	case "count":
		if len(a.Args) == 0 {
			return true
		}
		_, plain := a.Args[0].(*ColumnRef)
		return plain && !a.Distinct
	case "min", "max":
		ref, plain := a.Args[0].(*ColumnRef)
		return plain && ref.T.ID != vec.Text && ref.T.ID != vec.Bytea // whose statistics may be cut short
	}
	return false
}
