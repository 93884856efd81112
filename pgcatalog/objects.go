package pgcatalog

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// Objects answers functions about the catalog: extension.Objects over a view, which is made when it is first needed.
type Objects struct{ View func() *View }

// Oid implements extension.Objects.
func (o Objects) Oid(kind extension.ObjectKind, text string) (int64, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	parts, err := splitName(text)
	if err != nil {
		return 0, err
	}
	schema, name := "", parts[len(parts)-1]
	if len(parts) > 1 {
		schema = parts[len(parts)-2]
	}
	v := o.View()
	oid := int64(0)
	switch kind {
	case extension.ClassObject:
		oid = v.classNamed(schema, name)
	case extension.TypeObject:
		oid = v.typeNamed(schema, typeText(text, name))
	case extension.NamespaceObject:
		if v.sees(name) {
			oid = v.schemaOid(name)
		}
	case extension.RoutineObject:
		bare, _, _ := strings.Cut(name, "(")
		for _, r := range v.routines() {
			if r.name == bare {
				oid = r.oid
				break
			}
		}
	case extension.RoleObject:
		if name == v.Session.User() {
			oid = ownerOid
		}
	}
	if oid == 0 {
		return 0, missing(kind, text)
	}
	return oid, nil
}

// typeText is the name of a type as written: types have names of several words, which no quotes are needed for.
func typeText(text, name string) string {
	if strings.Contains(text, " ") && !strings.Contains(text, `"`) {
		return strings.ToLower(strings.TrimPrefix(text, "pg_catalog."))
	}
	return name
}

func missing(kind extension.ObjectKind, text string) error {
	switch kind {
	case extension.ClassObject:
		return sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", text).Hintf("to_regclass gives NULL for it")
	case extension.TypeObject:
		return sqlerr.New(sqlerr.UndefinedObject, "type %q does not exist", text).Hintf("to_regtype gives NULL for it")
	case extension.NamespaceObject:
		return sqlerr.New(sqlerr.InvalidSchema, "schema %q does not exist", text).Hintf("SHOW SCHEMAS lists those that do")
	case extension.RoutineObject:
		return sqlerr.New(sqlerr.UndefinedFunction, "function %q does not exist", text).Hintf("to_regproc gives NULL for it")
	}
	return sqlerr.New(sqlerr.UndefinedObject, "role %q does not exist", text).Hintf("pg_roles has the user of the session")
}

// splitName splits a dotted name as SQL writes it: folded to lower case but within double quotes.
func splitName(text string) ([]string, error) {
	var parts []string
	var part strings.Builder
	quoted := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '"' && quoted && i+1 < len(text) && text[i+1] == '"':
			part.WriteByte('"')
			i++
		case c == '"':
			quoted = !quoted
		case c == '.' && !quoted:
			parts = append(parts, part.String())
			part.Reset()
		case !quoted && c >= 'A' && c <= 'Z':
			part.WriteByte(c + 'a' - 'A')
		default:
			part.WriteByte(c)
		}
	}
	parts = append(parts, strings.TrimSpace(part.String()))
	if quoted || parts[len(parts)-1] == "" || len(parts) > 3 {
		return nil, sqlerr.New(sqlerr.InvalidName, "invalid name syntax: %q", text).Hintf("write schema.name, with double quotes where SQL needs them")
	}
	return parts, nil
}

// classNamed finds the number of a relation.
func (v *View) classNamed(schema, name string) int64 {
	for _, s := range v.path(schema) {
		for _, c := range v.all() {
			if c.schema == s && c.name == name {
				return c.oid
			}
		}
	}
	return 0
}

// class returns the relation of a number, nil when there is none.
func (v *View) class(oid int64) *class {
	v.all()
	return v.byOid[oid]
}

// Name implements extension.Objects.
func (o Objects) Name(kind extension.ObjectKind, oid int64) (string, bool) {
	v := o.View()
	switch kind {
	case extension.ClassObject:
		if c := v.class(oid); c != nil {
			return v.qualify(c.schema, c.name), true
		}
	case extension.TypeObject:
		return v.formatType(oid, -1)
	case extension.NamespaceObject:
		for _, name := range v.Session.Schemas() {
			if v.schemaOid(name) == oid {
				return QuoteIdent(name), true
			}
		}
	case extension.RoutineObject:
		if r, ok := v.routine(oid); ok {
			return r.name, true
		}
	case extension.RoleObject:
		if oid == ownerOid {
			return v.Session.User(), true
		}
	}
	return "", false
}

