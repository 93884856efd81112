package engine

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/files"
	"github.com/tidemarkdb/tidemark/function"
	"github.com/tidemarkdb/tidemark/metrics"
	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/parquetstore"
	"github.com/tidemarkdb/tidemark/pgcatalog"
	"github.com/tidemarkdb/tidemark/source/generator"
	"github.com/tidemarkdb/tidemark/source/mongodb"
	"github.com/tidemarkdb/tidemark/source/postgres"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablestore"
)

// Database is the name of the one database of a root, as catalogs and labels show it.
const Database = "tidemark"

// catalogPoll is how often commits of other engines on the root are looked for.
const catalogPoll = 100 * time.Millisecond

// DefaultRetention is how long versions that are not the newest stay readable unless Options say otherwise.
const DefaultRetention = catalog.DefaultRetention

// minRetention is the shortest retention of a root.
const minRetention = time.Minute

// Options open an engine. Root or Store is required.
type Options struct {
	Root  string         // directory of the data root, made when it does not exist
	Store objstore.Store // in place of Root

	Name     string // of this engine among those that share the root; "": host, process and a random part
	ReadOnly bool   // refuse everything that changes the root, RESUME included

	// Settings are initial values by name, as SET takes them.
	Settings map[string]string
	// AllowPaths are folders whose files SQL may read. AllowAnyPath lifts the limit, for a shell of a user.
	AllowPaths   []string
	AllowAnyPath bool

	// Retention is how long versions that are not the newest stay readable, and what they alone need on disk; 0: an hour.
	// Less than a minute is refused: engines that share a root must have seen each other's commits by then.
	Retention time.Duration

	PageCacheBytes   int64  // of decoded pages; 0: 1 GiB
	SpillDir         string // folder for temporary files; "": the system's
	MetricsNamespace string // "": tidemark
	Log              *slog.Logger

	// Register adds functions and sources to the built-in ones.
	Register func(*extension.Registry)
}

// Engine is one process over a data root. Any goroutine may use it.
type Engine struct {
	options   Options
	name      string
	log       *slog.Logger
	catalog   *catalog.Catalog
	sequences *sequences
	store     *tablestore.Store
	functions *extension.Registry
	settings  values
	spill     *spillFolder

	cdcMetrics  *metrics.CDC
	registry    *prometheus.Registry
	workers     workers
	maintenance maintenance
	queries     queryLog
	stats       statsCache
	numbering   pgcatalog.Numbering

	ctx    context.Context // ends when the engine closes
	cancel context.CancelFunc
	tasks  sync.WaitGroup
	once   sync.Once
}

// Open opens a data root, making one in an empty folder.
func Open(ctx context.Context, options Options) (*Engine, error) {
	store, err := openStore(options)
	if err != nil {
		return nil, err
	}
	if options.Retention != 0 && options.Retention < minRetention {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "a retention of %v is too short", options.Retention).
			Hintf("give %v or more", minRetention)
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if options.MetricsNamespace == "" {
		options.MetricsNamespace = metrics.DefaultNamespace
	}
	if options.Name == "" {
		options.Name = engineName()
	}
	e := &Engine{options: options, name: options.Name, log: options.Log}
	for name, value := range options.Settings {
		if err := e.settings.put(name, value); err != nil {
			return nil, err
		}
	}
	e.catalog, err = catalog.Open(ctx, store, catalog.OpenOptions{
		ReadOnly: options.ReadOnly, Engine: e.name, Retention: options.Retention, Report: func(err error) { e.log.Warn("catalog upkeep", "error", err) },
	})
	if err != nil {
		return nil, fmt.Errorf("opening the data root: %w", err)
	}
	e.sequences = &sequences{catalog: e.catalog}
	if e.spill, err = newSpillFolder(options.SpillDir, e.log); err != nil {
		e.catalog.Close()
		return nil, err
	}
	e.store = tablestore.New(store, tablestore.Options{PageBytes: options.PageCacheBytes})
	e.functions = builtins(options, e.store.Pages)
	e.cdcMetrics = metrics.NewCDC(options.MetricsNamespace)
	e.registry = prometheus.NewRegistry()
	e.registry.MustRegister(e.cdcMetrics)
	e.registry.MustRegister(e.queries.collectors(options.MetricsNamespace)...)
	e.ctx, e.cancel = context.WithCancel(context.Background())
	e.background("catalog watch", func(ctx context.Context) {
		e.catalog.Watch(ctx, catalogPoll, func(err error) { e.log.Warn("refreshing the catalog", "error", err) })
	})
	e.background("worker supervision", e.supervise)
	e.background("cache upkeep", e.upkeep)
	if !options.ReadOnly {
		e.background("table maintenance", e.maintain)
	}
	return e, nil
}

