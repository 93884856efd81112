package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// The formats of COPY.
const (
	csvFormat     = "csv"
	jsonFormat    = "json"
	parquetFormat = "parquet"
)

// copyOptions is the WITH clause of COPY.
type copyOptions struct {
	format      string
	header      *bool // nil: found out when reading, on when writing
	delimiter   string
	quote       string
	escape      string
	null        string
	compression string // of Parquet
}

// copyStatement runs COPY FROM and COPY TO of files of the server.
func (s *Session) copyStatement(ctx context.Context, snapshot *catalog.Snapshot, t *sql.Copy) (*Result, error) {
	if t.Path == "" {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "COPY FROM STDIN and TO STDOUT are not supported").
			Hintf("name a file, use bulk ingest of Flight SQL, or read the result of the query").At(t.Pos)
	}
	options, err := copyOptionsOf(t)
	if err != nil {
		return nil, err
	}
	if err := s.engine.allowPath(t.Path); err != nil {
		return nil, sqlerr.From(err).At(t.Pos)
	}
	if t.From {
		return s.copyFrom(ctx, snapshot, t, options)
	}
	return s.copyTo(ctx, t, options)
}

func copyOptionsOf(t *sql.Copy) (copyOptions, error) {
	o := copyOptions{format: formatOf(t.Path), delimiter: ",", quote: `"`, compression: "snappy"}
	for _, given := range t.Options {
		name := strings.ToLower(given.Name.Name)
		value := "true"
		if given.Value != nil {
			var err error
			if value, err = optionText(given); err != nil {
				return o, err
			}
		}
		if err := o.set(name, value); err != nil {
			return o, sqlerr.From(err).At(given.Name.Pos)
		}
	}
	if o.escape == "" {
		o.escape = o.quote
	}
	return o, nil
}

func (o *copyOptions) set(name, value string) error {
	switch name {
	case "format":
		switch f := strings.ToLower(value); f {
		case csvFormat, jsonFormat, parquetFormat:
			o.format = f
		case "ndjson", "jsonl":
			o.format = jsonFormat
		default:
			return sqlerr.New(sqlerr.InvalidParameterValue, "COPY format %q not recognized", value).Hintf("it is csv, json or parquet")
		}
	case "header":
		header, err := boolText(value)
		if err != nil {
			return err
		}
		o.header = &header
	case "delimiter", "delim", "sep":
		o.delimiter = strings.ReplaceAll(value, `\t`, "\t")
		if len(o.delimiter) != 1 {
			return sqlerr.New(sqlerr.InvalidParameterValue, "COPY delimiter must be a single one-byte character").Hintf(`such as ',' or '\t'`)
		}
	case "quote", "escape":
		if len(value) != 1 {
			return sqlerr.New(sqlerr.InvalidParameterValue, "COPY %s must be a single one-byte character", name).Hintf(`the default is '"'`)
		}
		if name == "quote" {
			o.quote = value
		} else {
			o.escape = value
		}
	case "null", "nullstr":
		o.null = value
	case "compression":
		o.compression = strings.ToLower(value)
	case "encoding":
		if !strings.EqualFold(value, "utf8") && !strings.EqualFold(value, "utf-8") {
			return sqlerr.New(sqlerr.FeatureNotSupported, "encoding %q is not supported", value).Hintf("files are UTF-8")
		}
	default:
		err := sqlerr.New(sqlerr.SyntaxError, "option %q not recognized", name)
		if near := sqlerr.Nearest(name, []string{"format", "header", "delimiter", "quote", "escape", "null", "compression"}); near != "" {
			return err.Hintf("did you mean %s?", near)
		}
		return err.Hintf("COPY has format, header, delimiter, quote, escape, null and compression")
	}
	return nil
}

func boolText(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "true", "on", "1", "yes":
		return true, nil
	case "false", "off", "0", "no":
		return false, nil
	}
	return false, sqlerr.New(sqlerr.InvalidParameterValue, "%q is not a boolean", s).Hintf("write true or false")
}

// formatOf returns the format that a path's ending says, CSV when it says none.
func formatOf(path string) string {
	base := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(path), ".gz"), ".zst")
	switch filepath.Ext(base) {
	case ".parquet":
		return parquetFormat
	case ".json", ".jsonl", ".ndjson":
		return jsonFormat
	}
	return csvFormat
}

