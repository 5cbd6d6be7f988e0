package convert_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/convert"
)

// bombs are inputs that hung or crashed converters, and similar ones.
var bombs = []struct {
	name string
	html string
	text string // required in the result
}{
	{"5,000 nested div", many("<div>", 5000) + "kept", "kept"},
	{"50,000 nested div", many("<div>", 50000) + "kept" + many("</div>", 50000) + "<p>after</p>", "after"},
	{"20,000 nested lists", many("<ul><li>", 20000) + "kept", "kept"},
	{"20,000 unclosed b", many("<b>", 20000) + "kept", "kept"},
	{"20,000 nested tables", many("<table><tr><td>", 20000) + "kept", "kept"},
	{"20,000 nested font and p", many("<font><p>x", 20000) + "kept", "kept"},
	{
		"unclosed formatting before many paragraphs", many(`<b id=1><i id=2><u id=3>`, 80) + many("<p>x", 20000) + "kept",
		"kept",
	},
	{"different unclosed anchors", many(`<a href=x>`, 20000) + "kept", "kept"},
	{
		"colspan and rowspan of a hundred million",
		"<table><tr><td colspan=100000000 rowspan=100000000>kept<td>b<tr><td>c</table>", "kept",
	},
	{"colspan of two billion", "<table><tr><td colspan=2000000000>kept<td>b<tr><td>c<td>d</table>", "kept"},
	{"wide spans in many rows", "<table>" + many("<tr><td colspan=1000 rowspan=60000>k<td>x", 5000) + "</table>", "k"},
	{"80,000 opening brackets", "<p>" + many("[", 80000) + "kept", "kept"},
	{"80,000 brackets between letters", "<p>" + many("a[", 80000) + "kept", "kept"},
	{"80,000 stars, ticks and underscores", "<p>" + many("*a_`", 80000) + "kept", "kept"},
	{"80,000 dashes", "<p>" + many("- ", 80000) + "kept", "kept"},
	{"80,000 backticks in code", "<pre>" + many("`", 80000) + "kept</pre>", "kept"},
	{"br inside 100 nested lists", many("<ul><li>", 100) + many("x<br>", 2000) + "kept", "kept"},
	{"400 nested quotes", many("<blockquote>", 400) + "kept", "kept"},
	{"lines in 100 nested quotes", many("<blockquote>", 100) + many("<p>x</p>", 20000) + "kept", "kept"},
	{"code in 100 nested lists", many("<ul><li>", 100) + "<pre>" + many("x\n", 50000) + "kept</pre>", "kept"},
	{"80,000 items", "<ul>" + many("<li>x", 80000) + "<li>kept</ul>", "kept"},
	{"80,000 cells in a row", "<table><tr>" + many("<td>x", 80000) + "<tr><td>kept<td>y</table>", "kept"},
	{"80,000 rows", "<table>" + many("<tr><td>x<td>y", 80000) + "<tr><td>kept<td>y</table>", "kept"},
	{"one long row and many short ones", "<table><tr>" + many("<td>x", 3000) + many("<tr><td>y<td>z", 3000) +
		"<tr><td>kept<td>y</table>", "kept"},
	{"100,000 attributes", "<p " + manyAttributes(100000) + ">kept</p>", "kept"},
	{"an attribute of 1 MB", "<p title='" + many("x", 1<<20) + "' style='" + many("a:b;", 1<<17) + "'>kept</p>", "kept"},
	{"100,000 adjacent b", "<p>" + many("<b>x</b>", 100000) + "kept", "kept"},
	{"100,000 adjacent spans", "<p>" + many("<span>x</span>", 100000) + "kept", "kept"},
	{"500 nested spans", many("<span>", 500) + "kept", "kept"},
	{"100,000 character references", "<p>" + many("&amp;", 100000) + "kept", "kept"},
	{"100,000 unclosed comments", "<p>kept</p>" + many("<!-- x ", 100000), "kept"},
	{"one paragraph of 2 MB", "<p>" + many("lorem ipsum ", 170000) + "kept", "kept"},
	{"one text of 9 MB", "<p>" + many("x", 9<<20), "x"},
	{"100,000 links", "<p>kept" + many("<a href=/x>x</a>", 100000), "kept"},
	{"50,000 blocks of code", "<p>kept" + many("<pre>x</pre>", 50000), "kept"},
	{"20,000 blocks of digits in one cell", "<p>kept<table><tr><td>" + many("<pre>1</pre>", 20000), "kept"},
	{"20,000 blocks of code in one table", "<p>kept<table>" + many("<tr><td class=x><td><pre>x</pre>", 20000), "kept"},
	{"20,000 headings that lead elsewhere", "<p>" + many("kept ", 40000) +
		many("<div></div><h3>Related</h3><h2>Comments</h2>", 20000), "kept"},
	{
		"20,000 admonitions inside each other's tables",
		"<p>kept" + many("<table><tr><td><div class='admonitionblock note'>", 20000), "kept",
	},
	{"20,000 headings inside links", "<p>kept" + many("<a href=x><h2>x</h2>", 20000), "kept"},
	{"many spans in one block of code", "<pre>kept" + many("<span class=line>x</span>", 50000) + "</pre>", "kept"},
	{"50,000 lists in a row", "<p>kept" + many("<ul><li>x</ul>", 50000), "kept"},
	{"50,000 callouts", "<p>kept" + many("<div class='admonition note'><p>x</div>", 50000), "kept"},
	{"300 nested callouts", many("<div class='admonition note'>", 240) + "kept", "kept"},
	{"200 nested hidden panels", many("<div role=tabpanel>", 200) + many("<p hidden>x</p>", 2000) + "kept", "kept"},
	{
		"20,000 references to one footnote", "<p>" + many("x<sup><a href=#n>1</a></sup>", 20000) + "<ol><li id=n>kept</ol>",
		"kept",
	},
	{"10,000 footnotes", "<p>" + numbered("x<sup><a href=#n%d>%d</a></sup>", 10000) + "<ol>" +
		numbered("<li id=n%d>kept %d", 10000) + "</ol>", "kept"},
	{
		"20,000 references to a section that is none",
		"<p>kept" + many("<sup><a href=#n>1</a></sup>", 20000) + "<div id=n>" + many("<b>x</b>", 20000) + "</div>", "kept",
	},
	{"20,000 sidenotes", "<p>kept" + many("<label></label><span class=sidenote>note</span>", 20000), "kept"},
	{"10,000 loose footnotes", "<p>kept" + numbered("<sup>%d</sup>%d", 10000) + "<hr>" +
		numbered("<p><sup>%d</sup> note %d", 10000), "kept"},
	{"footnotes in each other", "<p>kept<sup><a href=#n0>1</a></sup>" +
		numbered("<div class=footnote id=n%d>x<sup><a href=#n%d>1</a></sup>", 200), "kept"},
	{"20,000 formulas in one line", "<p>kept" + many("<mjx-math><mjx-mi>x</mjx-mi></mjx-math>", 20000), "kept"},
	{"one formula of 100,000 parts", "<p>kept<math>" + many("<mi>x</mi>", 100000) + "</math>", "kept"},
	{"200 nested fractions", "<p>kept<math>" + many("<mfrac><mi>a</mi>", 200) + "</math>", "kept"},
	{"80,000 delimiters of formulas", "<p>kept" + many(`\(x $$ \[`, 27000), "kept"},
	{"20,000 lists of tabs", "<p>kept" + many("<div role=tablist><b role=tab>x</b></div><div role=tabpanel>y</div>",
		20000), "kept"},
	{
		"20,000 headings in a cell", "<table><tr><td>kept" + many("<h2>x</h2>", 20000) + "<td>y<tr><td>a<td>b</table>",
		"kept",
	},
	{
		"20,000 rows of headings", "<table>" + many("<tr><td colspan=2><h3>x</h3><tr><td>kept<td>y", 20000) + "</table>",
		"kept",
	},
	{"20,000 terms", "<dl>" + many("<dt>kept<dd>x", 20000) + "</dl>", "kept"},
	{"100 nested definitions", many("<dl><dt>x<dd>", 100) + many("<p>y</p>", 5000) + "kept", "kept"},
	{"20,000 empty slots", "<p>kept</p><div>" + "<template shadowrootmode=open>" + many("<slot></slot>", 20000) +
		"</template>" + many("<b slot=x>y</b>", 20000) + "</div>", "kept"},
	{"an address of ampersands", "<p>kept <a href='/" + many("&amp;amp;", 50000) + "'>x</a>", "kept"},
	{"100,000 emphases beside letters", "<p>kept" + many("a<b>x.</b>", 100000), "kept"},
	{"20,000 comments, each deeper", "<p>kept" + numbered("<div class=comment data-depth=%d>x %d</div>", 20000), "kept"},
	{"20,000 indents in 200 boxes", many("<div class=depth-2 style='margin-left:9px'>", 200) +
		many("<p class=depth-1 style='margin-left:9px'><i class=comment>x</i>", 20000) + "kept", "kept"},
	{"20,000 texts that meet in 200 spans", many("<span>a b", 200) + many("<i>C d</i>", 20000) + "kept", "kept"},
	{"20,000 texts that meet", "<p>" + many("<b>a b</b><i>C d</i>", 20000) + "kept", "kept"},
	{"20,000 headings of icons", "<p>kept" + many("<h2><i>\ue000</i><i>\ue000</i></h2>", 20000), "kept"},
	{"a heading of 100,000 icons", "<p>kept<h2>" + many("<i>\ue000</i>", 100000) + "</h2>", "kept"},
	{"300,000 items of a grid", "<style>div{display:grid;grid-template-columns:1fr 1fr}</style><p>kept<div>" +
		many("<p>x", 300000), "kept"},
	{"open table", "<table><tr><td>kept", "kept"},
	{"crossed b and i", "<b>a<i>b</b>kept</i>", "kept"},
	{"list closed by another", "<ol><li>kept</ul>after", "kept"},
	{"open comment with a link", `<p>kept</p><!-- <a href="x`, "kept"},
	{"NUL and invalid bytes", "<p>ke\x00pt\xff\xfe kept", "kept"},
	{
		"noscript of 20,000 nested div", "<noscript>" + many("<div>", 20000) + many("word ", 200) + "</noscript><p>kept",
		"kept",
	},
	{"30,000 images in noscript", many("<noscript><img src=a.png></noscript>", 30000) + "<p>kept", "kept"},
	{
		"20,000 rules about one class of 20,000 elements",
		"<style>" + many(".a .b{color:red}", 20000) + "</style><p>kept</p>" + many("<i class=b>x</i>", 20000), "kept",
	},
	{
		"rules of many descendants in deep boxes",
		"<style>" + many("x y div div div div div div{display:none}", 500) + "</style>" + many("<div>", 240) + "kept" +
			many("<p>x</p>", 2000), "kept",
	},
	{"rules about earlier siblings", "<style>" + many("h1 ~ i ~ i ~ i{display:none}", 50) + "</style><p>kept</p>" +
		many("<i>x</i>", 20000), "kept"},
	{"500 rules about what 20,000 elements have", "<style>" + many("a:has(b c) i:has(~ i.x){display:none}", 500) +
		"</style><p>kept</p>" + many("<i class=b>x</i>", 20000), "kept"},
	{"the whole page has what it lacks", "<style>" + many("body:has(.x) i, :has(:has(b) > u) i{display:none}", 500) +
		"</style><p>kept</p>" + many("<i>x</i>", 20000), "kept"},
	{"places among 20,000 siblings", "<style>" + many("i:nth-child(3n+1 of .b):nth-last-of-type(2n){display:none}", 50) +
		"</style><p>kept</p>" + many("<i class=b>x</i>", 20000), "kept"},
	{"variables that double", "<style>:root{--v0:none none;" + numbered("--v%[2]d:var(--v%[1]d) var(--v%[1]d);", 4000) +
		"}i{display:var(--v4000)}u{display:var(--v9)}</style><p>kept</p>" + many("<i>x</i><u>x</u>", 10000), "kept"},
	{"variables of each element", "<style>" + many("i{--a:var(--b,1);--b:var(--a,2);display:var(--a,block)}", 100) +
		"</style><p>kept</p>" + many("<i style='--c:var(--a);color:var(--c)'>x</i>", 20000), "kept"},
	{
		"10,000 nested rules", "<style>" + many(".a{color:red;& .b, .c &{", 10000) + "display:none</style><p class=a>kept",
		"kept",
	},
	{"rules nested in long lists", "<style>" + many(many("a,", 3000)+"b{& i, i &{display:none}}", 20) + "</style><p>kept" +
		many("<i>x</i>", 10000), "kept"},
	{"10,000 nested negations", "<style>" + many(":not(", 10000) + "{display:none}" + many("p:is(", 8) + "i" + many(")",
		8) +
		"{display:none}</style><p>kept", "kept"},
	{"10,000 nested expressions", "<p style='opacity:" + many("calc(", 10000) + "1'>kept</p>" +
		many("<p style='width:calc(1px"+many(" + 1px*(2 - 1)", 500)+")'>x</p>", 1000), "kept"},
	{"10,000 layers", "<style>" + numbered("@layer l%d.m%d{.a{color:red}}", 10000) + "</style><p class=a>kept", "kept"},
	{"10,000 conditions", "<style>@media " + many("(width>1px) and ", 10000) + "(width>1px){.a{color:red}}@supports " +
		many("(not ", 10000) + "{.a{color:red}}</style><p class=a>kept", "kept"},
	{"windows of 10,000 rules", "<style>" + many("@media (max-width:600px){.a{margin:0;padding:0;inset:0}}", 10000) +
		"</style><p>kept</p>" + many("<i class=a>x</i>", 20000), "kept"},
	{"20,000 rules about each element", "<style>" + many(".a{margin:0;padding:0;inset:0;font:1px a}", 20000) +
		"</style><p>kept</p>" + many("<i class=a>x</i>", 20000), "kept"},
	{"boxes over one another", "<p>kept</p><div style='position:relative'>" +
		many("<i style='position:absolute;inset:0;background:#fff;display:block'>x</i>", 20000) + "</div>", "kept"},
	{"boxes under one another", "<p>kept</p><div style='position:relative'>" +
		many("<i style='position:absolute;z-index:-1'>x</i>", 20000) + "</div>", "kept"},
	{
		"20,000 frames", "<style>@keyframes a{" + many("1%{opacity:0}", 20000) + "}p{animation:a forwards}</style><p>kept",
		"kept",
	},
	{"sheets in addresses of sheets", "<style>" +
		many("@import 'data:text/css,@import%20%22data:text/css,.a{color:red}%22';", 5000) +
		"</style><p class=a>kept", "kept"},
	{"10,000 nested media queries", "<style>" + many("@media screen{", 10000) + ".a{display:none}</style><p>kept", "kept"},
	{"100,000 declarations of styles", "<style>.a{" + many("color:red;", 100000) + "}</style><p style='" +
		many("color:red;", 100000) + "'>kept", "kept"},
	{
		"an open string and an open comment in a sheet",
		"<style>.a{content:'" + many("x", 1<<20) + "</style><style>/*" + many("/*", 1<<19) + "</style><p>kept", "kept",
	},
	{"one selector of 100,000 parts", "<style>" + many("a,", 100000) + "b{display:none}" + many(".a", 100000) +
		"{display:none}</style><p>kept", "kept"},
	{
		"200 hidden boxes in one another", many("<div style='opacity:0'>", 200) + many("<p>text of the page kept</p>", 20000),
		"kept",
	},
	{"20,000 sections that controls open", "<p>kept" +
		many("<button aria-expanded=false aria-controls=a>x</button><div hidden id=a class=faq><p>x</div>", 20000), "kept"},
	{"100,000 hidden pieces", "<p>kept" + many("<p hidden>x</p><!-- llms.txt md -->", 50000), "kept"},
	{"100,000 smuggled characters", "<p>kept" + many("\U000e0041", 100000) + many("<p>a\u202eb</p>", 20000), "kept"},
	{"30,000 tables in tables' cells", many("<table><tr><td><table><tr><td>x</table></table>", 30000) + "<p>kept", "kept"},
}

