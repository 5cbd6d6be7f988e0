package fetch_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/page"
)

// browse reads a URL as the proxy does for a browser: through the cache, observed, to the last byte or only the first.
// It returns the fields and what was read.
func (c *chain) browse(t *testing.T, rawURL string, whole bool, fields ...string) (http.Header, string, error) {
	t.Helper()
	req := &http.Request{
		Method: http.MethodGet, URL: parse(t, rawURL), Host: parse(t, rawURL).Host,
		Header: header(fields...),
	}
	req.Header.Set("Accept", "text/html")
	req = req.WithContext(t.Context())
	resp, err := c.cache.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	c.Observe(req, resp, "Mozilla/5.0", "", "")
	defer resp.Body.Close()
	var r io.Reader = resp.Body
	if !whole {
		r = io.LimitReader(r, 100)
	}
	b, err := io.ReadAll(r)
	c.Drain()
	return resp.Header, string(b), err
}

func TestWhatABrowserReadsBecomesAPage(t *testing.T) {
	c := newChain(t, respond(200, article("Harbour"), html, "Vary: Cookie"))
	for n := range int64(2) {
		fields, got, err := c.browse(t, "https://site.test/", true)
		if err != nil || got != article("Harbour") {
			t.Fatalf("%v, %d bytes, want the HTML as it was", err, len(got))
		}
		if v := strings.Join(fields.Values("Vary"), ", "); v != "Cookie, Accept" {
			t.Errorf("Vary = %q, want Accept added: the URL has another form here", v)
		}
		if err := c.store.Flush(); err != nil {
			t.Fatal(err)
		}
		if p := c.stored(t, "https://site.test/"); p == nil || p.Title != "Harbour" || p.Source != page.Local ||
			p.VisitCount != n+1 {
			t.Errorf("page %+v, want it stored with %d visits", p, n+1)
		}
	}
	if n := c.Stats().Converted; n != 1 {
		t.Errorf("%d conversions, want 1", n)
	}
	for range 2 { // the origin is asked once whether it has markdown
		if ans := c.read(t, "https://site.test/"); !strings.Contains(string(ans.Body), "# Harbour") ||
			c.Stats().Converted != 1 || len(c.origin.asked()) != 2 {
			t.Errorf("an agent's read made %d conversions and %d origin requests in all, want 1 and 2", c.Stats().Converted,
				len(c.origin.asked()))
		}
	}
}

func TestWhatIsNotToBeRememberedIsNotObserved(t *testing.T) {
	wall := "<title>Just a moment...</title><script>window._cf_chl_opt={}</script><p>Checking your browser"
	for _, tt := range []struct {
		name, url, content string
		status             int
		response           string
		request            string
		whole              bool
	}{
		{"AD6 ended early", "https://site.test/", article("H"), 200, "", "A: b", false},
		{"X6 an error", "https://site.test/", article("H"), 404, "", "A: b", true},
		{"AD4 no-store", "https://site.test/", article("H"), 200, "Cache-Control: no-store", "A: b", true},
		{"AD4 private", "https://site.test/", article("H"), 200, "Cache-Control: private", "A: b", true},
		{"AD4 cookies", "https://site.test/", article("H"), 200, "", "Cookie: a=b", true},
		{"AD4 authorization", "https://site.test/", article("H"), 200, "", "Authorization: Bearer x", true},
		{"AD4 secret in the URL", "https://site.test/?token=abc", article("H"), 200, "", "A: b", true},
		{"A11 blocked domain", "http://medium.com/", article("H"), 200, "", "A: b", true},
		{"AD6 bot wall", "https://site.test/", wall, 200, "", "A: b", true},
		{"AD1a no HTML", "https://site.test/", "{}", 200, "Content-Type: application/json", "A: b", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fields := []string{tt.response}
			if !strings.HasPrefix(tt.response, "Content-Type") {
				fields = append(fields, html)
			}
			c := newChain(t, respond(tt.status, tt.content, fields...),
				func(o *fetch.Options) { o.BlockedDomains = []string{"medium.com"} })
			if _, got, err := c.browse(t, tt.url, tt.whole, tt.request); err != nil || tt.whole && got != tt.content {
				t.Errorf("%v, %d bytes, want all to pass", err, len(got))
			}
			if n := c.store.Totals(); n.Pages != 0 || n.Visits != 0 {
				t.Errorf("%d pages, %d visits, want none", n.Pages, n.Visits)
			}
		})
	}
}

func TestPagesReadWithCookies(t *testing.T) { // AD4
	origin := func(w http.ResponseWriter, r *http.Request) {
		title := "Anonymous"
		if r.Header.Get("Cookie") != "" {
			title = "Alice"
		}
		respond(200, article(title), html)(w, r)
	}
	for _, tt := range []struct {
		mode    string
		private bool
		want    string // title of the page stored, empty if none
	}{{"skip", false, ""}, {"reread", false, "Anonymous"}, {"remember", false, ""}, {"remember", true, "Alice"}} {
		t.Run(tt.mode, func(t *testing.T) {
			c := newChain(t, http.HandlerFunc(origin),
				func(o *fetch.Options) { o.PagesWithCookies, o.Private = tt.mode, tt.private })
			if _, _, err := c.browse(t, "https://site.test/", true, "Cookie: session=1"); err != nil {
				t.Fatal(err)
			}
			title := ""
			if p := c.stored(t, "https://site.test/"); p != nil {
				title = p.Title
			}
			if title != tt.want {
				t.Errorf("stored %q, want %q", title, tt.want)
			}
		})
	}
}

func TestBodiesCutOnTheWayToABrowserStayCut(t *testing.T) { // rule H1
	c := newChain(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Length", "100000")
		io.WriteString(w, article("Harbour"))
	}))
	if _, _, err := c.browse(t, "http://site.test/", true); err == nil {
		t.Error("a cut body came through without an error")
	}
	if c.stored(t, "http://site.test/") != nil {
		t.Error("a cut body became a page")
	}
}
