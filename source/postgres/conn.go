package postgres

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// connectTimeout bounds the time to connect when the connection string sets none.
const connectTimeout = 15 * time.Second

// PostgreSQL's SQLSTATEs that decide what to do next.
const (
	stateInUse          = "55006" // the slot is active
	statePrerequisite   = "55000" // cannot read from the slot any more
	stateUndefined      = "42704" // the publication or the slot does not exist
	stateNotEnough      = "42501" // privilege
	stateDuplicate      = "42710"
	stateUndefinedTable = "42P01"
)

// sessionSettings fix the text forms that values are sent in and keep the role's limits for interactive work away
// from long reads.
var sessionSettings = map[string]string{
	"application_name": "tidemark", "client_encoding": "UTF8", "datestyle": "ISO, YMD", "intervalstyle": "postgres",
	"extra_float_digits": "3", "bytea_output": "hex", "timezone": "UTC", "statement_timeout": "0",
	"idle_in_transaction_session_timeout": "0", "lock_timeout": "0",
}

// connect opens a session; a replication session takes replication commands.
func (c config) connect(ctx context.Context, replication bool) (*pgconn.PgConn, error) {
	cfg, err := pgconn.ParseConfig(c.connection)
	if err != nil {
		return nil, extension.Permanent(sqlerr.New(sqlerr.InvalidParameterValue, "the option connection cannot be read: %w", err).
			Hintf("write it as postgres://user:password@host:port/database"))
	}
	for name, value := range sessionSettings {
		cfg.RuntimeParams[name] = value
	}
	delete(cfg.RuntimeParams, "replication")
	if replication {
		cfg.RuntimeParams["replication"] = "database"
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = connectTimeout
	}
	conn, err := pgconn.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, connectError(cfg, replication, err)
	}
	return conn, nil
}

func connectError(cfg *pgconn.Config, replication bool, err error) error {
	place := fmt.Sprintf("database %q at %s:%d as %q", cfg.Database, cfg.Host, cfg.Port, cfg.User)
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		out := sqlerr.New(sqlerr.ConnectionFailure, "cannot connect to %s: %w", place, err)
		if hint := encryptionHint(err); hint != "" {
			return out.Hintf("%s", hint)
		}
		return out.Hintf("check that the server runs and is reachable from here")
	}
	out := sqlerr.New(pg.Code, "cannot connect to %s: %s", place, pg.Message)
	switch {
	case replication && pg.Code == stateNotEnough:
		return out.Hintf("grant the role replication at the source: ALTER ROLE %s REPLICATION", niceIdent(cfg.User))
	case pg.Code == sqlerr.InvalidAuthorization && strings.Contains(pg.Message, "no encryption"):
		return out.Hintf("the source may want TLS of this user: use sslmode=verify-full in the option connection; check pg_hba.conf at the source")
	case pg.Code == sqlerr.InvalidPassword || pg.Code == sqlerr.InvalidAuthorization:
		return out.Hintf("check the user and password in the option connection, and pg_hba.conf at the source")
	case pg.Code == "53300":
		return out.Hintf("raise max_connections or max_wal_senders at the source")
	}
	return out
}

// encryptionHint says what to do when the two sides do not agree on TLS, "" when that is not what failed.
func encryptionHint(err error) string {
	var (
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		invalid   x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &authority):
		return "the server's certificate is not signed by an authority trusted here: name the authority's certificate as sslrootcert in the option connection"
	case errors.As(err, &name):
		return "name the host as the server's certificate does, or give the server a certificate for this host"
	case errors.As(err, &invalid):
		return "renew the server's certificate"
	case strings.Contains(err.Error(), "refused TLS connection"):
		return "turn ssl on at the source, or choose another sslmode in the option connection"
	}
	return ""
}

// closeConn ends a session without waiting long for a peer that is gone.
func closeConn(conn *pgconn.PgConn) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = conn.Close(ctx)
}

// rows runs a query and returns its values as text, nil for NULL.
func rows(ctx context.Context, conn *pgconn.PgConn, query string, args ...string) ([][]*string, error) {
	params := make([][]byte, len(args))
	for i, a := range args {
		params[i] = []byte(a)
	}
	result := conn.ExecParams(ctx, query, params, nil, nil, nil).Read()
	if result.Err != nil {
		return nil, result.Err
	}
	return texts(result.Rows), nil
}

// simple runs one command of the simple protocol, the only one a replication session speaks.
func simple(ctx context.Context, conn *pgconn.PgConn, command string) ([][]*string, error) {
	results, err := conn.Exec(ctx, command).ReadAll()
	if err != nil {
		return nil, err
	}
	var out [][]*string
	for _, r := range results {
		out = append(out, texts(r.Rows)...)
	}
	return out, nil
}

func texts(raw [][][]byte) [][]*string {
	out := make([][]*string, len(raw))
	for i, row := range raw {
		for _, value := range row {
			if value == nil {
				out[i] = append(out[i], nil)
				continue
			}
			s := string(value)
			out[i] = append(out[i], &s)
		}
	}
	return out
}

// str returns the text of a value, "" for NULL.
func str(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// sourceError gives what the server or the connection reported the shape of our errors. It is transient.
func sourceError(doing string, err error) error {
	if err == nil {
		return nil
	}
	var ours *sqlerr.Error
	if errors.As(err, &ours) {
		return err
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		out := sqlerr.New(pg.Code, "%s: the source reports: %s", doing, pg.Message)
		if pg.Detail != "" {
			out = out.Detailf("%s", pg.Detail)
		}
		if pg.Hint != "" {
			out = out.Hintf("%s", pg.Hint)
		}
		return out
	}
	return sqlerr.New(sqlerr.ConnectionFailure, "%s: the connection to the source failed: %w", doing, err).
		Hintf("it is tried again; check the source and the network if it persists")
}

// state returns the SQLSTATE the server reported, "" when err is not its report.
func state(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}
