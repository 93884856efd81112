package files_test

import (
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// open returns a session that may read folder.
func open(t *testing.T, folder string) *engine.Session {
	t.Helper()
	e, err := engine.Open(t.Context(), engine.Options{Root: t.TempDir(), AllowPaths: []string{folder}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	s, err := e.NewSession(engine.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// query returns the types and rows of a query, columns apart by | and rows by a line break.
func query(ctx context.Context, s *engine.Session, text string) (string, error) {
	r, err := s.Query(ctx, text)
	if err != nil {
		return "", err
	}
	defer r.Close()
	var head []string
	for _, c := range r.Schema {
		head = append(head, c.Name+" "+c.Type.String())
	}
	lines := []string{strings.Join(head, "|")}
	for {
		b, err := r.Next(ctx)
		if err != nil {
			return "", err
		}
		if b == nil {
			return strings.Join(lines, "\n"), nil
		}
		for i := range b.N {
			var row []string
			for _, c := range b.Cols {
				row = append(row, vec.Format(c.Value(i)))
			}
			lines = append(lines, strings.Join(row, "|"))
		}
	}
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// readCases read the file f, which holds content. An answer that begins with a ! is a part of an error's message.
var readCases = []struct{ name, f, content, from, want string }{
	{"types of CSV", "f.csv", "id,name,price,day,at,ok\n1,ann,1.5,2024-01-02,2024-01-02 03:04:05,true\n2,,,,,\n",
		"read_csv('F')", "id bigint|name text|price double precision|day date|at timestamp without time zone|ok boolean\n" +
			"1|ann|1.5|2024-01-02|2024-01-02 03:04:05|t\n2|NULL|NULL|NULL|NULL|NULL"},
	{"by suffix", "f.csv", "a,b\n1,2\n", "'F'", "a bigint|b bigint\n1|2"},
	{"no header", "f.csv", "1;x\n2;y\n", "read_csv('F')", "column0 bigint|column1 text\n1|x\n2|y"},
	{"all text with a header", "f.tsv", "from\tto\nhere\tthere\n", "'F'", "from text|to text\nhere|there"},
	{"all text without one", "f.csv", "a,b\na,c\n", "read_csv('F')", "column0 text|column1 text\na|b\na|c"},
	{"header said", "f.csv", "a,b\nc,d\n", "read_csv('F', header = false)", "column0 text|column1 text\na|b\nc|d"},
	{"quotes", "f.csv", "a,b\n\"x, \"\"y\"\"\nz\",1\n\"\",2\n,3\n5\" pipe,4\n", "read_csv('F')", "a text|b bigint\nx, \"y\"\nz|1\n|2\nNULL|3\n5\" pipe|4"},
	{"escapes", "f.csv", "a|b\n'it\\'s'|1\n", `read_csv('F', delim => '|', quote => '''', escape => '\')`, "a text|b bigint\nit's|1"},
	{"line ends", "f.csv", "a,b\r\n1,2\r\n\r\n3,4", "read_csv('F')", "a bigint|b bigint\n1|2\n3|4"},
	{"codes are no numbers", "f.csv", "zip\n01234\n10000\n", "read_csv('F')", "zip text\n01234\n10000"},
	{"columns given", "f.csv", "1,2.50\n3,4\n", "read_csv('F', columns => {'k': 'INTEGER', 'v': 'NUMERIC(6, 2)'})", "k integer|v numeric(6,2)\n1|2.50\n3|4.00"},
	{"NULL given", "f.csv", "a\n1\n-\n", "read_csv('F', nullstr => '-')", "a bigint\n1\nNULL"},
	{"all varchar", "f.csv", "a,b\n1,2\n", "read_csv('F', all_varchar => true, header => true)", "a text|b text\n1|2"},
	{"skip", "f.csv", "made by us\na,b\n1,2\n", "read_csv('F', skip => 1)", "a bigint|b bigint\n1|2"},
	{"same names", "f.csv", "a,a\n1,2\n", "read_csv('F')", "a bigint|a_1 bigint\n1|2"},
	{"short records", "f.csv", "a,b\n1,2\n3\n", "read_csv('F', delim => ',')", "a bigint|b bigint\n1|2\n3|NULL"},
	{"long record", "f.csv", "a,b\n1,2\n3,4,5\n", "read_csv('F', delim => ',', sample_size => 1)", "!line 3: 3 fields where there are 2 columns"},
	{"misfit", "f.csv", "a\n1\nx\n", "read_csv('F', sample_size => 1)", `!f.csv", line 3, column "a": invalid input syntax for type bigint: "x"`},
	{"open quote", "f.csv", "a,b\n1,\"2\n3,4\n", "read_csv('F')", "!line 2: a quote is opened and never closed"},
	{"empty", "f.csv", "", "read_csv('F')", "!is empty"},
	{"bad option", "f.csv", "a\n1\n", "read_csv('F', delim => 'ab')", "!delim must be one character"},
	{"unknown option", "f.csv", "a\n1\n", "read_csv('F', hedaer => true)", "!no argument named \"hedaer\""},

	{"NDJSON", "f.ndjson", "{\"id\": 1, \"s\": \"x\\ny\", \"d\": \"2024-01-02\", \"f\": 1.5, \"b\": true, \"o\": {\"k\": [1]}}\n{\"id\": 2, \"late\": null}\n", "'F'",
		"id bigint|s text|d date|f double precision|b boolean|o json|late json\n1|x\ny|2024-01-02|1.5|t|{\"k\": [1]}|NULL\n2|NULL|NULL|NULL|NULL|NULL|NULL"},
	{"array", "f.json", " [ {\"a\": 1}, {\"a\": 2.5} ]", "'F'", "a double precision\n1\n2.5"},
	{"digits in strings stay text", "f.json", `{"a": "1"}`, "'F'", "a text\n1"},
	{"mixed members", "f.json", `{"a": "1"}{"a": 2}`, "'F'", "a json\n\"1\"\n2"},
	{"JSON columns given", "f.json", `{"a": "1", "b": 2}`, "read_json('F', columns => {'a': 'INTEGER'})", "a integer\n1"},
	{"first of equal members", "f.json", `{"a": 1, "a": 2}`, "'F'", "a bigint\n1"},
	{"cut off", "f.json", `[{"a": 1}, {"a": `, "'F'", "!object 2 near byte"},
	{"no object", "f.json", `[1, 2]`, "'F'", "!element 1 is no object"},
	{"late misfit", "f.json", `{"a": 1}{"a": "x"}`, "read_json('F', sample_size => 1)", `!object 2, member "a": invalid input syntax`},
}

func TestReadText(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder)
	for _, c := range readCases {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(folder, strings.ReplaceAll(c.name, " ", "-"), c.f)
			write(t, file, c.content)
			got, err := query(t.Context(), s, "SELECT * FROM "+strings.ReplaceAll(c.from, "F", file))
			if message, isError := strings.CutPrefix(c.want, "!"); isError {
				if err == nil || !strings.Contains(err.Error(), message) {
					t.Fatalf("got %v, want an error with %q", err, message)
				}
				if sqlerr.From(err).Hint == "" {
					t.Errorf("no hint: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestLongCSV crosses the reader's buffer with quoted line breaks everywhere.
func TestLongCSV(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder)
	var b strings.Builder
	b.WriteString("n,text\n")
	const rows = 50000
	for i := range rows {
		fmt.Fprintf(&b, "%d,\"line %d\n\"\"%s\"\"\"\n", i, i, strings.Repeat("x", i%90))
	}
	file := filepath.Join(folder, "long.csv.gz")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	z.Write([]byte(b.String()))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	f.Close()
	got, err := query(t.Context(), s, fmt.Sprintf(`SELECT count(*), sum(n), sum(length(text)), count(DISTINCT text) FROM '%s' WHERE text LIKE 'line%%"'`, file))
	length := 0
	for i := range rows {
		length += len(fmt.Sprintf("line %d\n\"\"", i)) + i%90
	}
	if want := fmt.Sprintf("%d|%d|%d|%d", rows, rows*(rows-1)/2, length, rows); err != nil || !strings.HasSuffix(got, "\n"+want) {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

func TestPaths(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder)
	write(t, filepath.Join(folder, "a", "1.csv"), "n\n1\n")
	write(t, filepath.Join(folder, "a", "2.csv"), "n\n2\n")
	write(t, filepath.Join(folder, "a", "b", "3.csv"), "n\n3\n")
	for pattern, want := range map[string]string{
		"read_csv('F/a/*.csv')":                   "1|2",
		"read_csv('F/**/*.csv')":                  "1|2|3",
		"read_csv('F/a/[13].csv')":                "1",
		"read_csv(ARRAY['F/a/2.csv', 'F/a/b/*'])": "2|3",
		"read_csv(['F/a/2.csv', 'F/a/1.csv'])":    "2|1",
	} {
		got, err := query(t.Context(), s, "SELECT n FROM "+strings.ReplaceAll(pattern, "F", folder))
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
			continue
		}
		if _, rows, _ := strings.Cut(got, "\n"); strings.ReplaceAll(rows, "\n", "|") != want {
			t.Errorf("%s: %q, want %q", pattern, rows, want)
		}
	}
	outside := filepath.Join(t.TempDir(), "x.csv")
	write(t, outside, "n\n1\n")
	link := filepath.Join(folder, "link.csv")
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{outside, link, filepath.Dir(outside) + "/*.csv", folder + "/lin*.csv", folder + "/../*/x.csv"} {
		_, err := query(t.Context(), s, "SELECT * FROM read_csv('"+path+"')")
		if err == nil || sqlerr.From(err).Code != sqlerr.InsufficientPrivilege {
			t.Errorf("%s: %v, want it refused", path, err)
		}
	}
	for _, path := range []string{folder + "/none.csv", folder + "/none*.csv"} {
		_, err := query(t.Context(), s, "SELECT * FROM read_csv('"+path+"')")
		if err == nil || sqlerr.From(err).Code != sqlerr.UndefinedFile {
			t.Errorf("%s: %v, want no such file", path, err)
		}
	}
}
