package engine

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidemarkdb/tidemark/ingest"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// Scope says whom a setting belongs to.
type Scope uint8

// The scopes. An engine setting changed by any session holds for the whole process; a session's for itself.
const (
	SessionScope Scope = iota
	EngineScope
)

// setting describes one setting.
type setting struct {
	scope       Scope
	initial     string
	description string
	// normal returns the value as it is kept and shown, or an error that says what is allowed.
	normal func(string) (string, error)
}

// The settings the engine reads itself.
const (
	settingSearchPath   = "search_path"
	settingTimeZone     = "timezone"
	settingMemoryLimit  = "execution.memory_limit"
	settingThreads      = "execution.threads"
	settingMaxReadMS    = "execution.cdc.append_max_read_ms"
	settingMaxRows      = "execution.cdc.append_max_rows"
	settingMaxThreads   = "execution.cdc.append_max_threads"
	settingRetryMin     = "execution.cdc.retry_budget_min_failures"
	settingRetryWindow  = "execution.cdc.retry_budget_min_window"
	settingVacuumBudget = "execution.cdc.vacuum_budget_ms"
	settingHandover     = "execution.cdc.handover_timeout"
	settingUpkeepDelay  = "execution.maintenance_delay"
)

var settings = map[string]setting{
	settingSearchPath: {SessionScope, "public", "schemas in which unqualified names are looked up, in order", anyText},
	settingTimeZone:   {SessionScope, "UTC", "time zone of TIMESTAMPTZ in text", zoneName},
	settingMemoryLimit: {SessionScope, "4GB", "memory one query may hold before it spills or fails",
		byteSize},
	settingThreads: {SessionScope, "0", "cores one query uses; 0: all", nonNegative},
	settingMaxReadMS: {EngineScope, strconv.FormatInt(ingest.DefaultMaxRead.Milliseconds(), 10),
		"milliseconds one append reads from its stream", positive},
	settingMaxRows: {EngineScope, strconv.Itoa(ingest.DefaultMaxRows), "change events after which an append stops reading early",
		positive},
	settingMaxThreads: {EngineScope, "0", "cores an append decodes and writes with; 0: as many as a query", nonNegative},
	settingRetryMin: {EngineScope, strconv.Itoa(ingest.DefaultRetryMinFailures),
		"attempts over which a failure must persist before it ends an attachment", positive},
	settingRetryWindow: {EngineScope, ingest.DefaultRetryMinWindow.String(),
		"time over which a failure must persist before it ends an attachment", duration},
	settingHandover: {EngineScope, "10s",
		"how long RESUME waits for a sign of life of the engine that ingests before it takes the worker by force", duration},
	settingUpkeepDelay: {EngineScope, "2s",
		"how long after a change of a managed table its tablets are vacuumed and merged in the background", duration},
	settingVacuumBudget: {EngineScope, "10000", "milliseconds one cascade may spend on vacuum and merging after adoption", nonNegative},

	// What clients set as a matter of course; kept and shown.
	"application_name":            {SessionScope, "", "name of the client, for operators", anyText},
	"client_encoding":             {SessionScope, "UTF8", "encoding of text: UTF8 only", oneOf("UTF8", "UTF-8", "UNICODE")},
	"datestyle":                   {SessionScope, "ISO, MDY", "output of dates: ISO only", anyText},
	"intervalstyle":               {SessionScope, "postgres", "output of intervals: postgres only", oneOf("postgres")},
	"extra_float_digits":          {SessionScope, "1", "floats are always shown so that they read back the same", anyText},
	"standard_conforming_strings": {SessionScope, "on", "backslashes in plain string literals are ordinary: on only", oneOf("on")},
	"default_transaction_isolation": {SessionScope, "repeatable read", "transactions read one snapshot whatever is asked for",
		anyText},
	"statement_timeout": {SessionScope, "0", "milliseconds after which a statement is cancelled; 0: never", nonNegative},
}

// lookupSetting returns the description of a setting; the error of an unknown name suggests the nearest.
func lookupSetting(name string) (setting, error) {
	s, ok := settings[name]
	if ok {
		return s, nil
	}
	err := sqlerr.New(sqlerr.UndefinedObject, "unrecognized configuration parameter %q", name)
	if near := sqlerr.Nearest(name, slices.Sorted(maps.Keys(settings))); near != "" {
		return s, err.Hintf("did you mean %q?", near)
	}
	return s, err.Hintf("SHOW ALL lists the settings there are")
}

// values holds settings of one scope that differ from their initial values. Any goroutine may use it.
type values struct {
	mu  sync.RWMutex
	set map[string]string
}

func (v *values) get(name string) string {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if value, ok := v.set[name]; ok {
		return value
	}
	return settings[name].initial
}

func (v *values) put(name, value string) error {
	s, err := lookupSetting(name)
	if err != nil {
		return err
	}
	value, err = s.normal(value)
	if err != nil {
		return sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for parameter %q: %w", name, err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.set == nil {
		v.set = map[string]string{}
	}
	v.set[name] = value
	return nil
}

