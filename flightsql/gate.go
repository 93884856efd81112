package flightsql

import (
	"context"
	"log/slog"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
)

// gate is what every RPC passes: authentication, recovery from panics, statuses, metrics.
type gate struct {
	handler *handler
	metrics *serverMetrics
	log     *slog.Logger
}

// exempt reports RPCs that need no authentication: health checks and the handshake, which authenticates by itself.
func exempt(method string) bool { return strings.HasPrefix(method, "/grpc.health.") }

func (g *gate) unary(ctx context.Context, request any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (response any, err error) {
	err = g.pass(ctx, info.FullMethod, func(ctx context.Context) (err error) {
		response, err = next(ctx, request)
		return err
	})
	return response, err
}

func (g *gate) stream(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	return g.pass(stream.Context(), info.FullMethod, func(ctx context.Context) error {
		return next(server, &authenticatedStream{stream, ctx})
	})
}

type authenticatedStream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s *authenticatedStream) Context() context.Context { return s.ctx }

func (g *gate) pass(ctx context.Context, method string, next func(context.Context) error) (err error) {
	start := time.Now()
	defer func() {
		g.metrics.observe(path.Base(method), status.Code(err), time.Since(start))
	}()
	if !exempt(method) {
		c, err := g.handler.credentials.authenticate(ctx)
		if err != nil {
			return err
		}
		ctx = context.WithValue(ctx, callerKey{}, c)
	}
	return toStatus(ctx, g.guard(method, func() error { return next(ctx) }))
}

// guard turns a panic into an error; the stack goes to the log.
func (g *gate) guard(method string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			g.log.Error("panic in an RPC", "method", method, "panic", p, "stack", string(debug.Stack()))
			err = status.Errorf(codes.Internal, "internal error: %v; this is a fault of the server: please report it with the server's log", p)
		}
	}()
	return f()
}

// connections numbers connections, and ends the sessions whose key is a connection with it.
type connections struct {
	sessions *sessions
	last     atomic.Int64
}

type connectionKey struct{}

func connectionOf(ctx context.Context) string {
	id, _ := ctx.Value(connectionKey{}).(string)
	return id
}

func (c *connections) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context {
	return context.WithValue(ctx, connectionKey{}, strconv.FormatInt(c.last.Add(1), 10))
}

func (c *connections) HandleConn(ctx context.Context, event stats.ConnStats) {
	if _, ended := event.(*stats.ConnEnd); ended {
		c.sessions.endConnection(connectionOf(ctx))
	}
}

func (c *connections) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }
func (c *connections) HandleRPC(context.Context, stats.RPCStats)                       {}

// endConnection ends the sessions of callers without a token on a connection.
func (r *sessions) endConnection(id string) {
	key := "connection " + id
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, s := range r.byKey {
		if k == key || strings.HasPrefix(k, key+" ") {
			r.remove(s)
		}
	}
}
