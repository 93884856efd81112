package slt

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/integration/peer"
)

// Runner runs records on one system.
type Runner struct {
	Peer peer.Peer

	threshold int
	sort      string
	labels    map[string]string
	halted    bool
}

// Run runs a record and says what is wrong with the answer.
func (r *Runner) Run(record *Record) error {
	if r.halted || r.skips(record) {
		return nil
	}
	switch record.Kind {
	case HashThreshold:
		r.threshold = record.Threshold
	case Halt:
		r.halted = true
	case Control:
		r.sort = record.Sort
	case StatementOK:
		if _, err := r.Peer.Run(record.SQL); err != nil {
			return fmt.Errorf("fails: %w", err)
		}
	case StatementError:
		_, err := r.Peer.Run(record.SQL)
		return expectError(err, record.Error)
	case Query:
		return r.query(record)
	}
	return nil
}

func (r *Runner) skips(record *Record) bool {
	name := r.Peer.Name()
	return slices.Contains(record.SkipIf, name) || len(record.OnlyIf) > 0 && !slices.Contains(record.OnlyIf, name)
}

func expectError(err error, part string) error {
	switch {
	case err == nil:
		return fmt.Errorf("succeeds and should fail")
	case !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(part)):
		return fmt.Errorf("fails, but not with %q: %w", part, err)
	}
	return nil
}

func (r *Runner) query(record *Record) error {
	answer, err := r.Peer.Run(record.SQL)
	if record.Fails {
		return expectError(err, record.Error)
	}
	if err != nil {
		return fmt.Errorf("fails: %w", err)
	}
	if record.Types != "" && len(record.Types) != len(answer.Kinds) {
		return fmt.Errorf("%d columns, want %d", len(answer.Kinds), len(record.Types))
	}
	cells := r.cells(record, answer)
	sum := hash(cells)
	if record.Label != "" {
		if r.labels == nil {
			r.labels = map[string]string{}
		}
		if before, ok := r.labels[record.Label]; ok && before != sum {
			return fmt.Errorf("another answer than before under the label %s", record.Label)
		}
		r.labels[record.Label] = sum
	}
	if len(record.Values) == 1 && strings.Contains(record.Values[0], " values hashing to ") {
		if got := fmt.Sprintf("%d values hashing to %s", len(cells), sum); got != record.Values[0] {
			return fmt.Errorf("%s, want %s", got, record.Values[0])
		}
		return nil
	}
	return r.compare(record, cells, len(answer.Kinds))
}

// compare compares values that are written one a line or a row a line, with tabs between the values.
func (r *Runner) compare(record *Record, cells []string, width int) error {
	want := record.Values
	if len(want) != len(cells) || width > 1 && strings.Contains(strings.Join(want, ""), "\t") {
		want = nil
		for _, line := range record.Values {
			want = append(want, strings.Split(line, "\t")...)
		}
	}
	if r.sortMode(record) == "valuesort" {
		want = slices.Clone(want)
		slices.Sort(want)
	}
	if len(want) != len(cells) {
		return fmt.Errorf("%d values, want %d:\n%s", len(cells), len(want), lines(cells, width))
	}
	for i := range want {
		if !same(cells[i], want[i]) {
			return fmt.Errorf("value %d is %q, want %q:\n%s", i+1, cells[i], want[i], lines(cells, width))
		}
	}
	return nil
}

// same compares a value with the expected one, which may be rounded.
func same(got, want string) bool {
	if got == want || want == "true" && got == "t" || want == "false" && got == "f" {
		return true
	}
	x, errX := strconv.ParseFloat(got, 64)
	y, errY := strconv.ParseFloat(want, 64)
	if errX != nil || errY != nil {
		return false
	}
	return x == y || x-y < 1e-9*max(x, -x) && y-x < 1e-9*max(x, -x)
}

func (r *Runner) sortMode(record *Record) string {
	if record.Sort == "" {
		return r.sort
	}
	return record.Sort
}

// cells returns the values of an answer in the order they are compared in.
func (r *Runner) cells(record *Record, answer *peer.Answer) []string {
	rows := make([][]string, len(answer.Rows))
	for i, row := range answer.Rows {
		for j, v := range row {
			rows[i] = append(rows[i], cell(record.Types, j, v))
		}
	}
	mode := r.sortMode(record)
	if mode == "rowsort" || mode == "sort" {
		slices.SortFunc(rows, slices.Compare)
	}
	cells := slices.Concat(rows...)
	if mode == "valuesort" {
		slices.Sort(cells)
	}
	return cells
}

// cell prints a value as sqllogictest does for the type of its column.
func cell(types string, column int, v *string) string {
	switch {
	case v == nil:
		return "NULL"
	case *v == "":
		return "(empty)"
	case column < len(types) && types[column] == 'R':
		if f, err := strconv.ParseFloat(*v, 64); err == nil {
			return strconv.FormatFloat(f, 'f', 3, 64)
		}
	case column < len(types) && types[column] == 'I':
		if f, err := strconv.ParseFloat(*v, 64); err == nil && strings.ContainsAny(*v, ".eE") {
			return strconv.FormatInt(int64(f), 10)
		}
	}
	return strings.NewReplacer("\n", "\\n", "\t", "\\t").Replace(*v)
}

func hash(cells []string) string {
	h := md5.New()
	for _, c := range cells {
		h.Write([]byte(c + "\n"))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// lines prints values a row a line.
func lines(cells []string, width int) string {
	var out strings.Builder
	for i, c := range cells {
		out.WriteString(c)
		if (i+1)%width == 0 {
			out.WriteByte('\n')
		} else {
			out.WriteByte('\t')
		}
	}
	return out.String()
}
