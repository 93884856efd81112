package exec

import (
	"math"
	"slices"
	"sync"

	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/vec"
)

// join is a compiled join. One side is built into a table in memory, the other, the probe side, streams past it.
type join struct {
	*joinSpec
	filters       []*runtimeFilter
	mu            sync.Mutex
	builders      []*joinBuilder
	table         *joinTable
	probers       []*prober
	spilledProbes []*partitions
	grace         bool // the build side did not fit: both sides are partitioned, in files
	resident      residentParts
	block         bool // of a build side that does not fit, in which case one has to
	res           *reservation
}

// joinSpec is what a join is to do.
type joinSpec struct {
	q                 *query
	m                 *nodeMetrics
	buildL, probeL    layout
	buildTypes        []vec.Type // of the build side's columns, then of the keys that are not columns
	buildWidth        int        // columns of the build side
	probeWidth        int
	buildKeys         []plan.Expr
	probeKeys         []plan.Expr
	keyPlaces         []int // of the build keys among buildTypes
	nullSafe          []bool
	other             []plan.Expr
	ranges            *rangeSpec
	out               []plan.Col // the columns of both sides as plan.Join orders them, without Mark's
	buildFirst        bool       // the build side's columns come first
	keep              probeFate
	outer, semi, anti bool // of the build side: pass on unmatched rows too; only matched; only unmatched
}

// probeFate is what a join does with rows of the probe side.
type probeFate uint8

const (
	probeInner  probeFate = iota // each match
	probeOuter                   // each match, or the row with NULLs
	probeSemi                    // the row, where it has a match
	probeAnti                    // the row, where it has none
	probeMark                    // the row, and whether it has a match
	probeSingle                  // the row with its only match or NULLs; two matches are an error
	probeNone                    // nothing: matches only count for the build side
)

// join compiles a join.
func (c *compiler) join(n *plan.Join, m *nodeMetrics) (*stream, error) {
	j := &join{joinSpec: &joinSpec{q: c.q, m: m, other: n.Other}, res: c.q.budget.open("Join", m)}
	buildLeft := n.BuildLeft && n.Kind != plan.Mark && n.Kind != plan.Single
	j.setKind(n.Kind, buildLeft)
	buildNode, probeNode := n.Right, n.Left
	if buildLeft {
		buildNode, probeNode = n.Left, n.Right
	}
	j.buildFirst = buildLeft
	for _, e := range n.Equal {
		left, right := e.Left, e.Right
		if buildLeft {
			left, right = right, left
		}
		j.probeKeys, j.buildKeys = append(j.probeKeys, left), append(j.buildKeys, right)
		j.nullSafe = append(j.nullSafe, e.NullSafe)
	}
	above := c.runtime
	if j.outer || j.anti { // what a filter above drops of the probe side would count as no match
		c.runtime = nil
	}
	build, err := c.compile(buildNode)
	c.runtime = above
	if err != nil {
		return nil, err
	}
	j.setBuild(build)
	restore := c.offerRuntime(j, n.RuntimeFilters)
	probe, err := c.compile(probeNode)
	restore()
	if err != nil {
		return nil, err
	}
	j.probeL, j.probeWidth = layoutOf(probe.cols), len(probe.cols)
	if len(j.buildKeys) == 0 && j.keep != probeMark { // for Mark, pairs that are unknown count too
		j.ranges = newRangeSpec(j.other, j.probeL, j.buildL)
	}
	return j.assemble(n, build, probe), nil
}

func (j *join) setKind(kind plan.JoinKind, buildLeft bool) {
	switch kind {
	case plan.Left:
		if j.outer = buildLeft; !buildLeft {
			j.keep = probeOuter
		}
	case plan.Right:
		if j.outer = !buildLeft; buildLeft {
			j.keep = probeOuter
		}
	case plan.Full:
		j.outer, j.keep = true, probeOuter
	case plan.Semi:
		if j.keep = probeSemi; buildLeft {
			j.keep, j.semi = probeNone, true
		}
	case plan.Anti:
		if j.keep = probeAnti; buildLeft {
			j.keep, j.anti = probeNone, true
		}
	case plan.Mark:
		j.keep = probeMark
	case plan.Single:
		j.keep = probeSingle
	}
}

