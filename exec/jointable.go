package exec

import (
	"math"
	"math/bits"
	"slices"

	"github.com/tidemarkdb/tidemark/function"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// joinTable is the build side of a join. The rows of a bucket lie side by side:
//
//	starts  | 0 | 2 | 2 | 5 | ...      bucket b has places [starts[b], starts[b+1])
//	rows    | 7 | 1 | 0 | 4 | 9 | ...  row numbers, bucket by bucket
//	keys    | k | k | k | k | k | ...  the key, or the hash of several, of each
//
// A key of one integer, which several integer columns may be packed into, whose values lie close together is its own bucket; then keys is nil. Where, besides, no
// two rows share a key, direct holds row + 1 by bucket and the rest is nil.
type joinTable struct {
	cols    []*vec.Vector // columns, then computed keys: flat, or strings over a dictionary that lasts
	n       int
	starts  []uint32
	rows    []int32
	keys    []int64
	direct  []int32
	low     int64 // of the keys, when buckets are keys
	span    uint64
	shift   uint
	dense   bool // buckets are keys
	ints    bool // one integer key, or several in one: keys need no second look
	packed  *packedJoinKeys
	unique  bool // no two rows share a key
	equal   []function.RowEqual
	ranges  *rangeIndex // where there are no keys, if there is something to look up by
	nullRow []int32     // rows with NULL in a key that is not null-safe: they match nothing
}

// newTable makes the table of chunks, which it takes over.
func (j *join) newTable(chunks []*vec.Batch) (*joinTable, error) {
	t := &joinTable{cols: make([]*vec.Vector, len(j.buildTypes))}
	for _, c := range chunks {
		t.n += c.N
	}
	if t.n > maxBuildRows {
		return nil, sqlerr.New(sqlerr.ProgramLimitExceeded, "the build side of a join has %d rows, more than %d", t.n, maxBuildRows).
			Hintf("set execution.memory_limit so that the join works in parts")
	}
	err := j.q.parallel(len(t.cols), func(i int) (err error) {
		if t.cols[i] = concatIndex(chunks, i); t.cols[i] == nil {
			t.cols[i], err = concat(j.q, j.buildTypes[i], chunks, i)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(j.keyPlaces) == 0 {
		if err := j.settle(t); err != nil {
			return nil, err
		}
		return t, j.addRanges(t)
	}
	keys := pickColumns(t.cols, j.keyPlaces)
	for _, k := range keys {
		t.equal = append(t.equal, function.EqualRows(k.Type))
	}
	valid := j.validKeys(keys, t.n)
	if valid != nil {
		for i := range t.n {
			if !valid.Get(i) {
				t.nullRow = append(t.nullRow, int32(i))
			}
		}
	}
	if err := t.index(j.q, keys, j.nullSafe, valid); err != nil {
		return nil, err
	}
	return t, j.settle(t)
}

// settle makes the join hold what the table takes, and no longer what it was made of.
func (j *join) settle(t *joinTable) error {
	size := int64(len(t.starts)*4 + len(t.rows)*4 + len(t.keys)*8 + len(t.direct)*4)
	for _, c := range t.cols {
		size += c.MemoryBytes()
	}
	for _, b := range j.builders {
		b.res.release()
	}
	if j.res.resize(size) {
		return nil
	}
	if !j.block && size-j.res.held > slackBytes {
		return j.res.exceeded(size - j.res.held)
	}
	j.res.force(size)
	return nil
}

// slackBytes is what a table may take over the limit: an index has a least size, whatever was reserved for it by row.
const slackBytes = 1 << 15

// addRanges orders a table without keys by what can be looked up in it.
func (j *join) addRanges(t *joinTable) (err error) {
	if j.ranges == nil || t.n < minRangeRows {
		return nil
	}
	if t.ranges, err = newRangeIndex(j.q, j.ranges, j.buildL, t.cols[:j.buildWidth], t.n); err != nil {
		// It may be the error of a row that other conditions leave out: only the pairs tell.
		t.ranges = nil
		return j.q.check()
	}
	j.res.force(j.res.held + t.ranges.memory())
	return nil
}

// minRangeRows is from how many rows on looking up beats trying all.
const minRangeRows = 16

// validKeys returns the rows whose keys can match: none that is not null-safe is NULL. nil means all.
func (j *join) validKeys(keys []*vec.Vector, n int) (valid vec.Bitmap) {
	for i, k := range keys {
		if !j.nullSafe[i] && k.MayHaveNulls() {
			valid = vec.And(valid, k.RowValid(), n)
		}
	}
	return valid
}

// index enters the rows that valid lets through.
func (t *joinTable) index(q *query, keys []*vec.Vector, nullSafe []bool, valid vec.Bitmap) error {
	buckets := make([]uint32, t.n)
	var full []int64
	size := 1
	if vals, ok := t.integerKey(keys, nullSafe, valid); ok {
		t.ints = true
		size = t.intBuckets(vals, valid, buckets)
		if !t.dense {
			full = vals
		}
	} else {
		size = t.hashSize()
		full = make([]int64, t.n)
		hashes := make([]uint64, min(t.n, rowsStep))
		err := steps(q, t.n, func(from, to int) {
			part := make([]*vec.Vector, len(keys))
			for i, k := range keys {
				part[i] = k.Slice(from, to-from)
			}
			hashKeys(part, to-from, hashes)
			for i, h := range hashes[:to-from] {
				full[from+i], buckets[from+i] = int64(h), uint32(h>>t.shift)
			}
		})
		if err != nil {
			return err
		}
	}
	return t.fillBuckets(q, buckets, size, valid, full)
}

func (t *joinTable) hashSize() int {
	size := 1 << bits.Len(uint(max(t.n, 2)-1))
	t.shift = uint(64 - bits.TrailingZeros(uint(size)))
	return size
}

// intBuckets writes the bucket of each integer and returns how many buckets there are.
func (t *joinTable) intBuckets(vals []int64, valid vec.Bitmap, buckets []uint32) int {
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	for i, x := range vals {
		if valid == nil || valid.Get(i) {
			low, high = min(low, x), max(high, x)
		}
	}
	if low > high {
		t.dense = true
		return 1
	}
	t.low, t.span = low, uint64(high)-uint64(low)
	if t.span < uint64(max(4*t.n, 1<<12)) {
		t.dense = true
		for i, x := range vals {
			if d := uint64(x) - uint64(low); d <= t.span {
				buckets[i] = uint32(d)
			}
		}
		return int(t.span) + 1
	}
	size := t.hashSize()
	for i, x := range vals {
		buckets[i] = uint32(uint64(x) * hashMultiplier >> t.shift)
	}
	return size
}

// fillBuckets lays the rows out bucket by bucket.
func (t *joinTable) fillBuckets(q *query, buckets []uint32, size int, valid vec.Bitmap, full []int64) error {
	starts := make([]uint32, size+1)
	err := steps(q, t.n, func(from, to int) {
		for i := from; i < to; i++ {
			if valid == nil || valid.Get(i) {
				starts[buckets[i]+1]++
			}
		}
	})
	if err != nil {
		return err
	}
	if t.dense && slices.Max(starts) <= 1 {
		t.unique = true
		t.direct = make([]int32, size)
		return steps(q, t.n, func(from, to int) {
			for i := from; i < to; i++ {
				if valid == nil || valid.Get(i) {
					t.direct[buckets[i]] = int32(i) + 1
				}
			}
		})
	}
	total := uint32(0)
	for i, c := range starts {
		total += c
		starts[i] = total
	}
	t.rows = make([]int32, total)
	if full != nil {
		t.keys = make([]int64, total)
	}
	at := slices.Clone(starts)
	err = steps(q, t.n, func(from, to int) {
		for i := from; i < to; i++ {
			if valid != nil && !valid.Get(i) {
				continue
			}
			p := at[buckets[i]]
			at[buckets[i]]++
			t.rows[p] = int32(i)
			if full != nil {
				t.keys[p] = full[i]
			}
		}
	})
	t.starts = starts
	t.unique = t.ints && t.keysUnique()
	return err
}

// keysUnique reports whether no bucket holds a key twice.
func (t *joinTable) keysUnique() bool {
	if t.keys == nil {
		return false
	}
	for b := range len(t.starts) - 1 {
		bucket := t.keys[t.starts[b]:t.starts[b+1]]
		if len(bucket) > 16 {
			return false
		}
		for i := range bucket {
			if slices.Contains(bucket[i+1:], bucket[i]) {
				return false
			}
		}
	}
	return true
}
