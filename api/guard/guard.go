package guard

import (
	"context"
	"crypto/subtle"
	"errors"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/guess"
	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/internal/users"
)

// Guard decides who may ask. It is the same for every path except that strangers are answered on open paths.
type Guard struct {
	Hosts     []string  // names in lower case, without port, that the Host field may carry beside the loopback names
	Token     string    // makes who shows it known; if empty, nobody can show it
	TrustUser bool      // programs of this process's own user are known without it
	Browsers  *Browsers // that signed in
	Users     *users.Directory

	// Guesses at a configured token. Nobody guesses one that we made: others could only lock its owner out by trying.
	Guesses *guess.Guesses
}

// tokenSecret is what the token is called among the guesses.
const tokenSecret = "token"

// Check returns who asks, if that is known, or why r is refused. The rules, in order: Host names this server (DNS
// rebinding), no browser says that a page of another site had the request sent, the content has a type that no form
// has, or is a form of our own pages, and the asker is known unless the path is open.
func (g *Guard) Check(r *http.Request, open, page bool) (who users.Login, known bool, refused *api.Error) {
	if !g.ours(r.Host, r) {
		return who, false, api.Problem(http.StatusForbidden,
			"%q is not a name of this server: add it to admin.hosts, or use 127.0.0.1 or localhost", r.Host)
	}
	if words, other := httpfield.OtherSite(r.Header, r.Host); other && !isArrival(r) {
		return who, false, api.Problem(http.StatusForbidden, "%s may not use this server", words)
	}
	if e := contentType(r); e != nil && (!page || !IsOwnForm(r)) {
		return who, false, e
	}
	if token, ok := g.userToken(r); ok {
		who, refused = g.user(r, token)
		if refused != nil && open {
			refused = nil // as a stranger
		}
		return who, who.User != nil, refused
	}
	if user, mark, ok := g.Browsers.know(r); ok && user != "" && !g.shows(r.Header.Values("Authorization")) {
		return g.browser(r, user, mark, open)
	}
	known, wait := g.knows(r)
	if wait > 0 && !open {
		return who, false, tooManyGuesses(wait)
	}
	if !known && !open {
		return who, false, api.Problem(http.StatusUnauthorized, "this server answers the user it runs as: send "+
			`"Authorization: Bearer TOKEN" with what "readthru user admin-token" prints, or sign in with "readthru open"`)
	}
	return who, known, nil
}

// isArrival reports whether a person follows a link of another site to the pages that sign in, which change nothing
// until a form of theirs is sent. What browsers send with it proves nothing there, and is not needed.
func isArrival(r *http.Request) bool {
	return r.Method == http.MethodGet && (r.URL.Path == SigninPath || strings.HasPrefix(r.URL.Path, SigninPath+"/")) &&
		httpfield.FollowsLink(r.Header)
}

// SigninPath is the path of the page that signs in.
const SigninPath = "/signin"

// browser returns the user whose browser signed in, or a refusal. Like who shows a token, it is that user or nobody. It
// is for people: the Model Context Protocol is for tokens.
func (g *Guard) browser(r *http.Request, user, mark string, open bool) (users.Login, bool, *api.Error) {
	var who users.Login
	err := users.ErrWrong
	if g.Users != nil {
		who, err = g.Users.Resume(user, mark)
	}
	switch {
	case err != nil && !open:
		return who, false, api.Problem(http.StatusUnauthorized, "this browser was signed out: sign in again")
	case err == nil && scopeOf(r) == users.ScopeMCP:
		return who, false, api.Problem(http.StatusForbidden, "%s is for tokens, not for browsers that signed in", r.URL.Path)
	}
	return who, err == nil, nil
}

func tooManyGuesses(wait time.Duration) *api.Error {
	e := api.NewError(http.StatusTooManyRequests, api.CodeGuesses,
		"too many wrong tokens: try again in "+guess.RetryAfter(wait)+" s; until then none is checked")
	e.Wait = wait
	return e
}

