package function

// jsonKind names the kind of the JSON value that text holds, as json_typeof does; text is valid JSON.
func jsonKind(text []byte) string {
	for _, c := range text {
		switch c {
		case ' ', '\t', '\n', '\r':
			continue
		case '{':
			return "object"
		case '[':
			return "array"
		case '"':
			return "string"
		case 't', 'f':
			return "boolean"
		case 'n':
			return "null"
		}
		return "number"
	}
	return "null"
}
