package slt

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// RecordKind tells records apart.
type RecordKind uint8

// The kinds of record.
const (
	StatementOK RecordKind = iota
	StatementError
	Query
	HashThreshold
	Halt
	Control // control sortmode ...: the sort mode of the queries that name none
)

// Record is one record of a file.
type Record struct {
	Kind      RecordKind
	Line      int // of its first line, from 1
	SQL       string
	Types     string // of a query: I, R or T for each column, "" when not checked
	Sort      string // nosort, rowsort or valuesort; of Control too
	Label     string
	Values    []string // the lines below ----
	Error     string   // part of the error that StatementError or Query expects, "" for any
	Fails     bool     // a query that expects an error
	Threshold int
	SkipIf    []string
	OnlyIf    []string
	valuesAt  [2]int // the lines of Values, as places from 0
}

// Parse reads the records of a file.
func Parse(r io.Reader) ([]Record, error) {
	p := &parser{in: bufio.NewScanner(r)}
	p.in.Buffer(nil, 1<<24)
	var out []Record
	for p.next() {
		record, ok, err := p.record()
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", p.line, err)
		}
		if ok {
			out = append(out, record)
		}
	}
	return out, p.in.Err()
}

type parser struct {
	in   *bufio.Scanner
	line int
	text string
	skip []string
	only []string
}

func (p *parser) next() bool {
	if !p.in.Scan() {
		p.text = ""
		return false
	}
	p.line++
	p.text = strings.TrimRight(p.in.Text(), "\r")
	return true
}

// record reads the record that begins at the current line; ok is false where none does.
func (p *parser) record() (r Record, ok bool, err error) {
	words := strings.Fields(p.text)
	if len(words) == 0 || strings.HasPrefix(words[0], "#") {
		return r, false, nil
	}
	r.Line = p.line
	switch words[0] {
	case "skipif", "onlyif":
		if len(words) < 2 {
			return r, false, fmt.Errorf("%s without a system", words[0])
		}
		if words[0] == "skipif" {
			p.skip = append(p.skip, words[1])
		} else {
			p.only = append(p.only, words[1])
		}
		return r, false, nil
	case "hash-threshold":
		r.Kind = HashThreshold
		if len(words) > 1 {
			r.Threshold, err = strconv.Atoi(words[1])
		}
	case "halt":
		r.Kind = Halt
	case "control":
		if len(words) < 3 || words[1] != "sortmode" {
			return r, false, nil // such as control substitution
		}
		r.Kind, r.Sort = Control, words[2]
	case "statement":
		err = p.statement(&r, words)
	case "query":
		err = p.query(&r, words)
	case "require", "mode", "load", "endloop", "concurrentloop", "loop", "foreach":
		return r, false, nil
	default:
		return r, false, fmt.Errorf("%q begins no record", words[0])
	}
	r.SkipIf, r.OnlyIf = p.skip, p.only
	p.skip, p.only = nil, nil
	return r, true, err
}

func (p *parser) statement(r *Record, words []string) error {
	if len(words) < 2 || words[1] != "ok" && words[1] != "error" && words[1] != "count" && words[1] != "maybe" {
		return fmt.Errorf("a statement is ok or error")
	}
	if words[1] == "error" {
		r.Kind, r.Error = StatementError, strings.Join(words[2:], " ")
	}
	r.SQL = p.sql()
	if p.text == "----" {
		p.values(r)
		if r.Error == "" {
			r.Error = strings.Join(r.Values, "\n")
		}
	}
	return nil
}

func (p *parser) query(r *Record, words []string) error {
	r.Kind = Query
	words = words[1:]
	if len(words) > 0 && words[0] == "error" {
		r.Fails, r.Error = true, strings.Join(words[1:], " ")
		words = nil
	}
	if len(words) > 0 && strings.Trim(words[0], "IRTDB?") == "" {
		r.Types, words = words[0], words[1:]
	}
	if len(words) > 0 && (words[0] == "nosort" || words[0] == "rowsort" || words[0] == "valuesort" || words[0] == "sort") {
		r.Sort, words = words[0], words[1:]
	}
	if len(words) > 0 {
		r.Label = words[0]
	}
	r.SQL = p.sql()
	r.valuesAt = [2]int{p.line, p.line}
	if p.text == "----" {
		p.values(r)
	}
	return nil
}

// sql reads lines up to ---- or an empty line.
func (p *parser) sql() string {
	var lines []string
	for p.next() && p.text != "" && p.text != "----" {
		lines = append(lines, p.text)
	}
	return strings.Join(lines, "\n")
}

// values reads the lines up to an empty one.
func (p *parser) values(r *Record) {
	from := p.line
	for p.next() && p.text != "" {
		r.Values = append(r.Values, p.text)
	}
	r.valuesAt = [2]int{from, from + len(r.Values)}
}
