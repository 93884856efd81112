package catalog

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestRedact(t *testing.T) {
	for connection, want := range map[string]string{
		"":                                                "",
		"postgres://app@db/shop":                          "postgres://app@db/shop",
		"postgres://app:s3cret@db/shop":                   "postgres://app:***@db/shop",
		"postgres://app:s3@cr@et@db":                      "postgres://app:***@db",
		"postgres://app:a/b@db/shop":                      "postgres://app:***@db/shop",
		"postgres://app:a?b@db/shop":                      "postgres://app:***@db/shop",
		"postgres://app:a#b@db/shop":                      "postgres://app:***@db/shop",
		"mongodb+srv://u:p@h/?ssl=true":                   "mongodb+srv://u:***@h/?ssl=true",
		"postgres://db/x?password=s3cret&sslmode=disable": "postgres://db/x?password=***&sslmode=disable",
		"postgres://db/x?sslpassword=s3cret":              "postgres://db/x?sslpassword=***",
		"host=db user=app password=s3cret dbname=x":       "host=db user=app password=*** dbname=x",
		`host=db PASSWORD = 's3 cr\'et' dbname=x`:         "host=db PASSWORD = *** dbname=x",
		"s3cret":                        "***",
		"https://h/?api_key=s3cret&a=1": "https://h/?api_key=***&a=1",
	} {
		if got := Redact(connection); got != want {
			t.Errorf("Redact(%s) = %s, want %s", connection, got, want)
		}
	}
}

func TestSecretsAreNeverPrinted(t *testing.T) {
	s := &Stream{ID: 1, Name: "s", Kind: "POSTGRES", Options: Options{
		"connection": {Value: "postgres://app:s3cret@db/shop", Secret: true},
		"table":      {Value: "public.it's"},
	}}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "option", s.Options["connection"])
	for _, text := range []string{
		fmt.Sprint(s.Options), fmt.Sprintf("%v", *s), fmt.Sprintf("%+v", s), fmt.Sprintf("%#v", s.Options["connection"]),
		fmt.Sprintf("<%s>", s.Options["connection"]), fmt.Sprintf("%q", s.Options["connection"]), log.String(),
	} {
		if strings.Contains(text, "s3cret") {
			t.Errorf("printed: %s", text)
		}
	}
	if got := s.Options.String(); got != `connection = 'postgres://app:***@db/shop', table = 'public.it''s'` {
		t.Errorf("options: %s", got)
	}
	if s.Options.Get("connection") != "postgres://app:s3cret@db/shop" || s.Options.Values()["table"] != "public.it's" {
		t.Error("the values are not whole")
	}
}

func TestSecretsAreStored(t *testing.T) {
	r := newRoot(t)
	e := stream("s")
	e.Stream.Options = Options{"connection": {Value: "postgres://app:s3cret@db", Secret: true}}
	r.must(e)
	again, err := openRoot(t, r.store, OpenOptions{}).Snapshot().Stream("s")
	if err != nil || again.Options.Get("connection") != "postgres://app:s3cret@db" {
		t.Errorf("stored %+v, %v", again, err)
	}
}
