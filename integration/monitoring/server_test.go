package monitoring

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/integration/cache"
	. "github.com/tidemarkdb/tidemark/integration/enginetest"
)

// repository is where this package lies two folders below.
const repository = "../.."

// program returns the path of prometheus or promtool, and fetches both when neither is installed.
func program(t *testing.T, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	var path string
	err := cache.Fill("prometheus", func(folder string) error {
		path = filepath.Join(folder, "usr", "bin", name)
		if _, err := os.Stat(path); err == nil {
			return nil
		}
		fetch := exec.Command("sh", "-ec", "apt-get download -q prometheus || { apt-get update -q; apt-get download -q prometheus; }; for f in prometheus_*.deb; do dpkg -x $f .; done")
		fetch.Dir = folder
		if out, err := fetch.CombinedOutput(); err != nil {
			return fmt.Errorf("Debian's package prometheus is neither installed nor can it be fetched: %w\n%s", err, out)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// server is a running Prometheus.
type server struct {
	t   *testing.T
	url string
}

// start runs Prometheus with the project's rules, scraping one target several times a second.
func start(t *testing.T, target string) *server {
	t.Helper()
	folder := t.TempDir()
	rules, err := filepath.Abs(filepath.Join(repository, "deploy", "prometheus", "alerts.yml"))
	if err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf(`global: {scrape_interval: 250ms, scrape_timeout: 250ms, evaluation_interval: 250ms}
rule_files: ["%s"]
scrape_configs: [{job_name: tidemark, static_configs: [{targets: ["%s"]}]}]
`, rules, target)
	path := filepath.Join(folder, "prometheus.yml")
	if err := os.WriteFile(path, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	var log bytes.Buffer
	command := exec.Command(program(t, "prometheus"), "--config.file="+path, "--storage.tsdb.path="+filepath.Join(folder, "data"),
		"--web.listen-address="+address)
	command.Stdout, command.Stderr = &log, &log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if t.Failed() {
			t.Logf("the server's log: %.2000s", log.String())
		}
	})
	s := &server{t, "http://" + address}
	Until(t, "Prometheus to be ready", func() bool {
		response, err := http.Get(s.url + "/-/ready")
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	return s
}

// sample is one series of an answer.
type sample struct {
	Metric map[string]string `json:"metric"`
	Value  [2]any            `json:"value"`
}

func (s sample) number() float64 {
	text, _ := s.Value[1].(string)
	v, _ := strconv.ParseFloat(text, 64)
	return v
}

// query evaluates an expression now; an expression the server refuses fails the test.
func (s *server) query(expression string) []sample {
	s.t.Helper()
	var answer struct {
		Status, Error string
		Data          struct {
			Result []sample `json:"result"`
		}
	}
	client := http.Client{Timeout: 10 * time.Second}
	response, err := client.Get(s.url + "/api/v1/query?query=" + url.QueryEscape(expression))
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		s.t.Fatal(err)
	}
	if answer.Status != "success" {
		s.t.Fatalf("%s: %s", expression, answer.Error)
	}
	return answer.Data.Result
}

// until evaluates an expression until its only series passes.
func (s *server) until(expression string, passes func(sample) bool) {
	s.t.Helper()
	Until(s.t, expression, func() bool {
		got := s.query(expression)
		return len(got) == 1 && passes(got[0])
	})
}

func positive(x sample) bool { return x.number() > 0 }

func promtool(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command(program(t, "promtool"), args...).CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
