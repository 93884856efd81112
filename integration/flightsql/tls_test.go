package flightsql

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// certificate writes a self-signed certificate for loopback and its key into a folder.
func certificate(t *testing.T, folder string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "tidemark test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, content []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", signed), write("key.pem", "PRIVATE KEY", secret)
}

// TestTLS drives the released program: a server with a certificate, ADBC and the shell as its clients.
func TestTLS(t *testing.T) {
	folder := t.TempDir()
	binary := filepath.Join(folder, "flightsrv")
	if out, err := exec.Command("go", "build", "-o", binary, "github.com/tidemarkdb/tidemark/cmd/flightsrv").CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	cert, key := certificate(t, folder)
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
	python(t, "tls.py", "grpc+tls://"+address, cert)
	shell := func(args ...string) (string, error) {
		cmd := exec.Command(binary, append([]string{"sql", "--user", "ada", "--format", "csv", "-c", "SELECT 6 * 7 AS answer"}, args...)...)
		cmd.Env = append(os.Environ(), "TIDEMARK_PASSWORD=s3cret")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := shell("--addr", "grpc+tls://"+address, "--tls-ca", cert); err != nil || out != "answer\n42\n" {
		t.Errorf("the shell with the authority: %v, %q", err, out)
	}
	for _, args := range [][]string{{"--addr", "grpc+tls://" + address}, {"--addr", address}, {"--addr", "http://" + address}} {
		if out, err := shell(args...); err == nil {
			t.Errorf("the shell with %v got %q", args, out)
		}
	}
}
