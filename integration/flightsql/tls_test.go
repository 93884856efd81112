package flightsql

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tidemarkdb/tidemark/integration/testcert"
)

// TestTLS drives the released program: a server with a certificate, ADBC and the shell as its clients.
func TestTLS(t *testing.T) {
	folder := t.TempDir()
	binary := filepath.Join(folder, "flightsrv")
	if out, err := exec.Command("go", "build", "-o", binary, "github.com/tidemarkdb/tidemark/cmd/flightsrv").CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	authority := testcert.New(t)
	certPEM, keyPEM := authority.Server("127.0.0.1")
	cert, key := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	for path, content := range map[string][]byte{cert: certPEM, key: keyPEM} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config := filepath.Join(folder, "config.json")
	if err := os.WriteFile(config, []byte(`{"users": {"ada": "s3cret"}, "listen": "127.0.0.1:0", "http": "", "log_level": "error"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	serve := exec.Command(binary, "serve", "--root", filepath.Join(folder, "root"), "--config", config, "--tls-cert", cert, "--tls-key", key, "--spill-dir", folder)
	output, err := serve.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	serve.Stderr = os.Stderr
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		serve.Process.Signal(syscall.SIGTERM)
		if err := serve.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	address := ""
	for lines := bufio.NewScanner(output); address == "" && lines.Scan(); {
		if _, after, found := strings.Cut(lines.Text(), "grpc+tls://"); found {
			address = after
		}
	}
	if address == "" {
		t.Fatal("the server did not say where it listens with TLS")
	}
	python(t, "tls.py", "grpc+tls://"+address, authority.Path)
	shell := func(args ...string) (string, error) {
		cmd := exec.Command(binary, append([]string{"sql", "--user", "ada", "--format", "csv", "-c", "SELECT 6 * 7 AS answer"}, args...)...)
		cmd.Env = append(os.Environ(), "TIDEMARK_PASSWORD=s3cret")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := shell("--addr", "grpc+tls://"+address, "--tls-ca", authority.Path); err != nil || out != "answer\n42\n" {
		t.Errorf("the shell with the authority: %v, %q", err, out)
	}
	for _, args := range [][]string{{"--addr", "grpc+tls://" + address}, {"--addr", address}, {"--addr", "http://" + address}} {
		if out, err := shell(args...); err == nil {
			t.Errorf("the shell with %v got %q", args, out)
		}
	}
}
