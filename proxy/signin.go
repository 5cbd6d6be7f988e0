package proxy

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/readthru/readthru/internal/guess"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/proxy/strict"
	"github.com/readthru/readthru/store"
)

// signIn checks Basic credentials (RFC 7617) from the address remote. It returns their user and the session that they
// name, or a refusal. Without users it returns nobody and takes the name for the session. With users, the session
// follows the last plus sign of a name that is not itself a user's.
func signIn(ctx context.Context, known *users.Directory, remote, field string) (
	user users.Login, session string, bad *strict.Refusal,
) {
	scheme, encoded, _ := strings.Cut(field, " ")
	isBasic := strings.EqualFold(scheme, "Basic")
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	name, password, _ := strings.Cut(string(decoded), ":")
	switch {
	case known.Open():
		if isBasic && err == nil && store.CheckSession(name) == nil {
			session = name
		}
		return user, session, nil
	case !isBasic:
		return user, "",
			challenge("The proxy requires a name and a password: set them in its URL, as in " +
				"http://NAME:PASSWORD@127.0.0.1:7887.")
	case err != nil:
		return user, "",
			challenge("The proxy requires a name and a password; the Basic credentials sent are malformed.")
	}
	if !known.Known(name) {
		if plus := strings.LastIndexByte(name, '+'); plus >= 0 && store.CheckSession(name[plus+1:]) == nil {
			name, session = name[:plus], name[plus+1:]
		}
	}
	user, err = known.SignIn(ctx, remote, name, password, users.ScopeProxy)
	if err != nil {
		return user, "", notSignedIn(err)
	}
	session, bad = ownSession(user, session)
	return user, session, bad
}

// present returns a user who signed in with the CONNECT as they are now, or a refusal if the credentials are no longer
// valid: a connection may outlive its user.
func present(known *users.Directory, user users.Login) (users.Login, *strict.Refusal) {
	now, ok := known.Present(user, users.ScopeProxy)
	if !ok {
		return users.Login{}, &strict.Refusal{
			Status: http.StatusForbidden, Title: "Sign in again", ProxyError: "http_request_denied",
			Detail: "The users of the proxy have changed: open a new connection and sign in.",
		}
	}
	return now, nil
}

// notSignedIn returns the refusal for an error of a sign-in at the proxy.
func notSignedIn(err error) *strict.Refusal {
	locked, isLocked := errors.AsType[*users.LockedError](err)
	switch {
	case isLocked:
		return tooMany("Too many wrong passwords", "Too many wrong passwords: try again in "+
			guess.RetryAfter(locked.Wait)+" s. Until then none is checked.", locked.Wait)
	case errors.Is(err, users.ErrBusy):
		return &strict.Refusal{
			Status: http.StatusServiceUnavailable, Title: "Too many sign-ins", ProxyError: "http_request_denied",
			Detail: "Too many passwords are being checked: try again in a second.",
			Header: http.Header{"Retry-After": {"1"}},
		}
	case errors.Is(err, users.ErrScope):
		return challenge("This token is not for the proxy: ask for one with the scope proxy.")
	case errors.Is(err, users.ErrWrong):
		return challenge("Wrong name or password for the proxy.")
	}
	return &strict.Refusal{Status: journal.StatusGone, Title: "Client gone", Detail: "the client went away"}
}

// tooMany is a refusal to sign somebody in that ends after a time, which Retry-After says.
func tooMany(title, detail string, wait time.Duration) *strict.Refusal {
	return &strict.Refusal{
		Status: http.StatusTooManyRequests, Title: title, ProxyError: "http_request_denied", Detail: detail,
		Header: http.Header{"Retry-After": {guess.RetryAfter(wait)}},
	}
}

// overLimit returns the refusal to sign in a user whose meter has reached a limit; nil if it has not.
func overLimit(err error) *strict.Refusal {
	over, ok := errors.AsType[*users.OverError](err)
	if !ok {
		return nil
	}
	return tooMany("Limit reached", strings.ToUpper(over.Error()[:1])+over.Error()[1:]+".", over.Wait)
}

// challenge asks the client to sign in with credentials (RFC 9110 §11.7.1), with a sentence that says what is wrong.
func challenge(detail string) *strict.Refusal {
	return &strict.Refusal{
		Status: http.StatusProxyAuthRequired, Title: "Proxy authentication required", ProxyError: "http_request_denied",
		Detail: detail,
		Header: http.Header{"Proxy-Authenticate": {`Basic realm="readthru", charset="UTF-8"`}},
	}
}

// signIn returns the user who signs in with a field of credentials, and takes the session that the credentials name.
// Without users everybody is nobody, and nothing is read unless there is a field.
func (x *exchange) signIn(field string) (users.Login, *strict.Refusal) {
	if field == "" && x.p.o.Users.Open() {
		return users.Login{}, nil
	}
	user, session, bad := signIn(x.r.Context(), x.p.o.Users, x.r.RemoteAddr, field)
	x.session = cmp.Or(session, x.session)
	return user, bad
}
