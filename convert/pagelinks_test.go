package convert_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/page"
)

func TestLinks(t *testing.T) {
	for _, tt := range []struct{ name, contentType, content, want string }{
		{
			"relative, absolute, once, in order", "text/html",
			`<a href="b#x">1</a><A HREF='/c?x=1&amp;y=2'>2</A><a href=b>3</a><a href="//o.test/">4</a>`,
			"http://a.test/d/b http://a.test/c?x=1&y=2 http://o.test/",
		},
		{
			"no links", "text/html",
			`<a href="#x">1</a><a href="mailto:a@b">2</a><a href="javascript:x()">3</a><a>4</a><a href="">5</a><a href="http://">6</a><a href="ht tp://%">7</a>`, "",
		},
		{"base", "text/html", `<base href="/e/"><base href="/never/"><a href="f">1</a>`, "http://a.test/e/f"},
		{
			"nofollow", "text/html", `<a rel="noopener NoFollow" href="x">1</a><a rel="next" href="y">2</a>`,
			"http://a.test/d/y",
		},
		{
			"robots nofollow", "text/html", `<a href="x">1</a><meta name="Robots" content="noindex, NOFOLLOW"><a href="y">2</a>`,
			"",
		},
		{"robots none", "text/html", `<meta name=robots content=none><a href="y">2</a>`, ""},
		{"robots noindex alone", "text/html", `<meta name=robots content=noindex><a href="y">2</a>`, "http://a.test/d/y"},
		{
			"maps, frames, link relations", "text/html",
			`<link rel=next href=n><link rel=stylesheet href=s><area href=a><iframe src=f></iframe><frame src=g>`,
			"http://a.test/d/n http://a.test/d/a http://a.test/d/f http://a.test/d/g",
		},
		{
			"what is not on the page", "text/html",
			`<!-- <a href=c> --><script>"<a href=s>"</script><template><a href=t></template><style><a href=y></style><a href=z>`,
			"http://a.test/d/z",
		},
		{
			"what is for us", "text/html", `<noscript><a href=n></noscript><noframes><a href=m></noframes>`,
			"http://a.test/d/n http://a.test/d/m",
		},
		{
			"routes, and no places on the page", "text/html",
			`<a href="#/one">1</a><a href="#two">2</a><a href="#!">3</a><a href="/app#!four?a=b">4</a><a href="x#five">5</a>`,
			"http://a.test/d/page#/one http://a.test/app#!four?a=b http://a.test/d/x",
		},
		{"broken markup", "text/html", `<a href="x"<a href=y <p><a href='z'`, "http://a.test/d/x"},
		{"Latin-1", "text/html; charset=iso-8859-1", "<a href=\"/caf\xe9\">", "http://a.test/caf%C3%A9"},
		{"the user's password goes nowhere", "text/html", `<a href=x>`, "http://a.test/d/x"},
		{
			"markdown", "text/markdown",
			"[a](b) ![i](i.png) [c](<d> \"t\") <http://e.test/> http://f.test/g. [h](i_(j)) <a href=\"k\">\n\n[l]: m\n",
			"http://a.test/d/b http://a.test/d/i.png http://a.test/d/d http://e.test/ http://f.test/g http://a.test/d/i_(j) http://a.test/d/k http://a.test/d/m",
		},
		{
			"markdown in fences", "text/markdown", "```\n[a](b)\n```\n~~~~\n[c](d)\n~~~\n[e](f)\n~~~~\n[g](h)\n",
			"http://a.test/d/h",
		},
		{
			"a fence that is indented like code is none", "text/markdown", "a\n\n    ```go\n\n[b](c) [d](e\\_f?g&amp;h)\n",
			"http://a.test/d/c http://a.test/d/e_f?g&h",
		},
		{
			"open shadow roots are on the page", "text/html",
			`<x-y><template shadowrootmode="open"><a href=s></a><template><a href=t></a></template><a href=u></a></template></x-y><template shadowrootmode=closed><a href=c></a></template><a href=z>`, "http://a.test/d/s http://a.test/d/u http://a.test/d/z",
		},
		{"what is no text leads nowhere", "application/pdf", `%PDF-1.4 <a href="x">`, ""},
		{"data", "application/json", `{"a": "<a href='x'>"}`, ""},
		{"empty", "text/html", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u, err := url.Parse("http://user:pw@a.test/d/page")
			if err != nil {
				t.Fatal(err)
			}
			links, more := convert.Links([]byte(tt.content), tt.contentType, u)
			if diff := cmp.Diff(tt.want, strings.Join(links, " ")); diff != "" || more {
				t.Errorf("links (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLinksAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&b, "<a href=%d>", i)
	}
	links, more := convert.Links([]byte(b.String()), "text/html", &url.URL{Scheme: "http", Host: "a.test"})
	if len(links) != 20_000 || !more {
		t.Errorf("%d links, more %v, want 20,000 and more", len(links), more)
	}
}

func FuzzLinksAreAbsolute(f *testing.F) {
	for _, s := range []string{
		`<a href="x">`, `<base href="//">`, `<base href="data:x"><a href=y>`, "[a](b)",
		"<http://x>", `<a href="http://[::1">`, "<noscript><noscript>", "<template></template></template><a href=?>",
	} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, content string, markdown bool) {
		kind := "text/html"
		if markdown {
			kind = "text/markdown"
		}
		links, _ := convert.Links([]byte(content), kind, &url.URL{Scheme: "https", Host: "a.test", Path: "/x/"})
		seen := map[string]bool{}
		for _, l := range links {
			u, err := url.Parse(l)
			if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || seen[l] ||
				u.Fragment != "" && page.Route(u) == "" {
				t.Errorf("link %q: %v", l, err)
			}
			seen[l] = true
		}
	})
}
