package convert_test

import (
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/page"
)

func TestMeta(t *testing.T) {
	const html = `<html lang="de"><head><title>Doc | Site</title><meta name="Description" content=" What it
 says &amp;amp; means "><meta property="og:title" content="OG"><meta property="og:site_name" content="Site">
<meta name="robots" content="noindex"><meta name="keywords" content="a,b">
<meta name="twitter:card" content="summary"><meta property="og:image" content="/i.png"><meta property="article:section" content="News"><meta name="unknown" content="x"><link rel=canonical href="/c">
<script type="application/ld+json">{"@graph":[{"@type":"Article","datePublished":"2024-05-06T07:08:09Z","author":[{"name":"Ann"},{"name":"Bob"}]}]}</script></head><body><p>x`
	want := page.Meta{
		"lang": "de", "description": "What it says & means", "og:title": "OG", "og:site_name": "Site", "robots": "noindex",
		"keywords": "a,b", "twitter:card": "summary",
		"article:section": "News", "canonical_url": "https://a.test/c", "author": "Ann, Bob", "date": "2024-05-06T07:08:09Z",
		"title": "Doc | Site", "og:image": "https://a.test/i.png",
	}
	res := convertPage(t, html, convert.Options{})
	if diff := cmp.Diff(want, res.Meta); diff != "" {
		t.Errorf("meta (-want +got):\n%s", diff)
	}
	if res.Title != "Doc" || res.Description != "What it says & means" || res.CanonicalURL != "https://a.test/c" {
		t.Errorf("title %q, description %q, canonical %q", res.Title, res.Description, res.CanonicalURL)
	}
}

func TestTitle(t *testing.T) {
	for _, tt := range []struct{ name, html, want string }{
		{
			"h1 that is part of title",
			"<title>The Page - Site</title><meta property=og:title content='Other'><h1>The page</h1>", "The page",
		},
		{
			"h1 that is part of og:title", "<title>x</title><meta property=og:title content='The Page: more'><h1>The Page</h1>",
			"The Page",
		},
		{"h1 without og:title", "<title>Site</title><h1>Heading ¶</h1>", "Heading"},
		{
			"title against a strange h1", "<title>The Page</title><meta property=og:title content='Other'><h1>Menu</h1>",
			"The Page",
		},
		{"og:title without a title", "<meta property=og:title content='The Page'><h1>Menu</h1>", "The Page"},
		{
			"title without the site's name", "<title>The Page | Site</title><meta property=og:site_name content=Site>",
			"The Page",
		},
		{
			"title whose end is not the site's name", "<title>Left | Right</title><meta property=og:site_name content=Site>",
			"Left | Right",
		},
		{
			"h1 that is the site's name, before the page's", "<title>Topic - Board</title><h1>Board</h1><h2>Topic</h2>",
			"Topic",
		},
		{
			"the same in a section", "<title>Topic - Section - Board</title><h1>Board</h1><h1>Topic</h1>", "Topic",
		},
		{
			"h2 that leads to the page", "<title>Board • View topic - Topic</title><h1>Board</h1><h2><a href='./page'>Topic</a></h2>",
			"Topic",
		},
		{
			"h2 that leads elsewhere", "<title>Board • Topic</title><h1>Board</h1><h2><a href='./other'>Topic</a></h2>", "Board",
		},
		{"h1 that may be the page's", "<title>Board - Topic</title><h1>Topic</h1><h2>News</h2>", "Topic"},
		{
			"h1 that leads home", "<title>Topic / Board of cooks</title><h1><a href='/'>Board</a></h1><h2>Topic</h2>", "Topic",
		},
		{"h1 in a link home", "<title>Topic - Section</title><a href='https://a.test'><h1>Board</h1></a>", "Topic - Section"},
		{"h1 that leads elsewhere", "<title>Topic</title><h1><a href='/topic'>The topic</a></h1>", "The topic"},
		{
			"no h1, and a heading that is a part of title",
			"<title>Board • View topic - A long topic of cooks</title><h2>A long topic of cooks</h2><h2>Board</h2>",
			"A long topic of cooks",
		},
		{
			"the site's name in h2", "<title>Recipes and more - Cooks</title><h2>Cooks</h2>", "Recipes and more - Cooks",
		},
		{
			"og:title that title begins with",
			"<title>Topic - Section - Board</title><meta property=og:title content=Topic><h1>Menu</h1>", "Topic",
		},
		{"a button and an icon in h1", "<title>x</title><h1>Name <button>Copy</button><svg><title>y</title></svg></h1>", "Name"},
		{"lines in h1", "<title>x</title><h1>A long<br>name</h1>", "A long name"},
		{"icons in h1", "<title>x</title><h1>\U000f0001 Name \uf0c1\ue000</h1>", "Name"},
		{"icons in title", "<title>\uf013 Name \uf0c1</title>", "Name"},
		{"icons in og:title", "<meta property=og:title content='Name \U0010fffd'>", "Name"},
		{"nothing", "<p>x", ""},
	} {
		if got := convertPage(t, tt.html, convert.Options{}).Title; got != tt.want {
			t.Errorf("%s: title %q, want %q", tt.name, got, tt.want)
		}
	}
}

