package server

import (
	"cmp"
	"context"
	"errors"
	"html/template"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/guard"
	"github.com/readthru/readthru/api/server/asker"
	"github.com/readthru/readthru/internal/guess"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/store"
)

// signoutPath is where the form is sent that signs a browser out.
const signoutPath = "/signout"

// createLink returns a link that signs a browser in to the dashboard and leads to a page of it. A user cannot become
// the operator by one.
func (s *Server) createLink(ctx context.Context, r api.SigninRequest) (*api.SigninLink, error) {
	page, user := cmp.Or(r.Page, "/"), cmp.Or(r.User, asker.User(ctx))
	if !guard.IsOwnPath(page) {
		return nil, api.Problem(http.StatusBadRequest, "page is not a path of this server")
	}
	life := guard.LinkLife
	if user != "" {
		if s.o.Users == nil || !s.mayEnter(user) {
			return nil, api.Problem(http.StatusNotFound, "there is no user %.50q who may sign in to the dashboard", user)
		}
		life = guard.UserLinkLife
	}
	code := s.guard.Browsers.Link(page, user)
	return &api.SigninLink{Path: guard.SigninPath + "?code=" + code, ExpiresS: int(life / time.Second)}, nil
}

// mayEnter reports whether a user can be vouched for.
func (s *Server) mayEnter(user string) bool {
	_, err := s.o.Users.Vouch(user)
	return err == nil
}

// serveSignin signs the operator's browser in that follows a link of createLink. A user's link shows who is signed in
// by it, and is used up by a form: chats and mail servers follow links to show what they lead to. Without a link the
// page shows how to get one. A browser that only looks ahead (Sec-Purpose) must not use a link up.
func (s *Server) serveSignin(w http.ResponseWriter, r *http.Request, q api.SigninQuery) error {
	if q.Code == "" || r.Method != http.MethodGet || r.Header.Get("Sec-Purpose") != "" { // a browser that only looks ahead
		return s.showSignin(w, r, http.StatusOK, signinView{})
	}
	if user, ok := s.guard.Browsers.Look(q.Code); ok && user != "" {
		return s.showSignin(w, r, http.StatusOK, signinView{Code: q.Code, Name: user})
	}
	_, page, ok := s.guard.Browsers.Use(q.Code)
	if !ok {
		return s.showSignin(w, r, http.StatusForbidden, signinView{Remark: oldLink})
	}
	s.letIn(w, r, users.Login{}, page, "by a link")
	return nil
}

const oldLink = "This link was used before, or is too old."

// signIn signs the browser in that sends the form of the page: with a link for a user, with a user's name and password,
// or with the operator's token.
func (s *Server) signIn(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 16<<10)
	v := signinView{Page: "/"}
	err := r.ParseForm()
	form := r.PostForm
	if err == nil && guard.IsOwnPath(form.Get("page")) {
		v.Page = form.Get("page")
	}
	switch name := strings.TrimSpace(form.Get("name")); {
	case err != nil:
		v.Remark = "The form could not be read."
	case form.Get("code") != "":
		s.signInByLink(w, r, form.Get("code"))
		return
	case name != "":
		s.signInByPassword(w, r, name, form.Get("password"), v)
		return
	}
	status := http.StatusForbidden
	switch right, wait := s.guard.Takes(r, strings.TrimSpace(form.Get("token"))); {
	case right:
		s.letIn(w, r, users.Login{}, v.Page, "by the token")
		return
	case wait > 0:
		status = http.StatusTooManyRequests
		w.Header().Set("Retry-After", guess.RetryAfter(wait))
		v.Remark = "Too many wrong tokens: try again in " + guess.RetryAfter(wait) + " s. Until then none is checked."
	case v.Remark == "":
		v.Remark = "This is not the token."
	}
	_ = s.showSignin(w, r, status, v) // an error is a client that has gone
}

