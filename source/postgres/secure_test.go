package postgres

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/integration/pgtest"
	"github.com/tidemarkdb/tidemark/integration/testcert"
	"github.com/tidemarkdb/tidemark/vec"
)

const secret = "a secret with 'quotes'"

// secured starts a server that lets the role app in over TLS with a password (SCRAM-SHA-256) only, and serves a table of
// which app has the rights that docs/sources/postgres.md asks for. Its certificate is for 127.0.0.1.
func secured(t *testing.T) (*pgtest.Server, *testcert.Authority) {
	t.Helper()
	server, authority := pgtest.Start(t), testcert.New(t)
	cert, key := authority.Server("127.0.0.1")
	server.Write("server.crt", cert)
	server.Write("server.key", key)
	server.Write("pg_hba.conf", []byte("host all postgres 127.0.0.1/32 trust\nhostssl all app 127.0.0.1/32 scram-sha-256\n"))
	server.Restart("ssl=on", "password_encryption=scram-sha-256")
	server.Exec(`CREATE TABLE t (id int PRIMARY KEY, note text); INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, 2000) i;
		CREATE ROLE app LOGIN REPLICATION PASSWORD ` + quoteLiteral(secret) + `; GRANT SELECT ON t TO app`)
	publish(server)
	return server, authority
}

// as returns the server's connection string for app, with more of it appended.
func as(server *pgtest.Server, password, more string) string {
	out := strings.Replace(server.DSN, "user=postgres", "user=app", 1)
	out = strings.Replace(out, "sslmode=disable", "", 1)
	return out + " password='" + strings.ReplaceAll(password, "'", `\'`) + "' " + more
}

func TestPasswordsAndTLS(t *testing.T) {
	server, authority := secured(t)
	spec := target("*id", vec.Int32Type, "note", vec.TextType)
	verified := "sslmode=verify-full sslrootcert=" + authority.Path
	m := newMirror(t, server, spec, "connection", as(server, secret, verified))
	if err := m.source.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.load()
	m.follow()
	server.Exec("UPDATE t SET note = 'changed' WHERE id % 3 = 0; DELETE FROM t WHERE id < 10")
	m.catchUp()
	m.equal()
	if got := server.Exec("SELECT count(*) > 0, bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'app'")[0]; got[0] != "t" || got[1] != "t" {
		t.Errorf("sessions of app, encrypted: %v", got)
	}
	m.close()

	port := func(connection, host string) string {
		return strings.Replace(connection, "host=127.0.0.1", "host="+host, 1)
	}
	if addrs, err := net.LookupHost("localhost"); err != nil || len(addrs) == 0 {
		t.Fatalf("localhost has no address: %v", err)
	}
	for name, c := range map[string]struct {
		connection string
		want       []string
	}{
		"wrong password":       {as(server, "wrong"+secret, verified), []string{"28P01", "password authentication failed", "check the user and password"}},
		"no password":          {as(server, "", verified), []string{"cannot connect"}},
		"no encryption":        {as(server, secret, "sslmode=disable"), []string{"28000", "no encryption", "sslmode=verify-full"}},
		"another authority":    {as(server, secret, "sslmode=verify-full sslrootcert="+testcert.New(t).Path), []string{"08006", "unknown authority", "sslrootcert"}},
		"the system's trust":   {as(server, secret, "sslmode=verify-full"), []string{"08006", "unknown authority", "sslrootcert"}},
		"another name":         {port(as(server, secret, verified), "localhost"), []string{"08006", "localhost", "name the host"}},
		"authority not a file": {as(server, secret, "sslmode=verify-full sslrootcert=/nowhere/ca.pem"), []string{"cannot be read", "/nowhere/ca.pem"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMirror(t, server, spec, "connection", c.connection)
			err := m.source.Check(t.Context())
			wantError(t, err, name == "authority not a file", c.want...)
			if strings.Contains(fmt.Sprint(err), "secret with") {
				t.Errorf("the error shows the password: %v", err)
			}
		})
	}
	t.Run("no TLS at the source", func(t *testing.T) {
		plain := pgtest.Database(t)
		m := newMirror(t, plain, spec, "connection", strings.Replace(plain.DSN, "sslmode=disable", "sslmode=require", 1))
		wantError(t, m.source.Check(t.Context()), false, "refused TLS connection", "turn ssl on at the source")
	})
}

// TestRightsTakenAway revokes rights of the role while the stream runs and between two of its connections.
func TestRightsTakenAway(t *testing.T) {
	server, authority := secured(t)
	m := newMirror(t, server, target("*id", vec.Int32Type, "note", vec.TextType), "check_interval", "50ms",
		"connection", as(server, secret, "sslmode=verify-full sslrootcert="+authority.Path))
	m.load()
	m.follow()
	server.Exec("REVOKE SELECT ON t FROM app")
	wantError(t, m.fail(), true, "may not read public.t", "GRANT SELECT ON public.t TO role")
	m.close()
	server.Exec("GRANT SELECT ON t TO app; ALTER ROLE app NOREPLICATION")
	wantError(t, m.tryFollow(), false, "42501", "ALTER ROLE app REPLICATION")
	server.Exec("ALTER ROLE app REPLICATION PASSWORD 'another'")
	wantError(t, m.tryFollow(), false, "28P01", "check the user and password")
	server.Exec("ALTER ROLE app PASSWORD " + quoteLiteral(secret) + "; ALTER ROLE app NOLOGIN")
	wantError(t, m.tryFollow(), false, "28000", "not permitted to log in")
	server.Exec("ALTER ROLE app LOGIN; UPDATE t SET note = 'after' WHERE id = 7")
	m.follow()
	m.catchUp()
	m.equal()
}
