package plan

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// Options tune [Bind]. The zero value suits a statement without parameters.
type Options struct {
	// Params are the declared types of $1, $2, ...; NullType or a missing one is inferred.
	Params []vec.Type
	// Stars, when not nil, is told of each * and t.* what it stands for.
	Stars func(star *sql.Star, items []sql.SelectItem)
}

// Query is a bound query: a plan with the names and types of its result.
type Query struct {
	Plan   Node
	Names  []string
	Schema vec.Schema
	// Params are the types of $1, $2, ..., inferred where they were not declared; TEXT where nothing told.
	Params []vec.Type
	// Once is set by Optimize when the plan holds values of this statement alone, such as that of now(): it must not be
	// run again for a later one.
	Once bool

	ids       *ids
	functions *extension.Registry
	eval      *extension.Eval
}

// Bind resolves names and types of a query and returns its plan, unoptimised. Errors are the user's, with position and
// hint, as PostgreSQL words them.
func Bind(ctx context.Context, q sql.QueryExpr, cat Catalog, opts Options) (out *Query, err error) {
	defer recoverFault(&err)
	b := newBinder(ctx, cat, opts)
	r := b.query(q, nil)
	return b.finish(r), nil
}

// fault carries a user's error out of the binder's and the rules' recursion.
type fault struct{ err error }

// recoverFault turns a panic of this package into an error: a fault into its own, anything else into Internal.
func recoverFault(err *error) {
	switch r := recover().(type) {
	case nil:
	case fault:
		*err = r.err
	default:
		*err = internalPanic(r)
	}
}

func internalPanic(r any) error {
	stack := make([]byte, 2048)
	stack = stack[:runtime.Stack(stack, false)]
	return sqlerr.New(sqlerr.Internal, "planning failed: %v", r).Detailf("%s", stack).
		Hintf("this is a defect; please report the statement")
}

func internalf(format string, args ...any) fault {
	return fault{sqlerr.New(sqlerr.Internal, "planning failed: "+format, args...).
		Hintf("this is a defect; please report the statement")}
}

type binder struct {
	ctx       context.Context
	cat       Catalog
	functions *extension.Registry
	eval      *extension.Eval
	ids       *ids
	params    []vec.Type
	positions map[*ColumnRef]int    // where a reference was written, for messages about grouping
	written   map[Node]writtenQuery // what the plan of a subquery was bound from
	wholeRows map[Expr][]Expr       // rows of relations and their columns: IS NULL asks of each of these
	rowNames  map[string]bool       // names that the statement has where a whole row may stand, in any query
	selects   int                   // how many SELECTs being bound lie around each other
	views     []*View               // being expanded, outermost first
	ctes      *cteScope
	stars     func(*sql.Star, []sql.SelectItem) // [Options.Stars], or nil
	targets   []vec.Type                        // of an INSERT, for untyped literals of the outermost select list; whoever binds that takes them
}

// takeTargets returns the targets and leaves none for queries within.
func (b *binder) takeTargets() []vec.Type {
	out := b.targets
	b.targets = nil
	return out
}

func newBinder(ctx context.Context, cat Catalog, opts Options) *binder {
	b := &binder{ctx: ctx, cat: cat, functions: cat.Functions(), ids: &ids{}, stars: opts.Stars,
		params: append([]vec.Type(nil), opts.Params...), positions: map[*ColumnRef]int{}, written: map[Node]writtenQuery{},
		wholeRows: map[Expr][]Expr{}, rowNames: map[string]bool{}}
	if tb := cat.Bind(); tb != nil && tb.Eval != nil {
		b.eval = tb.Eval
	} else {
		b.eval = &extension.Eval{Ctx: ctx, Now: time.Now()}
	}
	return b
}

func (b *binder) finish(r result) *Query {
	q := &Query{Plan: r.node, ids: b.ids, functions: b.functions, eval: b.eval}
	node, cols := b.settleUnknown(r)
	q.Plan = node
	for i, c := range cols {
		q.Names = append(q.Names, r.names[i])
		q.Schema = append(q.Schema, vec.Column{Name: r.names[i], Type: c.Type, Nullable: c.Nullable})
	}
	for i, t := range b.params {
		if t.ID == vec.Null {
			b.params[i] = vec.TextType
		}
	}
	q.Params = b.params
	return q
}

// result is a bound query: its node's columns in order and what they are called.
type result struct {
	node  Node
	names []string
}

func (r result) cols() []Col { return r.node.Cols() }

// fail ends binding with an error at a position.
func fail(pos int, code, format string, args ...any) {
	panic(fault{sqlerr.New(code, format, args...).At(pos)})
}

func failHint(pos int, code, hint, format string, args ...any) {
	panic(fault{sqlerr.New(code, format, args...).Hintf("%s", hint).At(pos)})
}

// check ends binding with err, if any, placed at pos unless it has a place.
func check(err error, pos int) {
	if err == nil {
		return
	}
	var e *sqlerr.Error
	if errors.As(err, &e) {
		panic(fault{e.At(pos)})
	}
	panic(fault{fmt.Errorf("binding: %w", err)})
}

func (b *binder) newCol(name string, t vec.Type, nullable bool) Col {
	return Col{ID: b.ids.next(), Name: name, Type: t, Nullable: nullable}
}
