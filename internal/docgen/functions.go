package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/files"
	"github.com/tidemarkdb/tidemark/function"
)

// functions renders the page of the functions.
func functions() string {
	r := extension.NewRegistry()
	function.RegisterAll(r)
	files.Register(r, nil)
	sections := map[string][]extension.KindDef{}
	for _, name := range r.FunctionNames() {
		for _, d := range r.Defs(name) {
			if d.Def.Name == name {
				sections[d.Def.Category] = append(sections[d.Def.Category], d)
			}
		}
	}
	categories := make([]string, 0, len(sections))
	for c := range sections {
		categories = append(categories, c)
	}
	slices.Sort(categories)
	var out strings.Builder
	out.WriteString("# Functions\n\nMade from the definitions by `go run ./internal/docgen`; every example is run by a test. " +
		"`information_schema.functions` has the same as rows.\n")
	for _, c := range categories {
		fmt.Fprintf(&out, "\n## %s\n", strings.ToUpper(c[:1])+c[1:])
		list := sections[c]
		slices.SortStableFunc(list, func(a, b extension.KindDef) int { return cmp.Compare(a.Def.Name, b.Def.Name) })
		for _, d := range list {
			entry(&out, r, d)
		}
	}
	return out.String()
}

// entry renders one function.
func entry(out *strings.Builder, r *extension.Registry, d extension.KindDef) {
	fmt.Fprintf(out, "\n### `%s`\n\n%s.", d.Def.Name, strings.TrimSuffix(d.Def.Description, "."))
	if d.Kind != "scalar" {
		fmt.Fprintf(out, " *%s function*", strings.ToUpper(d.Kind[:1])+d.Kind[1:])
	}
	if len(d.Def.Aliases) > 0 {
		fmt.Fprintf(out, " Also `%s`.", strings.Join(d.Def.Aliases, "`, `"))
	}
	out.WriteString("\n\n")
	for _, s := range signatures(r, d) {
		fmt.Fprintf(out, "- `%s`\n", s)
	}
	out.WriteString("\n```sql\n")
	for _, e := range d.Def.Examples {
		fmt.Fprintf(out, "%s  -- %s\n", e.SQL, strings.ReplaceAll(e.Result, "\n", "\\n"))
	}
	out.WriteString("```\n")
}

// signatures prints each overload once.
func signatures(r *extension.Registry, d extension.KindDef) (out []string) {
	add := func(s extension.Signature) {
		if text := d.Def.Name + s.String(); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	switch d.Kind {
	case "scalar":
		for _, o := range r.Scalar(d.Def.Name).Overloads {
			add(o.Signature)
		}
	case "aggregate":
		for _, o := range r.Aggregate(d.Def.Name).Overloads {
			add(o.Signature)
		}
	case "window":
		for _, o := range r.Window(d.Def.Name).Overloads {
			add(o.Signature)
		}
	case "table":
		for _, o := range r.Table(d.Def.Name).Overloads {
			add(o.Signature)
		}
	}
	return out
}