// copyFrom inserts the rows of a file: an INSERT from the function that reads its format. CSV goes by place, the
// other formats by name.
func (s *Session) copyFrom(ctx context.Context, snapshot *catalog.Snapshot, t *sql.Copy, o copyOptions) (*Result, error) {
	table, err := s.table(snapshot, t.Table)
	if err != nil {
		return nil, err
	}
	insert := &sql.Insert{Table: t.Table, Columns: t.Columns, Pos: t.Pos}
	if len(insert.Columns) == 0 {
		for _, c := range table.Columns {
			insert.Columns = append(insert.Columns, sql.Ident{Name: c.Name})
		}
	}
	read := &sql.FuncCall{Name: sql.Name{{Name: "read_" + o.format, Pos: t.Pos}}, Args: []sql.Arg{{Value: &sql.String{Value: t.Path, Pos: t.Pos}}}, Pos: t.Pos}
	named := func(name string, value sql.Expr) {
		read.Args = append(read.Args, sql.Arg{Name: sql.Ident{Name: name, Pos: t.Pos}, Value: value})
	}
	if o.format != parquetFormat {
		types := &sql.Struct{Pos: t.Pos}
		for _, ident := range insert.Columns {
			c, ok := table.Column(ident.Name)
			if !ok {
				return nil, missingColumn(table, ident)
			}
			types.Fields = append(types.Fields, sql.StructValue{Name: sql.Ident{Name: c.Name}, Value: &sql.String{Value: c.Type.String()}})
		}
		named("columns", types)
	}
	if o.format == csvFormat {
		named("delim", &sql.String{Value: o.delimiter})
		named("quote", &sql.String{Value: o.quote})
		named("escape", &sql.String{Value: o.escape})
		named("nullstr", &sql.String{Value: o.null})
		if o.header != nil {
			named("header", &sql.Bool{Value: *o.header})
		}
	}
	source := &sql.Select{From: []sql.TableExpr{&sql.FuncTable{Calls: []*sql.FuncCall{read}, Pos: t.Pos}}, Pos: t.Pos}
	for _, ident := range insert.Columns {
		item := sql.Expr(&sql.Column{Name: sql.Name{{Name: ident.Name, Pos: ident.Pos}}, Pos: t.Pos})
		if c, ok := table.Column(ident.Name); ok && o.format == parquetFormat && !portable(c.Type).Equal(c.Type) {
			item = &sql.Cast{Operand: item, Type: typeNameOf(c.Type), Pos: t.Pos}
		}
		source.Items = append(source.Items, sql.SelectItem{Expr: item})
	}
	insert.Source = source
	result, err := s.insert(ctx, snapshot, insert, nil)
	if err != nil {
		return nil, err
	}
	result.Tag = fmt.Sprintf("COPY %d", result.RowsAffected)
	return result, nil
}

// copyTo writes the rows of a table or a query to a file, which is there once all of them are.
func (s *Session) copyTo(ctx context.Context, t *sql.Copy, o copyOptions) (*Result, error) {
	query := t.Query
	if query == nil {
		items := []sql.SelectItem{{Expr: &sql.Star{}}}
		if len(t.Columns) > 0 {
			items = nil
			for _, c := range t.Columns {
				items = append(items, sql.SelectItem{Expr: &sql.Column{Name: sql.Name{c}, Pos: c.Pos}})
			}
		}
		query = &sql.Select{Items: items, From: []sql.TableExpr{&sql.Table{Name: t.Table, Pos: t.Table.Position()}}}
	}
	if o.format == jsonFormat { // one object a row
		const row = "row"
		whole := &sql.FuncCall{Name: sql.Name{{Name: "to_json"}}, Args: []sql.Arg{{Value: &sql.Column{Name: sql.Name{{Name: row}}}}}}
		query = &sql.Select{Items: []sql.SelectItem{{Expr: whole}},
			From: []sql.TableExpr{&sql.Derived{Query: query, Alias: sql.TableAlias{Name: sql.Ident{Name: row}}}}}
	}
	rows, schema, release, err := s.start(ctx, query, nil)
	if err != nil {
		return nil, err
	}
	defer release()
	defer rows.Close()
	n, err := writeFile(ctx, t.Path, o, schema, rows.Next)
	if err != nil {
		return nil, sqlerr.From(err).At(t.Pos)
	}
	return &Result{Tag: fmt.Sprintf("COPY %d", n), RowsAffected: n}, nil
}
