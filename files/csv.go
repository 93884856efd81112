package files

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

func exactParam(name string, t vec.Type) extension.Param {
	return extension.Param{Name: name, Kind: extension.Exact, Type: t}
}

// readCSV registers read_csv.
func readCSV() *extension.TableFunc {
	options := []extension.Param{
		exactParam("header", vec.BoolType), exactParam("delim", vec.TextType), exactParam("sep", vec.TextType),
		exactParam("quote", vec.TextType), exactParam("escape", vec.TextType), exactParam("nullstr", vec.TextType),
		exactParam("skip", vec.Int64Type), exactParam("all_varchar", vec.BoolType), exactParam("auto_detect", vec.BoolType),
		exactParam("sample_size", vec.Int64Type), {Name: "columns", Kind: extension.AnyStruct},
	}
	return &extension.TableFunc{
		Def: extension.Def{Name: "read_csv", Aliases: []string{"read_csv_auto"},
			Description: "Read CSV files, .gz and .zst decompressed. Delimiter, header and types are found by looking at the first rows."},
		Overloads: overloads(options, bindCSV),
	}
}

// csvOptions is what a call says, and what was found out about the rest.
type csvOptions struct {
	dialect
	delimGiven bool
	header     *bool
	null       string
	skip       int
	allText    bool
	sampleRows int
	columns    vec.Schema // given by the call
}

const defaultSample = 20480

func csvOptionsOf(b *extension.TableBind, named map[string]vec.Value) (csvOptions, error) {
	o := csvOptions{dialect: dialect{delim: ',', quote: '"', escape: '"'}, sampleRows: defaultSample}
	var err error
	character := func(name string, into *byte, none bool) bool {
		v, ok := named[name]
		if !ok || v.Null || err != nil {
			return false
		}
		switch {
		case len(v.S) == 1:
			*into = v.S[0]
		case v.S == "" && none:
			*into = 0
		case v.S == `\t`:
			*into = '\t'
		default:
			err = sqlerr.New(sqlerr.InvalidParameterValue, "%s must be one character of ASCII, not %q", name, v.S).Hintf("write '\\t' for a tab")
		}
		return true
	}
	o.delimGiven = character("delim", &o.delim, false) || character("sep", &o.delim, false)
	if character("quote", &o.quote, true) {
		o.escape = o.quote
	}
	character("escape", &o.escape, true)
	if err != nil {
		return o, err
	}
	if v, ok := named["header"]; ok && !v.Null {
		header := v.I != 0
		o.header = &header
	}
	if v, ok := named["nullstr"]; ok && !v.Null {
		o.null = v.S
	}
	o.allText = isTrue(named["all_varchar"])
	if v, ok := named["auto_detect"]; ok && !v.Null && v.I == 0 {
		o.allText, o.delimGiven = true, true
		if o.header == nil {
			o.header = new(bool)
		}
	}
	if o.skip, err = countOption(named, "skip", 0, 0); err != nil {
		return o, err
	}
	if o.sampleRows, err = countOption(named, "sample_size", defaultSample, -1); err != nil {
		return o, err
	}
	o.columns, err = columnsOption(b, named)
	return o, err
}

func isTrue(v vec.Value) bool { return !v.Null && v.Type.ID == vec.Bool && v.I != 0 }

func countOption(named map[string]vec.Value, name string, usual int, least int64) (int, error) {
	v, ok := named[name]
	if !ok || v.Null {
		return usual, nil
	}
	if v.I < least || v.I > 1<<31 {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "%s must not be %d", name, v.I).Hintf("it counts rows from %d", least)
	}
	return int(v.I), nil
}

// columnsOption reads columns => {'name': 'TYPE', ...}.
func columnsOption(b *extension.TableBind, named map[string]vec.Value) (vec.Schema, error) {
	v, ok := named["columns"]
	if !ok || v.Null {
		return nil, nil
	}
	var out vec.Schema
	for i, f := range v.Type.Fields {
		if v.List[i].Null || f.Type.ID != vec.Text {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "the type of column %q must be text", f.Name).
				Hintf("write columns => {'%s': 'INTEGER'}", f.Name)
		}
		t, err := b.ParseType(v.List[i].S)
		if err != nil {
			return nil, err
		}
		if t.Phys() == vec.PhysList || t.Phys() == vec.PhysStruct {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "column %q of a file cannot be %s", f.Name, t).Hintf("read it as JSON or TEXT and cast it")
		}
		out = append(out, vec.Column{Name: f.Name, Type: t, Nullable: true})
	}
	return out, nil
}

// csvSource is a set of CSV files read as one table.
type csvSource struct {
	paths   []string
	options csvOptions
	header  bool
	schema  vec.Schema
}

func bindCSV(b *extension.TableBind, args []vec.Value, named map[string]vec.Value) (extension.TableSource, error) {
	patterns, err := pathsOf(args[0])
	if err != nil {
		return nil, err
	}
	s := &csvSource{}
	if s.options, err = csvOptionsOf(b, named); err != nil {
		return nil, err
	}
	if s.paths, err = expand(b, patterns); err != nil {
		return nil, err
	}
	return s, s.detect()
}

