package exec

import (
	"sync"

	"github.com/tidemarkdb/tidemark/vec"
)

// blockJoin joins what does not fit in memory and what hashing does not share out: there are no keys, or one key has
// too many rows, or an unknown match reaches across keys (Mark). Each worker has every so many chunks of the probe
// side. It reads the build side block by block, as much as it may hold, and lets its chunks meet every block.
//
//	for each block of build rows
//	    for each chunk of probe rows    pass on pairs, note who had a match
//	for each chunk of probe rows        pass on what depends on having had one
//
// The worker that ends last passes on what depends on whether build rows had a match.
type blockJoin struct {
	j            *join
	build, probe *chunkList
	workers      int
	mu           sync.Mutex
	hit          vec.Bitmap // of the build rows
	ended        int
}

// blockWorker is one worker's part of a blockJoin.
type blockWorker struct {
	*blockJoin
	w       *worker
	out     consumer
	sub     *join // holds one block
	p       *prober
	first   int // chunk of the probe side; then every workers-th
	res     *reservation
	matched vec.Bitmap // of this worker's probe rows, where that counts
	unknown vec.Bitmap
}

// run joins as worker number first of workers.
func (b *blockJoin) run(w *worker, out consumer, first int) error {
	if b.build.rows == 0 && b.j.passesMatchesOnly() || b.probe.rows == 0 && !b.j.outer && !b.j.anti {
		return nil
	}
	k := &blockWorker{blockJoin: b, w: w, out: out, first: first, res: b.j.q.budget.open("Join", b.j.m)}
	k.sub = &join{joinSpec: b.j.joinSpec, block: true, res: b.j.q.budget.open("Join", b.j.m)}
	defer k.res.release()
	defer k.sub.res.release()
	c, err := k.sub.probe(w, out)
	if err != nil {
		return err
	}
	k.p = c.(*prober)
	k.reserveMarks()
	hit, err := k.blocks()
	if err != nil {
		return err
	}
	k.sub.table, k.p.t = nil, nil
	k.sub.res.release()
	if err := k.finishProbe(); err != nil {
		return err
	}
	return b.finishBuild(w, out, hit)
}

// reserveMarks makes the bitmaps that remember what probe rows have met. They are small beside the rows, and the join
// cannot do without: they are counted but not refused.
func (k *blockWorker) reserveMarks() {
	rows := 0
	for i := k.first; i < k.probe.len(); i += k.workers {
		rows += k.probe.size(i)
	}
	size := int64(0)
	switch k.j.keep {
	case probeMark:
		k.unknown = vec.NewBitmap(rows)
		size += int64(rows / 8)
		fallthrough
	case probeOuter, probeSemi, probeAnti, probeSingle:
		k.matched = vec.NewBitmap(rows)
		size += int64(rows / 8)
	}
	if k.j.keepsBuild() {
		size += k.build.rows / 8
	}
	k.res.force(size)
}

// keepsBuild reports whether the join passes on build rows by whether they had a match.
func (j *join) keepsBuild() bool { return j.outer || j.semi || j.anti }

// blocks lets the probe rows meet the build side and returns which build rows had a match.
func (k *blockWorker) blocks() (vec.Bitmap, error) {
	var hit vec.Bitmap
	if k.j.keepsBuild() {
		hit = vec.NewBitmap(int(k.build.rows))
	}
	for at, row := 0, 0; at < k.build.len(); {
		next, err := k.load(at)
		if err != nil {
			return nil, err
		}
		k.p.t, k.p.build = k.sub.table, nil
		if err := k.eachSlice(k.meet); err != nil {
			return nil, err
		}
		if k.p.build != nil {
			for i := range k.p.t.n {
				if k.p.build.Get(i) {
					hit.Set(row + i)
				}
			}
		}
		at, row = next, row+k.sub.table.n
	}
	return hit, nil
}