// signInByLink signs a user's browser in by a link, which is good this once.
func (s *Server) signInByLink(w http.ResponseWriter, r *http.Request, code string) {
	user, page, ok := s.guard.Browsers.Use(code)
	if ok && user != "" && s.o.Users != nil {
		if who, err := s.o.Users.Vouch(user); err == nil {
			s.letIn(w, r, who, page, "by a link")
			return
		}
	}
	_ = s.showSignin(w, r, http.StatusForbidden, signinView{Remark: oldLink}) // an error is a client that has gone
}

// signInByPassword signs a user's browser in. Who guesses learns no names: every check takes as long, and is refused by
// the same words.
func (s *Server) signInByPassword(w http.ResponseWriter, r *http.Request, name, password string, v signinView) {
	var who users.Login
	err := users.ErrWrong
	if s.o.Users != nil {
		who, err = s.o.Users.SignIn(r.Context(), r.RemoteAddr, name, password, users.ScopeDashboard)
	}
	status := http.StatusForbidden
	locked, isLocked := errors.AsType[*users.LockedError](err)
	switch {
	case err == nil:
		how := "by a password"
		if who.ByToken() {
			how = "by a token"
		}
		s.letIn(w, r, who, v.Page, how)
		return
	case isLocked:
		status = http.StatusTooManyRequests
		w.Header().Set("Retry-After", guess.RetryAfter(locked.Wait))
		v.Remark = "Too many wrong passwords: try again in " + guess.RetryAfter(locked.Wait) +
			" s. Until then none is checked."
	case errors.Is(err, users.ErrBusy):
		status = http.StatusServiceUnavailable
		w.Header().Set("Retry-After", "1")
		v.Remark = "Too many passwords are being checked: try again in a second."
	case errors.Is(err, users.ErrScope):
		v.Remark = "This password or token is not for the dashboard: ask an administrator for a link to sign in by."
	default:
		v.Remark = "Name or password is wrong."
	}
	s.o.Log.Warn("sign-in refused", "status", status, "from", r.RemoteAddr)
	_ = s.showSignin(w, r, status, v) // an error is a client that has gone
}

// letIn welcomes somebody, and leads the browser to a page.
func (s *Server) letIn(w http.ResponseWriter, r *http.Request, who users.Login, page, how string) {
	s.welcome(w, r, who, how)
	w.Header().Set("Location", page)
	w.WriteHeader(http.StatusSeeOther)
}

// welcome gives a browser the cookie that signs somebody in to the dashboard, and records how. The cookie is a new one
// each time; one that the browser had is of no use anymore. Scripts cannot read it, and no other site's requests carry
// it.
func (s *Server) welcome(w http.ResponseWriter, r *http.Request, who users.Login, how string) {
	s.record(r, store.Act{User: who.Name(), Act: "signIn", Object: how}, nil)
	if err := s.guard.Browsers.Leave(r); err != nil {
		s.o.Log.Warn("sign a browser out", "error", err)
	}
	http.SetCookie(w, cookieOf(r, s.guard.Browsers.Enter(who), int(guard.BrowserLife/time.Second)))
}

// cookieOf returns our cookie. A negative age removes it.
func cookieOf(r *http.Request, code string, age int) *http.Cookie {
	return &http.Cookie{
		Name: guard.CookieName(r), Value: code, Path: "/", MaxAge: age,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
	}
}

// signOut ends what the browser's cookie is good for, and removes it.
func (s *Server) signOut(w http.ResponseWriter, r *http.Request) {
	if err := s.guard.Browsers.Leave(r); err != nil {
		s.o.Log.Error("sign a browser out", "error", err)
		s.refuse(w, r, api.Problem(http.StatusInternalServerError, "this browser is signed out until the daemon is "+
			"started again, and not for good, because that could not be stored"))
		return
	}
	s.record(r, store.Act{User: asker.User(r.Context()), Act: "signOut"}, nil)
	http.SetCookie(w, cookieOf(r, "", -1))
	w.Header().Set("Location", guard.SigninPath)
	w.WriteHeader(http.StatusSeeOther)
}