// Schema implements extension.TableSource.
func (s *csvSource) Schema() vec.Schema { return s.schema }

// Rows implements extension.TableSource.
func (s *csvSource) Rows() int64 { return -1 }

// Open implements extension.TableSource.
func (s *csvSource) Open(_ context.Context, ev *extension.Eval, projection []int) (extension.TableReader, error) {
	return &csvReader{source: s, ev: ev, projection: projection}, nil
}

// detect finds out what the call does not say from the first file.
func (s *csvSource) detect() error {
	if !s.options.delimGiven {
		if err := s.detectDelimiter(); err != nil {
			return err
		}
	}
	rows, err := s.sample()
	if err != nil {
		return err
	}
	width := len(s.options.columns)
	for _, r := range rows {
		width = max(width, len(r))
	}
	guesses := guessAll(rows, width, s.options.null)
	s.header = s.hasHeader(rows, guesses)
	if s.header && len(rows) > 0 {
		guesses = guessAll(rows[1:], width, s.options.null)
	}
	if s.schema = s.options.columns; s.schema != nil {
		return nil
	}
	if width == 0 {
		return sqlerr.New(sqlerr.DataCorrupted, "file %q is empty", s.paths[0]).Hintf("name its columns: columns => {'a': 'INTEGER'}")
	}
	for i := range width {
		c := vec.Column{Name: fmt.Sprintf("column%d", i), Type: vec.TextType, Nullable: true}
		if s.header && i < len(rows[0]) && rows[0][i].text != "" {
			c.Name = unusedName(s.schema, strings.TrimSpace(rows[0][i].text))
		}
		if !s.options.allText {
			c.Type = guesses[i].result()
		}
		s.schema = append(s.schema, c)
	}
	return nil
}

// unusedName appends a number to a name that an earlier column has.
func unusedName(s vec.Schema, name string) string {
	try := name
	for n := 1; slices.ContainsFunc(s, func(c vec.Column) bool { return c.Name == try }); n++ {
		try = fmt.Sprintf("%s_%d", name, n)
	}
	return try
}

// sampled is a field kept beyond its record.
type sampled struct {
	text   string
	quoted bool
}

func (o *csvOptions) isNull(text string, quoted bool) bool { return text == o.null && !quoted }

// sample returns the first records of the first file, a header among them.
func (s *csvSource) sample() ([][]sampled, error) {
	in, err := openInput(s.paths[0])
	if err != nil {
		return nil, err
	}
	defer in.Close()
	r := newRecords(in, s.options.dialect)
	for range s.options.skip {
		if _, _, err := r.next(); err != nil {
			return nil, recordError(s.paths[0], err)
		}
	}
	var rows [][]sampled
	for s.options.sampleRows < 0 || len(rows) <= s.options.sampleRows {
		fields, _, err := r.next()
		if err != nil {
			return nil, recordError(s.paths[0], err)
		}
		if fields == nil {
			break
		}
		row := make([]sampled, len(fields))
		for i, f := range fields {
			row[i] = sampled{string(f.text), f.quoted}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func recordError(path string, err error) error {
	return sqlerr.New(sqlerr.DataCorrupted, "file %q: %w", path, err).Hintf("check delim, quote and escape")
}

func guessAll(rows [][]sampled, width int, null string) []guess {
	out := make([]guess, width)
	for i := range out {
		out[i] = newGuess()
	}
	for _, row := range rows {
		for i, f := range row {
			if f.text != null || f.quoted {
				out[i].see(f.text)
			}
		}
	}
	return out
}

// hasHeader decides whether the first record names the columns. It does when without it some column has a narrower
// type. When all are text in any case it does when its fields are distinct, not empty and found in no other record.
func (s *csvSource) hasHeader(rows [][]sampled, all []guess) bool {
	if s.options.header != nil {
		return *s.options.header
	}
	if len(rows) == 0 {
		return false
	}
	rest := guessAll(rows[1:], len(all), s.options.null)
	for i := range rest {
		if rest[i].seen && rest[i].result().ID != vec.Text {
			return all[i].result().ID == vec.Text
		}
	}
	first := map[string]bool{}
	for _, f := range rows[0] {
		if f.text == "" || first[f.text] {
			return false
		}
		first[f.text] = true
	}
	for _, row := range rows[1:] {
		for i, f := range row {
			if i < len(rows[0]) && f.text == rows[0][i].text {
				return false
			}
		}
	}
	return len(rows) > 1
}

// detectDelimiter picks the delimiter that cuts the first records into the most fields, equally many in each.
func (s *csvSource) detectDelimiter() error {
	best, bestWidth := byte(','), 1
	for _, d := range []byte{',', '\t', ';', '|'} {
		try := *s
		try.options.delim, try.options.sampleRows = d, 100
		rows, err := try.sample()
		if err != nil || len(rows) == 0 {
			continue // another delimiter may make sense of the quotes; the reader will report it otherwise
		}
		width := len(rows[0])
		same := !slices.ContainsFunc(rows, func(r []sampled) bool { return len(r) != width })
		if same && width > bestWidth {
			best, bestWidth = d, width
		}
	}
	s.options.delim = best
	return nil
}
