package flightsql

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// caller is who an RPC comes from. RPCs of one key share a session.
type caller struct {
	user string
	role Role
	key  string
}

type callerKey struct{}

func callerOf(ctx context.Context) caller {
	c, _ := ctx.Value(callerKey{}).(caller)
	return c
}

// credentialStore knows users and the tokens they were given.
type credentialStore struct {
	users map[string][sha256.Size]byte // hash of the password
	roles map[string]Role
	idle  time.Duration
	limit int

	mu     sync.Mutex
	tokens map[string]*token
}

type token struct {
	user string
	used time.Time
}

func newCredentials(o Options) *credentialStore {
	c := &credentialStore{users: map[string][sha256.Size]byte{}, roles: o.Roles, idle: o.TokenIdle, limit: 10 * o.MaxSessions,
		tokens: map[string]*token{}}
	for user, password := range o.Users {
		c.users[user] = sha256.Sum256([]byte(password))
	}
	return c
}

// open reports that there is no authentication.
func (c *credentialStore) open() bool { return len(c.users) == 0 }

func (c *credentialStore) role(user string) Role {
	if role, ok := c.roles[user]; ok {
		return role
	}
	return Admin
}

// authenticate finds out who an RPC comes from by its authorization header.
func (c *credentialStore) authenticate(ctx context.Context) (caller, error) {
	scheme, value := authorization(ctx)
	connection := connectionOf(ctx)
	switch scheme {
	case "bearer":
		if user, ok := c.tokenUser(value); ok {
			return caller{user, c.role(user), "token " + value}, nil
		}
		if !c.open() {
			return caller{}, status.Error(codes.Unauthenticated, "the token is unknown or has expired; connect again to get a new one")
		}
	case "basic":
		user, password, ok := parseBasic(value)
		if c.open() {
			return caller{user, Admin, "connection " + connection}, nil
		}
		if !ok || !c.verify(user, password) {
			return caller{}, status.Error(codes.Unauthenticated, "wrong user or password")
		}
		return caller{user, c.role(user), "connection " + connection + " " + user}, nil
	}
	if !c.open() {
		return caller{}, status.Error(codes.Unauthenticated, "this server wants a user and password, or a token")
	}
	return caller{"", Admin, "connection " + connection}, nil
}

// verify compares in a time that depends neither on the password nor on whether the user exists.
func (c *credentialStore) verify(user, password string) bool {
	want, known := c.users[user]
	got := sha256.Sum256([]byte(password))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1 && known
}

func authorization(ctx context.Context) (scheme, value string) {
	md, _ := metadata.FromIncomingContext(ctx)
	for _, header := range md.Get("authorization") {
		scheme, value, _ = strings.Cut(strings.TrimSpace(header), " ")
	}
	return strings.ToLower(scheme), strings.TrimSpace(value)
}

func parseBasic(value string) (user, password string, ok bool) {
	raw, err := base64.StdEncoding.DecodeString(value)
	if err != nil {
		if raw, err = base64.RawStdEncoding.DecodeString(value); err != nil {
			return "", "", false
		}
	}
	return strings.Cut(string(raw), ":")
}

// issue returns a new token of a user.
func (c *credentialStore) issue(user string) string {
	value := hex.EncodeToString(randomID())
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.tokens) >= c.limit {
		c.forgetOldest()
	}
	c.tokens[value] = &token{user, time.Now()}
	return value
}

func (c *credentialStore) forgetOldest() {
	oldest := ""
	for value, t := range c.tokens {
		if oldest == "" || t.used.Before(c.tokens[oldest].used) {
			oldest = value
		}
	}
	delete(c.tokens, oldest)
}

func (c *credentialStore) tokenUser(value string) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.tokens[value]
	if !ok || time.Since(t.used) > c.idle {
		delete(c.tokens, value)
		return "", false
	}
	t.used = time.Now()
	return t.user, true
}

// expire forgets tokens nobody used for long.
func (c *credentialStore) expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for value, t := range c.tokens {
		if time.Since(t.used) > c.idle {
			delete(c.tokens, value)
		}
	}
}

// randomID returns an identifier that cannot be guessed.
func randomID() []byte {
	id := make([]byte, 16)
	rand.Read(id)
	return id
}