// userToken returns the token of a user that a request shows. Who shows one is that user or nobody, also on the socket
// of a program that would be known without it.
func (g *Guard) userToken(r *http.Request) (token string, ok bool) {
	fields := r.Header.Values("Authorization")
	if g.Users == nil || len(fields) != 1 || g.shows(fields) {
		return "", false
	}
	scheme, token, _ := strings.Cut(fields[0], " ")
	token = strings.TrimSpace(token)
	return token, strings.EqualFold(scheme, "Bearer") && users.IsToken(token)
}

// user returns the user who shows a token, or a refusal.
func (g *Guard) user(r *http.Request, token string) (users.Login, *api.Error) {
	scope := scopeOf(r)
	who, err := g.Users.Bearer(r.Context(), r.RemoteAddr, token, scope)
	locked, isLocked := errors.AsType[*users.LockedError](err)
	switch {
	case err == nil:
		return who, nil
	case isLocked:
		return who, tooManyGuesses(locked.Wait)
	case errors.Is(err, users.ErrBusy):
		e := api.Problem(http.StatusServiceUnavailable, "too many tokens are being checked: try again in a second")
		e.Wait = time.Second
		return who, e
	case errors.Is(err, users.ErrScope):
		return who, api.Problem(http.StatusForbidden, "this token is not for %s: ask for one with the scope %s", r.URL.Path,
			scope)
	}
	return who, api.Problem(http.StatusUnauthorized, "this token is unknown, or was revoked")
}

// WhenGone calls end when who asks is no user anymore who may: see [users.Directory.WhenGone].
func (g *Guard) WhenGone(who users.Login, end func()) (forget func()) {
	if who.User == nil {
		return func() {}
	}
	return g.Users.WhenGone(who, who.Scope, end)
}

// scopeOf returns the scope that a token needs for a request.
func scopeOf(r *http.Request) string {
	if r.URL.Path == MCPPath || strings.HasPrefix(r.URL.Path, MCPPath+"/") {
		return users.ScopeMCP
	}
	return users.ScopeAPI
}

// MCPPath is the path of the Model Context Protocol, below which its card is.
const MCPPath = "/mcp"

// knows reports whether the asker is the user that this process runs as: by the token, by having signed in with a
// browser, or by the socket at the other end. It returns how long to wait if it did not look at the token because of
// wrong ones from the same network. Programs of our user do not guess: they can read the token.
func (g *Guard) knows(r *http.Request) (known bool, wait time.Duration) {
	fields := r.Header.Values("Authorization")
	guarded := g.Guesses != nil && len(fields) > 0 && !fromOurUser(r)
	network := guess.Network(r.RemoteAddr)
	if guarded {
		wait = g.Guesses.Locked(tokenSecret, network, time.Now())
	}
	shown := wait <= 0 && g.shows(fields)
	switch {
	case shown && guarded:
		g.Guesses.Right(tokenSecret, network)
		return true, 0
	case shown, g.operatorIn(r), g.TrustUser && fromOurUser(r):
		return true, 0
	case guarded && wait <= 0:
		g.Guesses.Wrong(tokenSecret, network, time.Now())
	}
	return false, max(wait, 0)
}

// operatorIn reports whether the operator signed in by the browser that sends a request.
func (g *Guard) operatorIn(r *http.Request) bool {
	user, _, known := g.Browsers.know(r)
	return known && user == ""
}

// Takes reports whether a token that somebody typed is ours, or how long to wait if it did not look.
func (g *Guard) Takes(r *http.Request, token string) (right bool, wait time.Duration) {
	guarded, network, now := g.Guesses != nil && !fromOurUser(r), guess.Network(r.RemoteAddr), time.Now()
	if guarded {
		if wait = g.Guesses.Locked(tokenSecret, network, now); wait > 0 {
			return false, wait
		}
	}
	right = g.shows([]string{"Bearer " + token})
	switch {
	case guarded && right:
		g.Guesses.Right(tokenSecret, network)
	case guarded:
		g.Guesses.Wrong(tokenSecret, network, now)
	}
	return right, 0
}