func (v *values) reset(name string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.set, name)
}

func (v *values) integer(name string) int64 {
	n, _ := strconv.ParseInt(v.get(name), 10, 64) // kept normal, so it parses
	return n
}

// queryThreads is how many cores a query gets when its session asks for n.
func queryThreads(n int64) int {
	if n <= 0 {
		return runtime.GOMAXPROCS(0)
	}
	return int(n)
}

// pacing returns how appends are cut now.
func (e *Engine) pacing() ingest.Pacing {
	return ingest.Pacing{
		MaxRead:     time.Duration(e.settings.integer(settingMaxReadMS)) * time.Millisecond,
		MaxRows:     int(e.settings.integer(settingMaxRows)),
		Threads:     queryThreads(e.settings.integer(settingMaxThreads)),
		MemoryBytes: ingest.DefaultMemoryBytes,
	}
}

// retryBudget returns a fresh budget with the limits in force.
func (e *Engine) retryBudget() ingest.Budget {
	window, _ := time.ParseDuration(e.settings.get(settingRetryWindow))
	return ingest.Budget{MinFailures: int(e.settings.integer(settingRetryMin)), MinWindow: window}
}

func anyText(s string) (string, error) { return s, nil }

func positive(s string) (string, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil || n < 1 {
		return "", fmt.Errorf("%q is not a whole number of 1 or more", s)
	}
	return strconv.FormatInt(n, 10), nil
}

func nonNegative(s string) (string, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil || n < 0 {
		return "", fmt.Errorf("%q is not a whole number of 0 or more", s)
	}
	return strconv.FormatInt(n, 10), nil
}

func duration(s string) (string, error) {
	d, err := ParseDuration(s)
	if err != nil {
		return "", err
	}
	return d.String(), nil
}

func zoneName(s string) (string, error) {
	switch strings.ToLower(s) {
	case "utc", "gmt", "z", "default":
		return "UTC", nil
	case "local":
		return "", fmt.Errorf("%q names no time zone; give one such as 'Europe/Berlin'", s)
	}
	if _, err := time.LoadLocation(s); err != nil {
		return "", fmt.Errorf("%q names no time zone; give one such as 'Europe/Berlin'", s)
	}
	return s, nil
}

func oneOf(allowed ...string) func(string) (string, error) {
	return func(s string) (string, error) {
		for _, a := range allowed {
			if strings.EqualFold(a, s) {
				return allowed[0], nil
			}
		}
		return "", fmt.Errorf("%q is not supported; it must be %s", s, allowed[0])
	}
}

var byteUnits = map[string]int64{
	"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
}

// byteSize accepts a number with a unit, such as 2GiB, and keeps the text.
func byteSize(s string) (string, error) {
	if _, err := parseBytes(s); err != nil {
		return "", err
	}
	return strings.TrimSpace(s), nil
}

func parseBytes(s string) (int64, error) {
	s = strings.TrimSpace(s)
	digits := strings.IndexFunc(s, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if digits < 0 {
		digits = len(s)
	}
	n, err := strconv.ParseFloat(s[:digits], 64)
	unit, ok := byteUnits[strings.ToLower(strings.TrimSpace(s[digits:]))]
	if err != nil || !ok || n*float64(unit) < 1<<20 || n*float64(unit) > 1<<50 {
		return 0, fmt.Errorf("%q is not a size of at least 1MiB, such as 512MiB or 2GB", s)
	}
	return int64(n * float64(unit)), nil
}

var durationUnits = map[string]time.Duration{
	"us": time.Microsecond, "ms": time.Millisecond, "millisecond": time.Millisecond, "s": time.Second, "sec": time.Second,
	"second": time.Second, "m": time.Minute, "min": time.Minute, "minute": time.Minute, "h": time.Hour, "hour": time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour,
}

// ParseDuration reads a length of time as a person writes it: '60 seconds', '4 hours', '500ms', '1m30s'.
func ParseDuration(s string) (time.Duration, error) {
	text := strings.TrimSpace(strings.ToLower(s))
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return d, nil
	}
	number, unit := text, ""
	if i := strings.IndexFunc(text, func(r rune) bool { return r != '.' && (r < '0' || r > '9') }); i > 0 {
		number, unit = text[:i], strings.TrimSuffix(strings.TrimSpace(text[i:]), "s")
		if unit == "" || unit == "m" || unit == "u" { // s, ms and us lost their s
			unit = strings.TrimSpace(text[i:])
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	scale, ok := durationUnits[unit]
	if err != nil || !ok || n <= 0 || n*float64(scale) > float64(100*365*24*time.Hour) {
		return 0, fmt.Errorf("%q is not a length of time, such as '60 seconds' or '500ms'", s)
	}
	return time.Duration(n * float64(scale)), nil
}
