package plan

import (
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// relation is a named item of FROM.
type relation struct {
	schema, name string
	cols         []Col // under the names they have here
	table        *Table
	// marker, of a relation that an outer join may pad, is a column that is NULL in the padded rows alone; nil when
	// nothing asks for the relation's whole row.
	marker *Col
}

// namespace is what a FROM clause, or a part of it, makes visible.
type namespace struct {
	relations []*relation
	// cols are the columns that * stands for, those merged by USING once.
	cols []visibleCol
}

type visibleCol struct {
	Col
	rel *relation // nil when merged
}

func (n namespace) plus(o namespace) namespace {
	return namespace{
		relations: append(n.relations[:len(n.relations):len(n.relations)], o.relations...),
		cols:      append(n.cols[:len(n.cols):len(n.cols)], o.cols...),
	}
}

// with returns the namespace with another relation at place i.
func (n namespace) with(i int, r *relation) namespace {
	old := n.relations[i]
	out := namespace{relations: slices.Clone(n.relations), cols: slices.Clone(n.cols)}
	out.relations[i] = r
	for k := range out.cols {
		if out.cols[k].rel == old {
			out.cols[k].rel = r
		}
	}
	return out
}

func namespaceOf(r *relation) namespace {
	ns := namespace{relations: []*relation{r}}
	for _, c := range r.cols {
		ns.cols = append(ns.cols, visibleCol{Col: c, rel: r})
	}
	return ns
}

// scope is where names are looked up: a query block, then those around it.
type scope struct {
	parent *scope
	ns     namespace
	block  *block
	ctes   *cteScope
}

// cteScope is a chain of the common table expressions in sight.
type cteScope struct {
	parent *cteScope
	entry  *cteEntry
}

type cteEntry struct {
	id    int
	name  string
	cols  []Col // with the names they have
	names []string
}

func (s *cteScope) find(name string) *cteEntry {
	for ; s != nil; s = s.parent {
		if s.entry.name == name {
			return s.entry
		}
	}
	return nil
}

// lookup finds an unqualified column; found is false when there is none in this or an outer scope. A name without
// quotes also finds a column written with capitals, as files have them, where there is none in lower case.
func (s *scope) lookup(name sql.Ident, pos int) (c Col, at *scope, found bool) {
	if c, at, found = s.match(name.Name, pos, func(a, b string) bool { return a == b }); found || name.Quoted {
		return c, at, found
	}
	return s.match(name.Name, pos, strings.EqualFold)
}

func (s *scope) match(name string, pos int, same func(a, b string) bool) (Col, *scope, bool) {
	for ; s != nil; s = s.parent {
		var hit *visibleCol
		for i := range s.ns.cols {
			if !same(s.ns.cols[i].Name, name) {
				continue
			}
			if hit != nil {
				fail(pos, sqlerr.AmbiguousColumn, "column reference %q is ambiguous", name)
			}
			hit = &s.ns.cols[i]
		}
		if hit != nil {
			return hit.Col, s, true
		}
	}
	return Col{}, nil, false
}

// relation finds a relation by name and, when not "", schema.
func (s *scope) relation(schema, name string, pos int) (*relation, *scope) {
	for ; s != nil; s = s.parent {
		var hit *relation
		for _, r := range s.ns.relations {
			if r.name != name || schema != "" && r.schema != schema {
				continue
			}
			if hit != nil {
				fail(pos, sqlerr.AmbiguousColumn, "table reference %q is ambiguous", name)
			}
			hit = r
		}
		if hit != nil {
			return hit, s
		}
	}
	return nil, nil
}

// column finds a column by the rules of scope.lookup.
func (r *relation) column(name sql.Ident, pos int) (c Col, found bool) {
	if c, found = r.match(name.Name, pos, func(a, b string) bool { return a == b }); found || name.Quoted {
		return c, found
	}
	return r.match(name.Name, pos, strings.EqualFold)
}

func (r *relation) match(name string, pos int, same func(a, b string) bool) (Col, bool) {
	var hit *Col
	for i := range r.cols {
		if !same(r.cols[i].Name, name) {
			continue
		}
		if hit != nil {
			fail(pos, sqlerr.AmbiguousColumn, "column reference %q is ambiguous", name)
		}
		hit = &r.cols[i]
	}
	if hit == nil {
		return Col{}, false
	}
	return *hit, true
}

// columnNames lists every column in sight, for suggestions.
func (s *scope) columnNames() []string {
	var out []string
	for ; s != nil; s = s.parent {
		for _, c := range s.ns.cols {
			out = append(out, c.Name)
		}
	}
	return out
}

func (s *scope) relationNames() []string {
	var out []string
	for ; s != nil; s = s.parent {
		for _, r := range s.ns.relations {
			out = append(out, r.name)
		}
	}
	return out
}

func undefinedColumn(s *scope, name string, pos int) {
	err := sqlerr.New(sqlerr.UndefinedColumn, "column %q does not exist", name)
	if near := sqlerr.Nearest(name, s.columnNames()); near != "" {
		err = err.Hintf("did you mean %q?", near)
	} else if names := s.columnNames(); len(names) > 0 {
		if len(names) > 12 {
			names = append(names[:12:12], "...")
		}
		err = err.Hintf("the columns here are %s", strings.Join(names, ", "))
	} else {
		err = err.Hintf("there is no table in FROM")
	}
	panic(fault{err.At(pos)})
}

func missingFrom(s *scope, name string, pos int) {
	err := sqlerr.New(sqlerr.UndefinedTable, "missing FROM-clause entry for table %q", name)
	if near := sqlerr.Nearest(name, s.relationNames()); near != "" {
		err = err.Hintf("did you mean %q?", near)
	} else {
		err = err.Hintf("add the table to FROM, or use the alias it has there")
	}
	panic(fault{err.At(pos)})
}

// column binds a possibly qualified reference; parts that are left over are fields of a struct.
func (x *exprBinder) column(e *sql.Column) Expr {
	parts := e.Name
	pos := e.Pos
	if len(parts) == 1 {
		return x.simpleColumn(parts[0], pos)
	}
	if len(parts) > 1 {
		if r, at := x.scope.relation("", parts[0].Name, pos); r != nil {
			if c, ok := r.column(parts[1], pos); ok {
				return x.fields(x.ref(c, at, pos), parts[2:])
			}
			x.noColumnInRelation(r, parts[1].Name, pos)
		}
	}
	if len(parts) > 2 {
		if r, at := x.scope.relation(parts[0].Name, parts[1].Name, pos); r != nil {
			if c, ok := r.column(parts[2], pos); ok {
				return x.fields(x.ref(c, at, pos), parts[3:])
			}
			x.noColumnInRelation(r, parts[2].Name, pos)
		}
	}
	if e := x.plainColumn(parts[0], pos); e != nil {
		return x.fields(e, parts[1:])
	}
	missingFrom(x.scope, parts[len(parts)-2].Name, pos)
	return nil
}

func (x *exprBinder) simpleColumn(name sql.Ident, pos int) Expr {
	if e := x.plainColumn(sql.Ident{Name: name.Name, Quoted: true}, pos); e != nil {
		return e
	}
	if e := x.alias(name.Name); e != nil {
		return e
	}
	if r, at := x.scope.relation("", name.Name, pos); r != nil {
		return x.wholeRow(r, at, pos)
	}
	if e := x.plainColumn(name, pos); e != nil {
		return e
	}
	undefinedColumn(x.scope, name.Name, pos)
	return nil
}

func (x *exprBinder) noColumnInRelation(r *relation, name string, pos int) {
	var names []string
	for _, c := range r.cols {
		names = append(names, c.Name)
	}
	err := sqlerr.New(sqlerr.UndefinedColumn, "column %s.%s does not exist", r.name, name)
	if near := sqlerr.Nearest(name, names); near != "" {
		err = err.Hintf("did you mean %q?", r.name+"."+near)
	}
	panic(fault{err.At(pos)})
}

func (x *exprBinder) plainColumn(name sql.Ident, pos int) Expr {
	c, at, ok := x.scope.lookup(name, pos)
	if !ok {
		return nil
	}
	return x.ref(c, at, pos)
}

func (x *exprBinder) ref(c Col, at *scope, pos int) Expr {
	if x.check != nil {
		x.check(c, at, pos)
	}
	r := refTo(c)
	x.b.positions[r] = pos
	return r
}

func (x *exprBinder) wholeRow(r *relation, at *scope, pos int) Expr {
	cols := make([]Expr, len(r.cols))
	for i, c := range r.cols {
		cols[i] = x.ref(c, at, pos)
	}
	row := makeStruct(cols, namesOf(r.cols))
	if r.marker != nil {
		row = &Case{When: []Expr{&IsNull{Arg: x.ref(*r.marker, at, pos), Negate: true}}, Then: []Expr{row}, T: row.Type()}
	}
	x.b.wholeRows[row] = cols
	return row
}

func namesOf(cols []Col) []string {
	out := make([]string, len(cols))
	for i, c := range cols {
		out[i] = c.Name
	}
	return out
}

func (x *exprBinder) fields(e Expr, path []sql.Ident) Expr {
	for _, p := range path {
		e = x.field(e, p)
	}
	return e
}

// starRow binds t.* where one value stands: the row of t.
func (x *exprBinder) starRow(e *sql.Star) Expr {
	plain := e.Operand == nil && len(e.Exclude)+len(e.Replace)+len(e.Rename) == 0
	if n := len(e.Qualifier); plain && (n == 1 || n == 2) {
		schema := ""
		if n == 2 {
			schema = e.Qualifier[0].Name
		}
		if r, at := x.scope.relation(schema, e.Qualifier[n-1].Name, e.Pos); r != nil {
			return x.wholeRow(r, at, e.Pos)
		}
		missingFrom(x.scope, e.Qualifier[n-1].Name, e.Pos)
	}
	failHint(e.Pos, sqlerr.SyntaxError, "write the columns", "* is not allowed in %s here", x.clause)
	return nil
}