// setBuild notes the layout of the build side's rows: its columns, then the keys that are not columns.
func (j *join) setBuild(build *stream) {
	j.buildL, j.buildTypes, j.buildWidth = layoutOf(build.cols), typesOf(build.cols), len(build.cols)
	for _, k := range j.buildKeys {
		if ref, ok := k.(*plan.ColumnRef); ok {
			j.keyPlaces = append(j.keyPlaces, j.buildL[ref.ID])
			continue
		}
		j.keyPlaces = append(j.keyPlaces, len(j.buildTypes))
		j.buildTypes = append(j.buildTypes, k.Type())
	}
}

// assemble makes the join's stream: the probe side with the join as a stage, then what only shows at the end.
func (j *join) assemble(n *plan.Join, build, probe *stream) *stream {
	if j.buildFirst {
		j.out = append(append(j.out, build.cols...), probe.cols...)
	} else {
		j.out = append(append(j.out, probe.cols...), build.cols...)
	}
	s := &stream{cols: n.Cols(), branches: probe.branches, ordered: probe.ordered}
	s.add(j.probe)
	first := s.branches[0]
	first.before = append([]func() error{func() error { return j.build(build) }}, first.before...)
	if j.outer || j.semi || j.anti {
		s.branches = append(s.branches, &branch{source: &buildRows{j: j}})
	}
	s.branches = append(s.branches, &branch{source: &graceSource{j: j}})
	s.branches = append(s.branches, &branch{source: &joinEnd{j: j}})
	return s
}

// passesMatchesOnly reports whether a probe row without a match leaves no trace.
func (j *join) passesMatchesOnly() bool {
	return j.keep == probeInner || j.keep == probeSemi || j.keep == probeNone
}

// joinEnd releases what the join holds, once its last row is out.
type joinEnd struct{ j *join }

func (e *joinEnd) open(*query, int) error { return nil }
func (e *joinEnd) run(*worker, consumer) error {
	return nil
}

func (e *joinEnd) close() error {
	e.j.dropTable()
	e.j.builders = nil
	return nil
}

// build runs the build side and makes the table.
func (j *join) build(build *stream) error {
	if err := j.q.drain(build, j.m, j.builder); err != nil {
		return err
	}
	if err := j.reserveTable(); err != nil {
		return err
	}
	var err error
	if !j.grace {
		j.table, err = j.newTable(j.takeBuilt())
	} else if j.splits() {
		err = j.buildResident()
	}
	if err == nil && j.table != nil {
		j.q.addLasting(j.table.cols)
	}
	if err == nil && j.table != nil && !j.grace {
		for _, f := range j.filters {
			f.fill(j.table.cols[j.keyPlaces[f.key]])
		}
	}
	return err
}

// reserveTable reserves what making the table takes beside the rows collected: a copy of them, for the moment. Where
// that is refused the rows go to files.
func (j *join) reserveTable() error {
	var size int64
	for _, b := range j.builders {
		size += b.rows.memory()
	}
	if j.grace || j.res.resize(size) {
		return nil
	}
	if !j.q.spill.enabled() {
		return j.res.exceeded(size)
	}
	for _, b := range j.builders {
		if err := b.spill(); err != nil {
			return err
		}
	}
	return nil
}

// dropTable lets go of the table in memory.
func (j *join) dropTable() {
	if j.table != nil {
		j.q.dropLasting(j.table.cols)
	}
	j.table, j.probers = nil, nil
	j.res.release()
}

// takeBuilt returns every chunk of the build side.
func (j *join) takeBuilt() []*vec.Batch {
	var chunks []*vec.Batch
	for _, b := range j.builders {
		chunks = append(chunks, b.rows.take()...)
	}
	return chunks
}

