package exec

import (
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/vec"
)

// graceSource joins what did not fit in memory: partition by partition, or block by block where there are no
// partitions. It yields nothing when everything did fit.
type graceSource struct {
	j      *join
	parts  ticket
	blocks *blockJoin
}

func (j *join) probeCols() []plan.Col {
	if j.buildFirst {
		return j.out[j.buildWidth:]
	}
	return j.out[:j.probeWidth]
}

func keyTypes(keys []plan.Expr) []vec.Type {
	out := make([]vec.Type, len(keys))
	for i, k := range keys {
		out[i] = k.Type()
	}
	return out
}

// open moves what is still in memory to the partitions.
func (s *graceSource) open(_ *query, workers int) error {
	if !s.j.grace {
		return nil
	}
	s.j.dropTable() // what remains needs the memory
	if !s.j.splits() {
		for _, b := range s.j.builders {
			if err := b.spill(); err != nil {
				return err
			}
		}
	}
	for _, p := range s.j.spilledProbes {
		if err := p.spill(); err != nil {
			return err
		}
	}
	if !s.j.splits() {
		s.blocks = &blockJoin{j: s.j, workers: workers, build: &chunkList{types: s.j.buildTypes}, probe: &chunkList{types: s.j.probeTypes()}}
		for k := range partitionCount {
			build, probe := s.take(k)
			s.blocks.build.join(build)
			s.blocks.probe.join(probe)
		}
	}
	return nil
}

// take returns the rows of partition k.
func (s *graceSource) take(k int) (build, probe *chunkList) {
	build, probe = &chunkList{types: s.j.buildTypes}, &chunkList{types: s.j.probeTypes()}
	for _, b := range s.j.builders {
		build.join(b.parts.list(k))
	}
	for _, p := range s.j.spilledProbes {
		probe.join(p.list(k))
	}
	return build, probe
}

// probeTypes returns the types of stored probe rows: the columns, then the keys.
func (j *join) probeTypes() []vec.Type {
	return append(typesOf(j.probeCols()), keyTypes(j.probeKeys)...)
}

func (s *graceSource) close() error { return nil }

func (s *graceSource) run(w *worker, out consumer) error {
	if !s.j.grace {
		return nil
	}
	if s.blocks != nil {
		return s.blocks.run(w, out, w.id)
	}
	for {
		k := s.parts.take() + s.j.resident.count()
		if k >= partitionCount {
			return nil
		}
		build, probe := s.take(k)
		if err := s.j.joinPartition(w, out, build, probe, 0); err != nil {
			return err
		}
	}
}

// joinPartition joins two lists of rows, partitioning them again when the build side does not fit.
func (j *join) joinPartition(w *worker, out consumer, build, probe *chunkList, level int) error {
	if build.rows == 0 && j.passesMatchesOnly() || probe.rows == 0 && !j.outer && !j.anti {
		return nil
	}
	sub := &join{joinSpec: j.joinSpec, res: j.q.budget.open("Join", j.m)}
	defer sub.res.release()
	var chunks []*vec.Batch
	for i := range build.len() {
		if err := w.check(); err != nil {
			return err
		}
		b, err := build.read(i)
		if err != nil {
			return err
		}
		if !sub.res.resize(sub.res.held + 2*b.MemoryBytes() + int64(b.N)*tableRowBytes) {
			sub.res.release()
			if level+1 >= maxLevels {
				return (&blockJoin{j: j, build: build, probe: probe, workers: 1}).run(w, out, 0)
			}
			return j.splitPartition(w, out, build, probe, level+1)
		}
		chunks = append(chunks, b)
	}
	t, err := sub.newTable(chunks)
	if err != nil {
		return err
	}
	sub.table = t
	return sub.joinTable(w, out, probe)
}

// joinTable probes the table with stored rows, whose last columns are their keys.
func (j *join) joinTable(w *worker, out consumer, probe *chunkList) error {
	j.probers = nil
	c, err := j.probe(w, out)
	if err != nil {
		return err
	}
	p := c.(*prober)
	for i := range probe.len() {
		if err := w.check(); err != nil {
			return err
		}
		b, err := probe.read(i)
		if err != nil {
			return err
		}
		if err := consumeSlices(&vec.Batch{N: b.N, Cols: b.Cols[:j.probeWidth]}, p); err != nil {
			return err
		}
	}
	if !j.outer && !j.semi && !j.anti {
		return nil
	}
	hit := mergeMatches(j.probers, j.table.n)
	for from := 0; from < j.table.n; from += vec.BatchRows {
		if err := j.emitBuildRows(j.table, hit, from, out); err != nil {
			return err
		}
	}
	return nil
}

// splitPartition partitions both sides again by further bits of the hash and joins the parts.
func (j *join) splitPartition(w *worker, out consumer, build, probe *chunkList, level int) error {
	b, err := j.repartition(w, build, j.keyPlaces, level)
	if err != nil {
		return err
	}
	places := make([]int, len(j.probeKeys))
	for i := range places {
		places[i] = j.probeWidth + i
	}
	p, err := j.repartition(w, probe, places, level)
	if err != nil {
		return err
	}
	for k := range partitionCount {
		part := b.list(k)
		if part.rows == build.rows { // one key, or a few that hash alike: no more partitioning helps
			level = maxLevels
		}
		if err := j.joinPartition(w, out, part, p.list(k), level); err != nil {
			return err
		}
	}
	return nil
}

func (j *join) repartition(w *worker, l *chunkList, keys []int, level int) (*partitions, error) {
	out := newPartitions(j.q, l.types, level, j.m)
	var hash []uint64
	for i := range l.len() {
		if err := w.check(); err != nil {
			return nil, err
		}
		b, err := l.read(i)
		if err != nil {
			return nil, err
		}
		hash = resize(hash, b.N)
		hashKeys(pickColumns(b.Cols, keys), b.N, hash)
		out.add(b.Cols, hash, b.N)
		if out.memory() > splitBytes {
			if err := out.spill(); err != nil {
				return nil, err
			}
		}
	}
	return out, out.spill()
}
