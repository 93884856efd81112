package engine

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/tablet"
)

// rangeCall begins the CHECK that keeps a column of TINYINT and the like, which a wider type stands for, in its range.
// The function fails by itself, with the error of a number out of range.
const rangeCall = "within_type"

// rangeCheck returns that CHECK for a column of a type; ok is false for other types.
func rangeCheck(name sql.Ident, t sql.TypeName) (k sql.Constraint, ok bool) {
	low, high, ok := plan.NarrowRange(t)
	if !ok {
		return k, false
	}
	call := &sql.FuncCall{Name: sql.Name{{Name: rangeCall, Pos: t.Pos}}, Pos: t.Pos}
	bound := func(n int64) sql.Expr { return &sql.Number{Text: strconv.FormatInt(n, 10), Pos: t.Pos} }
	for _, e := range []sql.Expr{&sql.Column{Name: sql.Name{name}, Pos: t.Pos}, bound(low), bound(high), &sql.String{Value: t.Name, Pos: t.Pos}} {
		call.Args = append(call.Args, sql.Arg{Value: e})
	}
	return sql.Constraint{Kind: sql.Check, Check: &sql.Binary{Op: ">=", Left: call, Right: bound(low), Pos: t.Pos}, Pos: t.Pos}, true
}

// isRange reports whether a constraint keeps a column in the range of its type.
func isRange(c catalog.Constraint) bool {
	return c.Kind == catalog.CheckRows && strings.HasPrefix(c.Expr, rangeCall+"(")
}

// replaceRange gives a column, whose type was changed, the range of the new type in place of that of the old.
func (s *Session) replaceRange(ctx context.Context, id tablet.TableID, name sql.Ident, to sql.TypeName) error {
	t, err := s.tableNow(id)
	if err != nil {
		return err
	}
	column, ok := t.Column(name.Name)
	if !ok || t.Kind == catalog.CDC {
		return nil
	}
	kept := slices.DeleteFunc(slices.Clone(t.Constraints), func(c catalog.Constraint) bool {
		return isRange(c) && slices.Equal(c.Columns, []int32{column.FieldID})
	})
	if len(kept) < len(t.Constraints) {
		if err := s.putConstraints(ctx, t, t.KeyName, kept, t.Indexes); err != nil {
			return err
		}
		if t, err = s.tableNow(id); err != nil {
			return err
		}
	}
	if k, ok := rangeCheck(name, to); ok {
		return s.addConstraint(ctx, t, k)
	}
	return nil
}
