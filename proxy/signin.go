package proxy

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"readthru/guess"
	"readthru/store"
)

const (
	maxChecks       = 32   // passwords being checked or waiting, over all clients
	maxClientChecks = 4    // the same for a single client
	maxWrong        = 1024 // credentials remembered as wrong
)

// authenticator checks the credentials of proxy users. Checking a password is slow on purpose. Therefore it checks one
// at a time and limits the waiting checks, in all and by client, so that a guessing client blocks neither the machine
// nor other clients. It remembers results, and concurrent requests with the same credentials share one check.
type authenticator struct {
	users  map[string]User
	hashes map[string]passwordHash
	cost   int           // iterations of every check: those of the dearest hash
	turn   chan struct{} // held while a password is checked
	key    []byte        // key of the HMAC that credentials are; new with each process

	mu     sync.Mutex
	right  map[credentials]User // at most one for each user
	wrong  *lru.Cache[credentials, struct{}]
	checks map[credentials]*check
	asking map[string]int // number of checks in progress, by client
	guess  *guess.Guesses
}

// credentials is the HMAC of a name and a password under the authenticator's key.
type credentials [sha256.Size]byte

// check is a password check in progress.
type check struct {
	name, password, client string

	waiting int           // requests waiting for the result; guarded by the authenticator's mu
	done    chan struct{} // closed when right is set
	right   bool
}

// CheckUsers returns why an option Users cannot work, or nil.
func CheckUsers(users []User) error {
	_, err := newAuthenticator(users)
	return err
}

// newAuthenticator returns an authenticator for users. Without users it admits everybody.
func newAuthenticator(users []User) (*authenticator, error) {
	wrong, _ := lru.New[credentials, struct{}](maxWrong) // fails for sizes below 1 only
	a := &authenticator{
		users: map[string]User{}, hashes: map[string]passwordHash{}, turn: make(chan struct{}, 1), key: make([]byte, 32),
		right: map[credentials]User{}, wrong: wrong, checks: map[credentials]*check{}, asking: map[string]int{},
		guess: guess.New(),
	}
	rand.Read(a.key)
	for _, u := range users {
		if u.Name == "" || strings.Contains(u.Name, ":") {
			return nil, fmt.Errorf("proxy user %q: the name must not be empty or contain a colon", u.Name)
		}
		if _, twice := a.users[u.Name]; twice {
			return nil, fmt.Errorf("proxy user %q is listed twice", u.Name)
		}
		h, err := parseHash(u.PasswordHash)
		if err != nil {
			return nil, fmt.Errorf("proxy user %q: %w", u.Name, err)
		}
		if !validConfigMode(u.Mode) {
			return nil, fmt.Errorf("proxy user %q: mode %q is not auto, always, negotiate or never", u.Name, u.Mode)
		}
		a.users[u.Name], a.hashes[u.Name] = u, h
		a.cost = max(a.cost, h.iterations)
	}
	return a, nil
}

// signIn checks Basic credentials (RFC 7617) from the address remote. It returns their user and the session that they
// name, or a refusal. Without configured users it returns the zero User and takes the name for the session. With users,
// the session follows the last plus sign of a name that is not itself a user's.
func (a *authenticator) signIn(ctx context.Context, remote, field string) (user User, session string, bad *refusal) {
	scheme, encoded, _ := strings.Cut(field, " ")
	isBasic := strings.EqualFold(scheme, "Basic")
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	name, password, _ := strings.Cut(string(decoded), ":")
	switch {
	case len(a.users) == 0:
		if isBasic && err == nil && store.CheckSession(name) == nil {
			session = name
		}
		return User{}, session, nil
	case !isBasic:
		return User{}, "",
			challenge("The proxy requires a name and a password: set them in its URL, as in " +
				"http://NAME:PASSWORD@127.0.0.1:7887.")
	case err != nil:
		return User{}, "",
			challenge("The proxy requires a name and a password; the Basic credentials sent are malformed.")
	}
	if _, known := a.users[name]; !known {
		if plus := strings.LastIndexByte(name, '+'); plus >= 0 && store.CheckSession(name[plus+1:]) == nil {
			name, session = name[:plus], name[plus+1:]
		}
	}
	if user, bad = a.verify(ctx, remote, name, password); bad != nil {
		return user, "", bad
	}
	session, bad = ownSession(user, session)
	return user, session, bad
}

// refreshed returns the present configuration of a user who signed in earlier, or a refusal if the credentials are no
// longer valid.
func (a *authenticator) refreshed(user User) (User, *refusal) {
	if len(a.users) == 0 {
		return User{}, nil
	}
	now, known := a.users[user.Name]
	if !known || now.PasswordHash != user.PasswordHash {
		return User{}, &refusal{
			status: http.StatusForbidden, title: "Sign in again", proxyError: "http_request_denied",
			detail: "The users of the proxy have changed: open a new connection and sign in.",
		}
	}
	return now, nil
}

