package exec

import (
	"github.com/tidemarkdb/tidemark/vec"
)

const (
	partitionBits  = 6
	partitionCount = 1 << partitionBits
	maxLevels      = 5 // of partitioning again what does not fit
	// partChunkRows is how many rows a chunk of a partition has: every partition has one that is not full.
	partChunkRows = 8 << 10
)

// partitionOf returns the partition of a hash at a level of partitioning.
func partitionOf(h uint64, level int) int {
	return int(h >> (64 - partitionBits*(level+1)) & (partitionCount - 1))
}

// partitions shares rows out by the hash of their key. One worker fills it.
type partitions struct {
	q      *query
	level  int
	types  []vec.Type
	stores [partitionCount]*store
	disk   [partitionCount]chunkList
	file   *spillFile
	m      *nodeMetrics
	order  []int32
	rows   int64
	kept   int // of so many leading columns, dictionaries are kept
	dicts  keptDicts
}

func newPartitions(q *query, types []vec.Type, level int, m *nodeMetrics) *partitions {
	return &partitions{q: q, types: types, level: level, m: m}
}

// keepDicts makes the partitions keep, of the first n columns, the dictionaries that are worth it. lasting says that
// none that comes is written again.
func (p *partitions) keepDicts(n int, lasting bool) *partitions {
	p.kept, p.dicts = n, keptDicts{q: p.q, lasting: lasting}
	return p
}

// add copies n rows, row i to the partition of hashes[i].
func (p *partitions) add(cols []*vec.Vector, hashes []uint64, n int) {
	if p.kept > 0 {
		cols = p.dicts.columns(cols, p.kept, n)
	}
	var starts [partitionCount + 1]int32
	for _, h := range hashes[:n] {
		starts[partitionOf(h, p.level)+1]++
	}
	for i := range partitionCount {
		starts[i+1] += starts[i]
	}
	p.order = resize(p.order, n)
	at := starts
	for i, h := range hashes[:n] {
		k := partitionOf(h, p.level)
		p.order[at[k]] = int32(i)
		at[k]++
	}
	for k := range partitionCount {
		rows := p.order[starts[k]:starts[k+1]]
		if len(rows) == 0 {
			continue
		}
		if p.stores[k] == nil {
			p.stores[k] = newStore(p.types)
			p.stores[k].kept, p.stores[k].most = p.kept, partChunkRows
		}
		p.stores[k].append(cols, rows, len(rows))
	}
	p.rows += int64(n)
}

func (p *partitions) memory() (size int64) {
	for _, s := range p.stores {
		if s != nil {
			size += s.memory()
		}
	}
	return size + int64(cap(p.order)*4) + p.dicts.bytes
}

// spill writes every row in memory to a file.
func (p *partitions) spill() error {
	if err := p.spillFrom(0); err != nil {
		return err
	}
	p.dicts.reset()
	return nil
}

// spillFrom writes the rows of partition first and those after it.
func (p *partitions) spillFrom(first int) error {
	if p.file == nil {
		file, err := p.q.spill.create(p.m)
		if err != nil {
			return err
		}
		p.file = file
	}
	for k := first; k < partitionCount; k++ {
		s := p.stores[k]
		if s == nil {
			continue
		}
		for _, b := range s.take() {
			if err := p.q.check(); err != nil {
				return err
			}
			at, err := p.file.write(b)
			if err != nil {
				return err
			}
			p.disk[k].items = append(p.disk[k].items, chunkItem{s: at})
			p.disk[k].rows += int64(b.N)
		}
		p.stores[k] = nil
	}
	return nil
}

// list returns the rows of partition k.
func (p *partitions) list(k int) *chunkList {
	l := &chunkList{types: p.types, items: p.disk[k].items, rows: p.disk[k].rows}
	if p.stores[k] != nil {
		for _, b := range p.stores[k].take() {
			l.add(b)
		}
	}
	p.stores[k] = nil
	return l
}

// reset forgets every row, in memory and in the file, which is used again.
func (p *partitions) reset() error {
	p.stores, p.disk, p.rows = [partitionCount]*store{}, [partitionCount]chunkList{}, 0
	p.dicts.reset()
	if p.file == nil {
		return nil
	}
	return p.file.truncate()
}

// discard forgets every row and removes the file.
func (p *partitions) discard() error {
	p.stores, p.disk, p.rows = [partitionCount]*store{}, [partitionCount]chunkList{}, 0
	p.dicts.reset()
	file := p.file
	p.file = nil
	if file == nil {
		return nil
	}
	return file.remove()
}
