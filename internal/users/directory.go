package users

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/guess"
)

const (
	maxChecks       = 32   // secrets being checked or waiting, over all clients
	maxClientChecks = 4    // the same for a single client
	maxWrong        = 1024 // credentials remembered as wrong
)

// Errors of a sign-in. Another one is a [*LockedError], or that of a context.
var (
	ErrWrong = errors.New("wrong name, password or token")
	ErrBusy  = errors.New("too many passwords and tokens are being checked")
	ErrScope = errors.New("this token is not for here")
)

// LockedError says that nothing is checked for a time, because of wrong guesses.
type LockedError struct{ Wait time.Duration }

// Error says for how long.
func (e *LockedError) Error() string {
	return "too many wrong passwords or tokens: try again in " + guess.RetryAfter(e.Wait) +
		" s; until then none is checked"
}

// Directory knows the users and checks their secrets. Checking one is slow on purpose. Therefore it checks one at a
// time and limits the waiting checks, in all and by client, so that a guessing client blocks neither the machine nor
// other clients. It remembers results, and concurrent requests with the same credentials share one check. It is safe
// for concurrent use.
type Directory struct {
	used func(name string, now time.Time) int64

	table atomic.Pointer[table]
	turn  chan struct{} // held while a secret is checked
	key   []byte        // key of the HMAC that credentials are; new with each process

	mu     sync.Mutex
	right  map[credentials]known // at most one for each password or token
	wrong  *lru.Cache[credentials, struct{}]
	checks map[credentials]*check
	asking map[string]int // number of checks in progress, by client
	guess  *guess.Guesses
	meters map[string]*Meter
	stays  map[*stay]struct{}
}

// stay is what a login that is valid for a place goes on with.
type stay struct {
	known
	scope string
	end   func()
}

// table is a set of users. It is never changed but replaced as a whole.
type table struct {
	users  map[string]*User
	owners map[string]string // names of users, by the ids of tokens
	right  map[known]bool    // what a login may rest on
	cost   int               // iterations of every check: those of the dearest hash
	closed bool              // who is no user is refused
}

// known is what credentials were found right for.
type known struct{ name, hash string }

// credentials is the HMAC of a name and a secret under the directory's key.
type credentials [sha256.Size]byte

// check is a check of a secret in progress.
type check struct {
	name, secret, client string
	hash                 string // to check against; empty: nothing matches

	waiting int           // requests waiting for the result; guarded by the directory's mu
	done    chan struct{} // closed when right is set
	right   bool
}

// Login is a user who has signed in.
type Login struct {
	User  *User // as it was then; nil: nobody
	Meter *Meter
	Scope string // where it was shown
	hash  string // of what was shown, or see vouched
}

// Name returns the user's name; empty for nobody.
func (l *Login) Name() string {
	if l.User == nil {
		return ""
	}
	return l.User.Name
}

// Mode returns the user's mode; empty if that is as configured.
func (l *Login) Mode() string {
	if l.User == nil {
		return ""
	}
	return l.User.Mode
}

// ByToken reports whether a user showed a token, or signed in with one.
func (l *Login) ByToken() bool {
	return l.User != nil && slices.ContainsFunc(l.User.Tokens, func(t Token) bool { return t.Hash == l.hash })
}

// NewDirectory returns a Directory without users. Used returns how many tokens a user was given today before this
// process began; if nil, none.
func NewDirectory(used func(name string, now time.Time) int64) *Directory {
	wrong, _ := lru.New[credentials, struct{}](maxWrong) // fails for sizes below 1 only
	d := &Directory{
		used: used, turn: make(chan struct{}, 1), key: make([]byte, 32), right: map[credentials]known{}, wrong: wrong,
		checks: map[credentials]*check{}, asking: map[string]int{}, guess: guess.New(), meters: map[string]*Meter{},
		stays: map[*stay]struct{}{},
	}
	rand.Read(d.key)
	d.table.Store(&table{})
	return d
}

