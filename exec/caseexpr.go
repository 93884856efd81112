package exec

import "github.com/tidemarkdb/tidemark/vec"

// pieces assembles a vector from values computed for parts of the rows.
type pieces struct {
	buf   *colBuf
	place []int32 // of each row in buf
}

func newPieces(t vec.Type, n int) *pieces {
	return &pieces{buf: newColBuf(t, n), place: make([]int32, n)}
}

// put sets the value of rows[i] to row i of v. nil v is NULL.
func (p *pieces) put(t vec.Type, v *vec.Vector, rows []int32) {
	if len(rows) == 0 {
		return
	}
	if v == nil || v.Type.ID == vec.Null {
		v = vec.NullOf(t, len(rows))
	}
	at := int32(p.buf.n)
	if v.Form == vec.Constant {
		p.buf.append(constantRows(v, 1), nil, 1)
		for _, r := range rows {
			p.place[r] = at
		}
		return
	}
	p.buf.append(v, nil, len(rows))
	for i, r := range rows {
		p.place[r] = at + int32(i)
	}
}

// vector returns the assembled rows.
func (p *pieces) vector() *vec.Vector {
	entries := p.buf.finish()
	if entries.Type.Phys().Width() > 0 {
		return vec.Gather(entries, p.place, nil)
	}
	return vec.DictionaryOf(entries, p.place, nil)
}

// caseNode is CASE: a branch is computed for the rows that take it.
type caseNode struct {
	t           vec.Type
	when, then  []node
	els         node // nil: NULL
	rest, taken *input
	hit         []int32
}

func (c *caseNode) eval(in *input) (*vec.Vector, error) {
	if c.masks() {
		return c.mask(in)
	}
	rows := []int32(vec.Sequence(in.n))
	out := newPieces(c.t, in.n)
	from := in
	for i := range c.when {
		if len(rows) == 0 {
			break
		}
		v, err := c.when[i].eval(from)
		if err != nil {
			return nil, err
		}
		c.hit = trueRows(c.hit[:0], v, len(rows))
		if len(c.hit) == 0 {
			continue
		}
		var left []int32
		rows, left = splitRows(rows, c.hit)
		v, err = c.branch(in, c.then[i], rows)
		if err != nil {
			return nil, err
		}
		if len(rows) == in.n && v != nil && v.Type.Equal(c.t) {
			return v, nil
		}
		out.put(c.t, v, rows)
		if rows = left; len(rows) > 0 {
			in.narrow(c.rest, rows)
			from = c.rest
		}
	}
	if len(rows) > 0 {
		v, err := c.branch(in, c.els, rows)
		if err != nil {
			return nil, err
		}
		out.put(c.t, v, rows)
	}
	return out.vector(), nil
}

// masks reports CASE WHEN ... THEN column END, whose value is the column with more NULLs.
func (c *caseNode) masks() bool {
	if len(c.when) != 1 || c.els != nil {
		return false
	}
	_, ok := c.then[0].(colNode)
	return ok
}

func (c *caseNode) mask(in *input) (*vec.Vector, error) {
	v, err := c.when[0].eval(in)
	if err != nil {
		return nil, err
	}
	if c.hit = trueRows(c.hit[:0], v, in.n); len(c.hit) == 0 {
		return vec.NullOf(c.t, in.n), nil
	}
	if v, err = c.then[0].eval(in); err != nil || len(c.hit) == in.n {
		return v, err
	}
	taken := vec.NewBitmap(in.n)
	for _, r := range c.hit {
		taken.Set(int(r))
	}
	return withValid(v, taken, in.n), nil
}

// branch computes n for some rows of in.
func (c *caseNode) branch(in *input, n node, rows []int32) (*vec.Vector, error) {
	if n == nil {
		return nil, nil
	}
	if len(rows) == in.n {
		return n.eval(in)
	}
	in.narrow(c.taken, rows)
	return n.eval(c.taken)
}

// splitRows returns the rows at the places in hit and the others.
func splitRows(rows, hit []int32) (taken, left []int32) {
	taken, left = make([]int32, 0, len(hit)), make([]int32, 0, len(rows)-len(hit))
	h := 0
	for i, r := range rows {
		if h < len(hit) && int(hit[h]) == i {
			taken = append(taken, r)
			h++
		} else {
			left = append(left, r)
		}
	}
	return taken, left
}

// coalesceNode is COALESCE: an argument is computed for the rows where those before it are NULL.
type coalesceNode struct {
	t    vec.Type
	args []node
	rest *input
}

func (c *coalesceNode) eval(in *input) (*vec.Vector, error) {
	rows := []int32(vec.Sequence(in.n))
	var out *pieces
	from := in
	for i, a := range c.args {
		v, err := a.eval(from)
		if err != nil {
			return nil, err
		}
		if i == 0 && !v.MayHaveNulls() && v.Type.Equal(c.t) {
			return v, nil
		}
		if out == nil {
			out = newPieces(c.t, in.n)
		}
		out.put(c.t, v, rows) // rows that are NULL here are put again
		left := make([]int32, 0, len(rows))
		for k, r := range rows {
			if v.IsNull(k) {
				left = append(left, r)
			}
		}
		if rows = left; len(rows) == 0 {
			break
		}
		in.narrow(c.rest, rows)
		from = c.rest
	}
	if out == nil {
		return vec.NullOf(c.t, in.n), nil
	}
	return out.vector(), nil
}

// arrayNode is ARRAY[...].
type arrayNode struct {
	t    vec.Type
	args []node
}

func (a *arrayNode) eval(in *input) (*vec.Vector, error) {
	n, k := in.n, len(a.args)
	elem := newColBuf(*a.t.Elem, n*k)
	for _, arg := range a.args {
		v, err := arg.eval(in)
		if err != nil {
			return nil, err
		}
		if v.Type.ID == vec.Null && a.t.Elem.ID != vec.Null {
			v = vec.NullOf(*a.t.Elem, n)
		}
		elem.append(v, nil, n)
	}
	index, offsets := make([]int32, 0, n*k), make([]int32, 1, n+1)
	for i := range n {
		for j := range k {
			index = append(index, int32(j*n+i))
		}
		offsets = append(offsets, int32((i+1)*k))
	}
	kid := vec.Gather(elem.finish(), index, nil)
	return &vec.Vector{Type: a.t, N: n, Offsets: offsets, Kids: []*vec.Vector{kid}}, nil
}

// structNode is ROW(...).
type structNode struct {
	t    vec.Type
	args []node
}

func (s *structNode) eval(in *input) (*vec.Vector, error) {
	out := &vec.Vector{Type: s.t, N: in.n}
	for i, arg := range s.args {
		v, err := arg.eval(in)
		if err != nil {
			return nil, err
		}
		if v.Type.ID == vec.Null && s.t.Fields[i].Type.ID != vec.Null {
			v = vec.NullOf(s.t.Fields[i].Type, in.n)
		}
		buf := newColBuf(v.Type, in.n)
		buf.append(v, nil, in.n)
		out.Kids = append(out.Kids, buf.finish())
	}
	return out, nil
}

// fieldNode takes a field of a struct.
type fieldNode struct {
	arg   node
	index int
	t     vec.Type
}

func (f *fieldNode) eval(in *input) (*vec.Vector, error) {
	v, err := f.arg.eval(in)
	if err != nil {
		return nil, err
	}
	if v.Type.ID == vec.Null {
		return vec.NullOf(f.t, in.n), nil
	}
	flat := v.Flatten()
	kid := flat.Kids[f.index]
	if flat.Valid == nil {
		return kid, nil
	}
	return withValid(kid, flat.Valid, in.n), nil
}
