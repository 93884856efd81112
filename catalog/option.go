package catalog

import (
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Option is one option of a stream. Every way of printing it redacts what a secret one holds; only Value has it whole.
type Option struct {
	Value  string `json:"value"`
	Secret bool   `json:"secret,omitempty"` // may hold a password, such as a connection string
}

// Options are a stream's options by name, in lower case.
type Options map[string]Option

// Get returns an option's value, "" when it is not set.
func (o Options) Get(name string) string { return o[name].Value }

// Values returns the plain values by name, for the source that connects; do not print them.
func (o Options) Values() map[string]string {
	m := make(map[string]string, len(o))
	for name, option := range o {
		m[name] = option.Value
	}
	return m
}

// String lists the options in name order, secrets redacted.
func (o Options) String() string {
	parts := make([]string, 0, len(o))
	for _, name := range slices.Sorted(maps.Keys(o)) {
		parts = append(parts, name+" = '"+strings.ReplaceAll(o[name].String(), "'", "''")+"'")
	}
	return strings.Join(parts, ", ")
}

// String returns the value, redacted by [Redact] when it is a secret.
func (o Option) String() string {
	if o.Secret {
		return Redact(o.Value)
	}
	return o.Value
}

// GoString is String, quoted.
func (o Option) GoString() string { return fmt.Sprintf("%q", o.String()) }

// LogValue is String, for structured logs.
func (o Option) LogValue() slog.Value { return slog.StringValue(o.String()) }

const redacted = "***"

var (
	// Greedy up to the last @: a password may hold characters that should have been escaped.
	urlCredentials = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*://)(.*)@`)
	secretParam    = regexp.MustCompile(`(?i)((?:^|[?&;\s])[a-z0-9_.-]*(?:password|passwd|passphrase|pwd|secret|token|api_?key|access_?key|credential)[a-z0-9_.-]*\s*=\s*)('(?:[^'\\]|\\.)*'|[^&;\s]*)`)
	keyValueForm   = regexp.MustCompile(`(?i)^\s*[a-z_]+\s*=`)
)

// Redact replaces the passwords in a connection string, a URL or the key=value form, with asterisks. A string of
// neither form is a secret as a whole and is replaced entirely.
func Redact(connection string) string {
	if connection == "" {
		return ""
	}
	if !urlCredentials.MatchString(connection) && !strings.Contains(connection, "://") && !keyValueForm.MatchString(connection) {
		return redacted
	}
	out := urlCredentials.ReplaceAllStringFunc(connection, func(m string) string {
		parts := urlCredentials.FindStringSubmatch(m)
		user, _, hasPassword := strings.Cut(parts[2], ":")
		if !hasPassword {
			return m
		}
		return parts[1] + user + ":" + redacted + "@"
	})
	return secretParam.ReplaceAllString(out, "${1}"+redacted)
}
