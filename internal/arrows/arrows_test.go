// Package arrows checks that imports between the packages of this module point one way.
package arrows

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/tidemarkdb/tidemark"

// mayImport lists, for each package, the packages of this module that its code (not its tests) may import. A package
// stands for everything below it too. It is the picture of docs/architecture.md in a form a machine can check.
var mayImport = map[string][]string{
	"sqlerr":       nil,
	"heapsize":     nil,
	"vec":          {"sqlerr"},
	"objstore":     {"sqlerr"},
	"sql":          {"sqlerr"},
	"extension":    {"sqlerr", "vec"},
	"function":     {"extension", "sqlerr", "vec"},
	"tablet":       {"objstore", "sqlerr", "vec"},
	"maskindex":    {"objstore", "sqlerr", "tablet", "vec"},
	"parquetstore": {"objstore", "sqlerr", "tablet", "vec"},
	"catalog":      {"extension", "objstore", "sqlerr", "tablet", "vec"},
	"pgcatalog":    {"catalog", "extension", "sqlerr", "tablet", "vec"},
	"tablestore":   {"catalog", "maskindex", "objstore", "parquetstore", "sqlerr", "tablet", "vec"},
	"files":        {"extension", "parquetstore", "sqlerr", "tablet", "vec"},
	"metrics":      {"sqlerr"},
	"source":       {"extension", "sqlerr", "vec", "source"},
	"plan":         {"extension", "function", "sql", "sqlerr", "vec"},
	"exec":         {"extension", "function", "plan", "sql", "sqlerr", "vec"},
	"ingest":       {"catalog", "extension", "maskindex", "metrics", "objstore", "parquetstore", "sqlerr", "tablestore", "tablet", "vec"},
	"cascade":      {"catalog", "extension", "maskindex", "metrics", "objstore", "parquetstore", "sqlerr", "tablestore", "tablet", "vec"},
	"engine": {"cascade", "catalog", "exec", "extension", "files", "function", "ingest", "maskindex", "metrics", "objstore",
		"parquetstore", "pgcatalog", "plan", "source", "sql", "sqlerr", "tablestore", "tablet", "vec"},
	"monitor":   {"engine"},
	"flightsql": {"engine", "extension", "metrics", "sql", "sqlerr", "vec"},
}

// anywhere lists packages that may import everything: binaries, and packages made for tests and measurements only.
var anywhere = []string{"cmd", "integration", "internal", "bench", "examples"}

type listed struct {
	ImportPath string
	Imports    []string
}

func TestArrowsPointOneWay(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", module+"/...").Output()
	if err != nil {
		t.Fatalf("listing the packages of the module: %v", err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(out)))
	seen := 0
	for {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		seen++
		checkImports(t, p)
	}
	if seen < 5 {
		t.Fatalf("only %d packages listed: the check looks at nothing", seen)
	}
}

func checkImports(t *testing.T, p listed) {
	room := roomOf(p.ImportPath)
	for _, top := range anywhere {
		if room == top {
			return
		}
	}
	allowed, known := mayImport[room]
	if !known {
		t.Errorf("%s: package %q has no line in mayImport: add one that follows the design", p.ImportPath, room)
		return
	}
	for _, imported := range p.Imports {
		target := roomOf(imported)
		if !strings.HasPrefix(imported, module) || target == room {
			continue
		}
		if !contains(allowed, target) {
			t.Errorf("%s imports %s: the arrow points back", p.ImportPath, imported)
		}
	}
}

// roomOf returns the first element of a package's path inside the module.
func roomOf(path string) string {
	room, _, _ := strings.Cut(strings.TrimPrefix(path, module+"/"), "/")
	return room
}

func contains(list []string, want string) bool {
	for _, s := range list {
		if s == want {
			return true
		}
	}
	return false
}
