package cdc

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestThePageOfCoverageNamesTestsThatExist reads docs/spec-coverage.md.
func TestThePageOfCoverageNamesTestsThatExist(t *testing.T) {
	const repository = "../.."
	page, err := os.ReadFile(filepath.Join(repository, "docs", "spec-coverage.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([a-z/]+): (Test[A-Za-z0-9]+)`").FindAllStringSubmatch(string(page), -1)
	if len(named) < 80 {
		t.Fatalf("the page names %d tests", len(named))
	}
	sources := map[string]string{}
	for _, n := range named {
		folder, test := n[1], n[2]
		if sources[folder] == "" {
			files, err := filepath.Glob(filepath.Join(repository, folder, "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				content, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				sources[folder] += string(content)
			}
		}
		if !strings.Contains(sources[folder], "func "+test+"(") {
			t.Errorf("the page names %s: %s, which does not exist", folder, test)
		}
	}
}
