package maskindex

import (
	"context"
	"runtime"
	"slices"
	"sort"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"golang.org/x/sync/errgroup"
)

const (
	// probeGroup keys are looked up in stages, so that their cache misses overlap.
	probeGroup = 32
	// A worker takes at least this many keys: below, starting it costs more than it saves.
	probeSplit = 8192
	// The same for files that are read: reads of many workers are under way at once.
	readers   = 16
	readSplit = 256
	// From one key in so many blocks on, a cold file is read whole: scanning it takes less time than its page faults.
	scanShare = 10
	// ctx is looked at once in so many keys.
	probeCheck = 4096
)

// match is a key of a batch, by its place in the sorted batch, and its packed position in one file.
type match struct {
	at  uint32
	pos uint64
}

// Probe calls fn for every key of the batch that the file holds, with the key's place in the Keys that the batch was
// made from. Calls come from one goroutine, in ascending order of keys. Large batches are looked up on all cores.
func (f *File) Probe(ctx context.Context, b *Batch, fn func(i int, p Position)) error {
	parts, err := f.probe(ctx, b)
	if err != nil {
		return err
	}
	for _, part := range parts {
		for _, m := range part {
			ordinal, row, ok := f.position(m.pos)
			if !ok {
				return f.strayPosition(b.hi[m.at], b.low(int(m.at)), m.pos)
			}
			fn(int(b.idx[m.at]), Position{f.tablets[ordinal].ID, row})
		}
	}
	return nil
}

// strayPosition is the error of a key whose position lies outside of the tablets.
func (f *File) strayPosition(hi, lo, pos uint64) error {
	n := sort.Search(len(f.dirHi), func(i int) bool { return f.dirHi[i] > hi || f.dirHi[i] == hi && f.low(i) > lo })
	return damaged(f.name, int64(max(n-1, 0))*BlockSize, "packed position %d names no row of its tablets", pos)
}

// probe returns the matches of a batch, in order, in one slice a worker.
func (f *File) probe(ctx context.Context, b *Batch) ([][]match, error) {
	if b.Len() == 0 || f.f.blocks == 0 {
		return nil, ctx.Err()
	}
	if b.Width() != f.Width() {
		return nil, sqlerr.New(sqlerr.Internal, "key file %s holds %d-bit keys and was probed with %d-bit keys",
			f.name, f.Width(), b.Width())
	}
	from, to := f.overlap(b)
	if f.mapped != nil && to-from > len(f.dirHi)/scanShare {
		f.ahead.Do(func() { readAhead(f.mapped) })
	}
	workers := min(runtime.GOMAXPROCS(0), (to-from)/probeSplit)
	if f.mapped == nil { // waiting for reads takes no core
		workers = min(readers, (to-from)/readSplit)
	}
	if workers <= 1 {
		m, err := f.probePart(ctx, b, from, to)
		return [][]match{m}, err
	}
	parts := make([][]match, workers)
	g, ctx := errgroup.WithContext(ctx)
	for w := range workers {
		lo, hi := from+(to-from)*w/workers, from+(to-from)*(w+1)/workers
		g.Go(func() (err error) {
			parts[w], err = f.probePart(ctx, b, lo, hi)
			return err
		})
	}
	return parts, g.Wait()
}

// overlap returns the range of the batch between the first and the last key of the file: keys outside, such as all
// new ids of a growing table, cost nothing.
func (f *File) overlap(b *Batch) (from, to int) {
	from, _ = slices.BinarySearch(b.hi, f.dirHi[0])
	to, _ = slices.BinarySearchFunc(b.hi, f.f.lastHi, func(h, last uint64) int {
		if h <= last {
			return -1
		}
		return 1
	})
	return from, max(from, to)
}

// probePart looks up keys [from, to) of the batch.
func (f *File) probePart(ctx context.Context, b *Batch, from, to int) (out []match, err error) {
	if from == to {
		return nil, ctx.Err()
	}
	p := prober{f: f, b: b, to: to, out: make([]match, 0, (to-from)/2+1)}
	err = guard(f.name, func() error {
		for i := from; i < to; i += probeGroup {
			if (i-from)%probeCheck == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if err := p.group(i, min(i+probeGroup, to)); err != nil {
				return err
			}
		}
		return nil
	})
	return p.out, err
}

