package flightsql

import (
	"context"
	"errors"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

func TestLike(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"", "", true}, {"", "a", false}, {"%", "", true}, {"%", "abc", true}, {"a%", "abc", true}, {"%c", "abc", true},
		{"a%c", "abbc", true}, {"a_c", "abc", true}, {"a_c", "ac", false}, {"_", "é", true}, {"__", "é", false},
		{`a\_c`, "a_c", true}, {`a\_c`, "abc", false}, {`\%`, "%", true}, {"%b%b%", "abab", true}, {"%b%b%", "ab", false},
		{"a%%", "a", true}, {"SELECT * FROM t", "t", false}, {"abc", "abcd", false},
		{strings.Repeat("%a", 2000), strings.Repeat("a", 1999) + "b", false},
	} {
		if got := like(&c.pattern, c.s); got != c.want {
			t.Errorf("%.20q LIKE %.20q is %v", c.s, c.pattern, got)
		}
	}
	if !like(nil, "anything") {
		t.Error("no pattern must match all")
	}
}

func TestStatus(t *testing.T) {
	ctx := context.Background()
	late, cancel := context.WithTimeout(ctx, 0)
	defer cancel()
	<-late.Done()
	for _, c := range []struct {
		ctx  context.Context
		err  error
		want codes.Code
	}{
		{ctx, sqlerr.New(sqlerr.SyntaxError, "x"), codes.InvalidArgument},
		{ctx, sqlerr.New(sqlerr.UndefinedTable, "x"), codes.InvalidArgument},
		{ctx, sqlerr.New(sqlerr.DuplicateTable, "x"), codes.AlreadyExists},
		{ctx, sqlerr.New(sqlerr.InvalidSchema, "x"), codes.NotFound},
		{ctx, sqlerr.New(sqlerr.SerializationFailure, "x"), codes.Aborted},
		{ctx, sqlerr.New(sqlerr.OutOfMemory, "x"), codes.ResourceExhausted},
		{ctx, sqlerr.New(sqlerr.InsufficientPrivilege, "x"), codes.PermissionDenied},
		{ctx, sqlerr.New(sqlerr.QueryCanceled, "canceling statement due to user request"), codes.Canceled},
		{ctx, sqlerr.New(sqlerr.QueryCanceled, "canceling statement due to statement timeout"), codes.DeadlineExceeded},
		{late, sqlerr.New(sqlerr.QueryCanceled, "canceling"), codes.DeadlineExceeded},
		{ctx, errors.New("x"), codes.Internal},
		{ctx, status.Error(codes.NotFound, "x"), codes.NotFound},
	} {
		if got := status.Code(toStatus(c.ctx, c.err)); got != c.want {
			t.Errorf("%v is %v, want %v", c.err, got, c.want)
		}
	}
	shown := toStatus(ctx, sqlerr.New(sqlerr.UndefinedTable, "no t").At(15).Hintf("make it").Detailf("more")).Error()
	for _, part := range []string{"no t", "42P01", "position 15", "make it", "more"} {
		if !strings.Contains(shown, part) {
			t.Errorf("%q lacks %q", shown, part)
		}
	}
	secret := toStatus(ctx, sqlerr.New(sqlerr.Internal, "oops").Detailf("goroutine 1 [running]")).Error()
	if strings.Contains(secret, "goroutine") {
		t.Error("a stack is shown to clients")
	}
}

func TestCheckListen(t *testing.T) {
	for addr, refused := range map[string]bool{
		"127.0.0.1:0": false, "localhost:1": false, "[::1]:1": false, ":1": true, "0.0.0.0:1": true, "[::]:1": true,
		"192.0.2.1:1": true, "example.org:1": true, "nonsense": true,
	} {
		if err := CheckListen(addr, Options{}); (err != nil) != refused {
			t.Errorf("%s: %v", addr, err)
		}
		if err := CheckListen(addr, Options{Users: map[string]string{"a": "b"}}); err != nil {
			t.Errorf("%s with users: %v", addr, err)
		}
	}
}

// TestFitting checks that a batch of long strings is cut below the limit, whatever its form, and that no row is lost.
func TestFitting(t *testing.T) {
	b := vec.NewBuilder(vec.TextType, 10)
	for range 10 {
		b.AppendString(strings.Repeat("x", 1<<20))
	}
	flat := b.Finish()
	index := make([]int32, 50)
	for i := range index {
		index[i] = int32(i % 10)
	}
	long := vec.StringValue(vec.TextType, strings.Repeat("y", 3<<20)) // a row above the limit goes alone
	for name, v := range map[string]*vec.Vector{
		"flat": flat, "dictionary": vec.DictionaryOf(flat, index, nil), "constant": vec.ConstantOf(vec.TextType, long, 5),
	} {
		batch := vec.NewBatch(v.N, v)
		pieces := 0
		for from := 0; from < v.N; pieces++ {
			n := fitting(batch, from)
			if n < 1 || n > 1 && wireBytes(batch, from, n) > maxBatchBytes {
				t.Fatalf("%s: %d rows of %d bytes in a piece", name, n, wireBytes(batch, from, n))
			}
			from += n
		}
		if pieces < v.N/2 {
			t.Errorf("%s: %d rows of 1 MiB and more in %d pieces", name, v.N, pieces)
		}
	}
}

func TestCredentials(t *testing.T) {
	c := newCredentials(Options{Users: map[string]string{"ada": "s3cret"}, Roles: map[string]Role{"ada": Reader}}.withDefaults())
	for _, wrong := range [][2]string{{"ada", ""}, {"ada", "s3cre"}, {"", ""}, {"bob", ""}, {"bob", "s3cret"}} {
		if c.verify(wrong[0], wrong[1]) {
			t.Errorf("%q was let in", wrong)
		}
	}
	if !c.verify("ada", "s3cret") || c.role("ada") != Reader {
		t.Error("ada was not let in as a reader")
	}
	token := c.issue("ada")
	if user, ok := c.tokenUser(token); !ok || user != "ada" {
		t.Error("a fresh token is unknown")
	}
	c.idle = -1
	c.expire()
	if _, ok := c.tokenUser(token); ok {
		t.Error("an expired token is good")
	}
}