// Set replaces the users: those of the configuration, and others, of which those that are gone or disabled do not
// count. A user of the configuration comes before another one of that name. If closed is set, who is no user is refused
// even if there are no users at all. An error changes nothing.
func (d *Directory) Set(configured, others []User, closed bool) error {
	t, err := newTable(configured, others, closed)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.table.Store(t)
	d.wrong.Purge()
	maps.DeleteFunc(d.right, func(_ credentials, k known) bool { return !t.holds(k) })
	for name, m := range d.meters {
		m.setLimits(t.limits(name))
	}
	for s := range d.stays {
		if !t.admits(s.known, s.scope) {
			delete(d.stays, s)
			go fault.Contain("users: end what a user had open", s.end)()
		}
	}
	return nil
}

// Check returns why users of a configuration cannot be, or nil.
func Check(configured []User) error {
	_, err := newTable(configured, nil, false)
	return err
}

// newTable returns the users by name, those of the configuration and those of the store, after checking them. A name of
// the configuration hides one of the store.
func newTable(configured, others []User, closed bool) (*table, error) {
	t := &table{users: map[string]*User{}, owners: map[string]string{}, right: map[known]bool{}, closed: closed}
	for i := range configured {
		u := &configured[i]
		if u.Name == "" || strings.Contains(u.Name, ":") {
			return nil, fmt.Errorf("proxy user %q: the name must not be empty or contain a colon", u.Name)
		}
		if t.users[u.Name] != nil {
			return nil, fmt.Errorf("proxy user %q is listed twice", u.Name)
		}
		h, err := parseHash(u.PasswordHash)
		if err != nil {
			return nil, fmt.Errorf("proxy user %q: %w", u.Name, err)
		}
		if !validMode(u.Mode) {
			return nil, fmt.Errorf("proxy user %q: mode %q is not auto, always, negotiate or never", u.Name, u.Mode)
		}
		t.users[u.Name] = u
		t.cost = max(t.cost, h.iterations)
	}
	for i := range others {
		u := &others[i]
		if u.Gone || u.Disabled() || t.users[u.Name] != nil || u.Check() != nil {
			continue
		}
		t.users[u.Name] = u
		if u.PasswordHash != "" {
			t.cost = max(t.cost, hashIterations) // Check has seen that it is no dearer
		}
		for _, token := range u.Tokens {
			t.owners[token.ID] = u.Name
			h, _ := parseHash(token.Hash) // Check has parsed it
			t.cost = max(t.cost, h.iterations)
		}
	}
	for name, u := range t.users {
		for _, hash := range u.hashes() {
			t.right[known{name, hash}] = true
		}
	}
	return t, nil
}

// hashOf returns the hash against which a user's secret is checked; empty if there is none.
func (t *table) hashOf(name, secret string) string {
	u := t.users[name]
	if u == nil {
		return ""
	}
	if id := idOf(secret); id != "" {
		for i := range u.Tokens {
			if u.Tokens[i].ID == id {
				return u.Tokens[i].Hash
			}
		}
	}
	return u.PasswordHash
}

// holds reports whether what was found right still is.
func (t *table) holds(k known) bool { return t.right[k] }

// hashes returns what a login of a user may rest on: tokens, a password, or that somebody vouched for the user.
func (u *User) hashes() []string {
	var list []string
	for _, token := range u.Tokens {
		list = append(list, token.Hash)
	}
	if u.PasswordHash != "" {
		list = append(list, u.PasswordHash)
	}
	if u.ID != "" {
		list = append(list, u.vouched())
	}
	return list
}

// vouched is what stands in place of a hash where somebody vouched for a user. It changes with the password, so that a
// new one signs all browsers out.
func (u *User) vouched() string { return u.ID + " " + u.PasswordHash }

// admits reports whether what was found right is still so, and may be shown in a place.
func (t *table) admits(k known, scope string) bool { return t.holds(k) && t.may(k, scope) }

// may reports whether what was found right may be shown in a place. A password of the configuration is for the proxy,
// every other one for the dashboard.
func (t *table) may(k known, scope string) bool {
	u := t.users[k.name]
	for _, token := range u.Tokens {
		if token.Hash == k.hash {
			return slices.Contains(token.Scopes, scope) ||
				scope == ScopeDashboard && slices.Contains(token.Scopes, ScopeAPI)
		}
	}
	if u.ID == "" {
		return scope == ScopeProxy
	}
	return scope == ScopeDashboard
}

