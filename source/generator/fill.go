package generator

import (
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// role is where a column's numbers come from.
type role uint8

const (
	roleRandom  role = iota // hash of key number and version
	roleKey                 // digit of the key number
	roleVersion             // the version
	roleBucket              // the key number modulo 100
	roleCreated             // the key number
	roleUpdated             // the version
)

// column is one column of the target.
type column struct {
	vec.Column
	role  role
	digit keyDigit
	seed  uint64
	nulls uint64 // percent
	words []string
}

var wordLists = map[string][]string{
	"status":   {"new", "paid", "packed", "shipped", "returned"},
	"country":  {"AT", "AU", "BR", "CA", "CH", "CN", "DE", "ES", "FR", "GB", "IN", "IT", "JP", "KR", "MX", "NL", "PL", "SE", "US", "ZA"},
	"region":   {"africa", "americas", "asia", "europe", "oceania"},
	"category": {"books", "clothes", "food", "games", "garden", "music", "office", "sports", "tools", "toys"},
}

// table fills the columns of a target.
type table struct {
	columns  []column
	capacity uint64 // key numbers the merge key can hold
}

func newTable(columns []vec.Column, key []int, c config) (*table, error) {
	digits, capacity, err := keyDigits(columns, key)
	if err != nil {
		return nil, err
	}
	t := &table{capacity: capacity}
	for i, col := range columns {
		out := column{Column: col, role: roleOf(col), seed: hash(c.seed, xxh3.HashString(strings.ToLower(col.Name)), 1)}
		if d, isKey := digits[i]; isKey {
			out.role, out.digit = roleKey, d
		} else if col.Nullable {
			out.nulls = c.nulls
		}
		if out.role == roleRandom && col.Type.ID == vec.Text {
			out.words = wordLists[strings.ToLower(col.Name)]
		}
		t.columns = append(t.columns, out)
	}
	if c.keys > capacity {
		return nil, t.full(c.keys)
	}
	return t, nil
}

// full is the error of a key number the merge key has no room for.
func (t *table) full(keys uint64) error {
	return sqlerr.New(sqlerr.NumericOutOfRange, "the merge key can hold %d different keys, not %d", t.capacity, keys).
		Hintf("declare a wider merge key column, lower keys or set limit")
}

func roleOf(c vec.Column) role {
	name := strings.ToLower(c.Name)
	switch {
	case name == "version" && c.Type.IsNumeric():
		return roleVersion
	case name == "bucket" && c.Type.IsNumeric():
		return roleBucket
	case strings.HasPrefix(name, "created") && c.Type.IsTemporal():
		return roleCreated
	case strings.HasPrefix(name, "updated") && c.Type.IsTemporal():
		return roleUpdated
	}
	return roleRandom
}

// rows names the rows to fill: key number and version of each; deleted (may be nil) those that have a key only.
type rows struct {
	keys, versions []uint64
	deleted        vec.Bitmap
}

// fill returns the columns of the rows.
func (t *table) fill(r rows) []*vec.Vector {
	out := make([]*vec.Vector, len(t.columns))
	numbers := make([]uint64, len(r.keys))
	for i := range t.columns {
		c := &t.columns[i]
		if c.role == roleKey {
			out[i] = keyVector(c.Type, c.digit, r.keys)
			continue
		}
		c.draw(r, numbers)
		out[i] = c.vector(numbers)
		out[i].Valid = c.valid(r)
	}
	return out
}

// draw sets out[i] to the number row i's value is made of.
func (c *column) draw(r rows, out []uint64) {
	switch c.role {
	case roleRandom:
		for i, k := range r.keys {
			out[i] = hash(c.seed, k, r.versions[i])
		}
	case roleVersion:
		copy(out, r.versions)
	case roleBucket:
		for i, k := range r.keys {
			out[i] = k % 100
		}
	case roleCreated:
		for i, k := range r.keys {
			out[i] = k * 1_000_000
		}
	case roleUpdated:
		for i, v := range r.versions {
			out[i] = updatedEpoch + v*1000
		}
	}
}

// valid returns the rows whose value is not NULL; nil when none is.
func (c *column) valid(r rows) vec.Bitmap {
	if c.nulls == 0 && r.deleted == nil {
		return nil
	}
	valid := vec.NewFullBitmap(len(r.keys))
	for i := range valid {
		if r.deleted != nil {
			valid[i] = ^r.deleted[i]
		}
	}
	if c.nulls > 0 {
		for i, k := range r.keys {
			if hash(c.seed+1, k, r.versions[i])%100 < c.nulls {
				valid.Clear(i)
			}
		}
	}
	return valid
}

// vector makes values of the column's type from numbers: random ones are cut to a handy range first.
func (c *column) vector(numbers []uint64) *vec.Vector {
	if c.words != nil {
		return texts(c.Type, numbers, func(b []byte, x uint64) []byte { return append(b, c.words[x%uint64(len(c.words))]...) })
	}
	if c.role != roleRandom {
		return exact(c.Type, numbers)
	}
	return random(c.Type, numbers)
}
