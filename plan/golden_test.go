package plan

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the expected plans in testdata")

// goldenCase is one query of a golden file and what follows it.
type goldenCase struct{ query, want string }

// readGolden reads cases separated by lines of "====": SQL, a line "----", the expected text.
func readGolden(t testing.TB, path string) []goldenCase {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []goldenCase
	for _, part := range strings.Split(string(text), "====\n") {
		query, want, _ := strings.Cut(part, "----\n")
		if query = strings.TrimSpace(query); query != "" {
			out = append(out, goldenCase{query: query, want: strings.TrimRight(want, "\n")})
		}
	}
	return out
}

func checkGolden(t *testing.T, path string, run func(*testing.T, string) string) {
	t.Helper()
	cases := readGolden(t, path)
	var rewritten []string
	for _, c := range cases {
		name, _, _ := strings.Cut(strings.TrimPrefix(c.query, "-- "), "\n")
		t.Run(name, func(t *testing.T) {
			got := c.want
			defer func() { rewritten = append(rewritten, c.query+"\n----\n"+got+"\n") }()
			got = strings.TrimRight(run(t, c.query), "\n")
			if !*update && got != c.want {
				t.Errorf("%s\n--- got\n%s\n--- want\n%s", c.query, got, c.want)
			}
		})
	}
	if *update {
		if err := os.WriteFile(path, []byte(strings.Join(rewritten, "====\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func explainText(t *testing.T, n Node) string {
	t.Helper()
	text, err := Explain(n, ExplainOptions{NoEstimates: true})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestBoundPlans checks plans as they are bound, before any rule.
func TestBoundPlans(t *testing.T) {
	c := newTestCatalog()
	files, _ := filepath.Glob("testdata/bind/*.txt")
	if len(files) == 0 {
		t.Fatal("no golden files")
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			checkGolden(t, path, func(t *testing.T, query string) string {
				return explainText(t, bindText(t, c, query).Plan)
			})
		})
	}
}

// TestOptimizedPlans checks plans after all rules, and that none leaves what the executor does not know.
func TestOptimizedPlans(t *testing.T) {
	c := newTestCatalog()
	files, _ := filepath.Glob("testdata/optimize/*.txt")
	if len(files) == 0 {
		t.Fatal("no golden files")
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			checkGolden(t, path, func(t *testing.T, query string) string {
				q := bindText(t, c, query)
				out, err := Optimize(q)
				if err != nil {
					t.Fatal(err)
				}
				if err := Verify(out.Plan); err != nil {
					t.Error(err)
				}
				sameSchema(t, q, out)
				return explainText(t, out.Plan)
			})
		})
	}
}

func sameSchema(t *testing.T, before, after *Query) {
	t.Helper()
	a, b := before.Plan.Cols(), after.Plan.Cols()
	if len(a) != len(b) {
		t.Fatalf("%d columns became %d", len(a), len(b))
	}
	for i := range a {
		if !a[i].Type.Equal(b[i].Type) || a[i].Name != b[i].Name {
			t.Errorf("column %d was %s %s and became %s %s", i, a[i].Name, a[i].Type, b[i].Name, b[i].Type)
		}
	}
}
