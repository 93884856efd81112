package postgres

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// textDecoder returns the decoder from PostgreSQL's text form of t to target, as sessions of ours print it. It serves
// tables that have a column of a type without a binary decoder: the server then sends every column as text.
func textDecoder(t sourceType, target vec.Type) decodeFunc {
	switch {
	case target.ID == vec.Text || target.ID == vec.JSON:
		return decodeText
	case t.kind == kindNumeric:
		return func(b *vec.Builder, raw []byte) error { return decodeNumericFromText(b, target, raw) }
	case t.kind == kindArray:
		return arrayTextDecoder(*t.elem, target)
	}
	return func(b *vec.Builder, raw []byte) error {
		v, err := vec.Parse(target, string(raw), time.UTC)
		if err != nil {
			return reason(err)
		}
		b.Append(v)
		return nil
	}
}

// reason is the message of a parse error alone: whoever reports it names the column and the value.
func reason(err error) error {
	var e *sqlerr.Error
	if errors.As(err, &e) {
		return errors.New(e.Message)
	}
	return err
}

// arrayTextDecoder splits an array's text into the texts of its elements and decodes each as elem.
func arrayTextDecoder(elem sourceType, target vec.Type) decodeFunc {
	decode := textDecoder(elem, innermost(target))
	texts := textsLike(target)
	return func(b *vec.Builder, raw []byte) error {
		text := string(raw)
		if strings.HasPrefix(text, "[") { // lower bounds, which are not kept
			_, text, _ = strings.Cut(text, "=")
		}
		v, err := vec.Parse(texts, text, time.UTC)
		if err != nil {
			return reason(err)
		}
		return appendTexts(b, v.List, decode)
	}
}

// textsLike returns the array type with as many dimensions as t whose elements are texts.
func textsLike(t vec.Type) vec.Type {
	if t.ID != vec.Array {
		return vec.TextType
	}
	return vec.ArrayType(textsLike(*t.Elem))
}

func appendTexts(b *vec.Builder, list []vec.Value, decode decodeFunc) error {
	elements := b.Elements()
	for _, v := range list {
		var err error
		switch {
		case v.Null:
			elements.AppendNull()
		case v.Type.ID == vec.Array:
			err = appendTexts(elements, v.List, decode)
		default:
			err = decode(elements, []byte(v.S))
		}
		if err != nil {
			return fmt.Errorf("an element: %w", err)
		}
	}
	b.EndList()
	return nil
}

// decodeNumericFromText reads a decimal number exactly.
func decodeNumericFromText(b *vec.Builder, target vec.Type, raw []byte) error {
	text := string(raw)
	if strings.ContainsAny(text, "NI") {
		return errNaN
	}
	if strings.Contains(text, ".") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	whole = strings.TrimLeft(whole, "0")
	switch {
	case len(fraction) > int(target.Scale):
		return errTooFine
	case len(whole) > int(target.Precision)-int(target.Scale):
		return errTooLarge
	}
	v, err := vec.Parse(target, text, time.UTC)
	if err != nil {
		return errDigits
	}
	b.Append(v)
	return nil
}
