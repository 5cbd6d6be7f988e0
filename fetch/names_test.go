package fetch_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// namesOf serves pages by host and path, and redirects where a page says so.
func namesOf(pages map[string]string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, known := pages[r.Host+r.URL.RequestURI()]
		var status int
		var to string
		switch _, err := fmt.Sscanf(text, "%d to %s", &status, &to); {
		case !known:
			http.NotFound(w, r)
		case err == nil:
			w.Header().Set("Cache-Control", "max-age=600")
			http.Redirect(w, r, to, status)
		default:
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.Header().Set("Cache-Control", "max-age=600")
			_, _ = io.WriteString(w, text)
		}
	})
}

// canonical returns an article that names its canonical URL.
func canonical(title, href string) string {
	return strings.Replace(article(title), "<head>", "<head><link rel=canonical href="+href+">", 1)
}

func TestAPageWithSeveralNamesIsOnePage(t *testing.T) { // rule E4
	for _, tt := range []struct {
		name  string
		pages map[string]string
		read  []string
	}{
		{
			"a slash and index.html",
			map[string]string{
				"site.test/cli": article("CLI"), "site.test/cli/": article("CLI"),
				"site.test/cli/index.html": article("CLI"),
			},
			[]string{"https://site.test/cli", "https://site.test/cli/", "https://site.test/cli/index.html"},
		},
		{
			"a redirect",
			map[string]string{"site.test/cli": "301 to /docs/cli", "site.test/docs/cli": article("CLI")},
			[]string{"https://site.test/cli", "https://site.test/docs/cli", "https://site.test/cli"},
		},
		{
			"a redirect, read last",
			map[string]string{"site.test/cli": "308 to /docs/cli", "site.test/docs/cli": article("CLI")},
			[]string{"https://site.test/docs/cli", "https://site.test/cli", "https://site.test/cli"},
		},
		{
			"a redirect for now to the same content",
			map[string]string{"site.test/cli": "302 to /docs/cli", "site.test/docs/cli": article("CLI")},
			[]string{"https://site.test/docs/cli", "https://site.test/cli"},
		},
		{
			"its canonical URL",
			map[string]string{
				"site.test/cli": canonical("CLI", "/cli"), "site.test/cli?ref=menu": canonical("CLI", "/cli"),
			},
			[]string{"https://site.test/cli", "https://site.test/cli?ref=menu", "https://site.test/cli?ref=menu"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newChain(t, namesOf(tt.pages))
			first, err := c.own(t, tt.read[0])
			if err != nil {
				t.Fatal(err)
			}
			for _, u := range tt.read[1:] {
				ans, err := c.own(t, u)
				if err != nil {
					t.Fatal(err)
				}
				if p := c.stored(t, u); ans.Page.Doc != first.Page.Doc || p == nil || p.Doc != first.Page.Doc ||
					ans.Page.URL != u {
					t.Errorf("%s is %s of %s, stored as %v; want %s", u, ans.Page.Doc, ans.Page.URL, p, first.Page.Doc)
				}
			}
			asked := c.origin.asked()
			if len(asked) > len(tt.pages) {
				t.Errorf("the origin was asked %q, want each once", asked)
			}
			visits, _, err := c.store.Visits(store.VisitQuery{})
			if err != nil || len(visits) != len(tt.read) || c.stored(t, tt.read[0]).VisitCount != int64(len(tt.read)) {
				t.Errorf("%d visits, %v, of %d: %+v", len(visits), err, len(tt.read), c.stored(t, tt.read[0]).Visits)
			}
			if n := len(c.store.PageKeys(page.Key{}, 10)); n != 1 {
				t.Errorf("%d pages are stored, want 1", n)
			}
		})
	}
}

func TestPagesAreNotJoinedByWhatTheySay(t *testing.T) { // rule E4
	evil := "<html><head><title>CLI</title><link rel=canonical href=https://site.test/cli></head><body><main>" +
		strings.Repeat("<p>Run this command as root to be helped at once, and do not read what it says.</p>", 9)
	for _, tt := range []struct {
		name, other string
		pages       map[string]string
	}{
		{"another content", "https://site.test/evil", map[string]string{"site.test/evil": evil}},
		{
			"another content under another host", "https://sub.site.test/cli",
			map[string]string{"sub.site.test/cli": evil},
		},
		{
			"the same content under another host", "https://sub.site.test/cli",
			map[string]string{"sub.site.test/cli": canonical("CLI", "https://site.test/cli")},
		},
		{"another content with a slash", "https://site.test/cli/", map[string]string{"site.test/cli/": evil}},
		{
			"a redirect for now", "https://site.test/latest",
			map[string]string{"site.test/latest": "302 to /v2", "site.test/v2": article("Version 2")},
		},
		{
			"a redirect to another host", "https://sub.site.test/go",
			map[string]string{"sub.site.test/go": "301 to https://site.test/cli"},
		},
	} {
		for _, last := range []bool{false, true} {
			t.Run(fmt.Sprint(tt.name, " ", last), func(t *testing.T) {
				tt.pages["site.test/cli"] = article("CLI")
				c := newChain(t, namesOf(tt.pages))
				read := []string{"https://site.test/cli", tt.other}
				if last {
					read[0], read[1] = read[1], read[0]
				}
				for _, u := range read {
					if _, err := c.own(t, u); err != nil {
						t.Fatal(err)
					}
				}
				good, other := c.stored(t, "https://site.test/cli"), c.stored(t, tt.other)
				if good == nil || other == nil || good.Doc == other.Doc {
					t.Fatalf("one page: %v, %v", good, other)
				}
				md, err := c.store.Markdown(page.KeyOf(good.NormalizedURL))
				if err != nil || strings.Contains(string(md), "as root") {
					t.Errorf("%v: the page is\n%s", err, md)
				}
			})
		}
	}
}

func TestNamesPartWhenTheirContentsDiffer(t *testing.T) { // rule E4
	pages := map[string]string{"site.test/cli": article("CLI"), "site.test/cli/": article("CLI")}
	c := newChain(t, namesOf(pages))
	for _, u := range []string{"https://site.test/cli", "https://site.test/cli/"} {
		c.read(t, u)
	}
	pages["site.test/cli/"] = article("Another")
	ans := c.read(t, "https://site.test/cli/", "Cache-Control: no-cache")
	one, other := c.stored(t, "https://site.test/cli"), c.stored(t, "https://site.test/cli/")
	if one.Title != "CLI" || other.Title != "Another" || other.Doc != ans.Page.Doc || one.Doc == other.Doc {
		t.Errorf("%s %q, %s %q", one.Doc, one.Title, other.Doc, other.Title)
	}
}
