package mongodb

import (
	"context"
	"errors"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// selectionTimeout bounds the wait for a primary when the connection string sets no bound.
const selectionTimeout = 15 * time.Second

// MongoDB's error codes that decide what to do next.
const (
	codeFailedToParse        = 9
	codeUnauthorized         = 13
	codeAuthenticationFailed = 18
	codeNamespaceNotFound    = 26
	codeCappedPositionLost   = 136
	codeInvalidResumeToken   = 260
	codeChangeStreamFatal    = 280
	codeHistoryLost          = 286
	codeObjectTooLarge       = 10334
	codeNoReplicaSet         = 40573
)

// clientOptions reads a connection string.
func clientOptions(connection string) (*options.ClientOptions, error) {
	o := options.Client().ApplyURI(connection)
	if err := o.Validate(); err != nil {
		// The driver's message may quote the string, which holds the password.
		text := strings.ReplaceAll(err.Error(), connection, "...")
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "the option connection cannot be read: %s", text).
			Hintf("write it as mongodb://user:password@host:port/?replicaSet=name; percent-encode special characters of user and password")
	}
	o.SetAppName("tidemark")
	o.SetReadConcern(readconcern.Majority()) // what is read can not be rolled back by an election
	if o.ServerSelectionTimeout == nil {
		o.SetServerSelectionTimeout(selectionTimeout)
	}
	// A limit over whole operations would end a change stream that has nothing to say.
	o.Timeout = nil
	return o, nil
}

// connect returns the client; it connects as it is used.
func (c config) connect() (*mongo.Client, error) {
	o, err := clientOptions(c.connection)
	if err != nil {
		return nil, extension.Permanent(err)
	}
	client, err := mongo.Connect(o)
	if err != nil {
		return nil, c.sourceError("connecting", err)
	}
	return client, nil
}

// disconnect ends a client without waiting long for a peer that is gone.
func disconnect(client *mongo.Client) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = client.Disconnect(ctx)
}

// sourceError gives what the server or the driver reported the shape of our errors. It is permanent where no retry
// heals it.
func (c config) sourceError(doing string, err error) error {
	if err == nil {
		return nil
	}
	var ours *sqlerr.Error
	if errors.As(err, &ours) || errors.Is(err, context.Canceled) {
		return err
	}
	var command mongo.CommandError
	if errors.As(err, &command) && !command.HasErrorLabel("NetworkError") {
		return c.commandError(doing, command)
	}
	text := strings.ReplaceAll(err.Error(), c.connection, "...")
	if isAuthentication(err) {
		return sqlerr.New(sqlerr.InvalidPassword, "%s: the source refuses the login: %s", doing, text).
			Hintf("check the user, the password and authSource in the option connection")
	}
	unreachable := sqlerr.New(sqlerr.ConnectionFailure, "%s: the source cannot be reached: %s", doing, text)
	if hint := encryptionHint(text); hint != "" {
		return unreachable.Hintf("%s", hint)
	}
	return unreachable.Hintf("it is tried again; check that the server runs, is a member of the replica set that the option connection names, and is reachable from here")
}

// encryptionHint says what to do when the two sides do not agree on TLS, "" when that is not what failed. The driver
// gives the errors of its connections as text.
func encryptionHint(text string) string {
	switch {
	case strings.Contains(text, "certificate signed by unknown authority"):
		return "the server's certificate is not signed by an authority trusted here: name the authority's certificate as tlsCAFile in the option connection"
	case strings.Contains(text, "x509: certificate is valid for"), strings.Contains(text, "cannot validate certificate for"):
		return "name the host as the server's certificate does, or give the server a certificate for this host"
	case strings.Contains(text, "tls: "), strings.Contains(text, "x509: "):
		return "check whether the server speaks TLS (tls=true in the option connection) and its certificate"
	case strings.Contains(text, "EOF"), strings.Contains(text, "connection reset by peer"): // how servers answer the wrong one
		return "it is tried again; check that the server runs, and that the option connection has tls=true if and only if it speaks TLS"
	}
	return ""
}

// isAuthentication reports a login that the server refused, which the driver finds while it selects a server.
func isAuthentication(err error) bool {
	var selection topology.ServerSelectionError
	text := err.Error()
	if errors.As(err, &selection) && selection.Wrapped != nil {
		text += selection.Wrapped.Error()
	}
	return strings.Contains(text, "auth error") || strings.Contains(text, "AuthenticationFailed")
}

func (c config) commandError(doing string, e mongo.CommandError) error {
	report := func(code string) *sqlerr.Error {
		return sqlerr.New(code, "%s: the source reports: %s (code %d)", doing, e.Message, e.Code)
	}
	switch e.Code {
	case codeHistoryLost, codeCappedPositionLost:
		return extension.Permanent(sqlerr.New(sqlerr.ObjectNotInPrerequisite,
			"the source's oplog no longer reaches back to the position of the stream, so changes are lost: %s", e.Message).
			Hintf("load the table anew from a new stream; a larger oplog at the source (replSetResizeOplog) keeps changes longer"))
	case codeInvalidResumeToken, codeFailedToParse:
		if strings.Contains(strings.ToLower(e.Message), "resume") || e.Code == codeInvalidResumeToken {
			return extension.Permanent(report(sqlerr.ObjectNotInPrerequisite).
				Hintf("the position of the stream means nothing to this server: name the deployment it was taken from in the option connection, or load the table anew from a new stream"))
		}
	case codeChangeStreamFatal:
		return extension.Permanent(report(sqlerr.ObjectNotInPrerequisite).Hintf("load the table anew from a new stream"))
	case codeObjectTooLarge:
		return extension.Permanent(report(sqlerr.ProgramLimitExceeded).
			Hintf("a change is larger than 16 MB; MongoDB 6.0.9 or later splits such changes: upgrade the source, then load the table anew from a new stream"))
	case codeNoReplicaSet:
		return extension.Permanent(report(sqlerr.ObjectNotInPrerequisite).Hintf("%s", replicaSetHint))
	case codeUnauthorized:
		return report(sqlerr.InsufficientPrivilege).
			Hintf("grant at the source: db.getSiblingDB('%s').grantRolesToUser(user, [{role: 'read', db: '%s'}])", c.database, c.database)
	case codeAuthenticationFailed:
		return report(sqlerr.InvalidPassword).Hintf("check the user, the password and authSource in the option connection")
	}
	return report(sqlerr.ForeignDataError).Hintf("it is tried again; look into the source's log if it persists")
}

const replicaSetHint = "change streams need a replica set: start the server with --replSet and run rs.initiate(); a set of one member will do"
