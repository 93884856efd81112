package plan

import (
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// functionTable binds table functions in FROM; their arguments see the items to the left.
func (b *binder) functionTable(t *sql.FuncTable, lateral *scope) (Node, namespace) {
	if len(t.ColumnDefs) > 0 {
		failHint(t.Pos, sqlerr.FeatureNotSupported, "call a function that knows its columns", "a column definition list is not supported")
	}
	var node Node
	var cols []Col
	name := lowerASCII(t.Calls[0].Name.Last().Name)
	calls := unnestEach(t.Calls)
	if len(calls) == 1 {
		node, cols = b.tableCall(calls[0], lateral)
	} else {
		node, cols = b.rowsFrom(calls, lateral)
	}
	if t.Ordinality {
		node, cols = b.ordinality(node, cols, t.Pos)
	}
	names := namesOf(cols)
	if single := len(cols) == 1 || t.Ordinality && len(cols) == 2; single && t.Alias.Name.Name != "" && isScalarSource(node) {
		names[0] = t.Alias.Name.Name
	}
	return node, b.named(cols, names, name, t.Alias, t.Pos)
}

// unnestEach makes a call of its own for each array of unnest(a, b, ...), which stands for unnest(a), unnest(b), ...
func unnestEach(calls []*sql.FuncCall) []*sql.FuncCall {
	var out []*sql.FuncCall
	for _, c := range calls {
		if len(c.Args) < 2 || lowerASCII(c.Name.Last().Name) != "unnest" {
			out = append(out, c)
			continue
		}
		for _, a := range c.Args {
			one := *c
			one.Args = []sql.Arg{a}
			out = append(out, &one)
		}
	}
	return out
}

// isScalarSource reports a function of one value a row, whose column takes the alias of the call.
func isScalarSource(n Node) bool {
	switch n := n.(type) {
	case *Expand:
		return len(n.Columns) == 1
	case *Project:
		return len(n.Columns) == 1 && n.Columns[0].Type.ID != vec.Struct && isOneRow(n.Input)
	}
	return false
}

// tableCall binds one call: to a source when its arguments are constants, to an Expand otherwise.
func (b *binder) tableCall(e *sql.FuncCall, lateral *scope) (Node, []Col) {
	name := lowerASCII(e.Name.Last().Name)
	x := &exprBinder{b: b, scope: lateral, clause: "functions in FROM"}
	if b.functions.Table(name) == nil {
		if b.functions.Scalar(name) != nil || special[name] != nil {
			v := x.b.settle(x.call(e))
			col := b.newCol(name, v.Type(), true)
			return &Project{Input: oneRow(), Columns: []Col{col}, Exprs: []Expr{v}}, []Col{col}
		}
	}
	x.plainOnly(name, e)
	var args []Expr
	named := map[string]sql.Arg{}
	for _, a := range e.Args {
		if a.Name.Name == "" {
			a = b.optionOf(name, a)
		}
		if a.Name.Name != "" {
			named[lowerASCII(a.Name.Name)] = a
			continue
		}
		args = append(args, x.expr(a.Value))
	}
	bound, err := b.functions.ResolveTable(name, b.arguments(args))
	check(err, e.Pos)
	args = b.castArgs(args, bound.Args, e.Pos)
	if bound.Expand != nil {
		n := &Expand{Input: oneRow(), Name: name, Bound: *bound.Expand, Args: args}
		for _, c := range bound.Expand.Schema {
			n.Columns = append(n.Columns, b.newCol(c.Name, c.Type, true))
		}
		return n, n.Columns
	}
	src := b.openSource(name, bound, args, named, e.Pos)
	if stored, ok := src.(extension.StoredSource); ok {
		scan := b.scanOf(&Table{Name: name, Columns: src.Schema(), Stats: stored.Statistics(), Handle: stored})
		return scan, scan.Columns
	}
	scan := b.sourceScan(name, src)
	return scan, scan.Columns
}

// optionOf reads an argument written name = value as one written name => value where the function has such an option.
func (b *binder) optionOf(function string, a sql.Arg) sql.Arg {
	eq, ok := a.Value.(*sql.Binary)
	if !ok || eq.Op != "=" {
		return a
	}
	c, ok := eq.Left.(*sql.Column)
	table := b.functions.Table(function)
	if !ok || len(c.Name) != 1 || table == nil {
		return a
	}
	for _, o := range table.Overloads {
		for _, p := range o.Named {
			if p.Name == lowerASCII(c.Name[0].Name) {
				return sql.Arg{Name: c.Name[0], Value: eq.Right}
			}
		}
	}
	return a
}

func (b *binder) openSource(name string, bound extension.BoundTable, args []Expr, named map[string]sql.Arg, pos int) extension.TableSource {
	values := make([]vec.Value, len(args))
	for i, a := range args {
		if r := refs(a); !r.empty() {
			failHint(pos, sqlerr.FeatureNotSupported, "pass constants", "arguments of %s must be constant", name)
		}
		v, err := b.evalConstant(a)
		check(err, pos)
		values[i] = v
	}
	options := map[string]vec.Value{}
	for key, a := range named {
		at := slices.IndexFunc(bound.Overload.Named, func(p extension.Param) bool { return p.Name == key })
		if at < 0 {
			var known []string
			for _, p := range bound.Overload.Named {
				known = append(known, p.Name)
			}
			failHint(a.Name.Pos, sqlerr.UndefinedFunction, "it has "+strings.Join(known, ", "), "%s has no argument named %q", name, key)
		}
		x := &exprBinder{b: b, scope: &scope{}, clause: name}
		arg := x.expr(a.Value)
		if p := bound.Overload.Named[at]; p.Kind == extension.Exact {
			arg = b.assign(arg, p.Type, "argument "+key, a.Name.Pos)
		}
		v, err := b.evalConstant(b.settle(arg))
		check(err, a.Name.Pos)
		options[key] = v
	}
	src, err := bound.Overload.Bind(b.cat.Bind(), values, options)
	check(err, pos)
	return src
}

// rowsFrom binds ROWS FROM (f(), g()): the functions run side by side.
func (b *binder) rowsFrom(calls []*sql.FuncCall, lateral *scope) (Node, []Col) {
	var parts []pendingExpand
	for _, c := range calls {
		n, cols := b.tableCall(c, lateral)
		e, ok := n.(*Expand)
		if !ok {
			failHint(c.Pos, sqlerr.FeatureNotSupported, "join it instead", "%s is not supported in ROWS FROM", c.Name.Last().Name)
		}
		parts = append(parts, pendingExpand{name: e.Name, bound: e.Bound, args: e.Args, cols: cols})
	}
	e := expandAll(oneRow(), parts)
	return e, e.Columns
}

// expandAll makes one Expand of several calls.
func expandAll(in Node, parts []pendingExpand) *Expand {
	e := &Expand{Input: in, Name: parts[0].name, Bound: parts[0].bound}
	if len(parts) > 1 {
		e.Bound = zipExpand(parts)
	}
	for i, p := range parts {
		if i > 0 {
			e.Name += ", " + p.name
		}
		e.Args, e.Columns = append(e.Args, p.args...), append(e.Columns, p.cols...)
	}
	return e
}

func (b *binder) ordinality(n Node, cols []Col, pos int) (Node, []Col) {
	ord := b.newCol("ordinality", vec.Int64Type, false)
	if e, ok := n.(*Expand); ok {
		c := *e
		c.Ordinality = &ord
		return &c, append(slices.Clone(cols), ord)
	}
	bound, err := b.functions.ResolveWindow("row_number", nil)
	check(err, pos)
	ord.Type = bound.Result
	w := &Window{Input: n, Calls: []WindowCall{{Out: ord, Name: "row_number", Bound: &bound,
		Frame: Frame{Start: Bound{Kind: UnboundedPreceding}, End: Bound{Kind: UnboundedFollowing}}}}}
	return w, append(slices.Clone(cols), ord)
}

var fileReaders = []struct{ suffix, function string }{
	{".parquet", "read_parquet"}, {".csv", "read_csv"}, {".csv.gz", "read_csv"}, {".tsv", "read_csv"},
	{".json", "read_json"}, {".jsonl", "read_json"}, {".ndjson", "read_json"}, {".json.gz", "read_json"},
}

// fileTable binds FROM 'file.parquet' by the file's extension.
func (b *binder) fileTable(t *sql.FileTable, lateral *scope) (Node, namespace) {
	for _, r := range fileReaders {
		if !strings.HasSuffix(lowerASCII(t.Path), r.suffix) {
			continue
		}
		call := &sql.FuncCall{Name: sql.Name{{Name: r.function}}, Args: []sql.Arg{{Value: &sql.String{Value: t.Path, Pos: t.Pos}}}, Pos: t.Pos}
		node, cols := b.tableCall(call, lateral)
		name := t.Path[strings.LastIndexByte(t.Path, '/')+1:]
		name, _, _ = strings.Cut(name, ".")
		return node, b.named(cols, namesOf(cols), name, t.Alias, t.Pos)
	}
	failHint(t.Pos, sqlerr.UndefinedTable, "end the name in .parquet, .csv or .json, or call read_parquet('...')",
		"cannot tell the format of file %q", t.Path)
	return nil, namespace{}
}
