package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidemarkdb/tidemark/vec"
)

// printer writes the result of one statement. begin comes first, then batches without selections, then end.
type printer interface {
	begin(schema vec.Schema)
	batch(b *vec.Batch)
	end(tag string) error
}

// newPrinter returns the printer of a format; zone is that of TIMESTAMPTZ values.
func newPrinter(format string, w io.Writer, zone *time.Location) (printer, error) {
	out := bufio.NewWriter(w)
	switch format {
	case "table":
		return &tablePrinter{out: out, zone: zone}, nil
	case "csv":
		return &csvPrinter{out: out, zone: zone}, nil
	case "json":
		return &jsonPrinter{out: out, zone: zone}, nil
	}
	return nil, fmt.Errorf("%w: format %q is not known, it is table, csv or json", errUsage, format)
}

// csvPrinter writes a header line and values in PostgreSQL's text forms, nothing for NULL, as psql --csv does.
type csvPrinter struct {
	out    *bufio.Writer
	zone   *time.Location
	schema vec.Schema
	text   []byte
}

func (p *csvPrinter) begin(schema vec.Schema) {
	p.schema = schema
	for i, c := range schema {
		if i > 0 {
			p.out.WriteByte(',')
		}
		p.field(c.Name)
	}
	if len(schema) > 0 {
		p.out.WriteByte('\n')
	}
}

func (p *csvPrinter) batch(b *vec.Batch) {
	for row := range b.N {
		for i, c := range b.Cols {
			if i > 0 {
				p.out.WriteByte(',')
			}
			if !c.IsNull(row) {
				p.text = vec.AppendTextIn(p.text[:0], c, row, p.zone)
				p.field(string(p.text))
			}
		}
		p.out.WriteByte('\n')
	}
}

func (p *csvPrinter) field(s string) {
	if !strings.ContainsAny(s, ",\"\r\n") && s != `\.` {
		p.out.WriteString(s)
		return
	}
	p.out.WriteByte('"')
	p.out.WriteString(strings.ReplaceAll(s, `"`, `""`))
	p.out.WriteByte('"')
}

func (p *csvPrinter) end(string) error { return p.out.Flush() }

// jsonPrinter writes an array of one object a row.
type jsonPrinter struct {
	out    *bufio.Writer
	zone   *time.Location
	schema vec.Schema
	rows   int
}

func (p *jsonPrinter) begin(schema vec.Schema) { p.schema = schema }

func (p *jsonPrinter) batch(b *vec.Batch) {
	for row := range b.N {
		if p.rows == 0 {
			p.out.WriteString("[")
		} else {
			p.out.WriteString(",\n ")
		}
		p.rows++
		p.out.WriteByte('{')
		for i, c := range b.Cols {
			if i > 0 {
				p.out.WriteByte(',')
			}
			name, _ := json.Marshal(p.schema[i].Name)
			p.out.Write(name)
			p.out.WriteByte(':')
			p.value(c, row)
		}
		p.out.WriteByte('}')
	}
}

func (p *jsonPrinter) value(c *vec.Vector, row int) {
	if c.IsNull(row) {
		p.out.WriteString("null")
		return
	}
	v := c.Value(row)
	text := string(vec.AppendTextIn(nil, c, row, p.zone))
	switch {
	case c.Type.ID == vec.Bool:
		fmt.Fprintf(p.out, "%t", v.I != 0)
	case c.Type.IsFloat() && (math.IsNaN(v.F) || math.IsInf(v.F, 0)):
		fmt.Fprintf(p.out, "%q", text)
	case c.Type.IsNumeric(), c.Type.ID == vec.JSON && json.Valid([]byte(text)):
		p.out.WriteString(text)
	default:
		quoted, _ := json.Marshal(text)
		p.out.Write(quoted)
	}
}

func (p *jsonPrinter) end(string) error {
	switch {
	case len(p.schema) == 0:
	case p.rows == 0:
		p.out.WriteString("[]\n")
	default:
		p.out.WriteString("]\n")
	}
	return p.out.Flush()
}

// maxTableRows bounds what a table holds to find its widths; later rows follow with the widths found.
const maxTableRows = 10_000

// tablePrinter writes aligned columns as psql does, numbers to the right.
type tablePrinter struct {
	out    *bufio.Writer
	zone   *time.Location
	schema vec.Schema
	held   [][]string
	widths []int
	rows   int
}

func (p *tablePrinter) begin(schema vec.Schema) {
	p.schema, p.widths = schema, make([]int, len(schema))
	for i, c := range schema {
		p.widths[i] = utf8.RuneCountInString(c.Name)
	}
}

func (p *tablePrinter) batch(b *vec.Batch) {
	for row := range b.N {
		cells := make([]string, len(b.Cols))
		for i, c := range b.Cols {
			if !c.IsNull(row) {
				cells[i] = strings.ReplaceAll(string(vec.AppendTextIn(nil, c, row, p.zone)), "\n", "\\n")
			}
		}
		p.rows++
		if p.rows > maxTableRows {
			p.header()
			p.line(cells)
			continue
		}
		for i, cell := range cells {
			p.widths[i] = max(p.widths[i], utf8.RuneCountInString(cell))
		}
		p.held = append(p.held, cells)
	}
}

// header writes the names and the rows held so far, once.
func (p *tablePrinter) header() {
	if p.widths == nil || p.held == nil && p.rows > 0 {
		return
	}
	names, rules := make([]string, len(p.schema)), make([]string, len(p.schema))
	for i, c := range p.schema {
		pad := p.widths[i] - utf8.RuneCountInString(c.Name)
		names[i] = strings.Repeat(" ", pad/2) + c.Name + strings.Repeat(" ", pad-pad/2)
		rules[i] = strings.Repeat("-", p.widths[i]+2)
	}
	fmt.Fprintln(p.out, strings.TrimRight(" "+strings.Join(names, " | "), " "))
	fmt.Fprintln(p.out, strings.Join(rules, "+"))
	for _, cells := range p.held {
		p.line(cells)
	}
	p.held = nil
}

func (p *tablePrinter) line(cells []string) {
	var b strings.Builder
	for i, cell := range cells {
		if i > 0 {
			b.WriteString(" |")
		}
		pad := strings.Repeat(" ", max(0, p.widths[i]-utf8.RuneCountInString(cell)))
		if p.schema[i].Type.IsNumeric() {
			b.WriteString(" " + pad + cell)
		} else {
			b.WriteString(" " + cell + pad)
		}
	}
	fmt.Fprintln(p.out, strings.TrimRight(b.String(), " "))
}

func (p *tablePrinter) end(tag string) error {
	switch {
	case len(p.schema) == 0:
		fmt.Fprintln(p.out, tag)
	default:
		p.header()
		noun := "rows"
		if p.rows == 1 {
			noun = "row"
		}
		fmt.Fprintf(p.out, "(%d %s)\n", p.rows, noun)
	}
	return p.out.Flush()
}
