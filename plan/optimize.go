package plan

import (
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

// optimizer is what rules may use beside the plan.
type optimizer struct {
	ids       *ids
	functions *extension.Registry
	eval      *extension.Eval
	once      bool
}

func (o *optimizer) simplifier() *simplifier { return &simplifier{eval: o.eval, once: &o.once} }

// rule is one rewrite of a whole plan.
type rule struct {
	name  string
	apply func(*optimizer, Node) Node
}

// rules run in this order, once each. Those up to unnest and the order of enumerations are needed: afterwards no Subquery and no
// Apply is left.
var rules = []rule{
	{"inline ctes", inlineCTEs},
	{"introduce applies", introduceApplies},
	{"unnest", unnest},
	{"order enumerations", orderEnums},
	{"simplify", simplify},
	{"drop pass-through projections", dropPassthrough},
	{"push filters", pushFilters},
	{"drop pass-through projections", dropPassthrough},
	{"order joins", orderJoins},
	{"push limits", pushLimits},
	{"prune columns", pruneColumns},
	{"drop dependent groups", dropDependentGroups},
	{"cases to filters", casesToFilters},
	{"factor sums", factorSums},
	{"metadata answers", markMetadata},
	{"prefix ranges", addPrefixRanges},
	{"choose sides", chooseSides},
	{"narrow kept rows", narrowKept},
}

// Optimize returns q with an equivalent, cheaper plan that the executor can run.
func Optimize(q *Query) (out *Query, err error) {
	defer recoverFault(&err)
	o := &optimizer{ids: q.ids, functions: q.functions, eval: q.eval}
	n, cols := q.Plan, q.Plan.Cols()
	for _, r := range rules {
		n = keepCols(r.apply(o, n), cols)
	}
	c := *q
	c.Plan = n
	c.Once = o.once
	return &c, nil
}

func (o *optimizer) newCol(name string, t vec.Type, nullable bool) Col {
	return Col{ID: o.ids.next(), Name: name, Type: t, Nullable: nullable}
}

// freshCols returns cols under new ids.
func (o *optimizer) freshCols(cols []Col) []Col {
	out := make([]Col, len(cols))
	for i, c := range cols {
		out[i] = o.ids.fresh(c)
	}
	return out
}
