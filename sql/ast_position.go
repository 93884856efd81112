package sql

// Position implements [Node].
func (e *Column) Position() int { return e.Pos }

// Position implements [Node].
func (e *Star) Position() int { return e.Pos }

// Position implements [Node].
func (e *Number) Position() int { return e.Pos }

// Position implements [Node].
func (e *String) Position() int { return e.Pos }

// Position implements [Node].
func (e *BitString) Position() int { return e.Pos }

// Position implements [Node].
func (e *Bool) Position() int { return e.Pos }

// Position implements [Node].
func (e *Null) Position() int { return e.Pos }

// Position implements [Node].
func (e *TypedString) Position() int { return e.Pos }

// Position implements [Node].
func (e *Param) Position() int { return e.Pos }

// Position implements [Node].
func (e *Default) Position() int { return e.Pos }

// Position implements [Node].
func (e *Unary) Position() int { return e.Pos }

// Position implements [Node].
func (e *Binary) Position() int { return e.Pos }

// Position implements [Node].
func (e *Logic) Position() int { return e.Pos }

// Position implements [Node].
func (e *IsTest) Position() int { return e.Pos }

// Position implements [Node].
func (e *IsDistinct) Position() int { return e.Pos }

// Position implements [Node].
func (e *Between) Position() int { return e.Pos }

// Position implements [Node].
func (e *InList) Position() int { return e.Pos }

// Position implements [Node].
func (e *InQuery) Position() int { return e.Pos }

// Position implements [Node].
func (e *Like) Position() int { return e.Pos }

// Position implements [Node].
func (e *Quantified) Position() int { return e.Pos }

// Position implements [Node].
func (e *Exists) Position() int { return e.Pos }

// Position implements [Node].
func (e *Subquery) Position() int { return e.Pos }

// Position implements [Node].
func (e *ArrayQuery) Position() int { return e.Pos }

// Position implements [Node].
func (e *Array) Position() int { return e.Pos }

// Position implements [Node].
func (e *Struct) Position() int { return e.Pos }

// Position implements [Node].
func (e *Row) Position() int { return e.Pos }

// Position implements [Node].
func (e *Case) Position() int { return e.Pos }

// Position implements [Node].
func (e *Cast) Position() int { return e.Pos }

// Position implements [Node].
func (e *Collate) Position() int { return e.Pos }

// Position implements [Node].
func (e *Subscript) Position() int { return e.Pos }

// Position implements [Node].
func (e *Slice) Position() int { return e.Pos }

// Position implements [Node].
func (e *Field) Position() int { return e.Pos }

// Position implements [Node].
func (e *FuncCall) Position() int { return e.Pos }

// Position implements [Node].
func (q *Query) Position() int { return q.Pos }

// Position implements [Node].
func (q *Select) Position() int { return q.Pos }

// Position implements [Node].
func (q *SetOp) Position() int { return q.Pos }

// Position implements [Node].
func (q *Values) Position() int { return q.Pos }

// Position implements [Node].
func (t *Table) Position() int { return t.Pos }

// Position implements [Node].
func (t *Derived) Position() int { return t.Pos }

// Position implements [Node].
func (t *FuncTable) Position() int { return t.Pos }

// Position implements [Node].
func (t *FileTable) Position() int { return t.Pos }

// Position implements [Node].
func (t *Join) Position() int { return t.Pos }

// Position implements [Node].
func (s *Explain) Position() int { return s.Pos }

// Position implements [Node].
func (s *Insert) Position() int { return s.Pos }

// Position implements [Node].
func (s *Update) Position() int { return s.Pos }

// Position implements [Node].
func (s *Delete) Position() int { return s.Pos }

// Position implements [Node].
func (s *Merge) Position() int { return s.Pos }

// Position implements [Node].
func (s *Truncate) Position() int { return s.Pos }

// Position implements [Node].
func (s *Copy) Position() int { return s.Pos }

// Position implements [Node].
func (s *Transaction) Position() int { return s.Pos }

// Position implements [Node].
func (s *SetTransaction) Position() int { return s.Pos }

// Position implements [Node].
func (s *Set) Position() int { return s.Pos }

// Position implements [Node].
func (s *Reset) Position() int { return s.Pos }

// Position implements [Node].
func (s *Show) Position() int { return s.Pos }

// Position implements [Node].
func (s *Prepare) Position() int { return s.Pos }

// Position implements [Node].
func (s *Execute) Position() int { return s.Pos }

// Position implements [Node].
func (s *Deallocate) Position() int { return s.Pos }

// Position implements [Node].
func (s *Use) Position() int { return s.Pos }

// Position implements [Node].
func (s *CallProc) Position() int { return s.Pos }

// Position implements [Node].
func (s *Load) Position() int { return s.Pos }

// Position implements [Node].
func (s *Describe) Position() int { return s.Pos }

// Position implements [Node].
func (s *Maintain) Position() int { return s.Pos }

// Position returns the position of the node.
func (s *Pragma) Position() int { return s.Pos }

// Position implements [Node].
func (s *Discard) Position() int { return s.Pos }

// Position implements [Node].
func (s *CreateSchema) Position() int { return s.Pos }

// Position implements [Node].
func (s *CreateTable) Position() int { return s.Pos }

// Position implements [Node].
func (s *CreateView) Position() int { return s.Pos }

// Position implements [Node].
func (s *CreateStream) Position() int { return s.Pos }

// Position implements [Node].
func (s *CreateIndex) Position() int { return s.Pos }

// Position implements [Node].
func (s *Drop) Position() int { return s.Pos }

// Position implements [Node].
func (s *AlterCDCTable) Position() int { return s.Pos }

// Position implements [Node].
func (s *Alter) Position() int { return s.Pos }

// Position implements [Node].
func (s *Comment) Position() int { return s.Pos }
