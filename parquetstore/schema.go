package parquetstore

import (
	"fmt"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/tidemarkdb/tidemark/vec"
)

// shape says how a node's values are put together.
type shape uint8

const (
	leafShape shape = iota
	listShape
	structShape
)

// node is one SQL value in the file's schema: a column, or a part of a nested one. Parquet's groups that only carry
// a list's repetition are folded into the list's node.
type node struct {
	name     string
	typ      vec.Type
	nullable bool
	shape    shape
	leaf     int // index into schema.leaves, for leafShape
	kids     []*node

	// A row has a value here when its definition level is at least def. A list has an element at elemDef or more;
	// rep is the repetition level that continues it.
	def, elemDef, rep int
}

// leaf is one primitive column as stored.
type leaf struct {
	path   string // dotted
	phys   format.Type
	length int // bytes of a FIXED_LEN_BYTE_ARRAY
	conv   conversion
	typ    vec.Type
	maxDef int
	maxRep int
}

// flat reports a leaf whose rows need no assembly.
func (l *leaf) flat() bool { return l.maxRep == 0 && l.maxDef <= 1 }

// Column is one column of a file.
type Column struct {
	Name     string
	Type     vec.Type
	Nullable bool
	FieldID  int32 // Iceberg field id, 0 when the file has none

	node   *node
	leaves [2]int // range of the column's leaves
}

// schema is what a file's footer says of its columns.
type schema struct {
	columns []Column
	leaves  []leaf
}

// schemaParser walks the flattened schema tree.
type schemaParser struct {
	elements []format.SchemaElement
	next     int
	out      schema
	types    map[string]vec.Type // of leaves that our own writer stored and Parquet has no type for
}

// maxSchemaDepth bounds nesting, so that damaged bytes cannot exhaust the stack.
const maxSchemaDepth = 64

func parseSchema(elements []format.SchemaElement, types map[string]vec.Type) (*schema, error) {
	if len(elements) == 0 || !elements[0].NumChildren.Valid {
		return nil, fmt.Errorf("the schema has no root")
	}
	p := schemaParser{elements: elements, next: 1, types: types}
	for range elements[0].NumChildren.V {
		if p.next >= len(elements) {
			return nil, errSchemaCut
		}
		first, id := len(p.out.leaves), elements[p.next].FieldID
		n, err := p.node("", 0, 0, 0)
		if err != nil {
			return nil, err
		}
		p.out.columns = append(p.out.columns, Column{
			Name: n.name, Type: n.typ, Nullable: n.nullable, FieldID: id, node: n, leaves: [2]int{first, len(p.out.leaves)},
		})
	}
	if p.next != len(elements) {
		return nil, fmt.Errorf("the schema has %d elements that belong to no group", len(elements)-p.next)
	}
	return &p.out, nil
}

var errSchemaCut = fmt.Errorf("the schema ends in the middle of a group")

// node parses the element at p.next and those below it; def and rep are the levels of the parent.
func (p *schemaParser) node(parent string, def, rep, depth int) (*node, error) {
	if p.next >= len(p.elements) {
		return nil, errSchemaCut
	}
	if depth > maxSchemaDepth {
		return nil, fmt.Errorf("the schema is nested more than %d deep", maxSchemaDepth)
	}
	e := &p.elements[p.next]
	path := e.Name
	if parent != "" {
		path = parent + "." + e.Name
	}
	if e.RepetitionType.V == format.Repeated { // a list without the group that would make it nullable
		n := &node{name: e.Name, shape: listShape, def: def, elemDef: def + 1, rep: rep + 1}
		elem, err := p.present(path, def+1, rep+1, depth)
		if err != nil {
			return nil, err
		}
		n.kids, n.typ = []*node{elem}, vec.ArrayType(elem.typ)
		return n, nil
	}
	nullable := e.RepetitionType.V == format.Optional
	if nullable {
		def++
	}
	n, err := p.present(path, def, rep, depth)
	if n != nil {
		n.nullable = nullable
	}
	return n, err
}

// present parses the element at p.next as a value that is there at level def.
func (p *schemaParser) present(path string, def, rep, depth int) (*node, error) {
	e := &p.elements[p.next]
	p.next++
	n := &node{name: e.Name, def: def, rep: rep}
	if !e.NumChildren.Valid || e.NumChildren.V == 0 && e.Type.Valid {
		l, err := leafOf(path, e, p.types[path])
		if err != nil {
			return nil, err
		}
		l.maxDef, l.maxRep = def, rep
		n.leaf, n.typ = len(p.out.leaves), l.typ
		p.out.leaves = append(p.out.leaves, l)
		return n, nil
	}
	if isList(e) && e.NumChildren.V == 1 && p.next < len(p.elements) && p.elements[p.next].RepetitionType.V == format.Repeated {
		return n, p.list(n, path, depth)
	}
	n.shape, n.typ = structShape, vec.Type{ID: vec.Struct}
	for range e.NumChildren.V {
		kid, err := p.node(path, def, rep, depth+1)
		if err != nil {
			return nil, err
		}
		n.kids = append(n.kids, kid)
		n.typ.Fields = append(n.typ.Fields, vec.Field{Name: kid.name, Type: kid.typ})
	}
	if len(n.kids) == 0 {
		return nil, fmt.Errorf("column %q is a group without members", path)
	}
	return n, nil
}

// list parses the repeated element below a LIST or MAP group as n's elements, by Parquet's rules for old writers
// (LogicalTypes.md, "Lists" and "Maps").
func (p *schemaParser) list(n *node, path string, depth int) error {
	group := p.elements[p.next-1]
	repeated := &p.elements[p.next]
	n.shape, n.elemDef = listShape, n.def+1
	n.rep++
	elemPath := path + "." + repeated.Name
	wrapper := repeated.NumChildren.V == 1 && !isMap(&group) && repeated.Name != "array" && repeated.Name != group.Name+"_tuple"
	var elem *node
	var err error
	if wrapper {
		p.next++
		elem, err = p.node(elemPath, n.elemDef, n.rep, depth+1)
	} else {
		elem, err = p.present(elemPath, n.elemDef, n.rep, depth+1)
	}
	if err != nil {
		return err
	}
	n.kids, n.typ = []*node{elem}, vec.ArrayType(elem.typ)
	return nil
}

func isMap(e *format.SchemaElement) bool {
	if _, ok := e.LogicalType.Value.(*format.MapType); ok {
		return true
	}
	return e.ConvertedType.Valid && (e.ConvertedType.V == deprecated.Map || e.ConvertedType.V == deprecated.MapKeyValue)
}

func isList(e *format.SchemaElement) bool {
	if _, ok := e.LogicalType.Value.(*format.ListType); ok || isMap(e) {
		return true
	}
	return e.ConvertedType.Valid && e.ConvertedType.V == deprecated.List
}
