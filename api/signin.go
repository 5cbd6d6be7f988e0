package api

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"html/template"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// SigninRequest asks for a link that signs a browser in. Page is where the browser goes then, a path of this server.
type SigninRequest struct {
	Page string `json:"page,omitempty"`
}

// SigninLink is a link that works once. It is a path of this server.
type SigninLink struct {
	Path     string `json:"path"`
	ExpiresS int    `json:"expires_s"`
}

// signinQuery is what a link has.
type signinQuery struct {
	Code string `query:"code" doc:"the code of a link that POST /api/v1/signin gave; it works once"`
}

const (
	linkLife    = time.Minute
	browserLife = 12 * time.Hour
	maxLinks    = 64   // that wait to be used
	maxBrowsers = 1024 // that are signed in
)

// browsers are the browsers that signed in, and the links by which others may. Both end with the process. Codes are
// kept as their hashes, so that looking one up takes the same time however much of it is right.
type browsers struct {
	mu     sync.Mutex
	links  map[secretSum]ticket
	signed map[secretSum]ticket
}

type secretSum [sha256.Size]byte

// ticket is a link or a signed-in browser.
type ticket struct {
	page string // of a link
	ends time.Time
}

func newBrowsers() *browsers {
	return &browsers{links: map[secretSum]ticket{}, signed: map[secretSum]ticket{}}
}

// issue adds a ticket to a list of at most limit and returns its code. What has ended goes first, then what ends first.
func issue(list map[secretSum]ticket, limit int, t ticket) (code string) {
	now := time.Now()
	maps.DeleteFunc(list, func(_ secretSum, t ticket) bool { return !now.Before(t.ends) })
	if len(list) >= limit {
		delete(list, slices.MinFunc(slices.Collect(maps.Keys(list)), func(a, b secretSum) int {
			return list[a].ends.Compare(list[b].ends)
		}))
	}
	code = rand.Text()
	list[sha256.Sum256([]byte(code))] = t
	return code
}

// link returns the code of a new link to a page.
func (b *browsers) link(page string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return issue(b.links, maxLinks, ticket{page, time.Now().Add(linkLife)})
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
	return issue(b.signed, maxBrowsers, ticket{ends: time.Now().Add(browserLife)}), t.page, true
}

// know reports whether a request is from a browser that signed in.
func (b *browsers) know(r *http.Request) bool {
	cookies := r.CookiesNamed(cookieName(r))
	if len(cookies) != 1 {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	t, ok := b.signed[sha256.Sum256([]byte(cookies[0].Value))]
	return ok && time.Now().Before(t.ends)
}

// cookieName returns the name of our cookie. It has the port, since browsers keep cookies by host alone.
func cookieName(r *http.Request) string {
	_, port, _ := net.SplitHostPort(r.Host)
	return "readthru-" + cmp.Or(port, "80")
}

// createLink returns a link that signs a browser in.
func (s *Server) createLink(_ context.Context, r SigninRequest) (*SigninLink, error) {
	page := cmp.Or(r.Page, "/")
	u, err := url.Parse(page)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(page, "/") || strings.HasPrefix(page, "//") ||
		strings.Contains(page, `\`) {
		return nil, problem(http.StatusBadRequest, "page is not a path of this server")
	}
	code := s.guard.browsers.link(page)
	return &SigninLink{Path: "/signin?code=" + code, ExpiresS: int(linkLife / time.Second)}, nil
}

// serveSignin signs the browser in that follows a link. Without a link it says how to get one.
func (s *Server) serveSignin(w http.ResponseWriter, r *http.Request, q signinQuery) error {
	if q.Code == "" || r.Method != http.MethodGet || r.Header.Get("Sec-Purpose") != "" { // a browser that only looks ahead
		return s.showSignin(w, http.StatusOK, "")
	}
	code, page, ok := s.guard.browsers.use(q.Code)
	if !ok {
		return s.showSignin(w, http.StatusForbidden, "This link was used before, or is older than a minute.")
	}
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(r), Value: code, Path: "/", MaxAge: int(browserLife / time.Second),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
	})
	w.Header().Set("Location", page)
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// signinPage tells people what to do. It is open to all, and says nothing about this server.
var signinPage = template.Must(template.New("signin").Parse(`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>readthru: sign in</title></head>
<body>
<h1>Sign in</h1>
{{if .}}<p><strong>{{.}}</strong></p>
{{end}}<p>readthru answers the user it runs as. In a terminal of that user, run</p>
<pre>readthru open</pre>
<p>It opens this page signed in, and prints a link that works once for another browser.</p>
</body>
</html>
`))

func (s *Server) showSignin(w http.ResponseWriter, status int, remark string) error {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	return signinPage.Execute(w, remark)
}

// wantsPage reports whether a person waits for the answer to a request.
func wantsPage(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html")
}
