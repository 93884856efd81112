package plan

import "github.com/tidemarkdb/tidemark/vec"

// nullability answers for expressions over columns of known, of which cols may hold NULL. Nothing is claimed of other
// columns, such as those of an outer query.
type nullability struct{ cols, known colSet }

// nullsOf returns what the inputs say of their columns.
func nullsOf(inputs ...Node) nullability {
	var n nullability
	for _, in := range inputs {
		for _, c := range in.Cols() {
			n.known.add(c.ID)
			if c.Nullable {
				n.cols.add(c.ID)
			}
		}
	}
	return n
}

// totalOperators give NULL only for a NULL operand.
var totalOperators = map[string]bool{"+": true, "-": true, "*": true, "/": true, "%": true, "~~": true, "!~~": true,
	"~~*": true, "!~~*": true, "lower": true, "upper": true, "length": true, "abs": true}

// mayBeNull reports whether e may be NULL; false is certain.
func (n nullability) mayBeNull(e Expr) bool {
	switch e := e.(type) {
	case *ColumnRef:
		return n.cols.has(e.ID) || !n.known.has(e.ID)
	case *Const:
		return e.Value.Null
	case *Compare:
		return e.Op != Distinct && e.Op != NotDistinct && n.any(e.Children())
	case *Call:
		return !totalOperators[e.Name] || n.any(e.Args)
	case *Cast:
		return e.Try || n.mayBeNull(e.Arg)
	case *And, *Or, *Not:
		return n.any(e.Children())
	case *IsNull, *IsBool, *MakeArray, *MakeStruct:
		return false
	case *In:
		for _, v := range e.List {
			if v.Null {
				return true
			}
		}
		return n.mayBeNull(e.Arg)
	case *Coalesce:
		for _, a := range e.Args {
			if !n.mayBeNull(a) {
				return false
			}
		}
		return true
	case *Case:
		return e.Else == nil || n.mayBeNull(e.Else) || n.any(e.Then)
	case *Subquery:
		return e.Kind != Exists
	}
	return true
}

func (n nullability) any(es []Expr) bool {
	for _, e := range es {
		if n.mayBeNull(e) {
			return true
		}
	}
	return false
}

// rejectsNull reports whether cond cannot be TRUE in a row whose columns cols are all NULL. That a row of an outer
// join padded with NULLs is dropped by cond follows from it.
func rejectsNull(cond Expr, cols colSet) bool {
	return nullResult(cond, cols).notTrue()
}

// outcome is what an expression can be when some columns are NULL.
type outcome uint8

const (
	canBeTrue outcome = 1 << iota
	canBeFalse
	canBeNull
	anyOutcome = canBeTrue | canBeFalse | canBeNull
)

func (o outcome) notTrue() bool { return o&canBeTrue == 0 }

// nullResult bounds what e can be when the columns cols are NULL; for values other than BOOLEANs, canBeTrue and
// canBeFalse both stand for "not NULL".
func nullResult(e Expr, cols colSet) outcome {
	switch e := e.(type) {
	case *ColumnRef:
		if cols.has(e.ID) {
			return canBeNull
		}
	case *Const:
		if e.Value.Null {
			return canBeNull
		}
		if e.Value.Type.ID == vec.Bool {
			if e.Value.I != 0 {
				return canBeTrue
			}
			return canBeFalse
		}
		return canBeTrue | canBeFalse
	case *Compare:
		if e.Op != Distinct && e.Op != NotDistinct {
			return strictResult(e.Children(), cols)
		}
	case *Call:
		if e.Bound.Strict {
			return strictResult(e.Args, cols)
		}
	case *Cast:
		return strictResult(e.Children(), cols)
	case *In:
		return strictResult(e.Children(), cols)
	case *Field:
		return strictResult(e.Children(), cols)
	case *Not:
		o := nullResult(e.Arg, cols)
		return o&canBeNull | swap(o, canBeTrue, canBeFalse)
	case *IsNull:
		return isNullResult(nullResult(e.Arg, cols), e.Negate)
	case *IsBool:
		return isBoolResult(nullResult(e.Arg, cols), e)
	case *And:
		return andResult(e.Args, cols)
	case *Or:
		return orResult(e.Args, cols)
	case *Coalesce:
		return coalesceResult(e.Args, cols)
	}
	return anyOutcome
}

func swap(o, a, b outcome) outcome {
	var out outcome
	if o&a != 0 {
		out |= b
	}
	if o&b != 0 {
		out |= a
	}
	return out
}

func strictResult(args []Expr, cols colSet) outcome {
	for _, a := range args {
		if nullResult(a, cols) == canBeNull {
			return canBeNull
		}
	}
	return anyOutcome
}

func isNullResult(o outcome, negate bool) outcome {
	switch {
	case o == canBeNull && !negate, o&canBeNull == 0 && negate:
		return canBeTrue
	case o == canBeNull, o&canBeNull == 0:
		return canBeFalse
	}
	return canBeTrue | canBeFalse
}

func isBoolResult(o outcome, e *IsBool) outcome {
	want := canBeFalse
	if e.Want {
		want = canBeTrue
	}
	var out outcome
	if o&want != 0 {
		out |= canBeTrue
	}
	if o&^want != 0 {
		out |= canBeFalse
	}
	if e.Negate {
		out = swap(out, canBeTrue, canBeFalse)
	}
	return out
}

func andResult(args []Expr, cols colSet) outcome {
	out := canBeTrue
	for _, a := range args {
		o := nullResult(a, cols)
		var next outcome
		if out&canBeFalse != 0 || o&canBeFalse != 0 {
			next |= canBeFalse
		}
		if out&canBeTrue != 0 && o&canBeTrue != 0 {
			next |= canBeTrue
		}
		if out&canBeNull != 0 && o&^canBeFalse != 0 || o&canBeNull != 0 && out&^canBeFalse != 0 {
			next |= canBeNull
		}
		out = next
	}
	return out
}

func orResult(args []Expr, cols colSet) outcome {
	out := canBeFalse
	for _, a := range args {
		o := nullResult(a, cols)
		var next outcome
		if out&canBeTrue != 0 || o&canBeTrue != 0 {
			next |= canBeTrue
		}
		if out&canBeFalse != 0 && o&canBeFalse != 0 {
			next |= canBeFalse
		}
		if out&canBeNull != 0 && o&^canBeTrue != 0 || o&canBeNull != 0 && out&^canBeTrue != 0 {
			next |= canBeNull
		}
		out = next
	}
	return out
}

func coalesceResult(args []Expr, cols colSet) outcome {
	var out outcome
	for _, a := range args {
		o := nullResult(a, cols)
		out |= o &^ canBeNull
		if o&canBeNull == 0 {
			return out
		}
	}
	return out | canBeNull
}
