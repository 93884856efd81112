package flightsql

import "strings"

// like reports whether s matches a LIKE pattern with backslash as escape; a nil pattern matches all. It takes
// O(len(pattern) * len(s)) at worst: clients send whole SQL texts as patterns.
func like(pattern *string, s string) bool {
	if pattern == nil {
		return true
	}
	p := *pattern
	i, j := 0, 0
	star, mark := -1, 0 // place behind the last %, and of s that it has reached
	for j < len(s) {
		if i < len(p) && p[i] == '%' {
			i++
			star, mark = i, j
			continue
		}
		if width, step := matchOne(p[i:], s[j:]); width > 0 {
			i, j = i+width, j+step
			continue
		}
		if star < 0 {
			return false
		}
		mark++
		i, j = star, mark
	}
	return strings.Trim(p[i:], "%") == ""
}

// matchOne matches one element of a pattern other than % with the start of s and returns what each consumed; 0, 0
// when it does not match.
func matchOne(p, s string) (width, step int) {
	switch {
	case p == "":
		return 0, 0
	case p[0] == '_':
		for i := range s {
			if i > 0 {
				return 1, i
			}
		}
		return 1, len(s)
	case p[0] == '\\' && len(p) > 1:
		if p[1] == s[0] {
			return 2, 1
		}
		return 0, 0
	case p[0] == s[0]:
		return 1, 1
	}
	return 0, 0
}

// quoted returns an identifier in SQL.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// literal returns a string in SQL.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