// signinPage tells people what to do. It is open to all, and says no more about this server than whether it has users.
var signinPage = template.Must(template.New("signin").Parse(`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>readthru: sign in</title>
<link rel="stylesheet" href="/assets/style.css"></head>
<body class="signin"><main>
<h1>Sign in</h1>
{{with .Remark}}<p class="note warn" role="alert">{{.}}</p>
{{end}}{{if .Plain}}<p class="note warn">This connection is not encrypted: others on the network can read it.</p>
{{end}}{{if .Code}}<form method="post" action="/signin"><input type="hidden" name="code" value="{{.Code}}">
<p>This link signs this browser in as <b>{{.Name}}</b>, once.</p>
<div class="acts"><button>Sign in as {{.Name}}</button></div></form>
{{else}}{{if .Provider}}<p><a class="go" href="/signin/provider?page={{.Page}}">Sign in by {{.Provider}}</a></p>
{{end}}{{if .Users}}<form method="post" action="/signin"><input type="hidden" name="page" value="{{.Page}}">
<label for="name">Name</label>
<input id="name" name="name" required maxlength="100" autocomplete="username" autocapitalize="none" spellcheck="false">
<label for="password">Password, or a token for the API</label>
<div class="acts"><input id="password" name="password" type="password" required maxlength="1024"
 autocomplete="current-password">
<button>Sign in</button></div>
<p class="help">You have none, or forgot it? An administrator makes a link for you.</p></form>
<h2>The user that readthru runs as</h2>
<p>In a terminal of that user, run</p>
{{else}}<p>readthru answers the user it runs as. In a terminal of that user, run</p>
{{end}}<pre class="curl" tabindex="0">readthru open</pre>
<p>It opens this page signed in, and prints a link that works once for another browser.</p>
<form method="post" action="/signin"><input type="hidden" name="page" value="{{.Page}}">
<label for="token">Or with what <code>readthru user admin-token</code> prints</label>
<div class="acts"><input id="token" name="token" type="password" required autocomplete="off">
<button>Sign in</button></div></form>
{{end}}</main></body>
</html>
`))

// signinView is what the page that asks to sign in says: why somebody must, and where the browser goes then; or whom a
// link signs in.
type signinView struct {
	Remark, Page string
	Code, Name   string // of a link
	Users        bool   // there are some
	Plain        bool   // what is typed crosses a network as it is
	Provider     string // of identities: its host; empty: there is none
}

// showSignin writes the page that asks to sign in, with a status.
func (s *Server) showSignin(w http.ResponseWriter, r *http.Request, status int, v signinView) error {
	v.Page = cmp.Or(v.Page, "/")
	v.Users = s.o.Users != nil && !s.o.Users.Open()
	if s.o.Identity != nil {
		v.Provider = s.o.Identity.Host()
	}
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	from, err := netip.ParseAddr(host)
	v.Plain = r.TLS == nil && (err != nil || !from.Unmap().IsLoopback())
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", policyOf(true)) // its form, also in place of what is no page
	w.WriteHeader(status)
	return signinPage.Execute(w, v)
}

// turnAway shows the page that signs in to somebody who asked for a page of the dashboard, or sent a form of one.
func (s *Server) turnAway(w http.ResponseWriter, r *http.Request, e *api.Error) {
	var v signinView
	if wantsPage(r) {
		v.Page = r.URL.RequestURI()
	}
	switch {
	case r.Method == http.MethodPost:
		v.Remark = "You were signed out, so nothing was done. Sign in, and do it again."
	case len(r.CookiesNamed(guard.CookieName(r))) > 0:
		v.Remark = "You were signed out: by yourself, by an administrator, or because the daemon was started again or " +
			"twelve hours have passed."
	}
	_ = s.showSignin(w, r, e.Status, v) // an error is a client that has gone
}
