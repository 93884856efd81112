package sqlerr

import (
	"errors"
	"fmt"
	"io"
	"testing"
)

func TestErrorCarriesEveryPart(t *testing.T) {
	err := New(UndefinedColumn, "column %q does not exist", "amout").Hintf("did you mean %q?", "amount").At(8)
	want := `column "amout" does not exist at position 8 (SQLSTATE 42703); hint: did you mean "amount"?`
	if err.Error() != want {
		t.Errorf("got %s\nwant %s", err, want)
	}
	if err.At(3).Pos != 8 {
		t.Error("an inner position must win over an outer one")
	}
}

func TestFromKeepsTheInnermostError(t *testing.T) {
	inner := New(DivisionByZero, "division by zero")
	if got := From(fmt.Errorf("evaluating: %w", inner)); got != inner {
		t.Errorf("From = %v, want the wrapped error itself", got)
	}
	if got := Code(io.EOF); got != Internal {
		t.Errorf("Code(io.EOF) = %s, want %s", got, Internal)
	}
	if !errors.Is(New(IOError, "reading: %w", io.EOF), io.EOF) {
		t.Error("the cause is lost")
	}
}

func TestNearest(t *testing.T) {
	columns := []string{"amount", "customer_id", "order_id"}
	for name, want := range map[string]string{"amout": "amount", "AMOUNT_": "amount", "orderid": "order_id", "zzz": ""} {
		if got := Nearest(name, columns); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
}