// The program of a board adds parameters of its own to the address of a topic.
func TestTitleOfATopic(t *testing.T) {
	for _, tt := range []struct{ href, want string }{
		{"./viewtopic.php?t=5&sid=abc", "Topic"},
		{"./viewtopic.php?t=6", "Board"},
		{"./viewtopic.php?t=", "Board"},
		{"./viewforum.php?t=5", "Board"},
		{"#t", "Board"},
		{"https://b.test/viewtopic.php?t=5", "Board"},
	} {
		u := &url.URL{Scheme: "https", Host: "a.test", Path: "/viewtopic.php", RawQuery: "f=1&t=5"}
		html := "<title>Board - Topic</title><h1>Board</h1><h2><a href='" + tt.href + "'>Topic</a></h2>"
		doc, err := convert.Parse(t.Context(), []byte(html), "text/html", u)
		if err != nil {
			t.Fatal(err)
		}
		res, err := doc.Convert(t.Context(), convert.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if res.Title != tt.want {
			t.Errorf("with a heading that leads to %s: title %q, want %q", tt.href, res.Title, tt.want)
		}
	}
}

func TestDateAndAuthor(t *testing.T) {
	for _, tt := range []struct{ name, html, date, author string }{
		{"meta", `<meta property="article:published_time" content="2024-01-02T03:04:05+01:00"><meta name=author content="Ann">`, "2024-01-02T03:04:05+01:00", "Ann"},
		{"a day in words", `<meta name=date content="January 2, 2024">`, "2024-01-02", ""},
		{"a time without zone gives its day", `<meta name=date content="2024-01-02 03:04:05">`, "2024-01-02", ""},
		{"a time element", `<p><time datetime="2024-01-02">then</time>`, "2024-01-02", ""},
		{"a byline", `<meta name=author content="By Ann">`, "", "Ann"},
		{"the property of The New York Times", `<meta property="article:published" content="2019-11-19T11:00:09.000Z">`, "2019-11-19T11:00:09Z", ""},
		{
			"a site that states itself", `<meta name=author content="The Daily"><script type="application/ld+json">{"publisher":{"name":"The Daily"},"author":{"name":"Ann Lee"}}</script>`,
			"", "Ann Lee",
		},
		{
			"a site that nobody writes for", `<meta name=author content="The Daily"><script type="application/ld+json">{"publisher":{"name":"The Daily"}}</script>`,
			"", "The Daily",
		},
		{"a name that begins so", `<meta name=author content="Byron">`, "", "Byron"},
		{"nonsense", `<meta name=date content="yesterday or so"><meta name=author content="">`, "", ""},
		{
			"broken JSON-LD fails nothing",
			`<script type="application/ld+json">{"datePublished":</script><meta name=author content=Ann>`, "", "Ann",
		},
		{"a byline with a day", `<h1>T</h1><p class=byline>By Ann Lee Dec 16, 2024</p>`, "2024-12-16", "Ann Lee"},
		{"a placeholder", `<h1>T</h1><p class=author>. .</p><p class=author>Name</p>`, "", ""},
		{"a sentence is no name", `<h1>T</h1><p class=author>This review is by nobody.</p>`, "", ""},
		{"a small name", `<h1>T</h1><p class=author>Anna van der Berg</p>`, "", "Anna van der Berg"},
		{"who reviews it", `<h1>T</h1><div class=reviews><p class=author>Ann</p></div>`, "", ""},
		{"a form", `<h1>T</h1><form><p class=author>Ann</p></form>`, "", ""},
		{"a change", `<h1>T</h1><p>Last updated on <time datetime="2024-01-02">then</time></p>`, "", ""},
		{"a change in words", `<h1>T</h1><p class=date>Last modified: January 2, 2024</p>`, "", ""},
		{
			"a day and a change",
			`<h1>T</h1><p class=date>January 2, 2024, updated March 3, 2024</p>`, "2024-01-02", "",
		},
		{
			"what is sold",
			`<meta property=og:type content=product><h1>T</h1><p class=author>Ann</p>` +
				`<time datetime="2024-01-02"></time>`, "", "",
		},
		{"an address is no author", `<script type="application/ld+json">{"author":"https://a.test/ann"}</script>`, "", ""},
	} {
		meta := convertPage(t, tt.html, convert.Options{}).Meta
		if meta["date"] != tt.date || meta["author"] != tt.author {
			t.Errorf("%s: date %q, author %q; want %q, %q", tt.name, meta["date"], meta["author"], tt.date, tt.author)
		}
	}
}
