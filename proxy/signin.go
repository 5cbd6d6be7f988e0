package proxy

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"

	"readthru/store"
)

const (
	maxChecks       = 32   // passwords that are checked or wait for it, over all clients
	maxClientChecks = 4    // of them those of one client
	wrongKept       = 1024 // credentials remembered as wrong
)

// signInDesk knows who may use the proxy. Checking a password is slow on purpose, so one is checked at a time, few
// wait, and of one client fewer: guessing takes neither the machine nor the turn of others. What was checked before is
// not checked again; the same credentials, asked for at once, are checked once.
type signInDesk struct {
	users  map[string]User
	hashes map[string]passwordHash
	dummy  passwordHash  // costs an unknown name the same time
	turn   chan struct{} // held while a password is checked
	key    []byte        // makes credentials into names that tell nothing; new with each process

	mu     sync.Mutex
	right  map[credentials]User // at most one for each user
	wrong  *lru.Cache[credentials, struct{}]
	checks map[credentials]*check
	asking map[string]int // checks under way, by client
}

// credentials are a name and a password, under the desk's key.
type credentials [sha256.Size]byte

// check is a password that is being checked.
type check struct {
	name, password, client string

	waiting int           // requests that want to know; guarded by the desk's mu
	done    chan struct{} // closed when right is known
	right   bool
}

// newSignInDesk returns a desk that lets users in, or everybody when there are none.
func newSignInDesk(users []User) (*signInDesk, error) {
	wrong, _ := lru.New[credentials, struct{}](wrongKept) // fails for sizes below 1 only
	d := &signInDesk{
		users: map[string]User{}, hashes: map[string]passwordHash{}, turn: make(chan struct{}, 1), key: make([]byte, 32),
		dummy: passwordHash{hashIterations, make([]byte, saltSize), make([]byte, hashSize)},
		right: map[credentials]User{}, wrong: wrong, checks: map[credentials]*check{}, asking: map[string]int{},
	}
	rand.Read(d.key)
	for _, u := range users {
		if u.Name == "" || strings.Contains(u.Name, ":") {
			return nil, fmt.Errorf("proxy user %q: a name is not empty and has no colon", u.Name)
		}
		if _, twice := d.users[u.Name]; twice {
			return nil, fmt.Errorf("proxy user %q is there twice", u.Name)
		}
		h, err := parseHash(u.PasswordHash)
		if err != nil {
			return nil, fmt.Errorf("proxy user %q: %w", u.Name, err)
		}
		if !validConfigMode(u.Mode) {
			return nil, fmt.Errorf("proxy user %q: mode %q is not auto, always, negotiate or never", u.Name, u.Mode)
		}
		d.users[u.Name], d.hashes[u.Name] = u, h
	}
	return d, nil
}

// signIn checks Basic credentials (RFC 7617) that came from remote, and returns their user and the session that they
// name, or why not. Without users everybody is the zero User, and a name is the session's; with users that is what
// follows the last plus sign of a name that is no user's.
func (d *signInDesk) signIn(ctx context.Context, remote, field string) (user User, session string, bad *refusal) {
	scheme, encoded, _ := strings.Cut(field, " ")
	isBasic := strings.EqualFold(scheme, "Basic")
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	name, password, _ := strings.Cut(string(decoded), ":")
	switch {
	case len(d.users) == 0:
		if isBasic && err == nil && store.CheckSession(name) == nil {
			session = name
		}
		return User{}, session, nil
	case !isBasic:
		return User{}, "",
			challenge("The proxy wants a name and a password: set them in its URL, as in http://NAME:PASSWORD@127.0.0.1:7887.")
	case err != nil:
		return User{}, "",
			challenge("The proxy wants a name and a password in the form of Basic authentication, which these are not.")
	}
	if _, known := d.users[name]; !known {
		if plus := strings.LastIndexByte(name, '+'); plus >= 0 && store.CheckSession(name[plus+1:]) == nil {
			name, session = name[:plus], name[plus+1:]
		}
	}
	user, bad = d.verify(ctx, remote, name, password)
	return user, session, bad
}

// verify returns the user that a name with a password is, or why none.
func (d *signInDesk) verify(ctx context.Context, remote, name, password string) (User, *refusal) {
	who := d.credentials([]byte(name + ":" + password))
	d.mu.Lock()
	if user, ok := d.right[who]; ok {
		d.mu.Unlock()
		return user, nil
	}
	if d.wrong.Contains(who) {
		d.mu.Unlock()
		return User{}, wrongPassword()
	}
	c := d.checks[who]
	if c == nil {
		client := clientNetwork(remote)
		if len(d.checks) >= maxChecks || d.asking[client] >= maxClientChecks {
			d.mu.Unlock()
			return User{}, &refusal{
				status: http.StatusServiceUnavailable, title: "Too many sign-ins", proxyError: "http_request_denied",
				detail: "Too many passwords are being checked just now: try again in a second.",
				header: http.Header{"Retry-After": {"1"}},
			}
		}
		c = &check{name: name, password: password, client: client, done: make(chan struct{})}
		d.checks[who] = c
		d.asking[client]++
		go d.run(who, c)
	}
	c.waiting++
	d.mu.Unlock()
	select {
	case <-c.done:
		if c.right {
			return d.users[c.name], nil
		}
		return User{}, wrongPassword()
	case <-ctx.Done():
		d.mu.Lock()
		c.waiting--
		d.mu.Unlock()
		return User{}, &refusal{status: statusGone, title: "Client gone", detail: "the client went away"}
	}
}

// run waits for its turn and checks c, unless nobody wants to know any more.
func (d *signInDesk) run(who credentials, c *check) {
	d.turn <- struct{}{}
	defer func() { <-d.turn }()
	d.mu.Lock()
	if c.waiting == 0 {
		d.forget(who, c)
		d.mu.Unlock()
		return
	}
	d.mu.Unlock()
	hash, known := d.hashes[c.name]
	if !known {
		hash = d.dummy
	}
	c.right = hash.matches(c.password) && known
	d.mu.Lock()
	defer d.mu.Unlock()
	if c.right {
		d.right[who] = d.users[c.name]
	} else {
		d.wrong.Add(who, struct{}{})
	}
	d.forget(who, c)
	close(c.done)
}

// forget ends c. The caller holds mu.
func (d *signInDesk) forget(who credentials, c *check) {
	delete(d.checks, who)
	if d.asking[c.client]--; d.asking[c.client] == 0 {
		delete(d.asking, c.client)
	}
}

func (d *signInDesk) credentials(decoded []byte) (sum credentials) {
	mac := hmac.New(sha256.New, d.key)
	mac.Write(decoded)
	mac.Sum(sum[:0])
	return sum
}

// clientNetwork is whose checks are counted together: an address, or the 64 bits of an IPv6 address that one host can
// change the rest of at will.
func clientNetwork(remote string) string {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return remote
	}
	addr := at.Addr().Unmap()
	if addr.Is4() {
		return addr.String()
	}
	network, _ := addr.Prefix(64) // fails for IPv4 only
	return network.String()
}

func challenge(detail string) *refusal {
	return &refusal{
		status: http.StatusProxyAuthRequired, title: "Proxy authentication required", proxyError: "http_request_denied",
		detail: detail,
		header: http.Header{"Proxy-Authenticate": {`Basic realm="readthru", charset="UTF-8"`}},
	}
}

func wrongPassword() *refusal {
	return challenge("The proxy does not know this name with this password.")
}
