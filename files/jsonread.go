package files

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// jsonReader reads the files of a source one after the other.
type jsonReader struct {
	source   *jsonSource
	ev       *extension.Eval
	wanted   []int // for each column of the schema its builder, or -1
	builders []*vec.Builder
	next     int
	path     string
	objects  *objects
	n        int
}

// Next implements extension.TableReader.
func (r *jsonReader) Next(ctx context.Context) (*vec.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for r.n < vec.BatchRows {
		if r.objects == nil {
			if r.next == len(r.source.paths) {
				break
			}
			r.path = r.source.paths[r.next]
			o, err := openObjects(r.path)
			if err != nil {
				return nil, err
			}
			r.objects = o
			r.next++
		}
		raw, err := r.objects.next()
		if err != nil {
			return nil, recordError(r.path, err)
		}
		if raw == nil {
			if err := r.Close(); err != nil {
				return nil, err
			}
			continue
		}
		if err := r.append(raw); err != nil {
			return nil, err
		}
	}
	if r.n == 0 {
		return nil, nil
	}
	out := &vec.Batch{N: r.n}
	for _, b := range r.builders {
		out.Cols = append(out.Cols, b.Finish())
	}
	r.n = 0
	return out, nil
}

// append adds an object. Members it lacks are NULL, members that are no column are passed over, of members by one name
// the first counts.
func (r *jsonReader) append(raw []byte) error {
	err := eachField(raw, func(name string, value []byte) error {
		column, ok := r.source.place[name]
		if !ok || r.wanted[column] < 0 {
			return nil
		}
		b := r.builders[r.wanted[column]]
		if b.Len() > r.n {
			return nil
		}
		if err := appendJSON(b, value, r.ev); err != nil {
			return sqlerr.New(sqlerr.From(err).Code, "file %q, object %d, member %q: %w", r.path, r.objects.count, name, err).
				Hintf("types were taken from the first objects: pass a larger sample_size or columns => {'%s': 'JSON'}", name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.n++
	for _, b := range r.builders {
		if b.Len() < r.n {
			b.AppendNull()
		}
	}
	return nil
}

func appendJSON(b *vec.Builder, value []byte, ev *extension.Eval) error {
	switch {
	case value[0] == 'n':
		b.AppendNull()
		return nil
	case b.Type.ID == vec.JSON:
		b.AppendBytes(value)
		return nil
	case value[0] == '"':
		text, err := unquoteJSON(value)
		if err != nil {
			return err
		}
		return appendText(b, []byte(text), ev.Zone)
	}
	return appendText(b, value, ev.Zone)
}

// Close implements extension.TableReader.
func (r *jsonReader) Close() error {
	if r.objects == nil {
		return nil
	}
	o := r.objects
	r.objects = nil
	return o.in.Close()
}

// unquoteJSON returns the text of a JSON string.
func unquoteJSON(value []byte) (string, error) {
	var s string
	if err := json.Unmarshal(value, &s); err != nil {
		return "", sqlerr.New(sqlerr.InvalidText, "invalid JSON string: %w", err)
	}
	return s, nil
}

// eachField calls f with the members of an object, which is known to be well-formed.
func eachField(raw []byte, f func(name string, value []byte) error) error {
	i := skipSpace(raw, 1)
	for i < len(raw) && raw[i] != '}' {
		end := skipValue(raw, i)
		name, err := unquoteJSON(raw[i:end])
		if err != nil {
			return err
		}
		i = skipSpace(raw, skipSpace(raw, end)+1) // the colon
		end = skipValue(raw, i)
		if end <= i {
			return fmt.Errorf("malformed object")
		}
		if err := f(name, raw[i:end]); err != nil {
			return err
		}
		if i = skipSpace(raw, end); i < len(raw) && raw[i] == ',' {
			i = skipSpace(raw, i+1)
		}
	}
	return nil
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// skipValue returns where the value that begins at i ends.
func skipValue(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch c := b[i]; {
		case c == '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			i++
			if depth == 0 {
				return i
			}
			continue
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case depth == 0 && (c == ',' || c == ' ' || c == '\t' || c == '\n' || c == '\r'):
			return i
		}
		i++
	}
	return i
}
