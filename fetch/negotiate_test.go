package fetch_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// negotiating answers markdown to who names it first, and HTML to others.
func negotiating(markdown, whole string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get("Accept"), "text/html") {
			respond(200, whole, html, "Vary: Accept")(w, r)
			return
		}
		respond(200, markdown, "Content-Type: text/markdown", "Vary: Accept")(w, r)
	}
}

func TestMarkdownThatIsNotThePageIsRejectedForTheHTML(t *testing.T) {
	prose := strings.Repeat("The harbour wakes before the town does.\n", 20)
	for name, tt := range map[string]struct{ markdown, why string }{
		"empty": {" \n", "the markdown is empty"},
		"tag soup": {
			strings.Repeat("<div class=\"row\"><span>x</span></div>\n", 20) + prose[:200],
			"the markdown is HTML",
		},
		"lost fences": {
			"# Guide\n\n" + prose +
				"\nimport os\nimport sys\n\ndef main():\nresult = run(1)\nreturn result;\nx = compute(2)\nprint(x)\nmain()\n",
			"the markdown has code without fences",
		},
		"dead links": {
			"# H\n\n" + prose + "[a](undefined) [b]() [c](/undefined) [d](/x)\n",
			"the markdown has many broken links",
		},
		"an error": {"# Page not found\n\nThe page that you are looking for is not here, and we do not know where it is. Try the search, or go home.\n", "the markdown is an error page"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newChain(t, negotiating(tt.markdown, article("Harbour")))
			ans := c.read(t, "https://site.test/")
			if ans.Page.Source != page.Local || !strings.Contains(string(ans.Body), "# Harbour") {
				t.Errorf("source %s, want the HTML converted:\n%.300s", ans.Page.Source, ans.Body)
			}
			if !slices.Contains(ans.Page.Warnings, "markdown-rejected") {
				t.Errorf("warnings %q", ans.Page.Warnings)
			}
			if told := ans.Page.Attempts[0]; told.Step != "negotiate" || told.Outcome != page.Rejected || told.Reason != tt.why {
				t.Errorf("attempt %+v, want it to say %q", told, tt.why)
			}
			if ct := ans.Page.ContentType; !strings.HasPrefix(ct, "text/html") {
				t.Errorf("content type %s, want that of the HTML", ct)
			}
			for _, tt := range []struct {
				path     string
				requests int
			}{{"", 0}, {"second", 2}, {"third", 2}, {"fourth", 1}} { // by then it is the host's way
				before := len(c.origin.asked())
				if ans := c.read(t, "https://site.test/"+tt.path); ans.Page.Source != page.Local ||
					len(c.origin.asked()) != before+tt.requests {
					t.Errorf("/%s took %d requests and came from %s, want %d and the HTML", tt.path, len(c.origin.asked())-before,
						ans.Page.Source, tt.requests)
				}
			}
		})
	}
}

// An origin that looks for the name of markdown, and not for its weight, gives its HTML when the name is not there.
func TestTheHTMLIsAskedForWithoutAWordOfMarkdown(t *testing.T) {
	c := newChain(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.Header.Get("Accept"), "text/markdown") {
			respond(200, "# Page not found\n\nThe page you were looking for does not exist. Go [home](/).\n",
				"Content-Type: text/markdown")(w, r)
			return
		}
		respond(200, article("Harbour"), html)(w, r)
	}))
	ans := c.read(t, "https://site.test/")
	if ans.Page.Source != page.Local || !strings.Contains(string(ans.Body), "# Harbour") {
		t.Errorf("source %s, want the HTML converted:\n%.300s", ans.Page.Source, ans.Body)
	}
}

