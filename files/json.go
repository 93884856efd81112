package files

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// readJSON registers read_json.
func readJSON() *extension.TableFunc {
	options := []extension.Param{
		exactParam("format", vec.TextType), exactParam("sample_size", vec.Int64Type), {Name: "columns", Kind: extension.AnyStruct},
	}
	return &extension.TableFunc{
		Def: extension.Def{Name: "read_json", Aliases: []string{"read_json_auto", "read_ndjson"},
			Description: "Read JSON files of one object a line, or of one array of objects; .gz and .zst are decompressed."},
		Overloads: overloads(options, bindJSON),
	}
}

// jsonSource is a set of JSON files read as one table.
type jsonSource struct {
	paths      []string
	sampleRows int
	schema     vec.Schema
	place      map[string]int // of a column by name
}

func bindJSON(b *extension.TableBind, args []vec.Value, named map[string]vec.Value) (extension.TableSource, error) {
	patterns, err := pathsOf(args[0])
	if err != nil {
		return nil, err
	}
	if f := named["format"]; !f.Null && f.S != "" && f.S != "auto" && f.S != "array" && f.S != "newline_delimited" {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "unknown JSON format %q", f.S).Hintf("it is auto, newline_delimited or array")
	}
	s := &jsonSource{place: map[string]int{}}
	if s.sampleRows, err = countOption(named, "sample_size", defaultSample, -1); err != nil {
		return nil, err
	}
	if s.schema, err = columnsOption(b, named); err != nil {
		return nil, err
	}
	if s.paths, err = expand(b, patterns); err != nil {
		return nil, err
	}
	if s.schema == nil {
		if err := s.detect(); err != nil {
			return nil, err
		}
	}
	for i, c := range s.schema {
		s.place[c.Name] = i
	}
	return s, nil
}

// Schema implements extension.TableSource.
func (s *jsonSource) Schema() vec.Schema { return s.schema }

// Rows implements extension.TableSource.
func (s *jsonSource) Rows() int64 { return -1 }

// Open implements extension.TableSource.
func (s *jsonSource) Open(_ context.Context, ev *extension.Eval, projection []int) (extension.TableReader, error) {
	r := &jsonReader{source: s, ev: ev, wanted: make([]int, len(s.schema))}
	for i := range r.wanted {
		r.wanted[i] = -1
	}
	for i, c := range projection {
		r.wanted[c] = i
		r.builders = append(r.builders, vec.NewBuilder(s.schema[c].Type, vec.BatchRows))
	}
	return r, nil
}

// objects yields the objects of a JSON file: those at its top level, or the elements of an array there.
type objects struct {
	in      io.ReadCloser
	decoder *json.Decoder
	array   bool
	count   int // objects read
}

func openObjects(path string) (*objects, error) {
	in, err := openInput(path)
	if err != nil {
		return nil, err
	}
	o := &objects{in: in}
	// The first byte that is no space tells an array from objects.
	var lead [1]byte
	read := []byte{}
	for {
		n, err := in.Read(lead[:])
		if n > 0 {
			read = append(read, lead[0])
			if !bytes.ContainsAny(lead[:], " \t\r\n\ufeff") {
				break
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			in.Close()
			return nil, inputError(path, err)
		}
	}
	read = bytes.TrimPrefix(read, []byte("\ufeff"))
	o.decoder = json.NewDecoder(io.MultiReader(bytes.NewReader(read), in))
	if bytes.HasSuffix(read, []byte("[")) {
		o.array = true
		if _, err := o.decoder.Token(); err != nil {
			in.Close()
			return nil, inputError(path, err)
		}
	}
	return o, nil
}

// next returns the text of the next object, nil at the end.
func (o *objects) next() (json.RawMessage, error) {
	if o.array && !o.decoder.More() {
		if _, err := o.decoder.Token(); err != nil { // the closing bracket
			return nil, fmt.Errorf("object %d: %w", o.count+1, unexpectedEnd(err))
		}
		return nil, nil
	}
	var raw json.RawMessage
	err := o.decoder.Decode(&raw)
	if err == io.EOF && !o.array {
		return nil, nil
	}
	o.count++
	if err != nil {
		return nil, fmt.Errorf("object %d near byte %d: %w", o.count, o.decoder.InputOffset(), unexpectedEnd(err))
	}
	if raw[0] != '{' {
		return nil, fmt.Errorf("element %d is no object", o.count)
	}
	return raw, nil
}

func unexpectedEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (s *jsonSource) detect() error {
	o, err := openObjects(s.paths[0])
	if err != nil {
		return err
	}
	defer o.in.Close()
	place := map[string]int{}
	var guesses []jsonGuess
	for s.sampleRows < 0 || o.count < s.sampleRows {
		raw, err := o.next()
		if err != nil {
			return recordError(s.paths[0], err)
		}
		if raw == nil {
			break
		}
		eachField(raw, func(name string, value []byte) error {
			at, ok := place[name]
			if !ok {
				at = len(guesses)
				place[name] = at
				guesses = append(guesses, jsonGuess{guess: newGuess()})
				s.schema = append(s.schema, vec.Column{Name: name, Nullable: true})
			}
			guesses[at].see(value)
			return nil
		})
	}
	if len(s.schema) == 0 {
		return sqlerr.New(sqlerr.DataCorrupted, "file %q has no objects to take columns from", s.paths[0]).
			Hintf("name the columns: columns => {'a': 'INTEGER'}")
	}
	for i := range s.schema {
		s.schema[i].Type = guesses[i].result()
	}
	return nil
}

// jsonGuess narrows the type of a member down: numbers and strings by their text, all else is JSON.
type jsonGuess struct {
	guess
	strings, scalars, nested bool
}

func (g *jsonGuess) see(value []byte) {
	switch value[0] {
	case 'n':
	case '{', '[':
		g.nested = true
	case '"':
		g.strings = true
		text, _ := unquoteJSON(value)
		g.guess.see(text)
	default:
		g.scalars = true
		g.guess.see(string(value))
	}
}

func (g *jsonGuess) result() vec.Type {
	switch {
	case g.nested || g.strings && g.scalars:
		return vec.JSONType
	case g.strings: // "1" is a string, "2020-01-01" a date
		if t := g.guess.result(); t.IsTemporal() {
			return t
		}
		return vec.TextType
	case g.scalars:
		return g.guess.result()
	}
	return vec.JSONType
}
