package parquetstore

import "sync/atomic"

// Counters tells what a scan did, for EXPLAIN ANALYZE. All goroutines of a query may share one; nil counts nothing.
type Counters struct {
	FilesPruned   atomic.Int64 // files whose statistics exclude every row
	GroupsPruned  atomic.Int64 // row groups excluded by statistics or bloom filters
	PagesPruned   atomic.Int64 // pages not decoded that a scan without predicates and mask would have decoded
	PagesDecoded  atomic.Int64 // pages decompressed and decoded
	PagesCached   atomic.Int64 // pages found decoded in the cache
	RowsDecoded   atomic.Int64 // values of decoded pages
	RowsScanned   atomic.Int64 // rows looked at, before predicates
	RowsMasked    atomic.Int64 // rows passed over because they are dead
	RowsProduced  atomic.Int64 // rows handed out
	BytesRead     atomic.Int64 // compressed bytes of decoded pages
	BytesProduced atomic.Int64 // bytes of decoded pages
}

func (c *Counters) pageDecoded(rows, compressed int) {
	if c == nil {
		return
	}
	c.PagesDecoded.Add(1)
	c.RowsDecoded.Add(int64(rows))
	c.BytesRead.Add(int64(compressed))
}