func TestOneOddPageLeavesItsHostNegotiating(t *testing.T) {
	prose := "# Harbour\n\n" + strings.Repeat("The harbour wakes before the town does.\n", 20)
	c := newChain(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		markdown := prose
		if strings.HasPrefix(r.URL.Path, "/odd") {
			markdown = strings.Repeat("<div class=\"row\"><span>x</span></div>\n", 20) + prose[:200]
		}
		negotiating(markdown, article("Harbour"))(w, r)
	}))
	for n := range 9 {
		if ans := c.read(t, fmt.Sprintf("https://site.test/odd/%d", n)); ans.Page.Source != page.Local {
			t.Errorf("odd page %d came from %s", n, ans.Page.Source)
		}
		if ans := c.read(t, fmt.Sprintf("https://site.test/%d", n)); ans.Page.Source != page.Negotiated {
			t.Errorf("page %d came from %s after an odd one", n, ans.Page.Source)
		}
	}
	if h, _ := c.store.Host("site.test"); h.Knows(store.MarkdownOff, time.Now()) {
		t.Errorf("of the host it is known: %+v", h)
	}
}

func TestAShortMarkdownPageIsAPage(t *testing.T) { // rules A2, A3
	for _, md := range []string{"# Moved\n\nSee /new.\n", "Gone.\n", "# H\n"} {
		c := newChain(t, negotiating(md, article("Harbour")))
		for _, path := range []string{"a", "b", "c", "d"} {
			ans := c.read(t, "https://site.test/"+path)
			if ans.Page.Source != page.Negotiated || string(ans.Body) != md || len(ans.Page.Warnings) != 0 {
				t.Errorf("%q: source %s, warnings %q:\n%s", md, ans.Page.Source, ans.Page.Warnings, ans.Body)
			}
		}
		if n := len(c.origin.asked()); n != 4 {
			t.Errorf("%d requests for 4 pages", n)
		}
	}
}

func TestHTMLUnderTheNameOfMarkdownIsConverted(t *testing.T) {
	c := newChain(t, respond(200, "\n"+article("Harbour"), "Content-Type: text/markdown"))
	ans := c.read(t, "https://site.test/")
	if ans.Page.Source != page.Local || ans.Page.Attempts[0].Reason != "HTML labelled as markdown" ||
		len(c.origin.asked()) != 1 {
		t.Errorf("source %s, attempts %+v, %d requests; want what is in hand converted", ans.Page.Source, ans.Page.Attempts,
			len(c.origin.asked()))
	}
}

// Programs that name no media type send markdown as HTML, and editors begin it with a byte order mark.
func TestMarkdownUnderTheNameOfHTMLIsTaken(t *testing.T) {
	md := "# Harbour\n\nThe harbour wakes *before* the town does.\n\n- [boats](/boats)\n- nets\n"
	for _, tt := range []struct{ path, contentType, begin string }{
		{"/page", "text/html; charset=utf-8", ""},
		{"/page.md", "text/html", "\ufeff"},
		{"/page", "text/markdown", "\ufeff"},
		{"/page.md", "binary/octet-stream", ""},
		{"/page.md", "application/markdown", ""},
	} {
		c := newChain(t, respond(200, tt.begin+md, "Content-Type: "+tt.contentType))
		ans, err := c.own(t, "https://site.test"+tt.path)
		if err != nil || ans.Page.Source != page.Negotiated || string(ans.Body) != md || ans.Page.Title != "Harbour" {
			t.Errorf("%s as %s: source %s, title %q, %q; want the markdown", tt.path, tt.contentType, ans.Page.Source,
				ans.Page.Title, ans.Body)
		}
		host, _ := c.store.Host("site.test")
		if learnt := host.Knows(store.Negotiates, time.Now()); learnt != (tt.contentType == "text/markdown") {
			t.Errorf("%s as %s: learnt that the host negotiates: %v", tt.path, tt.contentType, learnt)
		}
	}
	c := newChain(t, respond(200, article("Harbour", "<pre># make\n# install</pre>"), html))
	if ans := c.read(t, "https://site.test/"); ans.Page.Source != page.Local {
		t.Errorf("source %s of a page, want local", ans.Page.Source)
	}
}

