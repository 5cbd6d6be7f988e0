// Package users says who may use this program, for what, and how much.
//
// A [User] has a role and tokens. A [Directory] knows all users, checks their passwords and tokens, and gives each a
// [Meter], which counts what they use and holds it against their limits. Passwords and tokens are kept as hashes that
// are slow to check; what was found right or wrong is remembered, so that only the first request pays for it.
package users

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/internal/lazy"
	"github.com/readthru/readthru/internal/unknown"
)

// Role says what a user may do. Each role may do what those before it may.
type Role string

// The roles. A user of the configuration has none: they may use the proxy and nothing else.
const (
	Read  Role = "read"  // read pages, search, and see what is theirs
	Write Role = "write" // and change what all share: pages, notes, knowledge bases
	Admin Role = "admin" // and everything else
)

var roles = []Role{Read, Write, Admin}

// Allows reports whether a user with role r may do what needs another.
func (r Role) Allows(needed Role) bool {
	have, need := slices.Index(roles, r), slices.Index(roles, needed)
	return need >= 0 && have >= need
}

// The scopes of tokens: where they may be shown.
const (
	ScopeProxy = "proxy"
	ScopeAPI   = "api" // the admin port, but for /mcp
	ScopeMCP   = "mcp"
)

// Scopes lists all scopes.
var Scopes = []string{ScopeProxy, ScopeAPI, ScopeMCP}

// ScopeDashboard is where browsers sign in: with a password, with a token for the API, or because somebody vouches for
// the user (see [Directory.Vouch]). No token is for it alone.
const ScopeDashboard = "dashboard"

// User is a user, or the record of one who was removed.
type User struct {
	Name string `json:"name"`
	// ID tells users apart who had one name at different times. It is empty for a user of the configuration.
	ID      string    `json:"id,omitempty"`
	Made    time.Time `json:"made,omitzero"`
	Changed time.Time `json:"changed,omitzero"` // grows with each change, whatever the clock says
	Gone    bool      `json:"gone,omitempty"`   // removed, for good

	Role   Role    `json:"role,omitempty"`
	Mode   string  `json:"mode,omitempty"` // who gets markdown, see package proxy; if empty, as configured
	Limits Limits  `json:"limits,omitzero"`
	Tokens []Token `json:"tokens,omitempty"`
	// Revoked are the ids of tokens that were revoked: no older record brings them back.
	Revoked []string `json:"revoked,omitempty"`

	// PasswordHash is a result of [HashPassword]. The password of a user of the configuration is for the proxy, that of
	// another one for the dashboard; empty: none.
	PasswordHash string `json:"password_hash,omitempty"`

	// Subject is for whom a provider of identities vouches: its issuer, and its own id of the user; empty: nobody.
	Subject string `json:"subject,omitempty"`

	// Switched counts how often the user was disabled or enabled again: the greatest count is the latest state.
	Switched int `json:"switched,omitempty"`

	Unknown unknown.Fields `json:"-"` // a newer program's
}

// Disabled reports whether a user may do nothing until they are enabled again.
func (u *User) Disabled() bool { return u.Switched%2 == 1 }

// Token is a token of a user, as it is kept.
type Token struct {
	ID     string    `json:"id"`
	Hash   string    `json:"hash"` // of the form of [HashPassword]
	Scopes []string  `json:"scopes"`
	Made   time.Time `json:"made"`

	Unknown unknown.Fields `json:"-"`
}

// Limits bound what a user may use. Zero is no limit.
type Limits struct {
	RequestsPerMinute int64 `json:"requests_per_minute,omitempty"`
	TokensPerDay      int64 `json:"tokens_per_day,omitempty"` // of pages, in a day of UTC

	Unknown unknown.Fields `json:"-"`
}

const (
	maxTokens  = 100  // of a user
	maxSubject = 1000 // characters
	maxRevoked = 1000 // remembered of a user; tokens of a user with more are revoked by removing the user
)

// nameForm is what a user may be called who is no user of the configuration.
var nameForm = lazy.Pattern(`^[a-z0-9][a-z0-9._-]{0,39}$`)

