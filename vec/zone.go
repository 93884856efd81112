package vec

import (
	"strconv"
	"strings"
	"sync"
	"time"
)

// zoneAbbreviations are the abbreviations PostgreSQL knows by default that stand for one offset, in seconds.
var zoneAbbreviations = map[string]int64{
	"z": 0, "zulu": 0, "utc": 0, "gmt": 0, "ut": 0, "uct": 0, "wet": 0,
	"est": -5 * 3600, "edt": -4 * 3600, "cst": -6 * 3600, "cdt": -5 * 3600, "mst": -7 * 3600, "mdt": -6 * 3600,
	"pst": -8 * 3600, "pdt": -7 * 3600, "akst": -9 * 3600, "akdt": -8 * 3600, "hst": -10 * 3600,
	"cet": 3600, "cest": 7200, "met": 3600, "mest": 7200, "eet": 7200, "eest": 10800, "west": 3600, "bst": 3600,
	"msk": 10800, "msd": 14400, "jst": 9 * 3600, "kst": 9 * 3600, "ist": 7200, "sast": 7200,
	"aest": 10 * 3600, "aedt": 11 * 3600, "acst": 9*3600 + 1800, "awst": 8 * 3600, "nzst": 12 * 3600, "nzdt": 13 * 3600,
	"brt": -3 * 3600, "art": -3 * 3600, "nst": -3*3600 - 1800, "ast": -4 * 3600, "adt": -3 * 3600, "sgt": 8 * 3600, "hkt": 8 * 3600,
}

// zones remembers loaded zones by lower-case name: the zone database has few and loading one reads a file.
var zones sync.Map

// LookupZone finds a time zone by its full name (as a location), by an abbreviation or as an offset such as +02:30
// (as seconds ahead of UTC, with a nil location).
func LookupZone(name string) (zone *time.Location, offset int64, ok bool) {
	word := strings.ToLower(strings.TrimSpace(name))
	if offset, ok = zoneAbbreviations[word]; ok {
		return nil, offset, true
	}
	if word == "" || word == "local" {
		return nil, 0, false
	}
	if word[0] == '+' || word[0] == '-' {
		offset, ok = parseOffset(word)
		return nil, offset, ok
	}
	if known, ok := zones.Load(word); ok {
		return known.(*time.Location), 0, true
	}
	for _, spelling := range []string{strings.TrimSpace(name), zoneTitle(word), strings.ToUpper(word)} {
		if zone, err := time.LoadLocation(spelling); err == nil {
			zones.Store(word, zone)
			return zone, 0, true
		}
	}
	return nil, 0, false
}

// zoneTitle spells a zone's lower-case name as the zone database does: Europe/Berlin.
func zoneTitle(word string) string {
	out, up := []byte(word), true
	for i, c := range out {
		if up && c >= 'a' && c <= 'z' {
			out[i] = c - 'a' + 'A'
		}
		up = c == '/' || c == '_' || c == '-'
	}
	return string(out)
}

// parseOffset reads +h, +hh, +hhmm, +hh:mm and +hh:mm:ss, in seconds.
func parseOffset(s string) (int64, bool) {
	negative, body := s[0] == '-', s[1:]
	parts := strings.Split(body, ":")
	if len(parts) == 1 && len(body) > 2 {
		if len(body) == 3 {
			body = "0" + body
		}
		parts = []string{body[:2], body[2:4]}
		if len(body) == 6 {
			parts = append(parts, body[4:])
		} else if len(body) != 4 {
			return 0, false
		}
	}
	total, unit := int64(0), int64(3600)
	for i, p := range parts {
		x, err := strconv.ParseUint(p, 10, 16)
		if err != nil || i > 2 || i == 0 && x > 15 || i > 0 && x > 59 {
			return 0, false
		}
		total += int64(x) * unit
		unit /= 60
	}
	if negative {
		total = -total
	}
	return total, true
}

// FixedZone returns the location of LookupZone's result: the zone itself or one of a constant offset.
func FixedZone(zone *time.Location, offset int64) *time.Location {
	switch {
	case zone != nil:
		return zone
	case offset == 0:
		return time.UTC
	}
	return time.FixedZone(string(AppendOffset(nil, offset)), int(offset))
}
