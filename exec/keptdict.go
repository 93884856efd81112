package exec

import "github.com/tidemarkdb/tidemark/vec"

// keptDicts decides, for the partitions of one worker, which dictionaries their stores keep instead of copying the
// strings of every row: those that last, and small ones, of which a copy is made.
type keptDicts struct {
	q       *query
	lasting bool // all that come do: they are an operator's own
	dicts   []copiedDict
	bytes   int64 // of all kept since the stores were empty
	cols    []*vec.Vector
}

// keptShare is which part of the memory limit a dictionary may be to be kept.
const keptShare = 16

// columns returns cols, of which the first keys are dictionaries over kept entries where possible and must be flat
// where they are not.
func (k *keptDicts) columns(cols []*vec.Vector, keys, n int) []*vec.Vector {
	if k.dicts == nil {
		k.dicts = make([]copiedDict, keys)
	}
	k.cols = append(k.cols[:0], cols...)
	for i, v := range cols[:keys] {
		if v.Form != vec.Dictionary || v.Type.Phys() != vec.PhysBytes {
			continue
		}
		if to := k.keep(i, v, n); to != nil {
			k.cols[i] = &vec.Vector{Type: v.Type, Form: vec.Dictionary, N: v.N, Index: v.Index, Valid: v.Valid, Dict: to}
		} else {
			k.cols[i] = v.Flatten()
		}
	}
	return k.cols
}

// keep returns the entries to keep for v's, nil when its rows are to be copied.
func (k *keptDicts) keep(i int, v *vec.Vector, n int) *vec.Vector {
	d := &k.dicts[i]
	if d.from == v.Dict {
		return d.to
	}
	*d = copiedDict{from: v.Dict}
	lasts := k.lasting || k.q.lasts(v.Dict)
	if !lasts && v.Dict.N > n/2 {
		return nil
	}
	size := v.Dict.MemoryBytes()
	if limit := k.q.budget.limit; limit > 0 && k.bytes+size > limit/keptShare {
		return nil
	}
	if d.to = v.Dict; !lasts {
		buf := newColBuf(v.Type, v.Dict.N)
		buf.append(v.Dict, nil, v.Dict.N)
		d.to = buf.finish()
	}
	k.bytes += size
	return d.to
}

// reset forgets every dictionary, once no store refers to any.
func (k *keptDicts) reset() {
	clear(k.dicts)
	k.bytes = 0
}

// addLasting notes columns of the query's own that are never written again, so that dictionaries over them may be kept.
func (q *query) addLasting(cols []*vec.Vector) {
	for _, c := range cols {
		if c.Form == vec.Dictionary { // over one that lasts
			c = c.Dict
		}
		if c.Form == vec.Flat && c.Type.Phys() == vec.PhysBytes {
			q.lasting.Store(c, true)
		}
	}
}

// dropLasting takes back what addLasting noted.
func (q *query) dropLasting(cols []*vec.Vector) {
	for _, c := range cols {
		if c.Form == vec.Dictionary {
			c = c.Dict
		}
		q.lasting.Delete(c)
	}
}

// lasts reports whether a dictionary's entries are never written again.
func (q *query) lasts(dict *vec.Vector) bool {
	_, ok := q.lasting.Load(dict)
	return ok
}

// rowBytes returns what a batch takes beside the dictionaries it refers to.
func rowBytes(b *vec.Batch) (size int64) {
	for _, c := range b.Cols {
		own := *c
		own.Dict = nil
		size += own.MemoryBytes()
	}
	return size
}

// concatIndex returns column i of chunks as one vector when it is over one dictionary in all of them, nil otherwise.
func concatIndex(chunks []*vec.Batch, i int) *vec.Vector {
	rows := 0
	for _, c := range chunks {
		if v := c.Cols[i]; v.Form != vec.Dictionary || v.Dict != chunks[0].Cols[i].Dict {
			return nil
		}
		rows += c.N
	}
	if len(chunks) == 0 {
		return nil
	}
	buf := newIndexBuf(chunks[0].Cols[i].Dict, rows)
	for _, c := range chunks {
		buf.append(c.Cols[i], nil, c.N)
	}
	return buf.finish()
}
