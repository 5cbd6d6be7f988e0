package server

import (
	"cmp"
	"encoding/json"
	"errors"
	"html/template"
	"net/http"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/guard"
	"github.com/readthru/readthru/internal/openid"
	"github.com/readthru/readthru/internal/users"
)

// Where a browser goes that signs in by the provider of identities, and where it comes back.
const (
	providerPath = guard.SigninPath + "/provider"
	backPath     = providerPath + "/back"
)

// attemptLife is how long a person may take to sign in at the provider.
const attemptLife = 10 * time.Minute

// attempt is what a browser keeps of an attempt to sign in by the provider, sealed.
type attempt struct {
	openid.Attempt
	Page string
	Ends time.Time
}

// isProviderPath reports whether a request is for the way to the provider of identities, or back from it.
func (s *Server) isProviderPath(r *http.Request) bool {
	return s.o.Identity != nil && r.Method == http.MethodGet && (r.URL.Path == providerPath || r.URL.Path == backPath)
}

// serveProvider leads a browser to the provider of identities, and takes it back.
func (s *Server) serveProvider(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Header.Get("Sec-Purpose") != "": // a browser that only looks ahead
		_ = s.showSignin(w, r, http.StatusOK, signinView{}) // an error is a client that has gone
	case r.URL.Path == providerPath:
		s.goToProvider(w, r)
	default:
		s.comeBack(w, r)
	}
}

// goToProvider begins an attempt. The browser alone keeps it, so that strangers who begin many use no memory. The
// cookie is sent along when the provider's site leads back, which the one of a browser that is signed in is not.
func (s *Server) goToProvider(w http.ResponseWriter, r *http.Request) {
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	a, to, err := s.o.Identity.Begin(r.Context(), scheme+r.Host+backPath)
	if err != nil {
		s.refuseIdentity(w, r, http.StatusBadGateway, "The provider of identities cannot be asked: try again later.", err)
		return
	}
	kept := attempt{Attempt: a, Page: "/", Ends: time.Now().Add(attemptLife)}
	if page := r.URL.Query().Get("page"); len(page) < 1000 && guard.IsOwnPath(page) {
		kept.Page = page
	}
	text, err := json.Marshal(kept)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	http.SetCookie(w, attemptCookie(r, s.guard.Browsers.Seal(text), int(attemptLife/time.Second)))
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
}

// attemptCookie returns the cookie of an attempt. A negative age removes it.
func attemptCookie(r *http.Request, value string, age int) *http.Cookie {
	c := cookieOf(r, value, age)
	c.Name, c.Path, c.SameSite = guard.CookieName(r)+"-provider", providerPath, http.SameSiteLaxMode
	return c
}

// comeBack ends an attempt, whose cookie is good this once, and signs the browser in.
func (s *Server) comeBack(w http.ResponseWriter, r *http.Request) {
	none := attemptCookie(r, "", -1)
	cookies := r.CookiesNamed(none.Name)
	http.SetCookie(w, none)
	var kept attempt
	var text []byte
	ok := len(cookies) == 1
	if ok {
		text, ok = s.guard.Browsers.Unseal(cookies[0].Value)
	}
	if !ok || json.Unmarshal(text, &kept) != nil || !time.Now().Before(kept.Ends) {
		s.refuseIdentity(w, r, http.StatusForbidden, "This attempt to sign in is over, or of another browser: begin again.",
			openid.ErrState)
		return
	}
	person, err := s.o.Identity.Finish(r.Context(), kept.Attempt, r.URL.Query())
	if err != nil {
		words := "The provider of identities did not say who you are: begin again, or ask an administrator."
		switch {
		case errors.Is(err, openid.ErrState):
			words = "This attempt to sign in is over, or of another browser: begin again."
		case errors.Is(err, openid.ErrRefused):
			words = "The provider of identities did not sign you in."
		case errors.Is(err, openid.ErrName):
			words = "The provider of identities gives you no name that can be used here: ask an administrator."
		}
		s.refuseIdentity(w, r, http.StatusForbidden, words, err)
		return
	}
	name, err := s.people.Identify(person)
	var who users.Login
	if err == nil {
		who, err = s.o.Users.Vouch(name)
	}
	if err != nil {
		words := "You may not sign in here: ask an administrator."
		if e, ok := errors.AsType[*api.Error](err); ok {
			words = e.Detail
		}
		s.refuseIdentity(w, r, http.StatusForbidden, words, err)
		return
	}
	s.welcome(w, r, who, "by the provider of identities")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = welcomePage.Execute(w, signinView{Name: name, Page: cmp.Or(kept.Page, "/")}) // an error is a client that has gone
}

// refuseIdentity shows the page that signs in with a remark, and logs why.
func (s *Server) refuseIdentity(w http.ResponseWriter, r *http.Request, status int, remark string, err error) {
	s.o.Log.Warn("sign-in by the provider of identities refused", "status", status, "from", r.RemoteAddr, "error",
		err)
	_ = s.showSignin(w, r, status, signinView{Remark: remark}) // an error is a client that has gone
}

// welcomePage leads on from the provider. Were it a redirect, browsers would send no cookie along that is for our own
// site alone, since another site began the way here.
var welcomePage = template.Must(template.New("welcome").Parse(`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>readthru: signed in</title>
<meta http-equiv="refresh" content="0; url={{.Page}}">
<link rel="stylesheet" href="/assets/style.css"></head>
<body class="signin"><main><h1>Signed in as {{.Name}}</h1>
<p><a href="{{.Page}}">Go on</a></p></main></body>
</html>
`))