func openStore(options Options) (objstore.Store, error) {
	switch {
	case options.Store != nil:
		return options.Store, nil
	case options.Root == "":
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "no data root given").Hintf("name a directory")
	}
	root, err := filepath.Abs(options.Root)
	if err != nil {
		return nil, sqlerr.New(sqlerr.IOError, "data root %s: %w", options.Root, err)
	}
	return objstore.OpenLocal(root)
}

// builtins returns the registry of everything that ships with the engine, and what options add.
func builtins(options Options, pages *parquetstore.Cache) *extension.Registry {
	r := extension.NewRegistry()
	function.RegisterAll(r)
	files.Register(r, pages)
	r.RegisterSource(generator.Source())
	r.RegisterSource(postgres.Source())
	r.RegisterSource(mongodb.Source())
	if options.Register != nil {
		options.Register(r)
	}
	return r
}

func engineName() string {
	host, _ := os.Hostname()
	var random [4]byte
	rand.Read(random[:])
	return fmt.Sprintf("%s-%d-%s", host, os.Getpid(), hex.EncodeToString(random[:]))
}

// background runs task until the engine closes; Close waits for it. A panic in it is logged and ends the task.
func (e *Engine) background(name string, task func(ctx context.Context)) {
	e.tasks.Go(func() {
		if err := guard(func() error { task(e.ctx); return nil }); err != nil {
			e.log.Error("background task ended", "task", name, "error", err)
		}
	})
}

// Close stops workers, waits for what they are committing, and releases the root; idempotent. Results still open fail.
func (e *Engine) Close() error {
	var err error
	e.once.Do(func() {
		e.workers.stopAll(e)
		e.cancel()
		e.tasks.Wait()
		returned := e.sequences.close(context.Background())
		err = errors.Join(returned, e.store.Close(), e.catalog.Close(), e.spill.remove())
	})
	return err
}

// Name returns the engine's name among those that share its root.
func (e *Engine) Name() string { return e.name }

// Functions returns what is registered.
func (e *Engine) Functions() *extension.Registry { return e.functions }

// Metrics returns the registry behind /metrics.
func (e *Engine) Metrics() *prometheus.Registry { return e.registry }

// Ready reports whether the engine can answer queries: the error says why not.
func (e *Engine) Ready(ctx context.Context) error {
	if e.ctx.Err() != nil {
		return sqlerr.New(sqlerr.AdminShutdown, "the engine is shutting down")
	}
	_, err := e.catalog.Refresh(ctx)
	return err
}

// sweepInterval is how often files past their retention are deleted, orphanInterval how often those are looked for that
// no commit named, forgetInterval how often the caches let go of files
// that left the newest snapshot.
const (
	sweepInterval  = time.Minute
	orphanInterval = time.Hour
	forgetInterval = 5 * time.Second
)

// upkeep empties the caches of what is gone and, while this engine may write, deletes what retention no longer protects.
func (e *Engine) upkeep(ctx context.Context) {
	ticker := time.NewTicker(forgetInterval)
	defer ticker.Stop()
	forgotten, swept, looked := e.catalog.Snapshot().Version(), time.Now(), time.Time{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		forgotten = e.forget(forgotten)
		if !e.options.ReadOnly && time.Since(swept) >= sweepInterval {
			e.sweep(ctx)
			swept = time.Now()
			if time.Since(looked) >= orphanInterval {
				e.sweepOrphans(ctx)
				looked = time.Now()
			}
		}
	}
}

// forget empties the caches of files that commits after a version removed, and returns the version it went to.
func (e *Engine) forget(after uint64) uint64 {
	snapshot := e.catalog.Snapshot()
	if err := e.store.ForgetFiles(snapshot.Forgotten(after)); err != nil {
		e.log.Warn("closing files that are gone", "error", err)
	}
	return snapshot.Version()
}

func (e *Engine) sweepOrphans(ctx context.Context) {
	files, err := e.catalog.SweepOrphans(ctx)
	if err != nil && ctx.Err() == nil {
		e.log.Warn("sweeping files that no commit named", "error", err)
	} else if files > 0 {
		e.log.Info("swept files that no commit named", "files", files)
	}
}

func (e *Engine) sweep(ctx context.Context) {
	swept, err := e.catalog.Sweep(ctx)
	if err != nil && ctx.Err() == nil {
		e.log.Warn("sweeping old files", "error", err)
	} else if swept.Files > 0 {
		e.log.Info("swept old files", "files", swept.Files, "log_entries", swept.LogEntries)
	}
}
