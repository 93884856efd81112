package pgcatalog

import (
	"strings"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

func routineRelations() []Relation {
	return []Relation{
		relation("pg_proc", `oid oid, proname name, pronamespace oid, proowner oid, prolang oid, procost float4, prorows float4,
			provariadic oid, prosupport text, prokind char, prosecdef bool, proleakproof bool, proisstrict bool, proretset bool,
			provolatile char, proparallel char, pronargs int2, pronargdefaults int2, prorettype oid, proargtypes oid[],
			proallargtypes oid[], proargmodes text[], proargnames text[], proargdefaults text, protrftypes oid[], prosrc text,
			probin text, prosqlbody text, proconfig text[], proacl text[]`, fillProcs),
	}
}

// routine is one overload of a function under one of its names.
type routine struct {
	oid        int64
	name       string
	kind       string // prokind: f, a or w
	set        bool
	strict     bool
	volatility string
	signature  extension.Signature
	result     int64 // oid of the type, 0 when the arguments decide it
}

var volatilities = map[extension.Volatility]string{extension.Immutable: "i", extension.Stable: "s", extension.Volatile: "v"}

// routines lists every function that has a name of letters: operators are none.
func (v *View) routines() []routine {
	v.procs.Do(func() { v.routined = v.listRoutines() })
	return v.routined
}

func (v *View) listRoutines() []routine {
	r := v.Session.Functions()
	var out []routine
	put := func(x routine) {
		x.oid = firstOid + int64(hash("proc", x.name+"("+x.arguments())%(1<<31-firstOid))
		out = append(out, x)
	}
	for _, name := range r.FunctionNames() {
		if c := name[0]; c != '_' && (c < 'a' || c > 'z') {
			continue
		}
		if f := r.Scalar(name); f != nil {
			for _, o := range f.Overloads {
				put(routine{name: name, kind: "f", strict: o.Strict, volatility: volatilities[f.Volatility], signature: o.Signature, result: v.scalarResult(o)})
			}
		}
		if f := r.Aggregate(name); f != nil {
			for _, o := range f.Overloads {
				put(routine{name: name, kind: "a", volatility: "i", signature: o.Signature})
			}
		}
		if f := r.Window(name); f != nil {
			for _, o := range f.Overloads {
				put(routine{name: name, kind: "w", volatility: "i", signature: o.Signature})
			}
		}
		if f := r.Table(name); f != nil {
			for _, o := range f.Overloads {
				put(routine{name: name, kind: "f", set: true, volatility: "s", signature: o.Signature, result: 2249})
			}
		}
	}
	return out
}

// scalarResult is the type of a function whose parameters are all of one type each.
func (v *View) scalarResult(o extension.ScalarOverload) int64 {
	args := make([]extension.Argument, len(o.Params))
	for i, p := range o.Params {
		if p.Kind != extension.Exact {
			return 0
		}
		args[i].Type = p.Type
	}
	t, _, err := o.Bind(args)
	if err != nil {
		return 0
	}
	return v.typeOid(t)
}

var polymorphic = map[extension.ParamKind]int64{
	extension.AnyType: 2276, extension.AnyElement: 2283, extension.AnyArray: 2277, extension.AnyDecimal: 1700, extension.AnyStruct: 2249,
	extension.AnyNonArray: 2776,
}

func (v *View) paramOid(p extension.Param) int64 {
	if p.Kind == extension.Exact {
		return v.typeOid(p.Type)
	}
	return polymorphic[p.Kind]
}

var polymorphicNames = map[extension.ParamKind]string{
	extension.AnyType: `"any"`, extension.AnyElement: "anyelement", extension.AnyArray: "anyarray", extension.AnyDecimal: "numeric",
	extension.AnyStruct: "record", extension.AnyNonArray: "anynonarray",
}

// arguments writes the types of the parameters.
func (r routine) arguments() string {
	parts := make([]string, len(r.signature.Params))
	for i, p := range r.signature.Params {
		switch {
		case p.Kind != extension.Exact:
			parts[i] = polymorphicNames[p.Kind]
		case p.Type.ID == vec.Decimal:
			parts[i] = "numeric"
		default:
			parts[i] = p.Type.String()
		}
		if r.signature.Variadic && i == len(parts)-1 {
			parts[i] = "VARIADIC " + parts[i] + "[]"
		}
	}
	return strings.Join(parts, ", ")
}

func fillProcs(v *View, add func(values ...any)) {
	for _, r := range v.routines() {
		types := make([]int64, len(r.signature.Params))
		variadic := int64(0)
		for i, p := range r.signature.Params {
			types[i] = v.paramOid(p)
			if r.signature.Variadic {
				variadic = types[i]
			}
		}
		rows := 0.0
		if r.set {
			rows = 1000
		}
		result := r.result
		if result == 0 {
			result = 2283
		}
		add(r.oid, r.name, catalogSchemaOid, ownerOid, 12, 1.0, rows, variadic, "-", r.kind, false, false, r.strict, r.set, r.volatility, "s",
			len(types), r.signature.Optional, result, oidList(types), nil, nil, nil, nil, nil, r.name, nil, nil, nil, nil)
	}
}