// limits returns the limits of a user; none for one that is not there.
func (t *table) limits(name string) Limits {
	if u := t.users[name]; u != nil {
		return u.Limits
	}
	return Limits{}
}

// Open reports whether everybody may use the proxy: no user is known.
func (d *Directory) Open() bool {
	t := d.table.Load()
	return len(t.users) == 0 && !t.closed
}

// Known reports whether there is a user of a name.
func (d *Directory) Known(name string) bool { return d.table.Load().users[name] != nil }

// SignIn checks a name and a password or token, which a client at the address remote shows in a place (a scope).
func (d *Directory) SignIn(ctx context.Context, remote, name, secret, scope string) (Login, error) {
	k, err := d.verify(ctx, remote, name, secret)
	if err != nil {
		return Login{}, err
	}
	return d.login(k, scope)
}

// Bearer is SignIn for a token without a name.
func (d *Directory) Bearer(ctx context.Context, remote, token, scope string) (Login, error) {
	return d.SignIn(ctx, remote, d.table.Load().owners[idOf(token)], token, scope)
}

// Present returns a login as it is now. ok is false if its user, password or token is gone, or is no longer for the
// place. Without users everybody stays who they were.
func (d *Directory) Present(l Login, scope string) (_ Login, ok bool) {
	if l.User == nil {
		return l, d.Open()
	}
	now, err := d.login(known{l.User.Name, l.hash}, scope)
	return now, err == nil
}

// WhenGone calls end, on a goroutine of its own, once a login is no longer [Directory.Present]: what a user goes on
// with, such as a tunnel, ends then. Of nobody it calls nothing. forget is called when there is nothing to end anymore.
func (d *Directory) WhenGone(l Login, scope string, end func()) (forget func()) {
	if l.User == nil {
		return func() {}
	}
	s := &stay{known{l.User.Name, l.hash}, scope, end}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.table.Load().admits(s.known, scope) {
		go fault.Contain("users: end what a user had open", end)()
		return func() {}
	}
	d.stays[s] = struct{}{}
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.stays, s)
	}
}

// login returns the present user for what was found right.
func (d *Directory) login(k known, scope string) (Login, error) {
	t := d.table.Load()
	switch {
	case !t.holds(k):
		return Login{}, ErrWrong
	case !t.may(k, scope):
		return Login{}, ErrScope
	}
	return Login{User: t.users[k.name], Meter: d.meter(k.name), Scope: scope, hash: k.hash}, nil
}

// Vouch returns the login of a user at the dashboard for whom somebody else vouches: an administrator by a link, or a
// provider of identities. A user of the configuration has none.
func (d *Directory) Vouch(name string) (Login, error) {
	u := d.table.Load().users[name]
	if u == nil || u.ID == "" {
		return Login{}, ErrWrong
	}
	return d.login(known{name, u.vouched()}, ScopeDashboard)
}

// Mark returns what a browser that signed in shows again. It stands for the user and for what was shown, and says
// nothing of either.
func (l *Login) Mark() string { return markOf(l.hash) }

