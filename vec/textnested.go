package vec

import (
	"strings"
	"time"
)

// appendArray appends {a,b,NULL} with elements quoted where they need it.
func appendArray(dst []byte, list []Value, zone *time.Location) []byte {
	dst = append(dst, '{')
	for i, e := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		switch {
		case e.Null:
			dst = append(dst, "NULL"...)
		case e.Type.ID == Array:
			dst = appendArray(dst, e.List, zone)
		default:
			dst = appendQuoted(dst, string(AppendValue(nil, e, zone)), arrayNeedsQuotes, `\"`, `\\`)
		}
	}
	return append(dst, '}')
}

// appendRecord appends (a,b,) where an empty place is NULL.
func appendRecord(dst []byte, list []Value, zone *time.Location) []byte {
	dst = append(dst, '(')
	for i, e := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		if !e.Null {
			dst = appendQuoted(dst, string(AppendValue(nil, e, zone)), recordNeedsQuotes, `""`, `\\`)
		}
	}
	return append(dst, ')')
}

func arrayNeedsQuotes(s string) bool {
	return s == "" || strings.EqualFold(s, "NULL") || strings.ContainsAny(s, "{},\"\\ \t\n\r\v\f")
}

func recordNeedsQuotes(s string) bool { return s == "" || strings.ContainsAny(s, "(),\"\\ \t\n\r\v\f") }

func appendQuoted(dst []byte, s string, needs func(string) bool, quote, backslash string) []byte {
	if !needs(s) {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	for i := range len(s) {
		switch s[i] {
		case '"':
			dst = append(dst, quote...)
		case '\\':
			dst = append(dst, backslash...)
		default:
			dst = append(dst, s[i])
		}
	}
	return append(dst, '"')
}

// nested reads the text of arrays and records.
type nested struct {
	s    string
	i    int
	text parseContext
	err  error
}

// parseArray reads {a,b,{...}}.
func parseArray(t Type, s string, ctx parseContext) (Value, error) {
	p := &nested{s: strings.TrimSpace(s), text: ctx}
	if strings.HasPrefix(p.s, "[") { // bounds: [1:3]={...}; they are dropped
		if _, rest, ok := strings.Cut(p.s, "="); ok {
			p.s = rest
		}
	}
	v, ok := p.array(t)
	if p.err != nil {
		return Value{}, p.err
	}
	if !ok || p.i != len(p.s) {
		return Value{}, malformed("array", s)
	}
	return v, nil
}

func (p *nested) array(t Type) (Value, bool) {
	out := Value{Type: t, List: []Value{}}
	if !p.take('{') {
		return out, false
	}
	p.space()
	if p.take('}') {
		return out, true
	}
	for {
		p.space()
		e, ok := p.element(*t.Elem)
		if !ok {
			return out, false
		}
		out.List = append(out.List, e)
		p.space()
		if p.take('}') {
			return out, true
		}
		if !p.take(',') {
			return out, false
		}
	}
}

func (p *nested) element(t Type) (Value, bool) {
	if t.ID == Array {
		return p.array(t)
	}
	raw, quoted, ok := p.token("{},")
	if !ok || raw == "" && !quoted {
		return Value{}, false
	}
	if !quoted && strings.EqualFold(raw, "NULL") {
		return NullValue(t), true
	}
	v, err := p.text.parse(t, raw)
	if err != nil {
		p.err = err
	}
	return v, err == nil
}

// token reads up to a byte of stop, with quotes and backslashes undone.
func (p *nested) token(stop string) (raw string, quoted, ok bool) {
	var b strings.Builder
	in, kept := false, 0
	for ; p.i < len(p.s); p.i++ {
		c := p.s[p.i]
		switch {
		case c == '\\' && p.i+1 < len(p.s):
			p.i++
			b.WriteByte(p.s[p.i])
			kept = b.Len()
		case c == '"' && in && p.i+1 < len(p.s) && p.s[p.i+1] == '"' && strings.Contains(stop, ")"):
			p.i++
			b.WriteByte('"')
			kept = b.Len()
		case c == '"':
			in, quoted = !in, true
			kept = b.Len()
		case !in && strings.IndexByte(stop, c) >= 0:
			return trimTail(b.String(), kept), quoted, true
		default:
			b.WriteByte(c)
			if in {
				kept = b.Len()
			}
		}
	}
	return "", false, false
}

// trimTail drops white space after the first kept bytes, which were quoted.
func trimTail(s string, kept int) string {
	return s[:kept] + strings.TrimRight(s[kept:], " \t\n\r\v\f")
}

func (p *nested) space() {
	for p.i < len(p.s) && strings.IndexByte(" \t\n\r\v\f", p.s[p.i]) >= 0 {
		p.i++
	}
}

func (p *nested) take(c byte) bool {
	if p.i < len(p.s) && p.s[p.i] == c {
		p.i++
		return true
	}
	return false
}

// parseRecord reads (a,b,).
func parseRecord(t Type, s string, ctx parseContext) (Value, error) {
	p := &nested{s: strings.TrimSpace(s), text: ctx}
	out := Value{Type: t}
	if !p.take('(') {
		return out, malformed("record", s)
	}
	for i, f := range t.Fields {
		raw, quoted, ok := p.token(",)")
		if !ok {
			return out, malformed("record", s)
		}
		v := NullValue(f.Type)
		if raw != "" || quoted {
			var err error
			if v, err = ctx.parse(f.Type, raw); err != nil {
				return out, err
			}
		}
		out.List = append(out.List, v)
		last := i == len(t.Fields)-1
		if last && !p.take(')') || !last && !p.take(',') {
			return out, malformed("record", s)
		}
	}
	if p.i != len(p.s) {
		return out, malformed("record", s)
	}
	return out, nil
}