// joinBuilder collects a worker's rows of the build side.
type joinBuilder struct {
	j     *join
	w     *worker
	prog  *program // the keys that are not columns
	rows  *store
	parts *partitions // once spilling
	res   *reservation
	cols  []*vec.Vector
	hash  []uint64
	dicts map[*vec.Vector]int64 // those that rows refer to, with their bytes
}

func (j *join) builder(w *worker) (consumer, error) {
	b := &joinBuilder{j: j, w: w, rows: newStore(j.buildTypes), res: j.q.budget.open("Join", j.m), dicts: map[*vec.Vector]int64{}}
	b.rows.kept, b.rows.keeps = j.buildWidth, b.keeps
	var exprs []plan.Expr
	for i, p := range j.keyPlaces {
		if p >= j.buildWidth {
			exprs = append(exprs, j.buildKeys[i])
		}
	}
	if len(exprs) > 0 {
		prog, err := newProgram(w, j.buildL, exprs)
		if err != nil {
			return nil, err
		}
		b.prog = prog
	}
	j.mu.Lock()
	j.builders = append(j.builders, b)
	j.mu.Unlock()
	return b, nil
}

func (b *joinBuilder) consume(in *vec.Batch) error {
	n, sel := in.Rows(), in.Sel
	b.cols = append(b.cols[:0], in.Cols...)
	if b.prog != nil {
		keys, err := b.prog.eval(in)
		if err != nil {
			return err
		}
		if sel != nil {
			for i := range in.Cols {
				b.cols[i] = b.prog.in.col(i)
			}
			sel = nil
		}
		b.cols = append(b.cols, keys...)
	}
	b.rows.append(b.cols, sel, n)
	return b.settle()
}

// keeps reports whether strings of a column that is no key stay places in a dictionary: in one that another table of
// the query holds, as those of a small table that was joined before are, and that is no large part of the memory limit.
func (b *joinBuilder) keeps(i int, dict *vec.Vector) bool {
	if slices.Contains(b.j.keyPlaces, i) {
		return false
	}
	if _, known := b.dicts[dict]; known {
		return true
	}
	size, limit := dict.MemoryBytes(), b.j.q.budget.limit
	if !b.j.q.lasts(dict) || limit > 0 && size > limit/keptShare {
		return false
	}
	b.dicts[dict] = size
	return true
}

// tableRowBytes is what the table takes for a row besides its columns, while it is built.
const tableRowBytes = 24

func (b *joinBuilder) settle() error {
	size := b.rows.memory() + b.rows.total*tableRowBytes
	for _, bytes := range b.dicts {
		size += bytes
	}
	if b.parts != nil {
		size += b.parts.memory()
	}
	if b.res.resize(size) {
		return nil
	}
	if !b.j.q.spill.enabled() {
		return b.res.exceeded(size - b.res.held)
	}
	return b.spill()
}

// splits reports whether the join can work partition by partition: it hashes by something and rows of one partition
// say nothing about others.
func (j *join) splits() bool { return len(j.buildKeys) > 0 && j.keep != probeMark }

// spill moves what was collected to partitions by key, and those to files that are not to stay in memory.
func (b *joinBuilder) spill() error {
	if b.parts == nil {
		b.parts = newPartitions(b.j.q, b.j.buildTypes, 0, b.j.m)
		b.j.mu.Lock()
		b.j.grace = true
		b.j.mu.Unlock()
	}
	for _, c := range b.rows.take() {
		b.hash = resize(b.hash, c.N)
		hashKeys(pickColumns(c.Cols, b.j.keyPlaces), c.N, b.hash)
		b.parts.add(c.Cols, b.hash, c.N)
	}
	clear(b.dicts)
	return b.evict()
}

func (b *joinBuilder) flush() error { return nil }

func pickColumns(cols []*vec.Vector, places []int) []*vec.Vector {
	out := make([]*vec.Vector, len(places))
	for i, p := range places {
		out[i] = cols[p]
	}
	return out
}

// maxBuildRows is the most rows a table can number.
const maxBuildRows = math.MaxInt32 - 1