// shows reports whether the one Authorization field carries the token. The comparison takes the same time for every
// token of one length.
func (g *Guard) shows(fields []string) bool {
	if g.Token == "" || len(fields) != 1 {
		return false
	}
	scheme, token, _ := strings.Cut(fields[0], " ")
	return strings.EqualFold(scheme, "Bearer") &&
		subtle.ConstantTimeCompare([]byte(strings.TrimSpace(token)), []byte(g.Token)) == 1
}

// forwarding are the fields by which a proxy says that it only passes a request on: whose socket it came by then says
// nothing about who asks.
var forwarding = []string{"Via", "Forwarded", "X-Forwarded-For", "X-Real-Ip"}

// fromOurUser reports whether a request came straight from a program of our user on this machine.
func fromOurUser(r *http.Request) bool {
	if slices.ContainsFunc(forwarding, func(name string) bool { return len(r.Header.Values(name)) > 0 }) {
		return false
	}
	at, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	local, err := netip.ParseAddrPort(at.String())
	if err != nil || !local.Addr().Unmap().IsLoopback() {
		return false
	}
	remote, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && remote.Addr().Unmap().IsLoopback() && ownedByUs(local, remote)
}

// AsOurs returns a request of our own with the one for whom it is made: the user of its context, or the operator.
func AsOurs(r *http.Request) *http.Request {
	if IsKnown(r.Context()) {
		return r
	}
	return r.WithContext(users.With(r.Context(), users.Login{}))
}

// IsKnown reports whether the asker of a request that was let in is known. On paths that are not open everybody is.
func IsKnown(ctx context.Context) bool {
	_, known := users.Of(ctx)
	return known
}

// ours reports whether the Host field names this server: a loopback name, a configured name, or the address that the
// connection came in at.
func (g *Guard) ours(hostport string, r *http.Request) bool {
	host, ok := hostName(hostport)
	if !ok {
		return false
	}
	// A closed list, narrower than page.Loopback: the server was not told to answer on the rest of 127.0.0.0/8.
	if host == "localhost" || host == "127.0.0.1" || host == "::1" || slices.Contains(g.Hosts, host) {
		return true
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	at, _, err := net.SplitHostPort(local.String())
	ip := net.ParseIP(host)
	return err == nil && ip != nil && ip.Equal(net.ParseIP(at))
}

// hostName returns the host of a Host field in lower case. ok is false if the field is not a host with an optional
// port.
func hostName(hostport string) (string, bool) {
	u, err := url.Parse("http://" + hostport)
	if err != nil || u.Host != hostport || u.User != nil || u.Hostname() == "" {
		return "", false
	}
	return strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), true
}

// IsOwnForm reports whether a request is a form that a page of this server sent. Browsers name the origin of each form.
func IsOwnForm(r *http.Request) bool {
	if !httpfield.SameOrigin(r.Header, r.Host) || len(r.Header.Values("Content-Type")) != 1 {
		return false
	}
	t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && (t == "application/x-www-form-urlencoded" || t == "multipart/form-data")
}

// contentType returns an error for content that is neither JSON nor application/octet-stream: a page of another site
// can make a browser send forms and plain text, but not those. A request without content needs no type.
func contentType(r *http.Request) *api.Error {
	types := r.Header.Values("Content-Type")
	if len(types) == 0 && r.ContentLength == 0 {
		return nil
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	if len(types) == 1 {
		if t, _, err := mime.ParseMediaType(types[0]); err == nil &&
			(t == "application/json" || t == "application/octet-stream") {
			return nil
		}
	}
	return api.Problem(http.StatusUnsupportedMediaType, "content must be JSON: send Content-Type: application/json")
}