// Check returns why a user who is not of the configuration cannot be, or nil. It trusts nothing: the record may come
// from another machine.
func (u *User) Check() error {
	switch {
	case !nameForm().MatchString(u.Name):
		return fmt.Errorf("user %.50q: a name has up to 40 of a to z, 0 to 9, dot, _ and -, and begins with a letter or "+
			"digit", u.Name)
	case len(u.ID) < 8 || len(u.ID) > 40 || u.Changed.IsZero():
		return fmt.Errorf("user %q: the record has no id or no time", u.Name)
	case u.Gone:
		return nil
	case !slices.Contains(roles, u.Role):
		return fmt.Errorf("user %q: role %.20q is not read, write or admin", u.Name, u.Role)
	case !validMode(u.Mode):
		return fmt.Errorf("user %q: mode %.20q is not auto, always, negotiate or never", u.Name, u.Mode)
	case u.Switched < 0:
		return fmt.Errorf("user %q: the count of changes is negative", u.Name)
	case len(u.Subject) > maxSubject || u.Subject != "" && !strings.Contains(u.Subject, " "):
		return fmt.Errorf("user %q: the subject is not the issuer of the provider of identities, a space, and its id", u.Name)
	case u.PasswordHash != "" && tooDear(u.PasswordHash):
		return fmt.Errorf("user %q: the hash of the password cannot be checked", u.Name)
	case u.Limits.RequestsPerMinute < 0 || u.Limits.TokensPerDay < 0:
		return fmt.Errorf("user %q: a limit is negative", u.Name)
	case len(u.Tokens) > maxTokens:
		return fmt.Errorf("user %q has %d tokens: the most are %d", u.Name, len(u.Tokens), maxTokens)
	case len(u.Revoked) > maxRevoked:
		return fmt.Errorf("user %q: more than %d tokens were revoked: remove the user and add it again", u.Name, maxRevoked)
	}
	for _, t := range u.Tokens {
		if !tokenID().MatchString(t.ID) {
			return fmt.Errorf("user %q: %.20q is no id of a token", u.Name, t.ID)
		}
		if err := CheckScopes(t.Scopes); err != nil {
			return fmt.Errorf("user %q: token %s: %w", u.Name, t.ID, err)
		}
		if tooDear(t.Hash) {
			return fmt.Errorf("user %q: token %s: its hash cannot be checked", u.Name, t.ID)
		}
	}
	return nil
}

// CheckScopes returns why scopes are not those of a token, or nil.
func CheckScopes(scopes []string) error {
	if len(scopes) == 0 {
		return errors.New("a token needs a scope: proxy, api or mcp")
	}
	for i, s := range scopes {
		if !slices.Contains(Scopes, s) {
			return fmt.Errorf("scope %.20q is not proxy, api or mcp", s)
		}
		if slices.Contains(scopes[:i], s) {
			return fmt.Errorf("scope %s is named twice", s)
		}
	}
	return nil
}

// Merge returns what two records of one name come to, in whatever order they are met: the later of two users, and of
// one user the later record, but without what either says is revoked or gone, and disabled if the latest change of that
// says so.
func Merge(a, b User) User {
	if a.ID != b.ID {
		return later(a, b)
	}
	m := later(a, b)
	m.Gone, m.Switched = a.Gone || b.Gone, max(a.Switched, b.Switched)
	if m.Changed = a.Changed; b.Changed.After(a.Changed) {
		m.Changed = b.Changed
	}
	revoked := slices.Concat(a.Revoked, b.Revoked)
	slices.Sort(revoked)
	m.Revoked = slices.Compact(revoked)
	tokens := slices.Concat(a.Tokens, b.Tokens)
	slices.SortFunc(tokens, func(x, y Token) int {
		return cmp.Or(cmp.Compare(x.ID, y.ID), cmp.Compare(x.Hash, y.Hash), cmp.Compare(y.Unknown, x.Unknown))
	})
	tokens = slices.CompactFunc(tokens, func(x, y Token) bool { return x.ID == y.ID })
	m.Tokens = slices.DeleteFunc(tokens, func(t Token) bool { return slices.Contains(m.Revoked, t.ID) })
	if m.Gone {
		m.Tokens, m.Revoked, m.PasswordHash, m.Subject = nil, nil, "", ""
	}
	if len(m.Tokens) == 0 {
		m.Tokens = nil
	}
	if len(m.Revoked) == 0 {
		m.Revoked = nil
	}
	return m
}

// later returns the record that was changed later; of equally late ones always the same.
func later(a, b User) User {
	order := cmp.Or(a.Changed.Compare(b.Changed), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Role, b.Role),
		cmp.Compare(a.Mode, b.Mode), cmp.Compare(a.Limits.RequestsPerMinute, b.Limits.RequestsPerMinute),
		cmp.Compare(a.Limits.TokensPerDay, b.Limits.TokensPerDay), cmp.Compare(a.PasswordHash, b.PasswordHash),
		cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Limits.Unknown, b.Limits.Unknown),
		cmp.Compare(a.Unknown, b.Unknown))
	if order < 0 {
		return b
	}
	return a
}

// validMode reports whether a text may be a mode.
func validMode(mode string) bool {
	switch mode {
	case "", "auto", "always", "negotiate", "never":
		return true
	}
	return false
}

// loginKey is the key of who asks in a context.
type loginKey struct{}

// With returns a context of what somebody who is known asks for: a user, or nobody ([Login] is zero) for the operator,
// who may do everything.
func With(ctx context.Context, l Login) context.Context { return context.WithValue(ctx, loginKey{}, l) }

// Of returns who asks. known is false for a stranger.
func Of(ctx context.Context) (l Login, known bool) {
	l, known = ctx.Value(loginKey{}).(Login)
	return l, known
}

// May reports whether who asks may do what needs a role.
func May(ctx context.Context, needed Role) bool {
	l, known := Of(ctx)
	return known && (l.User == nil || l.User.Role.Allows(needed))
}
