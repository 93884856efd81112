package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/source/generator"
	"github.com/tidemarkdb/tidemark/vec"
)

// demoOptions are the generator's options in the demonstration.
var demoOptions = map[string]string{"keys": "1000000", "rate": "10000", "seed": "42"}

const demoSetup = `
CREATE STREAM demo_changes FROM GENERATOR WITH (keys = 1000000, rate = 10000, seed = 42);
CREATE CDC TABLE demo (
  order_id BIGINT, customer_id BIGINT, amount NUMERIC(12, 2), status TEXT, updated_at TIMESTAMPTZ, version BIGINT,
  PRIMARY KEY (order_id) NOT ENFORCED) WITH (cascade_interval = '5 seconds');
ALTER CDC TABLE demo ATTACH STREAM demo_changes;
ALTER CDC TABLE demo RESUME`

const demoQuery = `SELECT count(*), sum(amount), max(updated_at) FROM demo`

func demo(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	seconds := flags.Int("seconds", 30, "how long changes flow; 0 until interrupted")
	root := flags.String("root", "", "`directory` of the data root, which must be new; a temporary one when empty")
	listen := flags.String("listen", "127.0.0.1:0", "`address` of Flight SQL; port 0 picks a free one")
	if err := parseFlags(flags, args, stdout); err != nil {
		return err
	}
	if *root == "" {
		dir, err := os.MkdirTemp("", "tidemark-demo-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		*root = dir
	}
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	e, err := engine.Open(ctx, engine.Options{Root: *root, Log: log, Settings: map[string]string{"execution.cdc.append_max_read_ms": "500"}})
	if err != nil {
		return err
	}
	defer e.Close()
	server, err := startServer(e, serveConfig{Listen: *listen}, log)
	if err != nil {
		return err
	}
	defer server.stop()
	d := &demonstration{engine: e, server: server, stdout: stdout}
	return d.run(ctx, time.Duration(*seconds)*time.Second)
}

// demonstration is a demo under way.
type demonstration struct {
	engine  *engine.Engine
	server  *running
	stdout  io.Writer
	session *engine.Session
}

func (d *demonstration) run(ctx context.Context, length time.Duration) error {
	session, err := d.engine.NewSession(engine.SessionOptions{})
	if err != nil {
		return err
	}
	defer session.Close()
	d.session = session
	if _, err := session.Query(ctx, demoSetup); err != nil {
		return err
	}
	fmt.Fprintf(d.stdout, "A million rows load, then 10,000 changes a second follow. Connect meanwhile:\n\n%s\n", d.snippet())
	client, err := dial(ctx, d.server.flightAddr, "", "", "")
	if err != nil {
		return err
	}
	defer client.close()
	deadline := make(<-chan time.Time)
	if length > 0 {
		deadline = time.After(length)
	}
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return d.verify(context.WithoutCancel(ctx))
		case err := <-d.server.failed:
			return err
		case <-deadline:
			return d.verify(ctx)
		case <-ticker.C:
		}
		if err := d.report(ctx, client); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

func (d *demonstration) snippet() string {
	return fmt.Sprintf(`pip install adbc-driver-flightsql adbc-driver-manager pyarrow pandas
python3 -c "
import adbc_driver_flightsql.dbapi as flight
with flight.connect('grpc://%s', autocommit=True) as db, db.cursor() as c:
    c.execute('SELECT status, count(*) AS orders, sum(amount) AS amount FROM demo GROUP BY status ORDER BY status')
    print(c.fetch_df())"
`, d.server.flightAddr)
}

// report prints one line of what happens: a query over Flight SQL, and the table's state.
func (d *demonstration) report(ctx context.Context, client *remote) error {
	started := time.Now()
	rows, err := one(ctx, client, demoQuery)
	if err != nil {
		return err
	}
	took := time.Since(started)
	state, err := one(ctx, client, `SELECT coalesce(phase, 'stopped'), coalesce(live_lag_ms, 0), coalesce(last_error, '') FROM information_schema.cdc_ingests`)
	if err != nil {
		return err
	}
	tablets, err := one(ctx, client, `SELECT count(*) FILTER (WHERE stage = 'base'), count(*) FILTER (WHERE stage = 'staging'),
		coalesce(sum(masked_rows), 0) FROM information_schema.tablets`)
	if err != nil {
		return err
	}
	fmt.Fprintf(d.stdout, "%-11s lag %4s ms | rows %9s | sum(amount) %s in %4d ms | tablets %s base + %s staging | masked rows %s %s\n",
		state[0], state[1], rows[0], rows[1], took.Milliseconds(), tablets[0], tablets[1], tablets[2], state[2])
	return nil
}

// one runs a query of one row and returns its values as text.
func one(ctx context.Context, c connection, query string) ([]string, error) {
	a, err := c.query(ctx, query)
	if err != nil {
		return nil, err
	}
	defer a.close()
	var out []string
	for {
		batch, err := a.next(ctx)
		if err != nil {
			return nil, err
		}
		if batch == nil {
			break
		}
		for _, col := range batch.Compact().Cols {
			if out = append(out, ""); !col.IsNull(0) {
				out[len(out)-1] = string(vec.AppendText(nil, col, 0))
			}
		}
	}
	if out == nil {
		return nil, errors.New("a query of one row gave none")
	}
	return out, nil
}

// verify stops the changes and compares every row of the table with the generator's own model at the same position.
func (d *demonstration) verify(ctx context.Context) error {
	if _, err := d.session.Query(ctx, "ALTER CDC TABLE demo SUSPEND"); err != nil {
		return err
	}
	position, err := one(ctx, &embedded{d.engine, d.session}, "SELECT position FROM information_schema.streams WHERE stream_name = 'demo_changes'")
	if err != nil {
		return err
	}
	if position[0] == "" {
		return errors.New("the initial load has not finished: give the demonstration more --seconds")
	}
	def := d.engine.Functions().Source("generator")
	at, err := def.ParsePosition(position[0])
	if err != nil {
		return err
	}
	result, err := d.session.Query(ctx, "SELECT * FROM demo")
	if err != nil {
		return err
	}
	defer result.Close()
	spec := extension.TableSpec{Columns: result.Schema, Key: []int{0}}
	model, err := generator.NewModel(spec, demoOptions)
	if err != nil {
		return err
	}
	if err := model.ApplyTo(at); err != nil {
		return err
	}
	var got generator.Checksum
	for {
		batch, err := result.Next(ctx)
		if err != nil {
			return err
		}
		if batch == nil {
			break
		}
		got.Add(batch)
	}
	if want := model.Checksum(); got != want {
		return fmt.Errorf("after %s changes the table has %d rows and the generator's model %d, or rows that differ", position[0], got.Rows, want.Rows)
	}
	fmt.Fprintf(d.stdout, "verified: %d live rows after %s changes, every one as the generator's model has it\n", got.Rows, position[0])
	return nil
}