// verify returns the user with this name and password, or a refusal.
func (a *authenticator) verify(ctx context.Context, remote, name, password string) (User, *refusal) {
	creds := a.credentials([]byte(name + ":" + password))
	a.mu.Lock()
	if user, ok := a.right[creds]; ok {
		a.mu.Unlock()
		return user, nil
	}
	if a.wrong.Contains(creds) {
		a.mu.Unlock()
		return User{}, wrongPassword()
	}
	c := a.checks[creds]
	if c == nil {
		client := guess.Network(remote)
		if wait := a.guess.Locked(a.secret(name), client, time.Now()); wait > 0 {
			a.mu.Unlock()
			return User{}, lockedOut(wait)
		}
		if len(a.checks) >= maxChecks || a.asking[client] >= maxClientChecks {
			a.mu.Unlock()
			return User{}, &refusal{
				status: http.StatusServiceUnavailable, title: "Too many sign-ins", proxyError: "http_request_denied",
				detail: "Too many passwords are being checked: try again in a second.",
				header: http.Header{"Retry-After": {"1"}},
			}
		}
		c = &check{name: name, password: password, client: client, done: make(chan struct{})}
		a.checks[creds] = c
		a.asking[client]++
		go a.run(creds, c)
	}
	c.waiting++
	a.mu.Unlock()
	select {
	case <-c.done:
		if c.right {
			return a.users[c.name], nil
		}
		return User{}, wrongPassword()
	case <-ctx.Done():
		a.mu.Lock()
		c.waiting--
		a.mu.Unlock()
		return User{}, &refusal{status: statusGone, title: "Client gone", detail: "the client went away"}
	}
}

// run waits for its turn and then checks c, unless no request waits for the result anymore.
func (a *authenticator) run(creds credentials, c *check) {
	a.turn <- struct{}{}
	defer func() { <-a.turn }()
	a.mu.Lock()
	if c.waiting == 0 {
		a.forget(creds, c)
		a.mu.Unlock()
		return
	}
	a.mu.Unlock()
	hash, padding := a.hashesOf(c.name)
	c.right = hash.matches(c.password)
	padding.matches(c.password)
	a.mu.Lock()
	defer a.mu.Unlock()
	if c.right {
		a.right[creds] = a.users[c.name]
		a.guess.Right(a.secret(c.name), c.client)
	} else {
		a.wrong.Add(creds, struct{}{})
		a.guess.Wrong(a.secret(c.name), c.client, time.Now())
	}
	a.forget(creds, c)
	close(c.done)
}

// hashesOf returns the hash to check a user's password against, and one that only takes time: every check takes as long
// as that of the user with the dearest hash, so that the time does not tell which names exist, or whose hash is cheap.
// Nothing matches the hash of an unknown name.
func (a *authenticator) hashesOf(name string) (hash, padding passwordHash) {
	hash = a.hashes[name]
	return hash, passwordHash{iterations: a.cost - hash.iterations, salt: make([]byte, saltSize)}
}

// forget removes c from the checks in progress. The caller holds mu.
func (a *authenticator) forget(creds credentials, c *check) {
	delete(a.checks, creds)
	if a.asking[c.client]--; a.asking[c.client] == 0 {
		delete(a.asking, c.client)
	}
}

func (a *authenticator) credentials(decoded []byte) (sum credentials) {
	mac := hmac.New(sha256.New, a.key)
	mac.Write(decoded)
	mac.Sum(sum[:0])
	return sum
}

// secret is what a user's password is called among the guesses: names may be long.
func (a *authenticator) secret(name string) string {
	sum := a.credentials([]byte(name))
	return string(sum[:])
}

// lockedOut refuses to check a password.
func lockedOut(wait time.Duration) *refusal {
	seconds := guess.RetryAfter(wait)
	return &refusal{
		status: http.StatusTooManyRequests, title: "Too many wrong passwords", proxyError: "http_request_denied",
		detail: "Too many wrong passwords: try again in " + seconds + " s. Until then none is checked.",
		header: http.Header{"Retry-After": {seconds}},
	}
}

func challenge(detail string) *refusal {
	return &refusal{
		status: http.StatusProxyAuthRequired, title: "Proxy authentication required", proxyError: "http_request_denied",
		detail: detail,
		header: http.Header{"Proxy-Authenticate": {`Basic realm="readthru", charset="UTF-8"`}},
	}
}

func wrongPassword() *refusal {
	return challenge("Wrong name or password for the proxy.")
}