// numbered repeats s as many does, with the number of the repetition in its two places.
func numbered(s string, n int) string {
	var b strings.Builder
	if n >= 5000 {
		n /= shrink
	}
	for i := range n {
		fmt.Fprintf(&b, s, i, i+1)
	}
	return b.String()
}

func manyAttributes(n int) string {
	var b strings.Builder
	for i := range n / shrink {
		fmt.Fprintf(&b, "a%d=x ", i)
	}
	return b.String()
}

func TestHostilePagesAreConvertedInTime(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it takes seconds of a processor")
	}
	for _, tt := range bombs {
		t.Run(tt.name, func(t *testing.T) {
			var res *convert.Result
			checkCost(t, tt.html, func() { res = convertPage(t, tt.html, convert.Options{}) })
			t.Logf("%d bytes to %d, %s, %v", len(tt.html), len(res.Markdown), res.Path, res.Warnings)
			if !strings.Contains(res.Markdown, tt.text) {
				t.Errorf("the result lacks %q: %.200q", tt.text, res.Markdown)
			}
			if limit := 4*len(tt.html) + 1<<20; len(res.Markdown) > limit {
				t.Errorf("output of %d bytes from %d, limit is %d", len(res.Markdown), len(tt.html), limit)
			}
		})
	}
}

