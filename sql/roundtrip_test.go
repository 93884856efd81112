package sql

import (
	"bufio"
	"os"
	"reflect"
	"testing"
)

// corpus is one statement a line.
func corpus(t testing.TB) []string {
	t.Helper()
	f, err := os.Open("testdata/corpus.sql")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []string
	for s := bufio.NewScanner(f); s.Scan(); {
		out = append(out, s.Text())
	}
	return append(out, tpch...)
}

// difference is the path to the first difference between two trees, positions aside, or "".
func difference(a, b reflect.Value, path string) string {
	if a.Kind() != b.Kind() || a.Type() != b.Type() {
		return path
	}
	switch a.Kind() {
	case reflect.Interface, reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			if a.IsNil() != b.IsNil() {
				return path
			}
			return ""
		}
		return difference(a.Elem(), b.Elem(), path)
	case reflect.Slice:
		if a.Len() != b.Len() {
			return path + ".len"
		}
		for i := range a.Len() {
			if d := difference(a.Index(i), b.Index(i), path+"[]"); d != "" {
				return d
			}
		}
	case reflect.Struct:
		for i := range a.NumField() {
			field := a.Type().Field(i)
			if field.Name == "Pos" {
				continue
			}
			if d := difference(a.Field(i), b.Field(i), path+"."+field.Name); d != "" {
				return d
			}
		}
	default:
		if !a.Equal(b) {
			return path
		}
	}
	return ""
}

// checkRoundTrip fails when the text of a statement does not parse to the same tree.
func checkRoundTrip(t *testing.T, s Statement) {
	t.Helper()
	text := Text(s)
	again, err := ParseOne(text)
	if err != nil {
		t.Fatalf("printed %q: %v", text, err)
	}
	if d := difference(reflect.ValueOf(s), reflect.ValueOf(again), ""); d != "" {
		t.Fatalf("%q: reads back differently at %s: %q", text, d, Text(again))
	}
}

func TestTextReadsBackAsTheSameTree(t *testing.T) {
	for _, text := range corpus(t) {
		t.Run("", func(t *testing.T) {
			s, err := ParseOne(text)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			checkRoundTrip(t, s)
		})
	}
}

// TestWalkReachesEveryNode compares Walk with a search of the trees by reflection.
func TestWalkReachesEveryNode(t *testing.T) {
	for _, text := range corpus(t) {
		s, err := ParseOne(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		walked := map[Node]bool{}
		Walk(s, func(n Node) bool {
			if walked[n] {
				t.Errorf("%s: %T visited twice", text, n)
			}
			walked[n] = true
			return true
		})
		for _, n := range nodesIn(reflect.ValueOf(s)) {
			if !walked[n] {
				t.Errorf("%s: Walk misses %T %s", text, n, Text(n))
			}
		}
	}
}

func nodesIn(v reflect.Value) (nodes []Node) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		switch n := v.Interface().(type) {
		case Expr, TableExpr, Statement:
			if v.Kind() == reflect.Pointer {
				nodes = append(nodes, n.(Node))
			}
		}
		return append(nodes, nodesIn(v.Elem())...)
	case reflect.Slice:
		for i := range v.Len() {
			nodes = append(nodes, nodesIn(v.Index(i))...)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			nodes = append(nodes, nodesIn(v.Field(i))...)
		}
	}
	return nodes
}

func FuzzParse(f *testing.F) {
	for _, text := range corpus(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		statements, err := Parse(text)
		if err != nil {
			return
		}
		for _, s := range statements {
			checkRoundTrip(t, s)
		}
	})
}
