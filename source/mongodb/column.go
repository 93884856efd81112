package mongodb

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// column is a target column and where its values come from.
type column struct {
	vec.Column
	key  bool
	path []string // of the field; nil for the columns of whole documents and of misfits
}

// layout is the target's columns, arranged for reading documents in one pass.
type layout struct {
	columns  []column
	byField  map[string][]int // first step of a path to columns
	document int              // the column of whole documents, or -1
	misfits  int              // the column of misfits' names, or -1
	key      int
}

// idField is the field that identifies documents.
const idField = "_id"

// plan checks that documents can fill the target and returns how. Every error of it is permanent and says what to do.
func (c config) plan(spec extension.TableSpec) (*layout, error) {
	l, err := c.layOut(spec)
	return l, extension.Permanent(err)
}

func (c config) layOut(spec extension.TableSpec) (*layout, error) {
	l := &layout{byField: map[string][]int{}, document: -1, misfits: -1, key: -1}
	for i, target := range spec.Columns {
		col := column{Column: target, key: slices.Contains(spec.Key, i)}
		switch target.Name {
		case c.documentColumn:
			if target.Type.ID != vec.JSON && target.Type.ID != vec.Text {
				return nil, sqlerr.New(sqlerr.DatatypeMismatch, "the column %s receives whole documents, which do not fit %s", target.Name, typeText(target.Type)).
					Hintf("declare it JSON or TEXT")
			}
			l.document = i
		case c.misfitColumn:
			if target.Type.ID != vec.Text {
				return nil, sqlerr.New(sqlerr.DatatypeMismatch, "the column %s receives names of columns, which do not fit %s", target.Name, typeText(target.Type)).
					Hintf("declare it TEXT")
			}
			l.misfits = i
		default:
			if !holdable(target.Type) {
				return nil, sqlerr.New(sqlerr.DatatypeMismatch, "no value of MongoDB fits column %s, which is %s", target.Name, typeText(target.Type)).
					Hintf("declare it TEXT or JSON, which take every value, or leave it out")
			}
			if col.path = c.fields[target.Name]; col.path == nil {
				col.path = []string{target.Name}
			}
			l.byField[col.path[0]] = append(l.byField[col.path[0]], i)
		}
		l.columns = append(l.columns, col)
	}
	if err := c.checkOptionColumns(l); err != nil {
		return nil, err
	}
	return l, l.checkKey(spec)
}

// checkOptionColumns refuses options that name columns the table does not have.
func (c config) checkOptionColumns(l *layout) error {
	var names []string
	for _, col := range l.columns {
		names = append(names, col.Name)
	}
	wanted := map[string]string{c.documentColumn: "document_column", c.misfitColumn: "misfit_column"}
	for name := range c.fields {
		wanted[name] = "fields"
	}
	for name, option := range wanted {
		if name == "" || slices.Contains(names, name) {
			continue
		}
		err := sqlerr.New(sqlerr.UndefinedColumn, "the option %s names the column %s, which the CDC table does not have", option, name)
		if near := sqlerr.Nearest(name, names); near != "" {
			return err.Hintf("did you mean %s?", near)
		}
		return err.Hintf("its columns are %s", strings.Join(names, ", "))
	}
	return nil
}

// checkKey sees to it that the merge key is the document's _id: it is all that a delete says.
func (l *layout) checkKey(spec extension.TableSpec) error {
	if len(spec.Key) == 1 {
		if col := l.columns[spec.Key[0]]; len(col.path) == 1 && col.path[0] == idField {
			l.key = spec.Key[0]
			switch col.Type.ID {
			case vec.Array, vec.Struct, vec.JSON, vec.Float32, vec.Float64:
				return sqlerr.New(sqlerr.DatatypeMismatch, "the key column %s is %s, which cannot hold an _id", col.Name, typeText(col.Type)).
					Hintf("declare it TEXT, which takes every _id, or the type of the _id: BIGINT, NUMERIC, TIMESTAMPTZ, or with merge_mode = 'write' UUID")
			}
			return nil
		}
	}
	var key []string
	for _, i := range spec.Key {
		key = append(key, spec.Columns[i].Name)
	}
	return sqlerr.New(sqlerr.InvalidTableDefinition, "the merge key (%s) is not the _id of the documents, which is what identifies them in changes", strings.Join(key, ", ")).
		Hintf("create the CDC table with PRIMARY KEY (_id) NOT ENFORCED, or name another column for it in the stream: fields = 'id = _id'")
}

// projection is what has to be read of each document: nil for all of it. prefix stands before every path.
func (l *layout) projection(prefix string) []string {
	if l.document >= 0 {
		return nil
	}
	var paths []string
	for _, col := range l.columns {
		if col.path == nil {
			continue
		}
		// Numbers pick elements of arrays here and fields there: the array is read whole. What a projection would take
		// for something else than a field's name is not projected.
		var steps []string
		for _, s := range col.path {
			if s[0] >= '0' && s[0] <= '9' {
				break
			}
			if s[0] == '$' || strings.Contains(s, ".") {
				return nil
			}
			steps = append(steps, s)
		}
		if len(steps) == 0 {
			return nil
		}
		paths = append(paths, prefix+strings.Join(steps, "."))
	}
	slices.Sort(paths)
	var out []string
	for _, p := range slices.Compact(paths) {
		// A path below one that is there already collides with it.
		if !slices.ContainsFunc(out, func(q string) bool { return strings.HasPrefix(p, q+".") }) {
			out = append(out, p)
		}
	}
	return out
}

func typeText(t vec.Type) string { return strings.ToUpper(t.String()) }

// misfitError is the error of one value that its column cannot take. It is permanent: the value comes again on a retry.
func misfitError(c *column, id value, where string, v value, err error) error {
	var m misfit
	if !errors.As(err, &m) {
		return err
	}
	hint := "declare another type in a new CDC table (TEXT and JSON take every value), or create the stream with on_misfit = 'null'"
	if c.key {
		hint = "declare the key column TEXT in a new CDC table, which takes every _id"
	}
	return extension.Permanent(sqlerr.New(sqlerr.DataException, "a value of column %s (field %s) %s does not fit %s: %s",
		c.Name, strings.Join(c.path, "."), where, typeText(c.Type), string(m)).
		Detailf("the value is %s in the document with _id %s", shown(v), shown(id)).Hintf("%s", hint))
}

// shown prints a value for a message.
func shown(v value) string {
	const most = 80
	if v.missing() {
		return "missing"
	}
	text, err := appendJSON(nil, v, canonical)
	if err != nil {
		text = fmt.Appendf(nil, "%x", v.data[:min(len(v.data), most/2)])
	}
	if len(text) > most {
		text = append(text[:most:most], "..."...)
	}
	return string(text)
}

// nullError is the error of a NULL that its column cannot take.
func nullError(c *column, id value, where string) error {
	if c.key {
		return extension.Permanent(sqlerr.New(sqlerr.NotNullViolation, "the _id of a document is null %s", where).
			Hintf("a merge key column holds no NULL; give the document another _id at the source"))
	}
	return extension.Permanent(sqlerr.New(sqlerr.NotNullViolation, "column %s is NULL in the document with _id %s %s", c.Name, shown(id), where).
		Hintf("declare the column without NOT NULL, in a new CDC table"))
}