func TestBodyOverTheLimitIsRefused(t *testing.T) {
	_, err := convert.Parse(t.Context(), bytes.Repeat([]byte("x"), 10<<20+1), "text/plain", pageURL)
	if err == nil || !strings.Contains(err.Error(), "10 MiB") {
		t.Errorf("Parse of 10 MiB and a byte: %v, want ErrTooLarge", err)
	}
}

func TestConversionEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	doc := parse(t, "<p>text")
	cancel()
	if _, err := convert.Parse(ctx, []byte("<p>text"), "text/html", pageURL); err == nil {
		t.Error("Parse with an ended context gave no error")
	}
	xhtml := `<html xmlns="http://www.w3.org/1999/xhtml"><body><p>text<br/></p></body></html>`
	if _, err := convert.Parse(ctx, []byte(xhtml), "application/xhtml+xml", pageURL); err == nil {
		t.Error("Parse of XHTML with an ended context gave no error")
	}
	if _, err := doc.Convert(ctx, convert.Options{}); err == nil {
		t.Error("Convert with an ended context gave no error")
	}
}

func TestCutsAreReportedAsWarnings(t *testing.T) {
	for _, tt := range []struct{ name, html, warning string }{
		{"deep nesting", many("<div>", 3000) + "x", convert.WarnDeep},
		{"deep lists", many("<ul><li>", 60) + "x", convert.WarnDeep},
		{"deep threads", numbered("<div class=comment data-depth=%d>What reader %d says of it.</div>", 60), convert.WarnDeep},
		{"spans", "<table><tr>" + many("<td rowspan=60000>a", 300) + many("<tr><td>c", 3000) + "</table>", convert.WarnSpans},
		{"style rules", "<style>" + strings.Repeat("i{opacity:0}", 20_001) + "</style><p>x", convert.WarnStyles},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := convertPage(t, tt.html, convert.Options{})
			if !slices.Contains(res.Warnings, tt.warning) {
				t.Errorf("warnings %q lack %s", res.Warnings, tt.warning)
			}
		})
	}
}