// prober is the state of one worker: where in the directory the last key was found, and the blocks it read.
type prober struct {
	f     *File
	b     *Batch
	to    int // end of the worker's part of the batch
	block int // block of the last key
	out   []match

	window      []byte // blocks read from a file that is not mapped
	windowStart int
	known       []bool // which blocks of the window are verified
}

// target is where one key is looked for.
type target struct {
	view      blockView
	rem       uint64
	from, end int
	at        uint32
}

// group looks up keys [i, end) of the batch, at most probeGroup.
func (p *prober) group(i, end int) error {
	var targets [probeGroup]target
	n := 0
	for ; i < end; i++ {
		hi := p.b.hi[i]
		if !p.seek(hi, p.b.low(i)) {
			continue
		}
		blk, err := p.load(i)
		if err != nil {
			return err
		}
		t := &targets[n]
		t.view = viewBlock(blk, p.f.wide())
		slot := (hi - t.view.base) >> t.view.shift
		if slot >= blockSlots {
			continue
		}
		t.rem = (hi - t.view.base) & (1<<t.view.shift - 1)
		t.from, t.end, t.at = t.view.slot(int(slot)), t.view.slot(int(slot)+1), uint32(i)
		n++
	}
	for k := range n {
		t := &targets[k]
		if e := t.view.find(t.from, t.end, t.rem, p.b.low(int(t.at))); e >= 0 {
			p.out = append(p.out, match{t.at, t.view.pos(e)})
		}
	}
	return nil
}

// seek moves p.block to the last block whose first key is not above the key; false when there is none. Keys ascend,
// so it gallops from the last place.
func (p *prober) seek(hi, lo uint64) bool {
	f := p.f
	starts := func(i int) bool { // block i starts at or before the key
		return f.dirHi[i] < hi || f.dirHi[i] == hi && f.low(i) <= lo
	}
	if !starts(p.block) {
		return false
	}
	n, step := len(f.dirHi), 1
	below := p.block
	for below+step < n && starts(below+step) {
		below += step
		step <<= 1
	}
	above := min(below+step, n)
	for above-below > 1 {
		if mid := int(uint(below+above) >> 1); starts(mid) {
			below = mid
		} else {
			above = mid
		}
	}
	p.block = below
	return true
}

// load returns block p.block, verified. i is the key that needs it: the keys after it say how far to read ahead.
func (p *prober) load(i int) (*block, error) {
	if p.f.mapped != nil {
		return p.f.mappedBlock(p.block)
	}
	k := p.block - p.windowStart
	if p.window == nil || k < 0 || k >= len(p.known) {
		if err := p.read(i); err != nil {
			return nil, err
		}
		k = 0
	}
	b := (*block)(p.window[k*BlockSize:])
	if !p.known[k] {
		if err := p.f.verify(b, p.block); err != nil {
			return nil, err
		}
		p.known[k] = true
	}
	return b, nil
}

const (
	// Reads of blocks that are at most so many blocks apart are joined; a window holds at most windowBlocks.
	joinBlocks   = 32
	windowBlocks = 256
)

// read fills a window that starts at p.block. Windows are not reused: a group may still look at blocks of the last.
func (p *prober) read(i int) error {
	first, last := p.block, p.block
	ahead := prober{f: p.f, b: p.b, block: first}
	for i++; i < p.to && ahead.seek(p.b.hi[i], p.b.low(i)); i++ {
		if ahead.block-last > joinBlocks || ahead.block-first >= windowBlocks {
			break
		}
		last = ahead.block
	}
	p.window = make([]byte, (last-first+1)*BlockSize)
	p.windowStart = first
	p.known = make([]bool, last-first+1)
	return readFull(p.f.name, p.f.src, p.window, int64(first)*BlockSize)
}

// Get returns the position of one key of the batch's width, for point look-ups.
func (f *File) Get(ctx context.Context, hi, lo uint64) (Position, bool, error) {
	b := Batch{hi: []uint64{hi}, idx: []uint32{0}}
	if f.wide() {
		b.lo = []uint64{lo}
	}
	var pos Position
	found := false
	err := f.Probe(ctx, &b, func(_ int, p Position) { pos, found = p, true })
	return pos, found, err
}
