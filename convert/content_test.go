package convert_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/convert"
)

func TestPageOfNoticesHasNoContent(t *testing.T) {
	res := convertPage(t,
		`<header class="site-header"><nav class="menu"><a href="/">Home</a> <a href="/shop">Shop</a> <a href="/cart">Cart</a></nav></header>
<div id="root"></div><footer class="site-footer"><div class="footer-links"><ul><li><a href="/help">Help center</a><li><a href="/returns">Return policy</a><li><a href="/terms">Terms of use</a>
<li><a href="/privacy">Privacy policy</a><li><a href="/cookies">Cookie settings</a><li><a href="/jobs">Careers</a><li><a href="/press">Press</a><li><a href="/stores">Find a store</a></ul></div>
<div class="newsletter"><p>Subscribe to our newsletter</p><p>Sign up and get our offers by email every week. You can unsubscribe at any time.</p></div>
<div class="social"><a href="https://social.test/1">Facebook</a> <a href="https://social.test/2">Instagram</a> <a href="https://social.test/3">YouTube</a></div>
<p class="copyright">© 2026 Shop Ltd. All rights reserved. Registered in the town of Example under number 12345.</p></footer><script src="app.js"></script>`, convert.Options{})
	if res.Markdown != "" {
		t.Errorf("markdown of a page that scripts fill = %q, want none", res.Markdown)
	}
	if !slices.Contains(res.Warnings, convert.WarnThin) && !slices.Contains(res.Warnings, convert.WarnShell) {
		t.Errorf("warnings %q do not explain the empty markdown", res.Warnings)
	}
}

func TestShortPageIsKept(t *testing.T) {
	const text = "This domain is for use in illustrative examples in documents. You may use this domain without asking."
	res := convertPage(t, "<h1>Example Domain</h1><p>"+text+"</p><p><a href=/more>More information</a></p>",
		convert.Options{})
	if !strings.Contains(res.Markdown, text) {
		t.Errorf("markdown %q lacks the text", res.Markdown)
	}
}

func TestStructuredDataReplacesOnlyAnEmptyPage(t *testing.T) {
	body := strings.Repeat("The article that scripts would have written says something worth reading in each of its sentences. ", 10)
	data := `<script type="application/ld+json">{"articleBody": "` + body + `"}</script>`
	empty := convertPage(t, data+`<div id="root"></div>`, convert.Options{})
	if !strings.Contains(empty.Markdown, "scripts would have written") ||
		!slices.Contains(empty.Warnings, convert.WarnStructured) {
		t.Errorf("markdown %q, warnings %q", empty.Markdown, empty.Warnings)
	}
	full := convertPage(t, data+"<main><p>"+strings.Repeat("The page has text of its own that a reader sees. ", 10)+
		"</p></main>", convert.Options{})
	if strings.Contains(full.Markdown, "scripts would have written") ||
		slices.Contains(full.Warnings, convert.WarnStructured) {
		t.Errorf("markdown %q, warnings %q", full.Markdown, full.Warnings)
	}
}

func TestByline(t *testing.T) {
	const timesHead = `<meta property=og:site_name content=Times><meta name=author content=times><h1>T</h1>`
	for _, tt := range []struct{ name, html, author, date string }{
		{"link of an author", `<h1>T</h1><p>By <a rel=author href=/a>Ann Example</a>`, "Ann Example", ""},
		{
			"class with by and date", `<h1>T</h1><div class=byline>Written by Ann Example on May 6, 2024</div>`, "Ann Example",
			"2024-05-06",
		},
		{"a site that says it is the author", timesHead + `<p class=byline>By Ann`, "Ann", ""},
		{"a byline that is the site's", timesHead + `<p class=byline><i>by</i>Times News`, "times", ""},
		{"a site, and no other author", timesHead, "times", ""},
		{"a path of pages", `<h1>T</h1><div class=no-byline>Home » Chairs</div>`, "", ""},
		{"name with digits", `<h1>T</h1><div class=username>need2know</div>`, "need2know", ""},
		{"day before month", `<h1>T</h1><span class=post-date>6 May 2024</span>`, "", "2024-05-06"},
		{"time in words", `<h1>T</h1><time>January 2nd, 2024</time>`, "", "2024-01-02"},
		{
			"initials in place of a portrait", `<h1>T</h1><div class=author><b class=author-avatar aria-hidden=true>AE</b>
			<p class=author-name>Ann Example</p><p>` + strings.Repeat("writes ", 50) + `</div>`, "Ann Example", "",
		},
		{"an address in angle brackets", `<h1>T</h1><div class=author>Ann Example &lt;ann@a.test&gt;</div>`, "Ann Example", ""},
		{"an id alone", `<h1>T</h1><span id=author>Ann Example</span>`, "Ann Example", ""},
		{"a section of one name", `<h1>T</h1><section id=author><h2>AUTHOR</h2><p>Ann Example</section>`, "Ann Example", ""},
		{"the id of a section", `<h1>T</h1><h2 id=list-of-contributors>List of contributors</h2>`, "", ""},
		{"the id of a section of one word", `<h1>T</h1><section id=contributors><h2>Contributors</h2></section>`, "", ""},
		{"above the heading", `<div class=author>Menu</div><h1>T</h1><p>x`, "", ""},
		{"in a footer", `<h1>T</h1><footer><div class=author>Agency</div></footer>`, "", ""},
		{"too long for a name", `<h1>T</h1><div class=author>` + strings.Repeat("word ", 30) + `</div>`, "", ""},
		{"a date in plain text is none", `<h1>T</h1><p>On May 6, 2024 it rained.`, "", ""},
	} {
		meta := convertPage(t, tt.html, convert.Options{}).Meta
		if meta["author"] != tt.author || meta["date"] != tt.date {
			t.Errorf("%s: author %q, date %q; want %q, %q", tt.name, meta["author"], meta["date"], tt.author, tt.date)
		}
	}
}

func TestStructuredDataIsReadTolerantly(t *testing.T) {
	for name, data := range map[string]string{
		"trailing commas":     `{"author": {"name": "Ann",}, }`,
		"comments":            "<!--\n/* a */ {\"author\": \"Ann\"} // b\n-->",
		"CDATA":               `//<![CDATA[` + "\n" + `{"author": "Ann"}` + "\n" + `//]]>`,
		"control characters":  "{\"headline\": \"a\tb\nc\", \"author\": \"Ann\"}",
		"semicolon":           `{"author": "Ann"};`,
		"two values":          `{"@type": "WebSite"} {"author": "Ann"}`,
		"marks inside string": `{"headline": "a // b, } /* c", "author": "Ann"}`,
	} {
		if got := convertPage(t, `<script type="application/ld+json">`+data+`</script><p>x`,
			convert.Options{}).Meta["author"]; got != "Ann" {
			t.Errorf("%s: author %q", name, got)
		}
	}
}

func TestALineBetweenTwoTextsKeepsThemApart(t *testing.T) {
	var page strings.Builder
	page.WriteString("<title>News of the sea</title><main><h1>News of the sea</h1>")
	for i := range 11 {
		fmt.Fprintf(&page, `<div class="card"><a href="/%d"><div><h2>Story %[1]d of the islands</h2><p>Divers discover
			mountain ranges, golden towers of coral, and creatures that nobody has seen before: number %[1]d.</p><div>
			<span>%[1]d hrs ago</span><div class="rule"></div><span>Latin America</span></div></div></a></div>`, i)
	}
	if text := convertPage(t, page.String(), convert.Options{}).Markdown; strings.Count(text, "hrs ago Latin") != 11 {
		t.Errorf("the texts meet in %s", text)
	}
}
