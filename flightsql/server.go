package flightsql

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"math"
	"net"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	fsql "github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// Role is what a user may do.
type Role string

// The roles.
const (
	Admin  Role = "admin"  // everything
	Reader Role = "reader" // statements that change no more than their own session
)

// Options configure a server. The zero value serves without authentication, on loopback only.
type Options struct {
	Log   *slog.Logger      // nil: none
	Users map[string]string // password by user; empty: no authentication
	Roles map[string]Role   // by user; a user without one is [Admin]
	TLS   *tls.Config       // nil: plaintext

	MaxMessageBytes int           // largest message accepted, such as a batch of an ingest; 0: 64 MiB
	MaxSessions     int           // 0: 10,000
	SessionIdle     time.Duration // after which a session ends and its transactions are rolled back; 0: 30 minutes
	ResultIdle      time.Duration // after which a result that nobody fetched is dropped; 0: 5 minutes
	TokenIdle       time.Duration // after which a token is forgotten; 0: 24 hours

	Version          string // of the product, as clients show it; "": dev
	MetricsNamespace string // "": tidemark
}

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.MaxMessageBytes = orDefault(o.MaxMessageBytes, 64<<20)
	o.MaxSessions = orDefault(o.MaxSessions, 10_000)
	o.SessionIdle = orDefault(o.SessionIdle, 30*time.Minute)
	o.ResultIdle = orDefault(o.ResultIdle, 5*time.Minute)
	o.TokenIdle = orDefault(o.TokenIdle, 24*time.Hour)
	o.Version = orDefault(o.Version, "dev")
	o.MetricsNamespace = orDefault(o.MetricsNamespace, "tidemark")
	return o
}

func orDefault[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}

// Server serves one engine. Make it with [New], run it with Serve, end it with Shutdown.
type Server struct {
	options Options
	handler *handler
	grpc    *grpc.Server
	health  *health.Server
	metrics *serverMetrics
	stop    sync.Once
}

// New returns a server of e that does not listen yet.
func New(e *engine.Engine, options Options) (*Server, error) {
	options = options.withDefaults()
	for user, role := range options.Roles {
		if _, known := options.Users[user]; !known {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "user %q has a role but no password", user).
				Hintf("add the user to the users, or remove the role")
		}
		if role != Admin && role != Reader {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "unknown role %q of user %q", role, user).
				Hintf("the roles are %q and %q", Admin, Reader)
		}
	}
	s := &Server{options: options, health: health.NewServer()}
	s.handler = newHandler(e, options)
	s.metrics = newServerMetrics(options.MetricsNamespace, s.handler.sessions)
	s.handler.metrics = s.metrics
	gate := &gate{handler: s.handler, metrics: s.metrics, log: options.Log}
	serverOptions := []grpc.ServerOption{
		grpc.MaxRecvMsgSize(options.MaxMessageBytes), grpc.MaxSendMsgSize(math.MaxInt32),
		grpc.StatsHandler(&connections{sessions: s.handler.sessions}),
		grpc.UnaryInterceptor(gate.unary), grpc.StreamInterceptor(gate.stream),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: time.Minute, Timeout: 20 * time.Second}), // notices dead peers
	}
	if options.TLS != nil {
		serverOptions = append(serverOptions, grpc.Creds(credentials.NewTLS(options.TLS)))
	}
	s.grpc = grpc.NewServer(serverOptions...)
	flight.RegisterFlightServiceServer(s.grpc, &service{FlightServer: fsql.NewFlightServer(s.handler), handler: s.handler})
	healthpb.RegisterHealthServer(s.grpc, s.health)
	return s, nil
}

// CheckListen returns an error when addr can be reached from other machines and options have no users.
func CheckListen(addr string, options Options) error {
	if len(options.Users) > 0 {
		return nil
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return sqlerr.New(sqlerr.InvalidParameterValue, "listen address %q: %w", addr, err).Hintf("write host:port, such as 127.0.0.1:31337")
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return sqlerr.New(sqlerr.InvalidAuthorization, "refusing to listen on %s without authentication", addr).
		Hintf("define users, or listen on 127.0.0.1")
}

// Serve accepts connections until Shutdown, then returns nil.
func (s *Server) Serve(listener net.Listener) error {
	if listener.Addr().Network() != "unix" {
		if err := CheckListen(listener.Addr().String(), s.options); err != nil {
			return errors.Join(err, listener.Close())
		}
	}
	return s.grpc.Serve(listener)
}

// Shutdown stops accepting, lets running RPCs end until ctx does and then interrupts them. Sessions end; idempotent.
func (s *Server) Shutdown(ctx context.Context) error {
	var err error
	s.stop.Do(func() {
		s.health.Shutdown()
		drained := make(chan struct{})
		go func() {
			s.grpc.GracefulStop()
			close(drained)
		}()
		select {
		case <-drained:
		case <-ctx.Done():
			err = ctx.Err()
			s.handler.cancel()
			s.grpc.Stop()
			<-drained
		}
		s.handler.cancel()
		s.handler.sessions.close()
	})
	return err
}

// Collectors returns the series of the server, to be registered once.
func (s *Server) Collectors() []prometheus.Collector { return s.metrics.collectors() }
