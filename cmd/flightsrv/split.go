package main

import "strings"

// splitStatements cuts text at the semicolons outside of quotes and comments. rest is what follows the last one.
func splitStatements(text string) (statements []string, rest string) {
	start := 0
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == ';':
			if s := strings.TrimSpace(text[start:i]); s != "" {
				statements = append(statements, text[start:i])
			}
			i++
			start = i
		case c == '\'' || c == '"':
			i = skipQuoted(text, i)
		case strings.HasPrefix(text[i:], "--"):
			i = skipTo(text, i, "\n")
		case strings.HasPrefix(text[i:], "/*"):
			i = skipComment(text, i)
		case c == '$':
			i = skipDollar(text, i)
		default:
			i++
		}
	}
	return statements, text[start:]
}

// skipQuoted returns the place behind a quoted string or name; doubled quotes and, in E” strings, backslashes escape.
func skipQuoted(text string, i int) int {
	quote := text[i]
	escapes := quote == '\'' && i > 0 && (text[i-1] == 'e' || text[i-1] == 'E')
	for i++; i < len(text); i++ {
		switch {
		case escapes && text[i] == '\\':
			i++
		case text[i] == quote:
			return i + 1 // a doubled quote starts the next quoted part at once
		}
	}
	return len(text)
}

func skipTo(text string, i int, end string) int {
	n := strings.Index(text[i:], end)
	if n < 0 {
		return len(text)
	}
	return i + n + len(end)
}

// skipComment returns the place behind a block comment; they nest.
func skipComment(text string, i int) int {
	depth := 0
	for i < len(text) {
		switch {
		case strings.HasPrefix(text[i:], "/*"):
			depth++
			i += 2
		case strings.HasPrefix(text[i:], "*/"):
			depth--
			i += 2
			if depth == 0 {
				return i
			}
		default:
			i++
		}
	}
	return i
}

// skipDollar returns the place behind a dollar-quoted string, or behind the dollar when it starts none.
func skipDollar(text string, i int) int {
	end := strings.IndexByte(text[i+1:], '$')
	if end < 0 {
		return i + 1
	}
	tag := text[i : i+end+2]
	if strings.IndexFunc(tag[1:len(tag)-1], func(r rune) bool {
		return r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	}) >= 0 || len(tag) > 2 && tag[1] >= '0' && tag[1] <= '9' {
		return i + 1
	}
	return skipTo(text, i+len(tag), tag)
}

// isBlank reports whether text holds nothing but spaces and comments.
func isBlank(text string) bool {
	for i := 0; i < len(text); {
		switch {
		case strings.HasPrefix(text[i:], "--"):
			i = skipTo(text, i, "\n")
		case strings.HasPrefix(text[i:], "/*"):
			i = skipComment(text, i)
		case strings.IndexByte(" \t\r\n\f", text[i]) >= 0:
			i++
		default:
			return false
		}
	}
	return true
}
