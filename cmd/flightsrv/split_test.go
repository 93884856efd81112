package main

import (
	"slices"
	"strings"
	"testing"
)

func TestSplitStatements(t *testing.T) {
	for text, want := range map[string][]string{
		"select 1; select 2":                    {"select 1", "| select 2"},
		"select ';'; x":                         {"select ';'", "| x"},
		`select "a;b" from t;`:                  {`select "a;b" from t`, "|"},
		"select 'it''s;'; y":                    {"select 'it''s;'", "| y"},
		`select E'\';'; z`:                      {`select E'\';'`, "| z"},
		"-- a;b\nselect 1;":                     {"-- a;b\nselect 1", "|"},
		"/* a; /* b; */ c; */ select 1; d":      {"/* a; /* b; */ c; */ select 1", "| d"},
		"select $$a;b$$; select $x$;$$;$x$; $1": {"select $$a;b$$", " select $x$;$$;$x$", "| $1"},
		";;":                                    {"|"},
		"select 'open; ":                        {"|select 'open; "},
	} {
		got, rest := splitStatements(text)
		if got := append(got, "|"+rest); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestIsBlank(t *testing.T) {
	if !isBlank(" -- nothing\n /* at all */ ") || isBlank("-- x\n select") {
		t.Error("comments and spaces are blank, a statement is not")
	}
	if strings.TrimSpace("") != "" || !isBlank("") {
		t.Error("the empty text is blank")
	}
}
