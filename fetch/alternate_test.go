package fetch_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/processor"
	"github.com/readthru/readthru/internal/transport/transporttest"
	"github.com/readthru/readthru/page"
)

var twin = "# Harbour\n\n" +
	strings.Repeat("The harbour wakes before the town does, and the boats that left at dusk come home.\n\n", 12)

func TestMarkdownTwinsAreTaken(t *testing.T) { // AD3: Link, head, .md
	for _, tt := range []struct {
		name, path string
		html       string
		link       string
		twin       http.HandlerFunc
		want       page.Source
	}{
		{
			"Link field", "/page", article("H"), `<page.md>; rel="alternate"; type="text/markdown"`,
			respond(200, twin, "Content-Type: text/markdown"), page.Alternate,
		},
		{
			"head", "/page", strings.Replace(article("H"), "<head>",
				`<head><link rel=alternate type="text/markdown" href="/page.md">`, 1), "",
			respond(200, twin, "Content-Type: text/markdown"), page.Alternate,
		},
		{
			"text/plain with the path of one", "/page", article("H"), `</page.md>; rel=alternate; type=text/markdown`,
			respond(200, twin, "Content-Type: text/plain"), page.Alternate,
		},
		{
			"text/html, and no HTML", "/page", article("H"), `</page.md>; rel=alternate; type=text/markdown`,
			respond(200, twin, html), page.Alternate,
		},
		{
			"octets", "/page", article("H"), `</page.md>; rel=alternate; type=text/markdown`,
			respond(200, twin, "Content-Type: binary/octet-stream"), page.Alternate,
		},
		{
			"HTML that says so", "/page", article("H"), `</page.md>; rel=alternate; type=text/markdown`,
			respond(200, article("H"), html), page.Local,
		},
		{"none named", "/page", article("H"), "", respond(200, twin, "Content-Type: text/markdown"), page.Local},
		{
			"another type", "/page", article("H"), `</page.md>; rel=alternate; type=text/html`,
			respond(200, twin, "Content-Type: text/markdown"), page.Local,
		},
		{
			"404", "/page", article("H"), `</page.md>; rel=alternate; type=text/markdown`,
			respond(404, twin, "Content-Type: text/markdown"), page.Local,
		},
		{
			"HTML", "/page", article("H"), `</page.md>; rel=alternate; type=text/markdown`,
			respond(200, article("H"), "Content-Type: text/markdown"), page.Local,
		},
		{
			"empty", "/page", article("H"), `</page.md>; rel=alternate; type=text/markdown`,
			respond(200, " ", "Content-Type: text/markdown"), page.Local,
		},
		{
			"a stub", "/page", article("H"), `</page.md>; rel=alternate; type=text/markdown`,
			respond(200, "# Harbour\n\nSee the site.\n", "Content-Type: text/markdown"), page.Local,
		},
		{
			"code lost", "/page", article("H", "<pre>a</pre><pre>b</pre>"),
			`</page.md>; rel=alternate; type=text/markdown`,
			respond(200, twin, "Content-Type: text/markdown"), page.Local,
		},
		{
			"redirect", "/page", article("H"), `</page.md>; rel=alternate; type=text/markdown`,
			respond(302, "", "Location: /other.md"), page.Local,
		},
		{
			"blocked host", "/page", article("H"), `<https://medium.com/page.md>; rel=alternate; type=text/markdown`,
			respond(200, twin, "Content-Type: text/markdown"), page.Local,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			mux := http.NewServeMux()
			fields := []string{html}
			if tt.link != "" {
				fields = append(fields, "Link: "+tt.link)
			}
			mux.Handle("/page", respond(200, tt.html, fields...))
			mux.Handle("/page.md", tt.twin)
			c := newChain(t, mux, func(o *fetch.Options) { o.BlockedDomains = []string{"medium.com"} })
			ans := c.read(t, "https://site.test"+tt.path, "X-Request-Id: secret")
			if ans.Page.Source != tt.want {
				t.Fatalf("source %s, want %s; attempts %+v", ans.Page.Source, tt.want, ans.Page.Attempts)
			}
			before := len(c.origin.asked())
			again := c.read(t, "https://site.test"+tt.path)
			if string(again.Body) != string(ans.Body) || len(c.origin.asked()) != before {
				t.Errorf("the second read asked the origin: %v", c.origin.asked())
			}
			if tt.want != page.Alternate {
				return
			}
			if string(ans.Body) != twin {
				t.Errorf("body %.80q, want the twin as its origin made it", ans.Body)
			}
			if r := c.origin.last(t); r.URL.Path != "/page.md" || r.Header.Get("X-Request-Id") != "" ||
				r.Header.Get("User-Agent") != "readthru/test" {
				t.Errorf("the twin was asked for with %v, want our own fields", r.Header)
			}
		})
	}
}

