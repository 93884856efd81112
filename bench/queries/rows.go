package main

import "github.com/tidemarkdb/tidemark/vec"

// appendRows adds the rows of a batch as text.
func appendRows(rows [][]string, b *vec.Batch) [][]string {
	for i := range b.N {
		row := make([]string, len(b.Cols))
		for c, v := range b.Cols {
			row[c] = vec.Format(v.Value(i))
		}
		rows = append(rows, row)
	}
	return rows
}
