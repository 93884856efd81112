package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	arrowsql "github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// maxMessageBytes is the largest batch a server may send.
const maxMessageBytes = 64 << 20

// remote is a connection to a server.
type remote struct {
	client *arrowsql.Client
	header metadata.MD
}

// transport reads an address as HOST:PORT, grpc://HOST:PORT or grpc+tls://HOST:PORT. With an authority file, TLS is meant
// and the server's certificate must come from one in it; without, from one the system trusts.
func transport(addr, authority string) (string, credentials.TransportCredentials, error) {
	scheme, host, found := strings.Cut(addr, "://")
	switch {
	case !found && authority == "":
		return addr, insecure.NewCredentials(), nil
	case !found:
		host = addr
	case scheme == "grpc" && authority == "", scheme == "grpc+tcp" && authority == "":
		return host, insecure.NewCredentials(), nil
	case scheme != "grpc+tls":
		return "", nil, fmt.Errorf("%w: address %q: write HOST:PORT or grpc+tls://HOST:PORT", errUsage, addr)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if authority != "" {
		content, err := os.ReadFile(authority)
		if err != nil {
			return "", nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(content) {
			return "", nil, fmt.Errorf("%s holds no certificate in PEM form", authority)
		}
	}
	return host, credentials.NewTLS(config), nil
}

// dial connects to a server and, with a user, authenticates.
func dial(ctx context.Context, addr, authority, user, password string) (*remote, error) {
	host, creds, err := transport(addr, authority)
	if err != nil {
		return nil, err
	}
	client, err := arrowsql.NewClient(host, nil, nil, grpc.WithTransportCredentials(creds),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessageBytes)))
	if err != nil {
		return nil, err
	}
	r := &remote{client: client}
	if user != "" {
		authenticated, err := client.Client.AuthenticateBasicToken(ctx, user, password)
		if err != nil {
			client.Close()
			return nil, serverError(err)
		}
		r.header, _ = metadata.FromOutgoingContext(authenticated)
	}
	return r, nil
}

// with returns a context that carries the credentials.
func (r *remote) with(ctx context.Context) context.Context {
	if r.header == nil {
		return ctx
	}
	return metadata.NewOutgoingContext(ctx, r.header)
}

func (r *remote) query(ctx context.Context, text string) (*answer, error) {
	info, err := r.client.Execute(r.with(ctx), text)
	if err != nil {
		return nil, serverError(err)
	}
	a := &answer{tag: "OK", close: func() {}, next: func(context.Context) (*vec.Batch, error) { return nil, nil }}
	if len(info.Endpoint) == 0 {
		return a, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	reader, err := r.client.DoGet(r.with(ctx), info.Endpoint[0].Ticket)
	if err != nil {
		cancel()
		return nil, serverError(err)
	}
	if a.schema, err = vec.FromArrowSchema(reader.Schema()); err != nil {
		cancel()
		reader.Release()
		return nil, err
	}
	a.close = func() {
		cancel()
		reader.Release()
	}
	a.next = func(context.Context) (*vec.Batch, error) { return readBatch(reader) }
	return a, nil
}

func readBatch(reader *flight.Reader) (*vec.Batch, error) {
	if !reader.Next() {
		if err := reader.Err(); err != nil && !errors.Is(err, io.EOF) {
			return nil, serverError(err)
		}
		return nil, nil
	}
	return vec.FromArrow(reader.RecordBatch())
}

// serverError keeps the server's text without gRPC's decoration.
func serverError(err error) error {
	if s, ok := status.FromError(err); ok {
		return errors.New(s.Message())
	}
	var own *sqlerr.Error
	if errors.As(err, &own) {
		return own
	}
	return err
}

func (r *remote) zone() *time.Location { return time.UTC }

func (r *remote) close() { r.client.Close() }
