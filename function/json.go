package function

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strconv"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

// jsonMember is one member of an object in its text: raw is its value.
type jsonMember struct {
	key string
	raw json.RawMessage
}

// jsonMembers returns an object's members in order, false when text is no object.
func jsonMembers(text []byte) ([]jsonMember, bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	var out []jsonMember
	for d.More() {
		t, err := d.Token()
		key, ok := t.(string)
		if err != nil || !ok {
			return nil, false
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, false
		}
		out = append(out, jsonMember{key, raw})
	}
	return out, true
}

// jsonElements returns an array's elements, false when text is no array.
func jsonElements(text []byte) ([]json.RawMessage, bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return nil, false
	}
	var out []json.RawMessage
	for d.More() {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, false
		}
		out = append(out, raw)
	}
	return out, true
}

// jsonField returns a member's value, the last of that key.
func jsonField(text []byte, key string) ([]byte, bool) {
	members, _ := jsonMembers(text)
	for _, m := range slices.Backward(members) {
		if m.key == key {
			return m.raw, true
		}
	}
	return nil, false
}

// jsonAt returns an array's element, counted from 0 or, negative, from the end.
func jsonAt(text []byte, place int64) ([]byte, bool) {
	elements, _ := jsonElements(text)
	if place < 0 {
		place += int64(len(elements))
	}
	if place < 0 || place >= int64(len(elements)) {
		return nil, false
	}
	return elements[place], true
}

// jsonStep follows a key or, in an array, a place.
func jsonStep(text []byte, step string) ([]byte, bool) {
	if jsonKind(text) == "array" {
		place, err := strconv.ParseInt(step, 10, 64)
		if err != nil {
			return nil, false
		}
		return jsonAt(text, place)
	}
	return jsonField(text, step)
}

func jsonPath(text []byte, path []vec.Value) ([]byte, bool) {
	ok := true
	for _, step := range path {
		if step.Null {
			return nil, false
		}
		if text, ok = jsonStep(text, step.S); !ok {
			return nil, false
		}
	}
	return text, true
}

// jsonText is a JSON value as text: strings without quotes, null as NULL.
func jsonText(raw []byte) (string, bool) {
	switch jsonKind(raw) {
	case "null":
		return "", false
	case "string":
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return "", false
		}
		return s, true
	}
	return string(bytes.TrimSpace(raw)), true
}

// jsonOut is a found value as JSON or, with asText, as text.
func jsonOut(raw []byte, ok, asText bool) vec.Value {
	if !ok {
		return null()
	}
	if !asText {
		return vec.StringValue(jsonT, string(bytes.TrimSpace(raw)))
	}
	s, ok := jsonText(raw)
	if !ok {
		return null()
	}
	return vec.StringValue(textT, s)
}

func jsonResult(asText bool) vec.Type {
	if asText {
		return textT
	}
	return jsonT
}

// jsonArrows is -> and ->>: by key and by place.
func jsonArrows(asText bool) []extension.ScalarOverload {
	t := jsonResult(asText)
	return []extension.ScalarOverload{
		strictArrays(signature(jsonT, textT), resultOf(t), func(args []vec.Value) (vec.Value, error) {
			raw, ok := jsonField(vec.StringBytes(args[0].S), args[1].S)
			return jsonOut(raw, ok, asText), nil
		}),
		strictArrays(signature(jsonT, int4), resultOf(t), func(args []vec.Value) (vec.Value, error) {
			raw, ok := jsonAt(vec.StringBytes(args[0].S), args[1].I)
			return jsonOut(raw, ok, asText), nil
		}),
	}
}

// jsonPaths is #> and #>>: by an array of keys and places.
func jsonPaths(asText bool) extension.ScalarOverload {
	return strictArrays(signature(jsonT, textArrayT), resultOf(jsonResult(asText)), func(args []vec.Value) (vec.Value, error) {
		raw, ok := jsonPath(vec.StringBytes(args[0].S), args[1].List)
		return jsonOut(raw, ok, asText), nil
	})
}

// jsonExtract is json_extract_path and its text form.
func jsonExtract(asText bool) extension.ScalarOverload {
	return strictArrays(variadic(signature(jsonT, textT)), resultOf(jsonResult(asText)), func(args []vec.Value) (vec.Value, error) {
		raw, ok := jsonPath(vec.StringBytes(args[0].S), args[1:])
		return jsonOut(raw, ok, asText), nil
	})
}

// jsonValue reads a JSON text with numbers as written.
func jsonValue(text string) (any, error) {
	d := json.NewDecoder(bytes.NewReader(vec.StringBytes(text)))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	if err == io.EOF {
		err = nil
	}
	return v, err
}

// holdsJSON reports whether a contains b as jsonb does: objects by members, arrays by elements in any order.
func holdsJSON(a, b any, top bool) bool {
	switch b := b.(type) {
	case map[string]any:
		object, ok := a.(map[string]any)
		if !ok {
			return false
		}
		for key, x := range b {
			if y, found := object[key]; !found || !holdsJSON(y, x, false) {
				return false
			}
		}
		return true
	case []any:
		array, ok := a.([]any)
		if !ok {
			return false
		}
		for _, x := range b {
			if !slices.ContainsFunc(array, func(y any) bool { return holdsJSON(y, x, false) }) {
				return false
			}
		}
		return true
	case json.Number:
		if n, ok := a.(json.Number); ok {
			x, tx, ok1 := vec.ParseDecimal(n.String())
			y, ty, ok2 := vec.ParseDecimal(b.String())
			if ok1 && ok2 {
				t := extension.MergeDecimals(tx, ty)
				x, _ = vec.RescaleInt128(x, int(tx.Scale), int(t.Scale))
				y, _ = vec.RescaleInt128(y, int(ty.Scale), int(t.Scale))
				return x == y
			}
			return n == b
		}
	default:
		if a == b {
			return true
		}
	}
	if array, ok := a.([]any); ok && top { // a top-level array may hold a bare scalar
		return slices.ContainsFunc(array, func(y any) bool { return holdsJSON(y, b, false) })
	}
	return false
}

// jsonContains is @> of JSON, with swap <@.
func jsonContains(swap bool) []extension.ScalarOverload {
	return []extension.ScalarOverload{strictArrays(signature(jsonT, jsonT), resultOf(boolT), func(args []vec.Value) (vec.Value, error) {
		a, err := jsonValue(args[0].S)
		if err != nil {
			return null(), err
		}
		b, err := jsonValue(args[1].S)
		if err != nil {
			return null(), err
		}
		if swap {
			a, b = b, a
		}
		return vec.BoolValue(holdsJSON(a, b, true)), nil
	})}
}

// jsonHas reports a key of an object or a string of an array.
func jsonHas(text []byte, key string) bool {
	if jsonKind(text) == "array" {
		elements, _ := jsonElements(text)
		return slices.ContainsFunc(elements, func(e json.RawMessage) bool {
			s, ok := jsonText(e)
			return ok && s == key && jsonKind(e) == "string"
		})
	}
	_, ok := jsonField(text, key)
	return ok
}
