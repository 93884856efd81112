package files

import (
	"bytes"
	"fmt"
	"io"
)

// dialect is how a CSV file marks fields.
type dialect struct {
	delim, quote, escape byte // quote 0: none
}

// field is one field of a record. Its bytes are valid until the next record.
type field struct {
	text   []byte
	quoted bool // an empty quoted field is a string, not NULL
}

// records splits a CSV file into records (RFC 4180, and escapes other than the doubled quote).
type records struct {
	in      io.Reader
	dialect dialect
	buf     []byte // buf[at:end] is read and not consumed
	at, end int
	eof     bool
	line    int // of the next record, from 1
	fields  []field
	scratch []byte // of fields with escapes
}

const (
	recordBuffer   = 256 << 10
	maxRecordBytes = 256 << 20
)

func newRecords(in io.Reader, d dialect) *records {
	return &records{in: in, dialect: d, buf: make([]byte, recordBuffer), line: 1}
}

// next returns the next record and the line it begins in, nil at the end. Empty lines are passed over.
func (r *records) next() (fields []field, line int, err error) {
	for {
		line = r.line
		size, lines, err := r.find()
		if err != nil || size < 0 {
			return nil, line, err
		}
		raw := r.buf[r.at : r.at+size]
		r.at += size
		r.line += lines
		raw = bytes.TrimSuffix(raw, []byte("\n"))
		raw = bytes.TrimSuffix(raw, []byte("\r"))
		if len(raw) == 0 {
			continue
		}
		return r.split(raw), line, nil
	}
}

// find returns the length of the next record with its line break and how many lines it spans, -1 at the end.
func (r *records) find() (size, lines int, err error) {
	for {
		pending := r.buf[r.at:r.end]
		size, lines, open := r.dialect.recordEnd(pending)
		switch {
		case size > 0:
			return size, lines, nil
		case !r.eof:
			if err := r.fill(); err != nil {
				return 0, 0, err
			}
		case open:
			return 0, 0, fmt.Errorf("line %d: a quote is opened and never closed", r.line)
		case len(pending) == 0:
			return -1, 0, nil
		default:
			return len(pending), lines + 1, nil
		}
	}
}

// recordEnd returns the length of the first record of b with its line break and the lines it spans, 0 when b ends
// before it; open tells that it ends within quotes. A quote opens at the start of a field only.
func (d *dialect) recordEnd(b []byte) (size, lines int, open bool) {
	if first := firstLine(b); d.quote == 0 || bytes.IndexByte(first, d.quote) < 0 {
		if len(first) == len(b) {
			return 0, 0, false
		}
		return len(first) + 1, 1, false
	}
	start := true // of a field
	for i := 0; i < len(b); i++ {
		c := b[i]
		switch {
		case open && c == d.escape && i+1 < len(b) && (b[i+1] == d.quote || b[i+1] == d.escape):
			i++
		case open && c == d.quote:
			open = false
		case c == '\n':
			lines++
			if !open {
				return i + 1, lines, false
			}
		case c == d.quote && start:
			open = true
		}
		start = !open && c == d.delim
	}
	return 0, lines, open
}

func firstLine(b []byte) []byte {
	if n := bytes.IndexByte(b, '\n'); n >= 0 {
		return b[:n]
	}
	return b
}

// fill reads more bytes behind those pending.
func (r *records) fill() error {
	if r.at > 0 {
		r.end = copy(r.buf, r.buf[r.at:r.end])
		r.at = 0
	}
	if r.end == len(r.buf) {
		if len(r.buf) >= maxRecordBytes {
			return fmt.Errorf("line %d: a record of more than %d bytes", r.line, maxRecordBytes)
		}
		r.buf = append(r.buf, make([]byte, len(r.buf))...)
	}
	n, err := io.ReadFull(r.in, r.buf[r.end:])
	r.end += n
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		r.eof, err = true, nil
	}
	return err
}

// split cuts a record into fields.
func (r *records) split(raw []byte) []field {
	r.fields, r.scratch = r.fields[:0], r.scratch[:0]
	if cap(r.scratch) < len(raw) {
		r.scratch = make([]byte, 0, len(raw)) // never grows below: fields point into it
	}
	for {
		if r.dialect.quote != 0 && len(raw) > 0 && raw[0] == r.dialect.quote {
			var f field
			f, raw = r.unquote(raw)
			r.fields = append(r.fields, f)
			if len(raw) == 0 {
				return r.fields
			}
			raw = raw[1:] // the delimiter
			continue
		}
		n := bytes.IndexByte(raw, r.dialect.delim)
		if n < 0 {
			r.fields = append(r.fields, field{text: raw})
			return r.fields
		}
		r.fields = append(r.fields, field{text: raw[:n]})
		raw = raw[n+1:]
	}
}

// unquote reads a quoted field and returns what follows it, which begins with a delimiter or is empty. Text between
// the closing quote and the delimiter belongs to the field.
func (r *records) unquote(raw []byte) (field, []byte) {
	q, e := r.dialect.quote, r.dialect.escape
	start, i := len(r.scratch), 1
	for i < len(raw) {
		c := raw[i]
		switch {
		case c == e && i+1 < len(raw) && (raw[i+1] == q || raw[i+1] == e):
			r.scratch = append(r.scratch, raw[i+1])
			i += 2
			continue
		case c != q:
			r.scratch = append(r.scratch, c)
			i++
			continue
		}
		i++
		break
	}
	rest := raw[min(i, len(raw)):]
	if len(rest) > 0 && rest[0] != r.dialect.delim {
		n := bytes.IndexByte(rest, r.dialect.delim)
		if n < 0 {
			n = len(rest)
		}
		r.scratch = append(r.scratch, rest[:n]...)
		rest = rest[n:]
	}
	return field{text: r.scratch[start:len(r.scratch):len(r.scratch)], quoted: true}, rest
}
