package fetch_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/page"
)

// threads serves pages of a thread: the page n leads to n+1.
func threads(last int, next func(n int) string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := 1
		_, _ = fmt.Sscanf(r.URL.Query().Get("page"), "%d", &n)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "max-age=600")
		_, _ = fmt.Fprintf(w, "<title>Thread</title><h1>Thread</h1><div class=post>Post of page %d, with words of its own: %s.</div>",
			n, strings.Repeat("long enough for a page ", 20))
		if n < last {
			_, _ = fmt.Fprintf(w, "<a class=next href=%q>Next</a>", next(n+1))
		}
	})
}

const threadRecipe = "recipe: thread\nmatch: {host: site.test}\nitem: .post\nnext: a.next\npages: 3\n"

func TestARecipeJoinsPagesForReadersOfOwnFetches(t *testing.T) {
	same := func(n int) string { return fmt.Sprintf("?page=%d", n) }
	for _, tt := range []struct {
		name     string
		handler  http.Handler
		own      bool
		posts    int
		warnings []string
	}{
		{"all pages", threads(2, same), true, 2, []string{"pages-joined=1"}},
		{"as many as the recipe says", threads(9, same), true, 3, []string{"pages-joined=2", "pages-left"}},
		{"one page for a client of the proxy", threads(9, same), false, 1, nil},
		{
			"no page of another site", threads(9, func(int) string { return "https://other.test/?page=2" }), true, 1,
			[]string{"pages-cut"},
		},
		{
			"no page with a secret", threads(9, func(int) string { return "?page=2&access_token=0123456789abcdef0123" }), true, 1,
			[]string{"pages-cut"},
		},
		{"no page twice", threads(9, func(int) string { return "?page=1" }), true, 2, []string{"pages-joined=1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newChain(t, tt.handler, recipes(t, threadRecipe))
			for range 2 { // what was joined is made again of what is stored
				ans, err := c.try(t, fetch.Request{URL: parse(t, "https://site.test/t"), Own: tt.own})
				if err != nil {
					t.Fatal(err)
				}
				body := string(ans.Body)
				if got := strings.Count(body, "Post of page"); got != tt.posts || strings.Count(body, "# Thread") != 1 {
					t.Errorf("%d posts, want %d:\n%s", got, tt.posts, body)
				}
				if !slices.Equal(ans.Page.Warnings, tt.warnings) {
					t.Errorf("warnings = %v, want %v", ans.Page.Warnings, tt.warnings)
				}
			}
			asked := c.origin.asked()
			slices.Sort(asked)
			if len(slices.Compact(slices.Clone(asked))) != len(asked) {
				t.Errorf("the origin was asked twice: %v", asked)
			}
			if slices.ContainsFunc(asked, func(r string) bool { return strings.Contains(r, "other.test") }) {
				t.Errorf("another site was asked: %v", asked)
			}
		})
	}
}

func TestJoinedPagesAreStoredAsPagesOfTheirOwn(t *testing.T) {
	c := newChain(t, threads(2, func(n int) string { return fmt.Sprintf("?page=%d", n) }), recipes(t, threadRecipe))
	if _, err := c.own(t, "https://site.test/t"); err != nil {
		t.Fatal(err)
	}
	for _, raw := range []string{"https://site.test/t", "https://site.test/t?page=2"} {
		p := c.stored(t, raw)
		if p == nil {
			t.Fatalf("%s is not stored", raw)
		}
		kept, err := c.store.Markdown(page.KeyOf(p.NormalizedURL))
		if err != nil || strings.Count(string(kept), "Post of page") != 1 || len(p.Warnings) > 0 {
			t.Errorf("%s is kept with the warnings %v, err = %v:\n%s", raw, p.Warnings, err, kept)
		}
	}
	if body := string(c.read(t, "https://site.test/t").Body); strings.Count(body, "Post of page") != 1 {
		t.Errorf("a client of the proxy gets %s", body)
	}
	if n := len(c.origin.asked()); n != 2 {
		t.Errorf("the origin was asked %d times", n)
	}
}