// A page decides that its twin is asked for, so the policy for own fetches holds, also where clients may reach private
// addresses.
func TestTwinsAtPrivateAddressesAreNotAskedFor(t *testing.T) {
	private := &origin{Handler: respond(200, twin, "Content-Type: text/markdown")}
	addr := transporttest.Serve(t, private)
	c := newChain(t, respond(200, article("H"), html,
		"Link: <http://"+addr+"/page.md>; rel=alternate; type=text/markdown"))
	if ans := c.read(t, "http://site.test/page"); ans.Page.Source != page.Local || private.asked() != nil {
		t.Errorf("source %s, the private origin was asked %v, want it left alone", ans.Page.Source, private.asked())
	}
	if ans := c.read(t, "http://"+addr+"/page.md"); ans.Page.Source != page.Negotiated {
		t.Errorf("source %s: the client itself may ask it", ans.Page.Source)
	}
}

func TestTwinsAreTriedUnnamedOnlyWhereOneHasWorked(t *testing.T) { // rule A1
	mux := http.NewServeMux()
	mux.Handle("/a", respond(200, article("A"), html, `Link: </a.md>; rel=alternate; type=text/markdown`))
	mux.Handle("/b", respond(200, article("B"), html))
	mux.Handle("/c", respond(200, article("C"), html))
	md := respond(200, twin, "Content-Type: text/markdown")
	mux.Handle("/a.md", md)
	mux.Handle("/b.md", md)
	c := newChain(t, mux)
	c.read(t, "https://site.test/c")
	if asked := c.origin.asked(); slices.Contains(asked, "GET site.test/c.md") {
		t.Fatalf("a twin was guessed before one has worked: %v", asked)
	}
	c.read(t, "https://site.test/a")
	if ans := c.read(t, "https://site.test/b"); ans.Page.Source != page.Alternate {
		t.Errorf("source %s, want alternate, as on the page before", ans.Page.Source)
	}
	if ans := c.read(t, "https://site.test/b", "Cookie: a=b"); ans.Page.Source != page.Local {
		t.Errorf("with credentials source %s, want local", ans.Page.Source)
	}
}

// quick fails the test when f takes more processor time than limit.
func quick(t *testing.T, limit time.Duration, f func()) {
	t.Helper()
	if used := processor.Of(f); used > limit {
		t.Errorf("it took %s of processor time, want %s at most", used, limit)
	}
}

func TestAPageIsNotItsOwnTwin(t *testing.T) {
	c := newChain(t, respond(200, article("H"), html, "Cache-Control: no-cache",
		`Link: </page>; rel=alternate; type=text/markdown`))
	c.read(t, "https://site.test/page#part")
	if n := len(c.origin.asked()); n != 1 {
		t.Errorf("%d origin requests, want 1", n)
	}
}

func TestWhatATwinForbidsToKeepIsNotKept(t *testing.T) {
	for _, cc := range []string{"no-store", "private"} {
		mux := http.NewServeMux()
		mux.Handle("/page", respond(200, article("H"), html, `Link: </page.md>; rel=alternate; type=text/markdown`))
		mux.Handle("/page.md", respond(200, twin, "Content-Type: text/markdown", "Cache-Control: "+cc))
		c := newChain(t, mux)
		if ans := c.read(t, "https://site.test/page"); ans.Page.Source != page.Local {
			t.Errorf("%s: source %s, want the twin left alone", cc, ans.Page.Source)
		}
	}
}

// A twin in another folder than its page says where its links lead: its reader knows only the page's address.
func TestLinksOfATwinElsewhereAreAbsolute(t *testing.T) {
	linked := twin + "\nSee [the quay](quay.html).\n"
	for path, want := range map[string]string{
		"/harbour/page.md": "[the quay](quay.html)",
		"/markdown/h.md":   "[the quay](https://site.test/markdown/quay.html)",
		"/harbour.md":      "[the quay](https://site.test/quay.html)",
	} {
		mux := http.NewServeMux()
		mux.Handle("/harbour/page", respond(200, article("H"), html, "Link: <"+path+">; rel=alternate; type=text/markdown"))
		mux.Handle(path, respond(200, linked, "Content-Type: text/markdown"))
		c := newChain(t, mux)
		ans := c.read(t, "https://site.test/harbour/page")
		if ans.Page.Source != page.Alternate || !strings.Contains(string(ans.Body), want) {
			t.Errorf("%s: source %s, want %s in\n%s", path, ans.Page.Source, want, ans.Body)
		}
	}
}