func (v *View) routine(oid int64) (routine, bool) {
	all := v.routines()
	at := slices.IndexFunc(all, func(r routine) bool { return r.oid == oid })
	if at < 0 {
		return routine{}, false
	}
	return all[at], true
}

// FormatType implements extension.Objects.
func (o Objects) FormatType(oid, mod int64) (string, bool) { return o.View().formatType(oid, mod) }

// Definition implements extension.Objects.
func (o Objects) Definition(what extension.Definition, oid, part int64, pretty bool) (string, bool) {
	v := o.View()
	switch what {
	case extension.ViewDefinition:
		if c := v.class(oid); c != nil && c.view != nil {
			return c.view.SQL + ";", true
		}
	case extension.IndexDefinition:
		if c := v.class(oid); c != nil && c.index != nil {
			text := v.indexDef(c.index, part, pretty)
			return text, text != ""
		}
	case extension.ConstraintDefinition:
		for _, k := range v.constraints() {
			if k.oid == oid {
				text := v.constraintDef(k, pretty)
				return text, text != ""
			}
		}
	case extension.RoutineArguments:
		if r, ok := v.routine(oid); ok {
			return r.arguments(), true
		}
	case extension.RoutineResult:
		if r, ok := v.routine(oid); ok {
			if r.result == 0 {
				return "anyelement", true
			}
			return v.formatType(r.result, -1)
		}
	case extension.Comment:
		if c := v.class(oid); c != nil {
			text := c.comment(part)
			return text, text != ""
		}
		for c := range v.comments {
			if c.oid == oid {
				return c.text, true
			}
		}
		if r, ok := v.routine(oid); ok {
			for _, d := range v.Session.Functions().Defs(r.name) {
				return d.Def.Description, true
			}
		}
	}
	return "", false
}

// Visible implements extension.Objects.
func (o Objects) Visible(kind extension.ObjectKind, oid int64) (visible, found bool) {
	v := o.View()
	switch kind {
	case extension.ClassObject:
		if c := v.class(oid); c != nil {
			return v.visible(c.schema, c.name), true
		}
	case extension.TypeObject:
		if name, ok := v.formatType(oid, -1); ok {
			return !strings.Contains(name, "."), true
		}
	case extension.RoutineObject:
		_, found := v.routine(oid)
		return found, found
	}
	return false, false
}

// Bytes implements extension.Objects.
func (o Objects) Bytes(oid int64) (rows, keys int64, found bool) {
	c := o.View().class(oid)
	if c == nil {
		return 0, 0, false
	}
	if c.index != nil && c.index.primary {
		_, keys := tableBytes(c.index.of.table)
		return keys, 0, true
	}
	if c.table == nil {
		return 0, 0, true
	}
	rows, keys = tableBytes(c.table)
	return rows, keys, true
}

// tableBytes is what the tablets of a table and their key sidecars take.
func tableBytes(t *catalog.Table) (rows, keys int64) {
	view := t.Tablets.View()
	for _, b := range view.Base {
		rows, keys = rows+b.FileBytes, keys+b.SidecarBytes
	}
	for _, s := range view.Staging {
		rows, keys = rows+s.FileBytes, keys+s.SidecarBytes
	}
	return rows, keys
}

// AllBytes implements extension.Objects.
func (o Objects) AllBytes() int64 {
	sum := int64(0)
	for _, c := range o.View().all() {
		if c.table != nil {
			sum += c.table.Tablets.Totals().Bytes
		}
	}
	return sum
}

// Schemas implements extension.Objects.
func (o Objects) Schemas(implicit bool) []string {
	var out []string
	if implicit {
		out = append(out, "pg_catalog")
	}
	for _, name := range o.View().Session.SearchPath() {
		if o.View().Snapshot.HasSchema(name) {
			out = append(out, name)
		}
	}
	return out
}

// MayChange implements extension.Objects.
func (o Objects) MayChange() bool { return !o.View().Session.ReadOnly() }