func TestAReaderGoesOnInJoinedPages(t *testing.T) {
	c := newChain(t, threads(3, func(n int) string { return fmt.Sprintf("?page=%d", n) }), recipes(t, threadRecipe))
	r := fetch.Request{URL: parse(t, "https://site.test/t"), Own: true, MaxTokens: 200}
	var all strings.Builder
	for {
		ans, err := c.try(t, r)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(ans.Body)
		if r.View.Start = ans.Page.Next; ans.Page.Next == 0 {
			break
		}
	}
	for n := range 3 {
		if strings.Count(all.String(), fmt.Sprintf("Post of page %d,", n+1)) != 1 {
			t.Errorf("page %d is not there once in\n%s", n+1, all.String())
		}
	}
}

func TestOnePageIsShownTo(t *testing.T) {
	for name, r := range map[string]fetch.Request{
		"a reader with credentials":           {Own: true, Header: header("Authorization: Bearer secret")},
		"a reader with cookies":               {Own: true, Header: header("Cookie: session=1")},
		"a crawl":                             {Own: true, NoVisit: true},
		"a reader of what is stored":          {Own: true, CacheOnly: true},
		"a reader of HTML":                    {Own: true, HTML: true},
		"a reader who chooses elements":       {Own: true, View: fetch.View{Selector: ".post"}},
		"a reader of other links":             {Own: true, View: fetch.View{Links: "text"}},
		"a client of the proxy with a cookie": {Header: header("Cookie: session=1")},
	} {
		t.Run(name, func(t *testing.T) {
			c := newChain(t, threads(3, func(n int) string { return fmt.Sprintf("?page=%d", n) }), recipes(t, threadRecipe))
			c.read(t, "https://site.test/t")
			r.URL = parse(t, "https://site.test/t")
			ans, err := c.try(t, r)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Count(string(ans.Body), "Post of page") > 1 || slices.Contains(ans.Page.Warnings, "pages-cut") {
				t.Errorf("warnings %v:\n%s", ans.Page.Warnings, ans.Body)
			}
			for _, asked := range c.origin.asked() {
				if strings.Contains(asked, "page=2") {
					t.Errorf("the origin was asked for the second page")
				}
			}
		})
	}
}

func TestPagesOfAnotherHostAreNotJoined(t *testing.T) {
	for name, second := range map[string]string{
		"a redirect":   "https://site.test/away",
		"a subdomain":  "https://www.site.test/t?page=2",
		"a port":       "https://site.test:8443/t?page=2",
		"without TLS":  "http://site.test/t?page=2",
		"a password":   "https://a:b@site.test/t?page=2",
		"an address":   "https://127.0.0.1/t?page=2",
		"another form": "ftp://site.test/t?page=2",
	} {
		t.Run(name, func(t *testing.T) {
			thread := threads(9, func(int) string { return second })
			c := newChain(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/away" {
					http.Redirect(w, r, "https://other.test/t", http.StatusFound)
					return
				}
				thread.ServeHTTP(w, r)
			}), recipes(t, threadRecipe))
			ans, err := c.own(t, "https://site.test/t")
			if err != nil {
				t.Fatal(err)
			}
			if strings.Count(string(ans.Body), "Post of page") != 1 {
				t.Errorf("body = %s", ans.Body)
			}
			for _, asked := range c.origin.asked() {
				if asked != "GET site.test/t" && asked != "GET site.test/away" {
					t.Errorf("asked for %s", asked)
				}
			}
		})
	}
}

func TestWhatIsJoinedOfAPrivatePageIsPrivate(t *testing.T) {
	thread := threads(2, func(n int) string { return fmt.Sprintf("?page=%d", n) })
	c := newChain(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		thread.ServeHTTP(private{w, r.URL.RawQuery != ""}, r)
	}), recipes(t, threadRecipe))
	ans, err := c.own(t, "https://site.test/t")
	if err != nil || !ans.Private || strings.Count(string(ans.Body), "Post of page") != 2 {
		t.Fatalf("err = %v, answer = %+v", err, ans)
	}
	if ans := c.read(t, "https://site.test/t"); ans.Private {
		t.Error("the first page alone is private")
	}
	if c.stored(t, "https://site.test/t?page=2") != nil {
		t.Error("a private page is stored")
	}
}

// private is a response that is for one reader only, if it says so.
type private struct {
	http.ResponseWriter
	is bool
}

func (p private) Write(b []byte) (int, error) {
	if p.is {
		p.Header().Set("Cache-Control", "private")
	}
	return p.ResponseWriter.Write(b)
}
