package files

import (
	"context"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/parquetstore"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

func (l *Library) readParquet() *extension.TableFunc {
	bind := func(b *extension.TableBind, args []vec.Value, named map[string]vec.Value) (extension.TableSource, error) {
		patterns, err := pathsOf(args[0])
		if err != nil {
			return nil, err
		}
		paths, err := expand(b, patterns)
		if err != nil {
			return nil, err
		}
		union := named["union_by_name"]
		return l.OpenParquet(b.Ctx, paths, !union.Null && union.I != 0)
	}
	options := []extension.Param{{Name: "union_by_name", Kind: extension.Exact, Type: vec.BoolType}}
	return &extension.TableFunc{
		Def: extension.Def{Name: "read_parquet", Aliases: []string{"parquet_scan"},
			Description: "Read Parquet files. Columns of further files are found by name; union_by_name lets files lack some."},
		Overloads: overloads(options, bind),
	}
}

type binding = func(*extension.TableBind, []vec.Value, map[string]vec.Value) (extension.TableSource, error)

// overloads returns the signatures of a function of one path or a list of them.
func overloads(options []extension.Param, bind binding) []extension.TableOverload {
	var out []extension.TableOverload
	for _, t := range []vec.Type{vec.TextType, vec.ArrayType(vec.TextType)} {
		out = append(out, extension.TableOverload{
			Signature: extension.Signature{Params: []extension.Param{{Name: "path", Kind: extension.Exact, Type: t}}},
			Named:     options, Bind: bind,
		})
	}
	return out
}

// Parquet is a set of Parquet files read as one table: an extension.StoredSource.
type Parquet struct {
	library *Library
	schema  vec.Schema
	files   []parquetFile
	rows    int64

	mu    sync.Mutex
	stats map[int]extension.ColumnStatistics
}

type parquetFile struct {
	*entry
	rows   int64
	places []int // for each column of the schema its place in the file, -1 for none
}

// openers is how many files have their footers read at once.
const openers = 8

// OpenParquet binds files, of which there must be one at least. union allows files without some of the columns; those
// columns are NULL there.
func (l *Library) OpenParquet(ctx context.Context, paths []string, union bool) (*Parquet, error) {
	p := &Parquet{library: l, files: make([]parquetFile, len(paths)), stats: map[int]extension.ColumnStatistics{}}
	schemas := make([]vec.Schema, len(paths))
	g, opening := errgroup.WithContext(ctx)
	g.SetLimit(openers)
	for i, path := range paths {
		g.Go(func() error {
			e, err := l.lookup(path)
			if err != nil {
				return err
			}
			f, err := l.open(opening, e)
			if err != nil {
				return err
			}
			defer f.Close()
			p.files[i] = parquetFile{entry: e, rows: f.Rows()}
			schemas[i] = parquetstore.SchemaOf(f)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	p.schema = slices.Clone(schemas[0])
	if union {
		p.unite(schemas[1:])
	}
	for i := range p.files {
		p.rows += p.files[i].rows
		if err := p.match(i, schemas[i], union); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// unite adds the columns that the first file lacks.
func (p *Parquet) unite(others []vec.Schema) {
	for _, s := range others {
		for _, c := range s {
			if place(p.schema, c.Name) < 0 {
				p.schema = append(p.schema, c)
			}
		}
	}
}

// match finds the columns of file i.
func (p *Parquet) match(i int, schema vec.Schema, union bool) error {
	f := &p.files[i]
	f.places = make([]int, len(p.schema))
	for k := range p.schema {
		c := &p.schema[k]
		at := place(schema, c.Name)
		if i == 0 && !union {
			at = k // names may repeat within a file
		}
		f.places[k] = at
		switch {
		case at < 0 && !union:
			return sqlerr.New(sqlerr.UndefinedColumn, "Parquet file %q has no column %q, which %q has", f.path, c.Name, p.files[0].path).
				Hintf("pass union_by_name => true to read it as NULL")
		case at < 0:
			c.Nullable = true
		case !schema[at].Type.Equal(c.Type):
			return sqlerr.New(sqlerr.DatatypeMismatch, "column %q is %s in Parquet file %q and %s in %q", c.Name, schema[at].Type, f.path,
				c.Type, p.files[0].path).Hintf("read the files one by one and join them with UNION ALL and casts")
		default:
			c.Nullable = c.Nullable || schema[at].Nullable
		}
	}
	return nil
}

func place(s vec.Schema, name string) int {
	if at := slices.IndexFunc(s, func(c vec.Column) bool { return c.Name == name }); at >= 0 {
		return at
	}
	return slices.IndexFunc(s, func(c vec.Column) bool { return strings.EqualFold(c.Name, name) })
}

// Schema implements extension.TableSource.
func (p *Parquet) Schema() vec.Schema { return p.schema }

// Rows implements extension.TableSource.
func (p *Parquet) Rows() int64 { return p.rows }

// Files returns how many files there are.
func (p *Parquet) Files() int { return len(p.files) }

// OpenFile opens file i with, for each column of the schema, its place in that file or -1. The caller closes the file.
func (p *Parquet) OpenFile(ctx context.Context, i int) (f *parquetstore.File, places []int, err error) {
	f, err = p.library.open(ctx, p.files[i].entry)
	return f, p.files[i].places, err
}

// Summary returns what the footer of file i tells of a column of the schema; a file without the column has NULLs.
func (p *Parquet) Summary(ctx context.Context, i, ordinal int) (parquetstore.Summary, error) {
	f := p.files[i]
	if f.places[ordinal] < 0 || f.rows == 0 {
		return parquetstore.Summary{Rows: f.rows, Nulls: f.rows}, nil
	}
	return p.library.summary(ctx, f.entry, f.places[ordinal])
}

// Statistics implements extension.StoredSource.
func (p *Parquet) Statistics() extension.Statistics { return statistics{p} }

type statistics struct{ *Parquet }

// Column implements extension.Statistics. Where a footer cannot be read nothing is known; the scan will say why.
func (s statistics) Column(ordinal int) extension.ColumnStatistics {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.stats[ordinal]; ok {
		return c
	}
	c := s.compute(ordinal)
	s.stats[ordinal] = c
	return c
}

func (s statistics) compute(ordinal int) extension.ColumnStatistics {
	out := extension.ColumnStatistics{HasRange: true}
	var nulls, rows, bytes float64
	ranged := false
	for _, f := range s.files {
		at := f.places[ordinal]
		if f.rows == 0 {
			continue
		}
		rows += float64(f.rows)
		if at < 0 {
			nulls += float64(f.rows)
			continue
		}
		sum, err := s.library.summary(context.Background(), f.entry, at)
		if err != nil {
			return extension.ColumnStatistics{}
		}
		nulls += float64(max(sum.Nulls, 0))
		bytes += sum.Bytes * float64(f.rows)
		out.Distinct = combine(out.Distinct, sum.Distinct, float64(f.rows))
		switch {
		case !sum.HasRange:
			out.HasRange = false
		case !ranged:
			out.Min, out.Max, ranged = sum.Min, sum.Max, true
		default:
			if vec.Compare(sum.Min, out.Min) < 0 {
				out.Min = sum.Min
			}
			if vec.Compare(sum.Max, out.Max) > 0 {
				out.Max = sum.Max
			}
		}
	}
	out.HasRange = out.HasRange && ranged
	if rows > 0 {
		out.NullFraction, out.AverageBytes = nulls/rows, bytes/rows
	}
	return out
}

// combine adds the distinct values of a further file: few of them are likely the ones seen before, many are not.
func combine(have, more, rows float64) float64 {
	if more < rows/2 {
		return max(have, more)
	}
	return have + more
}