func TestGoodMarkdownIsTakenAsItIs(t *testing.T) {
	prose := strings.Repeat("The harbour wakes before the town does.\n", 20)
	for name, md := range map[string]string{
		"prose":          "# H\n\n" + prose,
		"code in fences": "# H\n\n" + prose + "```sh\ngit clone x\ncd x\nmake\n```\n",
		"code in indented blocks": "# H\n\n" + prose +
			"    import os\n    x = 1\n    y = 2\n    f(x)\n    g(y)\n    h(z)\n    i(z)\n    j(z)\n",
		"tags within prose": "# H\n\n" + prose +
			"Press <kbd>Ctrl</kbd>, H<sub>2</sub>O.<br>\n<details><summary>More</summary>\n\nText\n\n</details>\n",
		"about HTML": "# H\n\n" + prose +
			"Write `<script>` and `<p hidden>x`:\n\n```html\n<p style=\"display:none\">x</p>\n```\n",
		"emoji":                   "# H\n\n" + prose + "❤️ 👩‍💻\n",
		"about errors":            "# Error 404\n\n" + strings.Repeat(prose, 3),
		"few words and much code": "# H\n\n```sh\na b c d e f g h i j k l m n o p q r s t u v w x y z\n```\n",
		"links into itself":       "# H\n\n" + prose + "[a](#a) [b](#b) [c](#c)\n",
		"a list of code-like names": "# H\n\n" + prose +
			"- foo()\n- bar()\n- baz()\n- foo()\n- bar()\n- baz()\n- foo()\n- bar()\n- baz()\n",
	} {
		t.Run(name, func(t *testing.T) {
			c := newChain(t, negotiating(md, article("Harbour")))
			if ans := c.read(t, "https://site.test/"); ans.Page.Source != page.Negotiated || string(ans.Body) != md {
				t.Errorf("source %s, attempts %+v; want the markdown as it is", ans.Page.Source, ans.Page.Attempts)
			}
			if n := len(c.origin.asked()); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
		})
	}
}

func TestDoubtfulMarkdownIsServedWhereThereIsNoHTML(t *testing.T) {
	odd := "# H\n\nNo more. [a](undefined) [b]() [c](/undefined) [d](/x)\n"
	remote, use := newConverter(t)
	c := newChain(t, respond(200, odd, "Content-Type: text/markdown"), use("fallback", 0))
	for range 2 {
		ans := c.read(t, "https://site.test/")
		if ans.Page.Source != page.Negotiated || !slices.Contains(ans.Page.Warnings, "markdown-rejected") {
			t.Errorf("source %s, warnings %q", ans.Page.Source, ans.Page.Warnings)
		}
	}
	if n := len(c.origin.asked()); n > 3 || len(remote.asked) != 0 {
		t.Errorf("%d requests, want at most one more than reads, and a third party was asked %q", n, remote.asked)
	}
}

func TestLinksAreAbsoluteInWhatIsKeptOfNegotiatedMarkdown(t *testing.T) {
	md := "# H\n\n" + strings.Repeat("The harbour wakes. ", 20) +
		"[a](sub/x.md \"T\") ![i](../i.png) [![b](b.png)](c) [d](#d) [e](https://e.test/) <a href=\"f\">f</a> `[g](g)`\n\n```\n[h](h)\n```\n\n[ref]: ../r\n"
	c := newChain(t, respond(200, md, "Content-Type: text/markdown"))
	ans := c.read(t, "https://site.test/dir/page/")
	if string(ans.Body) != md {
		t.Errorf("the answer is not byte for byte the origin's: %s", ans.Body)
	}
	b, err := c.store.Markdown(page.KeyOf(page.Normalize(parse(t, "https://site.test/dir/page/"))))
	if err != nil {
		t.Fatal(err)
	}
	kept := string(b)
	for _, want := range []string{
		`[a](https://site.test/dir/page/sub/x.md "T")`, "![i](https://site.test/dir/i.png)",
		"[![b](https://site.test/dir/page/b.png)](https://site.test/dir/page/c)", "[d](#d)", "[e](https://e.test/)",
		`<a href="https://site.test/dir/page/f">`, "`[g](g)`", "\n[h](h)\n", "[ref]: https://site.test/dir/r",
	} {
		if !strings.Contains(kept, want) {
			t.Errorf("kept lacks %s:\n%s", want, kept)
		}
	}
}
