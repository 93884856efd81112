package vec

// Batch is a run of rows in columns. Every vector of Cols has N rows, of which those in Sel count (nil: all).
// A batch without columns still has N rows.
//
// Except is another way to say which rows count: all but these. It suits masks of few dead rows, and producers use it
// towards consumers that ask for it only; Sel is nil then.
type Batch struct {
	Cols   []*Vector
	N      int
	Sel    Selection
	Except Selection
}

// NewBatch returns a batch of cols without a selection; n is needed when there are none.
func NewBatch(n int, cols ...*Vector) *Batch { return &Batch{Cols: cols, N: n} }

// Rows returns how many rows count.
func (b *Batch) Rows() int {
	if b.Sel != nil {
		return len(b.Sel)
	}
	return b.N - len(b.Except)
}

// Compact returns b without a selection: b itself when every row counts.
func (b *Batch) Compact() *Batch {
	sel := b.Sel
	if len(b.Except) > 0 {
		sel = b.Except.AppendComplement(make(Selection, 0, b.Rows()), b.N)
	}
	if sel == nil {
		return b
	}
	out := &Batch{N: len(sel), Cols: make([]*Vector, len(b.Cols))}
	for i, c := range b.Cols {
		out.Cols[i] = c.Select(sel)
	}
	return out
}

// Slice returns rows [from, from+n) of a batch without a selection.
func (b *Batch) Slice(from, n int) *Batch {
	out := &Batch{N: n, Cols: make([]*Vector, len(b.Cols))}
	for i, c := range b.Cols {
		out.Cols[i] = c.Slice(from, n)
	}
	return out
}

// MemoryBytes returns the bytes of the batch's buffers; a dictionary shared by two columns counts twice.
func (b *Batch) MemoryBytes() int64 {
	size := int64(cap(b.Sel) * 4)
	for _, c := range b.Cols {
		size += c.MemoryBytes()
	}
	return size
}

// Column names one column of a schema.
type Column struct {
	Name     string
	Type     Type
	Nullable bool
}

// Schema lists the columns of a batch, a table or a result, in order.
type Schema []Column

// Index returns the place of the column of that exact name, or -1.
func (s Schema) Index(name string) int {
	for i, c := range s {
		if c.Name == name {
			return i
		}
	}
	return -1
}

// Types returns the types of the columns.
func (s Schema) Types() []Type {
	out := make([]Type, len(s))
	for i, c := range s {
		out[i] = c.Type
	}
	return out
}
