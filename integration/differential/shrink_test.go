package differential

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/integration/peer"
	"github.com/tidemarkdb/tidemark/sql"
)

// comparison is of another system with two sessions of ours: one that runs a query on one thread, and one over the same
// rows in a tablet each, whose threads share them out another way each time.
type comparison struct{ ours, scattered, theirs peer.Peer }

// outcome is what a comparison found.
type outcome uint8

const (
	answered  outcome = iota // by both
	refused                  // by one at least
	undecided                // the other system took too long
)

// differs runs a query on both systems and says how the answers differ, "" when they do not.
func (c comparison) differs(query string) (fault string, found outcome) {
	want, wantErr := c.theirs.Run(query)
	if errors.Is(wantErr, peer.ErrTooSlow) {
		return "", undecided
	}
	got, err := c.ours.Run(query)
	switch {
	case err != nil && wantErr != nil:
		return "", refused
	case wantErr != nil && c.theirs.Name() == "duckdb": // which lacks some of what PostgreSQL has
		return "", refused
	case err != nil:
		return "fails: " + firstLine(err), refused
	case wantErr != nil:
		return "answers where " + c.theirs.Name() + " fails: " + firstLine(wantErr), refused
	}
	// Sums of floating point that differ in their last digits may sort either way.
	inexact := slices.Contains(got.Kinds, peer.Float) || slices.Contains(want.Kinds, peer.Float)
	ordered := orders(query) && !inexact
	if fault = got.Compare(want, ordered); fault != "" {
		return fault, answered
	}
	for range 2 {
		again, err := c.scattered.Run(query)
		if err != nil {
			return "scattered: fails: " + firstLine(err), answered
		}
		if fault := again.Compare(got, ordered); fault != "" {
			return "scattered: " + fault, answered
		}
	}
	return "", answered
}

// orders reports whether a query orders its rows by every column.
func orders(query string) bool {
	parsed, err := sql.Parse(query)
	if err != nil || len(parsed) != 1 {
		return false
	}
	keys := reflect.Indirect(reflect.ValueOf(parsed[0])).FieldByName("OrderBy")
	return keys.IsValid() && keys.Len() > 0
}

// shrink makes the query smaller for as long as it differs in the same way.
func (c comparison) shrink(query, fault string) (string, string) {
	for attempts, k := 0, 0; attempts < 600; attempts++ {
		smaller, ok := edited(query, k)
		if !ok {
			break
		}
		k++
		if len(smaller) >= len(query) {
			continue
		}
		if found, _ := c.differs(smaller); found != "" && class(found) == class(fault) {
			query, fault = smaller, found
			k = max(0, k-3)
		}
	}
	return query, fault
}

// class is the part of a fault that must stay the same.
func class(fault string) string {
	for _, start := range []string{"fails: ", "answers where ", "scattered: fails: "} {
		if strings.HasPrefix(fault, start) {
			return start + sqlstate(fault)
		}
	}
	if strings.HasPrefix(fault, "scattered: ") {
		return "scattered"
	}
	return "differs"
}

// edited returns the query with its kth edit: an optional part left out, an element of a list left out, or an
// expression replaced by one within it.
func edited(query string, k int) (text string, ok bool) {
	defer func() {
		if recover() != nil { // the tree without that part cannot be printed
			text, ok = query, true
		}
	}()
	parsed, err := sql.Parse(query)
	if err != nil || len(parsed) != 1 {
		return "", false
	}
	e := &editor{left: k}
	e.visit(reflect.ValueOf(&parsed[0]).Elem())
	if e.left >= 0 {
		return "", false
	}
	return sql.Text(parsed[0]), true
}

// editor does one edit of a tree.
type editor struct{ left int }

// here counts an edit and reports whether it is the one to do.
func (e *editor) here() bool {
	e.left--
	return e.left == -1
}

func (e *editor) visit(v reflect.Value) {
	if e.left < 0 {
		return
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return
		}
		if v.CanSet() && e.here() {
			v.SetZero()
			return
		}
		if v.Kind() == reflect.Interface && v.CanSet() {
			for _, part := range within(v.Elem(), v.Type(), 2) {
				if e.here() {
					v.Set(part)
					return
				}
			}
		}
		e.visit(v.Elem())
	case reflect.Slice:
		if v.CanSet() && v.Len() > 1 && e.here() {
			v.SetZero()
			return
		}
		for i := range v.Len() {
			if v.CanSet() && e.here() {
				v.Set(reflect.AppendSlice(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v.Slice(0, i)), v.Slice(i+1, v.Len())))
				return
			}
		}
		for i := range v.Len() {
			e.visit(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !fixed(v, v.Type().Field(i).Name) {
				e.visit(v.Field(i))
			}
		}
	case reflect.Bool:
		if v.CanSet() && v.Bool() && e.here() {
			v.SetBool(false)
		}
	}
}

// fixed reports whether a field must stay as it is, since without it the answer is not one answer.
func fixed(v reflect.Value, field string) bool {
	switch field {
	case "OrderBy":
		limit, offset := v.FieldByName("Limit"), v.FieldByName("Offset")
		return !limit.IsValid() || !limit.IsNil() || !offset.IsNil()
	case "DistinctOn":
		return true
	}
	return false
}

// within returns the parts of a node that could stand in its place, down to a depth.
func within(v reflect.Value, want reflect.Type, depth int) (out []reflect.Value) {
	if depth < 0 {
		return nil
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return within(v.Elem(), want, depth)
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Field(i)
			if f.Type() == want && !f.IsNil() {
				out = append(out, f)
			}
			out = append(out, within(f, want, depth-1)...)
		}
	case reflect.Slice:
		for i := range v.Len() {
			f := v.Index(i)
			if f.Type() == want && !f.IsNil() {
				out = append(out, f)
			}
			out = append(out, within(f, want, depth)...)
		}
	}
	return out
}

// sqlstate is the part of a message from the last SQLSTATE on.
func sqlstate(message string) string {
	if at := strings.LastIndex(message, "(SQLSTATE "); at >= 0 {
		return message[at:min(len(message), at+16)]
	}
	return ""
}

// firstLine leaves out the stack of an internal error.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
