package function

import "github.com/tidemarkdb/tidemark/extension"

func formatFunctions() []*extension.ScalarFunc { return nil }
