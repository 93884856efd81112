package function

import (
	"github.com/tidemarkdb/tidemark/extension"
)

func aggregateFamily() family {
	return family{category: "aggregates", aggregates: []*extension.AggregateFunc{}}
}
