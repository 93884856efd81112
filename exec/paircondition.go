package exec

import (
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/vec"
)

// pairCondition evaluates the conditions of a join that are not equalities of keys.
type pairCondition struct {
	node  node
	in    *input
	cols  []*vec.Vector
	need  []bool // by column of both sides
	pick  []picker
	state []byte
	mem   *arena
}

func newPairCondition(w *worker, j *join) (*pairCondition, error) {
	l := layoutOf(j.out)
	c := newExprCompiler(w, l)
	nodes, err := c.compileAll(j.other)
	if err != nil {
		return nil, err
	}
	p := &pairCondition{node: newKleeneNode(nodes, isFalse, c.ids), in: newInput(c.ids), need: make([]bool, len(j.out)), mem: c.mem}
	p.cols, p.pick = make([]*vec.Vector, len(j.out)), make([]picker, len(j.out))
	refs := map[plan.ColID]*plan.ColumnRef{}
	for _, e := range j.other {
		collectColumns(e, refs)
	}
	for id := range refs {
		p.need[l[id]] = true
	}
	return p, nil
}

// eval returns the state of the conditions for each pair.
func (c *pairCondition) eval(p *prober, left, right []int32) ([]byte, error) {
	c.mem.reset()
	at := p.places(left)
	probeFrom, buildFrom := 0, p.j.probeWidth
	if p.j.buildFirst {
		probeFrom, buildFrom = p.j.buildWidth, 0
	}
	for i := range p.j.probeWidth {
		if k := probeFrom + i; c.need[k] {
			c.cols[k] = c.pick[k].take(p.b.Cols[i], at)
		}
	}
	for i := range p.j.buildWidth {
		if k := buildFrom + i; c.need[k] {
			c.cols[k] = c.pick[k].take(p.t.cols[i], right)
		}
	}
	c.in.reset(c.cols, nil, len(left))
	v, err := c.node.eval(c.in)
	if err != nil {
		return nil, err
	}
	c.state = resize(c.state, len(left))
	triStates(c.state, v, len(left))
	return c.state, nil
}
