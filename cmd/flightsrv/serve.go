package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/flightsql"
	"github.com/tidemarkdb/tidemark/heapsize"
	"github.com/tidemarkdb/tidemark/monitor"
)

// shutdownGrace is how long running queries may go on after SIGTERM.
const shutdownGrace = 10 * time.Second

// serveConfig is what serve runs with: flags, or a JSON file with the same names, which flags override.
type serveConfig struct {
	Root             string            `json:"root"`
	Listen           string            `json:"listen"`
	HTTP             string            `json:"http"`
	ReadOnly         bool              `json:"read_only"`
	Name             string            `json:"name"`
	AllowPaths       []string          `json:"allow_paths"`
	MetricsNamespace string            `json:"metrics_namespace"`
	SpillDir         string            `json:"spill_dir"`
	PageCacheBytes   int64             `json:"page_cache_bytes"`
	MemoryBytes      int64             `json:"memory_bytes"`
	Retention        string            `json:"retention"`
	TLSCert          string            `json:"tls_cert"`
	TLSKey           string            `json:"tls_key"`
	Settings         map[string]string `json:"settings"`
	Users            map[string]string `json:"users"` // user to password; without users there is no authentication
	LogLevel         string            `json:"log_level"`
}

func serve(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	config, err := serveFlags(args, stdout)
	if err != nil {
		return err
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(config.LogLevel)); err != nil {
		return fmt.Errorf("%w: log level %q is not known, it is debug, info, warn or error", errUsage, config.LogLevel)
	}
	retention, err := time.ParseDuration(config.Retention)
	if err != nil || retention <= 0 {
		return fmt.Errorf("%w: retention %q is not a length of time; write it as 30m or 24h", errUsage, config.Retention)
	}
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level}))
	limit, restore := heapsize.Limit(config.MemoryBytes)
	defer restore()
	if config.PageCacheBytes > limit/2 {
		log.Warn("the page cache takes more than half of the memory the process may use: collecting garbage will take much of its time",
			"page cache", config.PageCacheBytes, "memory", limit)
	}
	e, err := engine.Open(ctx, engine.Options{
		Root: config.Root, ReadOnly: config.ReadOnly, Name: config.Name, Settings: config.Settings, AllowPaths: config.AllowPaths,
		MetricsNamespace: config.MetricsNamespace, SpillDir: config.SpillDir, PageCacheBytes: config.PageCacheBytes, Retention: retention, Log: log,
	})
	if err != nil {
		return err
	}
	defer e.Close()
	server, err := startServer(e, config, log)
	if err != nil {
		return err
	}
	scheme := "grpc"
	if config.TLSCert != "" {
		scheme = "grpc+tls"
	}
	fmt.Fprintf(stdout, "tidemark %s serves %s\n  Flight SQL  %s://%s\n", release, config.Root, scheme, server.flightAddr)
	if server.httpAddr != "" {
		fmt.Fprintf(stdout, "  metrics     http://%s/metrics\n", server.httpAddr)
	}
	select {
	case <-ctx.Done():
		log.Info("stopping: no new work is taken, running queries may finish", "grace", shutdownGrace)
	case err = <-server.failed:
	}
	return errors.Join(err, server.stop())
}

