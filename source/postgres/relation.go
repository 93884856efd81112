package postgres

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// relation is the layout of the rows that follow a Relation message: where each target column is among the columns sent.
type relation struct {
	place    []int // by target column
	sent     int   // columns in a tuple
	received int64 // order of arrival: the later of two is the current one
	// fault is what makes rows of this layout unusable. It is met with the first row: a layout may belong to a rolled
	// back savepoint and never have one.
	fault error
}

// relationColumn is one column of a Relation message.
type relationColumn struct {
	name   string
	oid    uint32
	typmod int32
	key    bool
}

// tableChanged is the error of a source table that is no longer what the CDC table was made for.
func tableChanged(format string, args ...any) error {
	return extension.Permanent(sqlerr.New(sqlerr.InvalidTableDefinition, format, args...).
		Hintf("a CDC table cannot change its columns: create a new stream and a new CDC table with the source's current columns"))
}

// parseRelation reads a Relation message after its oid and compares it with the columns the target was checked with.
//
//	schema\0 | name\0 | replica identity byte | columns int16 | (key byte, name\0, type oid, typmod int32) per column
func (s *stream) parseRelation(r *cursor) (*relation, error) {
	s.relations++
	out := &relation{received: s.relations}
	var err error
	if out.place, out.sent, err = s.places(r); errors.Is(err, errMessage) {
		return nil, err
	}
	out.fault = err
	return out, nil
}

// places returns where each target column is among the columns of a Relation message, and how many those are.
func (s *stream) places(r *cursor) (place []int, sent int, err error) {
	schema, name, identity := r.text(), r.text(), r.uint8()
	columns := make([]relationColumn, 0, 16)
	for range r.uint16() {
		key := r.uint8()&1 != 0
		columns = append(columns, relationColumn{name: r.text(), oid: r.uint32(), typmod: int32(r.uint32()), key: key})
		if r.bad {
			break
		}
	}
	if r.bad {
		return nil, 0, errMessage
	}
	table := niceIdent(schema) + "." + niceIdent(name)
	place = make([]int, len(s.columns))
	var key, identified []string
	for _, c := range columns {
		if c.key {
			identified = append(identified, c.name)
		}
	}
	for i := range s.columns {
		c := &s.columns[i]
		if c.key {
			key = append(key, c.Name)
		}
		at := slices.IndexFunc(columns, func(r relationColumn) bool { return r.name == c.Name })
		if at < 0 {
			return nil, 0, tableChanged("column %s of %s was dropped, renamed or taken out of the publication at the source", niceIdent(c.Name), table)
		}
		if err := c.unchanged(columns[at], table); err != nil {
			return nil, 0, err
		}
		place[i] = at
	}
	if identity != 'f' && !sameNames(key, identified) {
		return nil, 0, tableChanged("the replica identity of %s is now (%s), so changes no longer carry the merge key (%s)", table, strings.Join(identified, ", "), strings.Join(key, ", "))
	}
	return place, len(columns), nil
}

// unchanged refuses a type other than the one checked. Of the type's parameters those may change that leave stored
// values as they are: a longer varchar, a numeric of the same scale with more digits that still fits.
func (c *column) unchanged(now relationColumn, table string) error {
	if now.oid != c.source.oid {
		return tableChanged("column %s of %s was %s at the source and has another type now (oid %d)", niceIdent(c.Name), table, c.source.name, now.oid)
	}
	if now.typmod == c.wireTypmod || c.source.kind == kindString && c.source.varying() && widerText(c.wireTypmod, now.typmod) {
		return nil
	}
	if c.source.kind == kindNumeric {
		was, is := c.source, c.source
		was.typmod, is.typmod = c.wireTypmod, now.typmod
		p0, s0, ok0 := was.precision()
		p1, s1, ok1 := is.precision()
		if ok0 && ok1 && s0 == s1 && p1 >= p0 && is.fits(c.Type) == nil {
			return nil
		}
	}
	return tableChanged("the type of column %s of %s was altered at the source: it was %s", niceIdent(c.Name), table, c.source.name)
}

// varying reports types of text that do not pad, so that a longer limit changes no stored value.
func (t sourceType) varying() bool { return strings.HasPrefix(t.name, "character varying") }

func widerText(was, now int32) bool { return was >= 0 && (now < 0 || now >= was) }

// field is one column of a tuple: kind is 'n' (NULL), 'u' (unchanged TOAST), 't' (text) or 'b' (binary).
type field struct {
	kind byte
	data []byte
}

// parseTuple reads a tuple into fields, which it reuses.
func parseTuple(r *cursor, fields []field) ([]field, error) {
	fields = fields[:0]
	for range r.uint16() {
		f := field{kind: r.uint8()}
		switch f.kind {
		case 'n', 'u':
		case 't', 'b':
			f.data = r.bytes(int(int32(r.uint32())))
		default:
			return nil, fmt.Errorf("%w: column of kind %q", errMessage, f.kind)
		}
		if r.bad {
			return nil, errMessage
		}
		fields = append(fields, f)
	}
	if r.bad {
		return nil, errMessage
	}
	return fields, nil
}
