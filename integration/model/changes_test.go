package model

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// sighting is the table as it was seen at a version of the root.
type sighting struct {
	version string
	rows    []string
}

// follow asks what changed since the last look and applies it to what was seen then: that must give the rows seen now.
// It reports whether its statements ran.
func (l *life) follow(read func(string) ([]string, bool), rows []string) bool {
	at, ok := read("SELECT version FROM information_schema.snapshot")
	if !ok {
		return false
	}
	now := sighting{at[0], rows}
	defer func() { l.sighted = now }()
	before := l.sighted
	switch {
	case before.version == "" || number64(before.version) > number64(now.version): // an engine that trails
		return true
	case before.version == now.version:
		if !slices.Equal(before.rows, rows) {
			l.failf("version %s had %d rows and has %d or others", now.version, len(before.rows), len(rows))
		}
		return true
	}
	changes, ok := read(fmt.Sprintf("SELECT _commit_version, _change_type, * EXCLUDE (_change_type, _commit_version, _commit_timestamp) FROM table_changes('%s', %s, %s)",
		l.table, before.version, now.version))
	if !ok {
		return false
	}
	held := map[string]bool{}
	for _, r := range before.rows {
		held[r] = true
	}
	for _, c := range ordered(changes) {
		if held[c.row] == c.adds {
			l.failf("changes after version %s up to %s: %q is no change of a table that was\n%s\nall changes:\n%s", before.version, now.version,
				c.text, strings.Join(before.rows, "\n"), strings.Join(changes, "\n"))
		}
		if c.adds {
			held[c.row] = true
		} else {
			delete(held, c.row)
		}
	}
	var got []string
	for r := range held {
		got = append(got, r)
	}
	if slices.Sort(got); !slices.Equal(got, rows) {
		l.failf("the changes after version %s up to %s lead to %d rows, the table holds %d: extra %s missing %s", before.version, now.version,
			len(got), len(rows), difference(got, rows), difference(rows, got))
	}
	return true
}

// change is one row of table_changes.
type change struct {
	text, row string
	version   int64
	adds      bool
}

// ordered returns changes by version, what goes before what comes.
func ordered(lines []string) []change {
	var out []change
	for _, line := range lines {
		cells := strings.SplitN(line, "|", 3)
		out = append(out, change{line, cells[2], number64(cells[0]), cells[1] == "insert" || cells[1] == "update_postimage"})
	}
	slices.SortStableFunc(out, func(a, b change) int {
		if a.version != b.version {
			return cmp.Compare(a.version, b.version)
		}
		return cmp.Compare(strconv.FormatBool(a.adds), strconv.FormatBool(b.adds))
	})
	return out
}

func number64(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}