// load makes the table of as many chunks from at on as one worker may hold, one at least.
func (k *blockWorker) load(at int) (next int, err error) {
	k.sub.table, k.p.t = nil, nil
	k.sub.res.release()
	share := k.j.q.budget.limit / int64(2*k.workers)
	var chunks []*vec.Batch
	for ; at < k.build.len(); at++ {
		if err := k.w.check(); err != nil {
			return 0, err
		}
		b, err := k.build.read(at)
		if err != nil {
			return 0, err
		}
		size := k.sub.res.held + 2*b.MemoryBytes() + int64(b.N)*tableRowBytes
		if len(chunks) == 0 {
			k.sub.res.force(size)
		} else if share > 0 && size > share || !k.sub.res.resize(size) {
			break
		}
		chunks = append(chunks, b)
	}
	k.sub.table, err = k.sub.newTable(chunks)
	return at, err
}

// eachSlice calls f with this worker's probe rows, a batch at a time, and the number of the first among them.
func (k *blockWorker) eachSlice(f func(b *vec.Batch, first int) error) error {
	row := 0
	for i := k.first; i < k.probe.len(); i += k.workers {
		b, err := k.probe.read(i)
		if err != nil {
			return err
		}
		probe := &vec.Batch{N: b.N, Cols: b.Cols[:k.j.probeWidth]}
		for from := 0; from < b.N; from += vec.BatchRows {
			if err := k.w.check(); err != nil {
				return err
			}
			n := min(vec.BatchRows, b.N-from)
			if err := f(probe.Slice(from, n), row); err != nil {
				return err
			}
			row += n
		}
	}
	return nil
}

// meet pairs rows with the block and notes what they met.
func (k *blockWorker) meet(b *vec.Batch, first int) error {
	p := k.p
	p.begin(b)
	if len(k.j.probeKeys) > 0 {
		keys, err := p.prog.eval(b)
		if err != nil {
			return err
		}
		p.keys, p.valid = keys, k.j.validKeys(keys, p.n)
	}
	k.recall(first)
	if err := p.pairs(); err != nil {
		return err
	}
	if err := p.piece(); err != nil {
		return err
	}
	if k.unknown != nil {
		if err := p.markUnknown(); err != nil {
			return err
		}
	}
	for i := range p.n {
		if k.matched != nil && p.matched[i] {
			k.matched.Set(first + i)
		}
		if k.unknown != nil && p.unknown[i] {
			k.unknown.Set(first + i)
		}
	}
	return nil
}

// recall tells the prober which of its rows had a match in earlier blocks.
func (k *blockWorker) recall(first int) {
	if k.matched == nil {
		return
	}
	for i := range k.p.n {
		k.p.matched[i] = k.matched.Get(first + i)
	}
}

// finishProbe passes on what depends on whether a probe row had a match.
func (k *blockWorker) finishProbe() error {
	if k.matched == nil {
		return nil
	}
	return k.eachSlice(func(b *vec.Batch, first int) error {
		p := k.p
		p.b, p.rows, p.n = b, nil, b.N
		p.matched = resize(p.matched, b.N)
		k.recall(first)
		if k.unknown == nil {
			return p.finish()
		}
		p.unknown = resize(p.unknown, b.N)
		for i := range b.N {
			p.unknown[i] = k.unknown.Get(first + i)
		}
		return p.passMarks()
	})
}

// finishBuild adds what build rows met in one worker; the last passes on those to keep.
func (b *blockJoin) finishBuild(w *worker, out consumer, hit vec.Bitmap) error {
	if !b.j.keepsBuild() {
		return nil
	}
	b.mu.Lock()
	if b.hit == nil {
		b.hit = hit
	} else {
		for i, word := range hit {
			b.hit[i] |= word
		}
	}
	b.ended++
	last := b.ended == b.workers
	b.mu.Unlock()
	if !last {
		return nil
	}
	row := 0
	for i := range b.build.len() {
		chunk, err := b.build.read(i)
		if err != nil {
			return err
		}
		met := vec.NewBitmap(chunk.N)
		for r := range chunk.N {
			if b.hit.Get(row + r) {
				met.Set(r)
			}
		}
		t := &joinTable{cols: chunk.Cols, n: chunk.N}
		for from := 0; from < chunk.N; from += vec.BatchRows {
			if err := w.check(); err != nil {
				return err
			}
			if err := b.j.emitBuildRows(t, met, from, out); err != nil {
				return err
			}
		}
		row += chunk.N
	}
	return nil
}
