package engine

import (
	"slices"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// expandLikes returns CREATE TABLE with the columns, and what else INCLUDING asks for, in place of LIKE.
func (s *Session) expandLikes(snapshot *catalog.Snapshot, t *sql.CreateTable) (*sql.CreateTable, error) {
	if len(t.Likes) == 0 {
		return t, nil
	}
	out := *t
	out.Likes, out.Columns, out.Constraints = nil, nil, slices.Clone(t.Constraints)
	at := 0
	for i := range t.Likes {
		like := &t.Likes[i]
		out.Columns = append(out.Columns, t.Columns[at:like.At]...)
		at = like.At
		if err := s.copyDefinition(snapshot, &out, like); err != nil {
			return nil, sqlerr.From(err).At(like.Table.Position())
		}
	}
	out.Columns = append(out.Columns, t.Columns[at:]...)
	return &out, nil
}

// copyDefinition adds to a CREATE TABLE what LIKE takes from another table or view.
func (s *Session) copyDefinition(snapshot *catalog.Snapshot, to *sql.CreateTable, like *sql.TableLike) error {
	table, view, err := s.relation(snapshot, like.Table)
	if err != nil {
		return err
	}
	if view != nil {
		schema, err := s.viewSchema(snapshot, view)
		for _, c := range schema {
			to.Columns = append(to.Columns, sql.ColumnDef{Name: sql.Ident{Name: c.Name, Quoted: true}, Type: typeNameOf(c.Type)})
		}
		return err
	}
	for _, c := range table.Columns {
		def, err := likeColumn(c, like)
		if err != nil {
			return err
		}
		to.Columns = append(to.Columns, def)
	}
	return likeConstraints(table, to, like)
}

func likeColumn(c tablet.Column, like *sql.TableLike) (def sql.ColumnDef, err error) {
	def = sql.ColumnDef{Name: sql.Ident{Name: c.Name, Quoted: true}, Type: typeNameOf(c.Type), NotNull: !c.Nullable}
	if like.Includes("comments") {
		def.Comment = c.Comment
	}
	switch {
	case c.Identity != "":
		if like.Includes("identity") {
			def.Identity, def.Always = true, c.Identity == "always"
		}
	case c.Generated != "":
		if like.Includes("generated") {
			def.Generated, err = sql.ParseExpr(c.Generated)
		}
	case c.Default != "" && like.Includes("defaults"):
		def.Default, err = sql.ParseExpr(c.Default)
	}
	return def, err
}

// likeConstraints adds the CHECK constraints and the keys of a table that INCLUDING asks for. The range of TINYINT and
// the like is a matter of type and always comes along.
func likeConstraints(table *catalog.Table, to *sql.CreateTable, like *sql.TableLike) error {
	for _, c := range table.AllConstraints() {
		k := sql.Constraint{Pos: like.Table.Position()}
		switch c.Kind {
		case catalog.CheckRows:
			if !like.Includes("constraints") && !isRange(c) {
				continue
			}
			e, err := sql.ParseExpr(c.Expr)
			if err != nil {
				return err
			}
			k.Kind, k.Check = sql.Check, e
			if !isRange(c) {
				k.Name = sql.Ident{Name: c.Name, Quoted: true}
			}
		case catalog.UniqueKey, catalog.PrimaryKey:
			if !like.Includes("indexes") {
				continue
			}
			if k.Kind = sql.Unique; c.Kind == catalog.PrimaryKey {
				k.Kind = sql.PrimaryKey
			}
			for _, name := range table.ColumnNames(c.Columns) {
				k.Columns = append(k.Columns, sql.Ident{Name: name, Quoted: true})
			}
		default: // foreign keys are never copied
			continue
		}
		to.Constraints = append(to.Constraints, k)
	}
	if like.Includes("indexes") {
		return likeIndexes(table, to)
	}
	return nil
}

// likeIndexes adds the indexes of a table; they get names of their own.
func likeIndexes(table *catalog.Table, to *sql.CreateTable) error {
	for _, i := range table.Indexes {
		index := sql.CreateIndex{Unique: i.Unique}
		for _, text := range i.Exprs {
			e, err := sql.ParseExpr(text)
			if err != nil {
				return err
			}
			index.Exprs = append(index.Exprs, sql.OrderItem{Expr: e})
		}
		if i.Where != "" {
			e, err := sql.ParseExpr(i.Where)
			if err != nil {
				return err
			}
			index.Where = e
		}
		to.Indexes = append(to.Indexes, index)
	}
	return nil
}

// typeNameOf returns how a type is written.
func typeNameOf(t vec.Type) sql.TypeName {
	switch {
	case t.ID == vec.Array:
		n := typeNameOf(*t.Elem)
		n.Dims = append(n.Dims, 0)
		return n
	case t.ID == vec.Struct:
		n := sql.TypeName{Name: "struct"}
		for _, f := range t.Fields {
			n.Fields = append(n.Fields, sql.StructField{Name: sql.Ident{Name: f.Name, Quoted: true}, Type: typeNameOf(f.Type)})
		}
		return n
	case t.Enum != nil:
		return sql.TypeName{Schema: sql.Ident{Name: t.Enum.Schema, Quoted: true}, Name: t.Enum.Name}
	case t.ID == vec.Decimal:
		return sql.TypeName{Name: "numeric", Args: []int{int(t.Precision), int(t.Scale)}}
	}
	if e, err := sql.ParseExpr("CAST(NULL AS " + t.String() + ")"); err == nil {
		if c, ok := e.(*sql.Cast); ok {
			return c.Type
		}
	}
	return sql.TypeName{Name: "text"}
}
