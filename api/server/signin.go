package server

import (
	"cmp"
	"context"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/guard"
	"github.com/readthru/readthru/internal/guess"
)

// createLink returns a link that signs a browser in to the dashboard and leads to a page of it.
func (s *Server) createLink(_ context.Context, r api.SigninRequest) (*api.SigninLink, error) {
	page := cmp.Or(r.Page, "/")
	if !guard.IsOwnPath(page) {
		return nil, api.Problem(http.StatusBadRequest, "page is not a path of this server")
	}
	code := s.guard.Browsers.Link(page)
	return &api.SigninLink{Path: "/signin?code=" + code, ExpiresS: int(guard.LinkLife / time.Second)}, nil
}

// serveSignin signs the browser in that follows a link of createLink. Without a link it shows how to get one. A browser
// that only looks ahead (Sec-Purpose) must not use the link up.
func (s *Server) serveSignin(w http.ResponseWriter, r *http.Request, q api.SigninQuery) error {
	if q.Code == "" || r.Method != http.MethodGet || r.Header.Get("Sec-Purpose") != "" { // a browser that only looks ahead
		return s.showSignin(w, http.StatusOK, signinView{})
	}
	code, page, ok := s.guard.Browsers.Use(q.Code)
	if !ok {
		return s.showSignin(w, http.StatusForbidden, signinView{
			Remark: "This link was used before, or is older than a minute.",
		})
	}
	letIn(w, r, code, page)
	return nil
}

// signInByToken signs the browser in that sends the form with the token.
func (s *Server) signInByToken(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 16<<10)
	v, status := signinView{Page: "/"}, http.StatusForbidden
	if err := r.ParseForm(); err == nil && guard.IsOwnPath(r.PostForm.Get("page")) {
		v.Page = r.PostForm.Get("page")
	}
	switch right, wait := s.guard.Takes(r, strings.TrimSpace(r.PostForm.Get("token"))); {
	case right:
		letIn(w, r, s.guard.Browsers.Enter(), v.Page)
		return
	case wait > 0:
		status = http.StatusTooManyRequests
		w.Header().Set("Retry-After", guess.RetryAfter(wait))
		v.Remark = "Too many wrong tokens: try again in " + guess.RetryAfter(wait) + " s. Until then none is checked."
	default:
		v.Remark = "This is not the token."
	}
	_ = s.showSignin(w, status, v) // an error is a client that has gone
}

// letIn gives a browser the cookie that signs it in to the dashboard, and leads it to a page. Scripts cannot read the
// cookie, and no other site's requests carry it.
func letIn(w http.ResponseWriter, r *http.Request, code, page string) {
	http.SetCookie(w, &http.Cookie{
		Name: guard.CookieName(r), Value: code, Path: "/", MaxAge: int(guard.BrowserLife / time.Second),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
	})
	w.Header().Set("Location", page)
	w.WriteHeader(http.StatusSeeOther)
}

// signinPage tells people what to do. It is open to all, and says nothing about this server.
var signinPage = template.Must(template.New("signin").Parse(`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>readthru: sign in</title>
<link rel="stylesheet" href="/assets/style.css"></head>
<body class="signin"><main>
<h1>Sign in</h1>
{{with .Remark}}<p class="note warn" role="alert">{{.}}</p>
{{end}}<p>readthru answers the user it runs as. In a terminal of that user, run</p>
<pre class="curl" tabindex="0">readthru open</pre>
<p>It opens this page signed in, and prints a link that works once for another browser.</p>
<form method="post" action="/signin"><input type="hidden" name="page" value="{{.Page}}">
<label for="token">Or with what <code>readthru user admin-token</code> prints</label>
<div class="acts"><input id="token" name="token" type="password" required autocomplete="off">
<button>Sign in</button></div></form>
</main></body>
</html>
`))

// signinView is what the page that asks to sign in says: why somebody must, and where the browser goes then.
type signinView struct{ Remark, Page string }

// showSignin writes the page that asks to sign in, with a status.
func (s *Server) showSignin(w http.ResponseWriter, status int, v signinView) error {
	v.Page = cmp.Or(v.Page, "/")
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
		v.Remark = "You were signed out: the daemon was started again, or twelve hours have passed."
	}
	_ = s.showSignin(w, e.Status, v) // an error is a client that has gone
}
