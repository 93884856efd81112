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
	if c.blends() {
		return c.blend(in)
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

// blends reports CASE WHEN ... THEN a ELSE b END of columns or constants of fixed width: nothing is to be computed for
// some rows only.
func (c *caseNode) blends() bool {
	return len(c.when) == 1 && c.els != nil && c.t.Phys().Width() > 0 && plainNode(c.then[0]) && plainNode(c.els)
}

// plainNode reports a node whose value is there already.
func plainNode(n node) bool {
	switch n.(type) {
	case colNode, *constNode:
		return true
	}
	return false
}

func (c *caseNode) blend(in *input) (*vec.Vector, error) {
	v, err := c.when[0].eval(in)
	if err != nil {
		return nil, err
	}
	c.hit = trueRows(c.hit[:0], v, in.n)
	then, err := c.then[0].eval(in)
	if err != nil {
		return nil, err
	}
	els, err := c.els.eval(in)
	if err != nil {
		return nil, err
	}
	switch {
	case len(c.hit) == in.n && then.Type.Equal(c.t):
		return then, nil
	case len(c.hit) == 0 && els.Type.Equal(c.t):
		return els, nil
	}
	return overwrite(c.t, els, then, c.hit, in.n), nil
}

// overwrite returns base with the values of over in some rows. Both may be the untyped NULL.
func overwrite(t vec.Type, base, over *vec.Vector, rows []int32, n int) *vec.Vector {
	out := newColBuf(t, n)
	out.append(typedNulls(t, base, n), nil, n)
	v, over := out.finish(), typedNulls(t, over, n)
	switch t.Phys().Width() {
	case 1:
		overwriteFixed[byte](v, over, rows)
	case 2:
		overwriteFixed[int16](v, over, rows)
	case 4:
		overwriteFixed[int32](v, over, rows)
	case 8:
		overwriteFixed[int64](v, over, rows)
	default:
		overwriteFixed[vec.Int128](v, over, rows)
	}
	if v.Valid == nil && over.MayHaveNulls() {
		v.Valid = vec.NewFullBitmap(n)
	}
	if v.Valid == nil {
		return v
	}
	nulls := over.MayHaveNulls()
	for _, r := range rows {
		if nulls && over.IsNull(int(r)) {
			v.Valid.Clear(int(r))
		} else {
			v.Valid.Set(int(r))
		}
	}
	return v
}

func overwriteFixed[T vec.Fixed](v, over *vec.Vector, rows []int32) {
	to := vec.Cast[T](v.Data)
	switch over.Form {
	case vec.Constant:
		x := vec.Cast[T](over.Data)[0]
		for _, r := range rows {
			to[r] = x
		}
	case vec.Dictionary:
		from := vec.Cast[T](over.Dict.Data)
		if len(from) == 0 { // every row is NULL
			return
		}
		for _, r := range rows {
			to[r] = from[over.Index[r]]
		}
	default:
		from := vec.Cast[T](over.Data)
		for _, r := range rows {
			to[r] = from[r]
		}
	}
}

// typedNulls returns v, the untyped NULL as NULLs of type t.
func typedNulls(t vec.Type, v *vec.Vector, n int) *vec.Vector {
	if v.Type.ID == vec.Null {
		return vec.NullOf(t, n)
	}
	return v
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
	t     vec.Type
	args  []node
	rest  *input
	nulls []int32
}

func (c *coalesceNode) eval(in *input) (*vec.Vector, error) {
	if len(c.args) == 2 && c.t.Phys().Width() > 0 && plainNode(c.args[1]) {
		return c.fill(in)
	}
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

// fill is COALESCE(a, b) where b is a column or constant of fixed width.
func (c *coalesceNode) fill(in *input) (*vec.Vector, error) {
	v, err := c.args[0].eval(in)
	if err != nil || !v.MayHaveNulls() && v.Type.Equal(c.t) {
		return v, err
	}
	other, err := c.args[1].eval(in)
	if err != nil {
		return nil, err
	}
	c.nulls = c.nulls[:0]
	for i := range in.n {
		if v.IsNull(i) {
			c.nulls = append(c.nulls, int32(i))
		}
	}
	return overwrite(c.t, v, other, c.nulls, in.n), nil
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
