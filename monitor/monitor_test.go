package monitor

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/engine"
)

func TestPages(t *testing.T) {
	e, err := engine.Open(t.Context(), engine.Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	h := Handler(e)
	get := func(path string) (int, string) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w.Code, w.Body.String()
	}
	for path, want := range map[string]string{"/healthz": "ok", "/readyz": "ready", "/metrics": "tidemark_"} {
		if code, body := get(path); code != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: %d %.80q, want %q", path, code, body, want)
		}
	}
	e.Close()
	if code, body := get("/readyz"); code != http.StatusServiceUnavailable || !strings.Contains(body, "shutting down") {
		t.Errorf("/readyz of a closed engine: %d %q", code, body)
	}
	if code, _ := get("/healthz"); code != http.StatusOK {
		t.Errorf("/healthz of a closed engine: %d", code)
	}
}
