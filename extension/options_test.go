package extension

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

func TestOptionsAreFilledInAndChecked(t *testing.T) {
	defs := []OptionDef{
		{Name: "address", Required: true, Description: "where it is"},
		{Name: "parts", Default: "4", Check: WholeNumber(1, 64)},
		{Name: "share", Default: "0.5", Check: Number(0, 1)},
		{Name: "pause", Check: Duration(10 * time.Millisecond)},
		{Name: "form", Default: "plain", Check: OneOf("plain", "json")},
		{Name: "password", Secret: true, Check: func(string) error { return errors.New("the password is too short") }},
	}
	values, err := Options("test", defs, map[string]string{"address": "here", "pause": "1s", "form": "JSON"})
	if err != nil || values["parts"] != "4" || values["pause"] != "1s" || values["form"] != "JSON" || values["password"] != "" {
		t.Errorf("options %v, %v", values, err)
	}
	for _, bad := range []struct{ name, value, message string }{
		{"address", "", "a test stream needs the option address"},
		{"parts", "65", `option parts = "65" of a test stream is not a whole number from 1 to 64`},
		{"parts", "-1", "a whole number from 1 to 64"},
		{"share", "NaN", "a number from 0 to 1"},
		{"pause", "9ms", "at least 10ms"},
		{"form", "xml", "is not plain or json"},
		{"password", "x", "the password is too short"},
	} {
		given := map[string]string{"address": "here"}
		given[bad.name] = bad.value
		if _, err := Options("test", defs, given); err == nil || !strings.Contains(err.Error(), bad.message) {
			t.Errorf("%s = %q: %v, want %q", bad.name, bad.value, err, bad.message)
		}
	}
	_, err = Options("test", defs, map[string]string{"address": "here", "parts": "many"})
	if e := (*sqlerr.Error)(nil); !errors.As(err, &e) || e.Code != sqlerr.InvalidParameterValue || e.Hint == "" {
		t.Errorf("code and hint of %#v", err)
	}
}
