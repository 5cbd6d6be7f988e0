package server

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"html/template"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/guess"
)

const (
	linkLife    = time.Minute
	browserLife = 12 * time.Hour
	maxLinks    = 64 // that wait to be used
)

// browsers signs browsers in, directly or by links. Links end with the process; a browser stays signed in over its
// restarts, since its code is signed with a key that the token gives, and no longer than that token is ours.
type browsers struct {
	key []byte

	mu    sync.Mutex
	links map[secretSum]ticket // by the hash of the code: looking one up tells nothing by the time it takes
}

type secretSum [sha256.Size]byte

// ticket is a link.
type ticket struct {
	page string
	ends time.Time
}

// newBrowsers returns browsers for a token; without one their codes end with the process.
func newBrowsers(token string) *browsers {
	b := &browsers{links: map[secretSum]ticket{}, key: make([]byte, sha256.Size)}
	rand.Read(b.key) // never fails
	if token != "" {
		b.key = macOf([]byte(token), []byte("readthru: browsers that are signed in"))
	}
	return b
}

func macOf(key, text []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(text)
	return h.Sum(nil)
}

// link returns the code of a new link to a page. What has ended makes room for it, then what ends first.
func (b *browsers) link(page string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(b.links, func(_ secretSum, t ticket) bool { return !now.Before(t.ends) })
	if len(b.links) >= maxLinks {
		delete(b.links, slices.MinFunc(slices.Collect(maps.Keys(b.links)), func(x, y secretSum) int {
			return b.links[x].ends.Compare(b.links[y].ends)
		}))
	}
	code := rand.Text()
	b.links[sha256.Sum256([]byte(code))] = ticket{page, now.Add(linkLife)}
	return code
}

// use takes a link's code. It returns the code of a browser that is signed in, and the page to go to.
func (b *browsers) use(code string) (browser, page string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := sha256.Sum256([]byte(code))
	t, ok := b.links[key]
	delete(b.links, key)
	if !ok || !time.Now().Before(t.ends) {
		return "", "", false
	}
	return b.enter(), t.page, true
}

// codeSize is how long the code of a browser is before its signature: when it ends, in nanoseconds, and a random part.
const codeSize = 8 + 16

// enter returns the code of a browser that is signed in.
func (b *browsers) enter() string {
	code := binary.BigEndian.AppendUint64(nil, uint64(time.Now().Add(browserLife).UnixNano())) //nolint:gosec // after 1970
	code = append(code, make([]byte, codeSize-8)...)
	rand.Read(code[8:]) // never fails
	return base64.RawURLEncoding.EncodeToString(append(code, macOf(b.key, code)...))
}

// know reports whether a request is from a browser that signed in.
func (b *browsers) know(r *http.Request) bool {
	cookies := r.CookiesNamed(cookieName(r))
	if len(cookies) != 1 {
		return false
	}
	code, err := base64.RawURLEncoding.Strict().DecodeString(cookies[0].Value)
	if err != nil || len(code) != codeSize+sha256.Size || !hmac.Equal(code[codeSize:], macOf(b.key, code[:codeSize])) {
		return false
	}
	return time.Now().UnixNano() < int64(binary.BigEndian.Uint64(code)) //nolint:gosec // it is ours
}

// cookieName returns the name of our cookie. It has the port, since browsers keep cookies by host alone.
func cookieName(r *http.Request) string {
	_, port, _ := net.SplitHostPort(r.Host)
	return "readthru-" + cmp.Or(port, "80")
}

// createLink returns a link that signs a browser in.
func (s *Server) createLink(_ context.Context, r api.SigninRequest) (*api.SigninLink, error) {
	page := cmp.Or(r.Page, "/")
	if !isOwnPath(page) {
		return nil, api.Problem(http.StatusBadRequest, "page is not a path of this server")
	}
	code := s.guard.browsers.link(page)
	return &api.SigninLink{Path: "/signin?code=" + code, ExpiresS: int(linkLife / time.Second)}, nil
}

// isOwnPath reports whether a browser that is sent to page stays at this server.
func isOwnPath(page string) bool {
	u, err := url.Parse(page)
	return err == nil && !u.IsAbs() && u.Host == "" && strings.HasPrefix(page, "/") && !strings.HasPrefix(page, "//") &&
		!strings.Contains(page, `\`)
}

// serveSignin signs the browser in that follows a link. Without a link it says how to get one.
func (s *Server) serveSignin(w http.ResponseWriter, r *http.Request, q api.SigninQuery) error {
	if q.Code == "" || r.Method != http.MethodGet || r.Header.Get("Sec-Purpose") != "" { // a browser that only looks ahead
		return s.showSignin(w, http.StatusOK, signinView{})
	}
	code, page, ok := s.guard.browsers.use(q.Code)
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
	if err := r.ParseForm(); err == nil && isOwnPath(r.PostForm.Get("page")) {
		v.Page = r.PostForm.Get("page")
	}
	switch right, wait := s.guard.takes(r, strings.TrimSpace(r.PostForm.Get("token"))); {
	case right:
		letIn(w, r, s.guard.browsers.enter(), v.Page)
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

// letIn gives a browser the cookie of one that is signed in, and leads it to a page.
func letIn(w http.ResponseWriter, r *http.Request, code, page string) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(r), Value: code, Path: "/", MaxAge: int(browserLife / time.Second),
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

// signinView is what the page says: why somebody must sign in, and where the browser goes then.
type signinView struct{ Remark, Page string }

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
	case len(r.CookiesNamed(cookieName(r))) > 0:
		v.Remark = "You were signed out: the daemon was started again, or twelve hours have passed."
	}
	_ = s.showSignin(w, e.Status, v) // an error is a client that has gone
}

// wantsPage reports whether a person waits for the answer to a request.
func wantsPage(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html")
}