func serveFlags(args []string, stdout io.Writer) (serveConfig, error) {
	config := serveConfig{Listen: "127.0.0.1:31337", HTTP: "127.0.0.1:9090", LogLevel: "info", Retention: engine.DefaultRetention.String()}
	file := ""
	for i, a := range args { // the file first, so that flags override it
		name, value, joined := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if name != "config" {
			continue
		}
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		file = value
	}
	if file != "" {
		content, err := os.ReadFile(file)
		if err != nil {
			return config, err
		}
		d := json.NewDecoder(strings.NewReader(string(content)))
		d.DisallowUnknownFields()
		if err := d.Decode(&config); err != nil {
			return config, fmt.Errorf("configuration file %s: %w", file, err)
		}
	}
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	flags.String("config", "", "JSON `file` with the same settings; flags override it")
	flags.StringVar(&config.Root, "root", config.Root, "`directory` of the data root, made when it does not exist")
	flags.StringVar(&config.Listen, "listen", config.Listen, "`address` of Flight SQL")
	flags.StringVar(&config.HTTP, "http", config.HTTP, "`address` of /metrics, /healthz and /readyz; empty for none")
	flags.BoolVar(&config.ReadOnly, "read-only", config.ReadOnly, "refuse everything that changes the root, RESUME included")
	flags.StringVar(&config.Name, "name", config.Name, "`name` of this engine among those on the root")
	flags.StringVar(&config.MetricsNamespace, "metrics-namespace", config.MetricsNamespace, "first `word` of the metrics' names; tidemark when empty")
	flags.StringVar(&config.SpillDir, "spill-dir", config.SpillDir, "`directory` for temporary files; the system's when empty")
	flags.Int64Var(&config.PageCacheBytes, "page-cache-bytes", config.PageCacheBytes, "memory for decoded pages; 0 for 1 GiB")
	flags.Int64Var(&config.MemoryBytes, "memory-bytes", config.MemoryBytes, "memory the process should stay within; 0 for four fifths of the machine's or the control group's")
	flags.StringVar(&config.Retention, "retention", config.Retention, "how long older versions stay readable, as 30m or 24h")
	flags.StringVar(&config.TLSCert, "tls-cert", config.TLSCert, "PEM `file` with the server's certificate and its chain; plaintext when empty")
	flags.StringVar(&config.TLSKey, "tls-key", config.TLSKey, "PEM `file` with the certificate's key")
	flags.StringVar(&config.LogLevel, "log-level", config.LogLevel, "debug, info, warn or error")
	paths := listFlag(config.AllowPaths)
	flags.Var(&paths, "allow-path", "`directory` whose files SQL may read; may be repeated")
	if err := parseFlags(flags, args, stdout); err != nil {
		return config, err
	}
	config.AllowPaths = paths
	if config.Root == "" {
		return config, fmt.Errorf("%w: --root is required", errUsage)
	}
	return config, nil
}

// running is a started server.
type running struct {
	flight     *flightsql.Server
	http       *http.Server
	flightAddr string
	httpAddr   string
	failed     chan error
}

// startServer listens and serves in the background.
func startServer(e *engine.Engine, config serveConfig, log *slog.Logger) (*running, error) {
	options := flightsql.Options{Log: log, Users: config.Users}
	if config.TLSCert != "" || config.TLSKey != "" {
		certificate, err := tls.LoadX509KeyPair(config.TLSCert, config.TLSKey)
		if err != nil {
			return nil, fmt.Errorf("certificate for TLS: %w; --tls-cert and --tls-key name PEM files that belong together", err)
		}
		options.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	}
	if err := flightsql.CheckListen(config.Listen, options); err != nil {
		return nil, err
	}
	flightServer, err := flightsql.New(e, options)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", config.Listen)
	if err != nil {
		return nil, fmt.Errorf("listening for Flight SQL: %w; choose another address with --listen", err)
	}
	r := &running{flight: flightServer, flightAddr: listener.Addr().String(), failed: make(chan error, 2)}
	if config.HTTP != "" {
		httpListener, err := net.Listen("tcp", config.HTTP)
		if err != nil {
			listener.Close()
			return nil, fmt.Errorf("listening for metrics: %w; choose another address with --http, or none with --http ''", err)
		}
		r.httpAddr = httpListener.Addr().String()
		r.http = &http.Server{Handler: monitor.Handler(e), ReadHeaderTimeout: 10 * time.Second}
		go func() {
			if err := r.http.Serve(httpListener); !errors.Is(err, http.ErrServerClosed) {
				r.failed <- err
			}
		}()
	}
	go func() {
		if err := flightServer.Serve(listener); err != nil {
			r.failed <- err
		}
	}()
	return r, nil
}

// stop lets running queries finish for a while.
func (r *running) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownGrace)
	defer cancel()
	err := r.flight.Shutdown(ctx)
	if r.http != nil {
		err = errors.Join(err, r.http.Shutdown(ctx))
	}
	return err
}
