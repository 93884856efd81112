package plan

import (
	"math"

	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// sampleOf returns the TABLESAMPLE of a FROM item, or nil.
func sampleOf(item sql.TableExpr) *sql.Sample {
	switch t := item.(type) {
	case *sql.Table:
		return t.Sample
	case *sql.Derived:
		return t.Sample
	case *sql.FuncTable:
		return t.Sample
	case *sql.FileTable:
		return t.Sample
	}
	return nil
}

// sampled keeps a random part of the rows of n: each by a draw of its own, or as many as s counts.
func (b *binder) sampled(n Node, s *sql.Sample, pos int) Node {
	method := lowerASCII(s.Method)
	if method == "" {
		method = "system"
		if s.Rows {
			method = "reservoir"
		}
	}
	switch method {
	case "system", "bernoulli", "reservoir":
	default:
		failHint(pos, sqlerr.UndefinedObject, "the methods are bernoulli, system and reservoir",
			"tablesample method %s does not exist", s.Method)
	}
	if s.Rows != (method == "reservoir") {
		failHint(pos, sqlerr.FeatureNotSupported, "reservoir takes a number of ROWS, bernoulli and system a percentage",
			"this sample size is not supported by tablesample method %s", method)
	}
	cols := n.Cols()
	n, draw := b.draw(n, s, pos)
	size := b.constant(s.Size, vec.Float64Type, "TABLESAMPLE", pos)
	if s.Rows {
		if size.Null || size.F < 0 || size.F >= math.MaxInt64 {
			fail(pos, sqlerr.InvalidSample, "sample size must be between 0 and %d rows", int64(math.MaxInt64))
		}
		sorted := &Sort{Input: n, Keys: []SortKey{{Expr: draw}}, Limit: -1}
		return keepCols(&Limit{Input: sorted, Count: intConst(int64(size.F))}, cols)
	}
	if size.Null || !(size.F >= 0 && size.F <= 100) {
		fail(pos, sqlerr.InvalidSample, "sample percentage must be between 0 and 100")
	}
	below := &Const{Value: vec.FloatValue(vec.Float64Type, size.F/100)}
	return keepCols(&Filter{Input: n, Conditions: []Expr{&Compare{Op: Lt, Left: draw, Right: below}}}, cols)
}

// draw returns a number from 0 up to 1 for each row of n. REPEATABLE makes it depend on the seed and on the row's
// position, which n then yields too.
func (b *binder) draw(n Node, s *sql.Sample, pos int) (Node, Expr) {
	x := &exprBinder{b: b}
	if s.Repeat == nil {
		return n, x.scalar("random", nil, pos)
	}
	scan, ok := n.(*Scan)
	if !ok {
		failHint(pos, sqlerr.FeatureNotSupported, "sample the table inside, or leave REPEATABLE out",
			"TABLESAMPLE with REPEATABLE applies to tables only")
	}
	seed := b.constant(s.Repeat, vec.Float64Type, "REPEATABLE", pos)
	if seed.Null {
		fail(pos, sqlerr.InvalidSampleRepeat, "TABLESAMPLE REPEATABLE parameter cannot be null")
	}
	position := b.newCol("position", vec.Int64Type, false)
	scan.Columns, scan.Ordinals = append(scan.Columns, position), append(scan.Ordinals, -1)
	// The hash as a whole number from -2^63 up, scaled to [0, 1): its top bits decide.
	hash := castTo(x.scalar("hash", []Expr{refTo(position), &Const{Value: seed}}, pos), vec.Float64Type)
	scaled := x.scalar("*", []Expr{hash, &Const{Value: vec.FloatValue(vec.Float64Type, math.Ldexp(1, -64))}}, pos)
	return scan, x.scalar("+", []Expr{scaled, &Const{Value: vec.FloatValue(vec.Float64Type, 0.5)}}, pos)
}