func markOf(hash string) string {
	sum := sha256.Sum256([]byte(hash))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// Resume returns the login at the dashboard of a user by its mark, which the caller knows to be one of ours. The error
// is that of [Directory.SignIn] if the user, or what was shown, is gone.
func (d *Directory) Resume(name, mark string) (Login, error) {
	if u := d.table.Load().users[name]; u != nil {
		for _, hash := range u.hashes() {
			if markOf(hash) == mark {
				return d.login(known{name, hash}, ScopeDashboard)
			}
		}
	}
	return Login{}, ErrWrong
}

// verify checks a name and a secret, and remembers the result. A wrong one is slow to check by design; requests with
// the same credentials wait for one check, and who guesses is slowed down.
func (d *Directory) verify(ctx context.Context, remote, name, secret string) (known, error) {
	creds := d.credentials(name + ":" + secret)
	d.mu.Lock()
	if k, ok := d.right[creds]; ok {
		d.mu.Unlock()
		return k, nil
	}
	if d.wrong.Contains(creds) {
		d.mu.Unlock()
		return known{}, ErrWrong
	}
	c := d.checks[creds]
	if c == nil {
		client := guess.Network(remote)
		if wait := d.guess.Locked(d.secret(name), client, time.Now()); wait > 0 {
			d.mu.Unlock()
			return known{}, &LockedError{wait}
		}
		if len(d.checks) >= maxChecks || d.asking[client] >= maxClientChecks {
			d.mu.Unlock()
			return known{}, ErrBusy
		}
		c = &check{name: name, secret: secret, client: client, done: make(chan struct{})}
		d.checks[creds] = c
		d.asking[client]++
		go fault.Contain("users: end a check", func() { d.run(creds, c) })()
	}
	c.waiting++
	d.mu.Unlock()
	select {
	case <-c.done:
		if c.right {
			return known{c.name, c.hash}, nil
		}
		return known{}, ErrWrong
	case <-ctx.Done():
		d.mu.Lock()
		c.waiting--
		d.mu.Unlock()
		return known{}, ctx.Err()
	}
}

// run waits for its turn and then checks c, unless no request waits for the result anymore.
func (d *Directory) run(creds credentials, c *check) {
	d.turn <- struct{}{}
	defer func() { <-d.turn }()
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.forget(creds, c)
		close(c.done)
	}()
	d.mu.Lock()
	unwanted := c.waiting == 0
	t := d.table.Load()
	d.mu.Unlock()
	if unwanted {
		return
	}
	err := fault.Catch("users: compare a secret", func() error {
		c.hash = t.hashOf(c.name, c.secret)
		hash, padding := t.dear(c.hash)
		right := hash.matches(c.secret)
		padding.matches(c.secret)
		c.right = right
		return nil
	})
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case err != nil: // nothing was learnt
	case c.right:
		if d.table.Load().holds(known{c.name, c.hash}) {
			d.right[creds] = known{c.name, c.hash}
		}
		d.guess.Right(d.secret(c.name), c.client)
	default:
		if d.table.Load() == t {
			d.wrong.Add(creds, struct{}{})
		}
		d.guess.Wrong(d.secret(c.name), c.client, time.Now())
	}
}

// dear returns the parsed hash, and one that only takes time: every check takes as long as that of the dearest hash, so
// that the time does not tell which names exist, or whose hash is cheap. Nothing matches the hash of an unknown name.
func (t *table) dear(text string) (hash, padding passwordHash) {
	if text != "" {
		hash, _ = parseHash(text) // it was parsed before
	}
	return hash, passwordHash{iterations: t.cost - hash.iterations, salt: make([]byte, saltSize)}
}

// forget removes c from the checks in progress. The caller holds mu.
func (d *Directory) forget(creds credentials, c *check) {
	delete(d.checks, creds)
	if d.asking[c.client]--; d.asking[c.client] == 0 {
		delete(d.asking, c.client)
	}
}

// credentials returns what a name and a secret are remembered by: a keyed hash, so that no secret stays in memory.
func (d *Directory) credentials(text string) (sum credentials) {
	mac := hmac.New(sha256.New, d.key)
	mac.Write([]byte(text))
	mac.Sum(sum[:0])
	return sum
}

// secret is what a user's secrets are called among the guesses: names may be long.
func (d *Directory) secret(name string) string {
	sum := d.credentials(name)
	return string(sum[:])
}

// meter returns the meter of a user.
func (d *Directory) meter(name string) *Meter {
	d.mu.Lock()
	defer d.mu.Unlock()
	m := d.meters[name]
	if m == nil {
		m = &Meter{limits: d.table.Load().limits(name)}
		if d.used != nil {
			now := time.Now()
			m.Begin(now, d.used(name, now))
		}
		d.meters[name] = m
	}
	return m
}

// Elsewhere tells the meters how many tokens other nodes gave users today.
func (d *Directory) Elsewhere(now time.Time, tokens map[string]int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for name, m := range d.meters {
		m.Elsewhere(now, tokens[name])
	}
}

// Take gives keep what each user used since the last call that succeeded.
func (d *Directory) Take(keep func(map[string]Use) error) error {
	d.mu.Lock()
	taken := map[string]Use{}
	for name, m := range d.meters {
		if use := m.take(); use != (Use{}) {
			taken[name] = use
		}
	}
	d.mu.Unlock()
	if len(taken) == 0 {
		return nil
	}
	err := keep(taken)
	if err != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		for name, use := range taken {
			d.meters[name].put(use)
		}
	}
	return err
}
