package function

import (
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

// TestAggregates runs the aggregates of testdata/aggregate.txt, whose results are those of PostgreSQL 15. A line is
// "name(type, ...) | value value ...; ... => result", a row between semicolons.
//
// Each is run over all rows at once, over two groups that both get every row, and as two partial states merged.
func TestAggregates(t *testing.T) {
	data, err := os.ReadFile("testdata/aggregate.txt")
	if err != nil {
		t.Fatal(err)
	}
	r := extension.NewRegistry()
	RegisterAll(r)
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		text, want, _ := strings.Cut(line, " => ")
		call, rows, _ := strings.Cut(text, " | ")
		for _, way := range []string{"whole", "grouped", "merged"} {
			if got := runAggregate(t, r, call, rows, way); got != want && !(way == "merged" && nearly(got, want)) {
				t.Errorf("line %d, %s: %s\n got %s\nwant %s", i+1, way, text, got, want)
			}
		}
	}
}

// nearly reports floats that differ in the last digit: merging sums in another order.
func nearly(got, want string) bool {
	a, err1 := strconv.ParseFloat(got, 64)
	b, err2 := strconv.ParseFloat(want, 64)
	return err1 == nil && err2 == nil && math.Abs(a-b) <= 1e-15*math.Abs(b)
}

func runAggregate(t *testing.T, r *extension.Registry, call, rows, way string) string {
	t.Helper()
	name, list, _ := strings.Cut(strings.TrimSuffix(call, ")"), "(")
	var args []extension.Argument
	for _, n := range strings.Split(list, ", ") {
		if n == "" {
			continue
		}
		if n == "numeric2" {
			args = append(args, extension.Argument{Type: vec.DecimalType(12, 2)})
			continue
		}
		known, err := typeNamed(n, "1")
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, extension.Argument{Type: known})
	}
	b, err := r.ResolveAggregate(name, args)
	if err != nil {
		return err.Error()
	}
	cols, n := aggregateInput(t, b, args, rows)
	ev := &extension.Eval{Zone: time.UTC}
	acc := b.New(ev)
	acc.Grow(1)
	fold := func(err error) {
		if err != nil {
			t.Fatal(call, err)
		}
	}
	at := 0
	switch way {
	case "whole":
		fold(acc.Update(nil, cols, n))
	case "grouped":
		acc.Grow(3)
		groups := make([]uint32, n)
		for i := range groups {
			groups[i] = 2
		}
		fold(acc.Update(groups, cols, n))
		at = 2
	case "merged":
		for from, to := 0, n/2; ; from, to = to, n {
			part := b.New(ev)
			part.Grow(1)
			sliced := make([]*vec.Vector, len(cols))
			for k, c := range cols {
				sliced[k] = c.Slice(from, to-from)
			}
			fold(part.Update(nil, sliced, to-from))
			state, err := part.SaveState(0, 1)
			fold(err)
			for k, s := range state {
				if !s.Type.Equal(b.State[k]) {
					t.Fatalf("%s: state %d has type %s, bound to %s", call, k, s.Type, b.State[k])
				}
			}
			fold(acc.MergeState(nil, state, 1))
			if to == n {
				break
			}
		}
	}
	out, err := acc.Result(at, 1)
	fold(err)
	if !out.Type.Equal(b.Result) {
		t.Fatalf("%s: result of type %s, bound to %s", call, out.Type, b.Result)
	}
	if acc.MemoryBytes() <= 0 {
		t.Errorf("%s holds no memory", call)
	}
	return vec.Format(out.Value(0))
}

// aggregateInput makes the columns, without the rows a driver drops for their NULLs.
func aggregateInput(t *testing.T, b extension.BoundAggregate, args []extension.Argument, rows string) ([]*vec.Vector, int) {
	builders := make([]*vec.Builder, len(args))
	for k := range args {
		builders[k] = vec.NewBuilder(b.Args[k], 4)
	}
	n := 0
	for _, row := range strings.Split(rows, ";") {
		if row = strings.TrimSpace(row); row == "" || strings.Contains(row, "NULL") && !b.Func.KeepsNulls {
			continue
		}
		for k, word := range strings.Fields(row) {
			if len(args) == 0 {
				break // count(*)
			}
			if word == "NULL" {
				builders[k].AppendNull()
				continue
			}
			v, err := vec.Parse(b.Args[k], strings.ReplaceAll(word, "_", " "), nil)
			if err != nil {
				t.Fatal(err)
			}
			builders[k].Append(v)
		}
		n++
	}
	cols := make([]*vec.Vector, len(args))
	for k, b := range builders {
		cols[k] = b.Finish()
	}
	return cols, n
}
