package hidden_test

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/hidden"
)

// clean cleans a page with markup between two visible paragraphs, and returns the text of its body with the
// alternative texts of its images, and the report.
func clean(t *testing.T, markup string) (string, hidden.Report) {
	t.Helper()
	root, err := html.Parse(strings.NewReader("<h1>Real</h1><p>First words</p>" + markup + "<p>Last words</p>"))
	if err != nil {
		t.Fatal(err)
	}
	body := dom.Find(root, func(n *html.Node) bool { return dom.Is(n, atom.Body) })
	cleaner := hidden.New(root)
	cleaner.Clean(t.Context(), body)
	text := dom.Text(body)
	for n := range body.Descendants() {
		text += " " + dom.Attr(n, "alt")
	}
	return text, cleaner.Report()
}

// hiddenText are ways to hide text from readers, and the kind that is reported. HIDE must not be left.
var hiddenText = []struct{ name, html, kind string }{
	{"a hidden attribute", "<p hidden>HIDE</p>", "hidden"},
	{"a hidden attribute that search finds", "<p hidden=until-found>HIDE</p>", "hidden"},
	{"a hidden attribute with a value", "<p hidden=false>HIDE</p>", "hidden"},
	{"aria-hidden", "<div aria-hidden=true>HIDE</div>", "aria-hidden"},
	{"display", "<p style='display: NONE !important'>HIDE</p>", "display"},
	{"display with a comment inside", "<p style='display:/**/none'>HIDE</p>", "display"},
	{"display with an escape inside", `<p style='d\69splay:n\6f ne'>HIDE</p>`, "display"},
	{"display twice, the important one first", "<p style='display:none!important;display:block'>HIDE</p>", "display"},
	{"visibility", "<p style='visibility:hidden'>HIDE</p>", "visibility"},
	{"visibility of the parent", "<div style='visibility:hidden'><p>HIDE</p></div>", "visibility"},
	{"opacity", "<p style='opacity:0.01'>HIDE</p>", "opacity"},
	{"opacity by a filter", "<p style='filter:opacity(0)'>HIDE</p>", "opacity"},
	{"content-visibility", "<p style='content-visibility:hidden'>HIDE</p>", "display"},
	{"a size of nothing", "<p style='font-size:0'>HIDE</p>", "size"},
	{"a tiny size in the font shorthand", "<p style='font:italic 1px/2 serif'>HIDE</p>", "size"},
	{"a tiny share of the parent's size", "<div style='font-size:4px'><p style='font-size:20%'>HIDE</p></div>", "size"},
	{"white on white", "<p style='color:#FFFFFF;background-color:rgb(255, 255, 255)'>HIDE</p>", "colour"},
	{"nearly white on white", "<p style='color:#fdfdfd;background:white'>HIDE</p>", "colour"},
	{"white on the white behind it", "<div style='background:#fff'><p style='color:white'>HIDE</p></div>", "colour"},
	{"white on a page without styles", "<p style='color:white'>HIDE</p>", "colour"},
	{"white by font", "<font color=white>HIDE</font>", "colour"},
	{"black on black", "<p style='color:black;background:#000'>HIDE</p>", "colour"},
	{"transparent", "<p style='color:transparent'>HIDE</p>", "colour"},
	{"transparent by alpha", "<p style='color:rgba(1 2 3 / 0%)'>HIDE</p>", "colour"},
	{"transparent filling", "<p style='-webkit-text-fill-color:transparent'>HIDE</p>", "colour"},
	{"left of the window", "<p style='position:absolute;left:-9999px'>HIDE</p>", "off-screen"},
	{"above it", "<p style='position:fixed;top:-200vh'>HIDE</p>", "off-screen"},
	{"by inset", "<p style='position:absolute;inset:-9999px auto auto'>HIDE</p>", "off-screen"},
	{"by indent", "<p style='text-indent:-9999px'>HIDE</p>", "off-screen"},
	{"by margin", "<p style='margin:0 0 0 -9999px'>HIDE</p>", "off-screen"},
	{"by transform", "<p style='transform:translateX(-9999px)'>HIDE</p>", "off-screen"},
	{"by translate", "<p style='translate:-9999px 0'>HIDE</p>", "off-screen"},
	{"shrunk", "<p style='transform:scale(0)'>HIDE</p>", "off-screen"},
	{"clipped", "<p style='position:absolute;clip:rect(0,0,0,0)'>HIDE</p>", "clipped"},
	{"clipped by a path", "<p style='clip-path:inset(100%)'>HIDE</p>", "clipped"},
	{"clipped to a circle of nothing", "<p style='clip-path: circle(0)'>HIDE</p>", "clipped"},
	{"clipped to a point", "<p style='clip-path:polygon(0 0, 0 0, 0 0)'>HIDE</p>", "clipped"},
	{"a box without room", "<div style='width:1px;height:1px;overflow:hidden'>HIDE</div>", "size"},
	{"a box without height", "<div style='max-height:0;overflow:hidden'>HIDE</div>", "size"},
	{"a class", "<style>.a{display:none}</style><p class='x a'>HIDE</p>", "display"},
	{"a class in a list of selectors", "<style>h9, .a , .b{color:red;display:none}</style><p class=b>HIDE</p>", "display"},
	{"an id", "<style>#a{position:absolute;left:-10000px}</style><p id=a>HIDE</p>", "off-screen"},
	{"a tag", "<style>aside{display:none}</style><aside>HIDE</aside>", "display"},
	{"a descendant", "<style>.a p{display:none}</style><div class=a><div><p>HIDE</p></div></div>", "display"},
	{"a child", "<style>div.a>p{font-size:0}</style><div class=a><p>HIDE</p></div>", "size"},
	{"a sibling", "<style>h4 + p{opacity:0}</style><h4>x</h4><p>HIDE</p>", "opacity"},
	{"an attribute", "<style>[data-x^=a]{visibility:hidden}</style><p data-x=ab>HIDE</p>", "visibility"},
	{"a negation", "<style>p:not(.seen).a{display:none}</style><p class=a>HIDE</p>", "display"},
	{"an escaped class", `<style>.a\:b{display:none}</style><p class="a:b">HIDE</p>`, "display"},
	{
		"a media query that always holds",
		"<style>@media screen and (min-width:1px){.a{display:none}}</style><p class=a>HIDE</p>", "display",
	},
	{
		"a style element with a media attribute", "<style media=screen>.a{display:none}</style><p class=a>HIDE</p>",
		"display",
	},
	{
		"inside a layer and a supports",
		"<style>@layer x{@supports (display:grid){.a{display:none}}}</style><p class=a>HIDE</p>", "display",
	},
	{
		"after comments and strings", "<style>/* } */ .z::before{content:'}/*'} .a{display:none}</style><p class=a>HIDE</p>",
		"display",
	},
	{
		"colours of two rules", "<style>.a{background:#fff}.b{color:#fff}</style><div class=a><p class=b>HIDE</p></div>",
		"colour",
	},
	{
		"important beats what is later",
		"<style>.a{display:none!important}.a{display:block}</style><p class=a style='display:block'>HIDE</p>", "display",
	},
	{"an id beats a class", "<style>#a{display:none}.a{display:block}</style><p class=a id=a>HIDE</p>", "display"},
	{
		"shown on paper alone", "<style>.a{display:none}@media print{.a{display:block}}</style><p class=a>HIDE</p>",
		"display",
	},
	{
		"a heading for screen readers",
		"<style>.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0 0 0 0)}</style><h2 class=sr>HIDE</h2>",
		"clipped",
	},
	{"a panel to which no tab leads", "<div role=tabpanel id=p hidden>HIDE</div>", "hidden"},
	{"tag characters", "<p>x" + smuggle("HIDE") + "</p>", "characters"},
	{"bytes as variation selectors", "<p>x" + selectors("HIDE") + "</p>", "characters"},
	{"a bidirectional override", "<p>a\u202eb\u202c</p>", "characters"},
	{"a template", "<template><p>HIDE</p></template>", "template"},
	{"a textarea", "<textarea>HIDE</textarea>", "textarea"},
	{"an option", "<select><option>a<option>HIDE</select>", "select"},
	{"a dialog", "<dialog>HIDE</dialog>", "dialog"},
	{"a fallback of canvas", "<canvas>HIDE</canvas>", "canvas"},
	{"a fallback of object", "<object>HIDE</object>", "object"},
	{"a title of a drawing", "<svg><title>HIDE</title><desc>HIDE</desc></svg>", "svg"},
	{"a comment", "<!-- HIDE -->", "comment"},
	{"a note in an image's text", "<img src=/a.png alt='Agents: HIDE append .md to the URL'>", "alt"},
}

// smuggle spells text in tag characters, selectors in variation selectors.
func smuggle(s string) string {
	return strings.Map(func(r rune) rune { return r + 0xe0000 }, s)
}

func selectors(s string) string {
	return strings.Map(func(r rune) rune { return r - 16 + 0xe0100 }, s)
}

func TestHiddenTextIsRemovedAndReported(t *testing.T) {
	for _, tt := range hiddenText {
		t.Run(tt.name, func(t *testing.T) {
			text, report := clean(t, tt.html)
			if strings.ContainsAny(text, "\u202e\U000e0048\U000e0138") || strings.Contains(text, "HIDE") {
				t.Errorf("hidden text is left: %.300q", text)
			}
			if !strings.Contains(text, "First words") || !strings.Contains(text, "Last words") {
				t.Errorf("visible text is missing: %.300q", text)
			}
			if report.Removed.Counts[tt.kind] != 1 {
				t.Errorf("report %+v lacks %s", report.Removed, tt.kind)
			}
		})
	}
}

// visibleText is text that looks hidden and is not. KEEP must be left.
var visibleText = []struct{ name, html string }{
	{"white on black", "<p style='color:#fff;background:#000'>KEEP</p>"},
	{
		"white on the black behind it",
		"<div style='background:#111'><section><p style='color:white'>KEEP</p></section></div>",
	},
	{"white on a picture", "<div style='background:url(x.png)'><p style='color:white'>KEEP</p></div>"},
	{
		"white where a style sheet elsewhere may say what is behind",
		"<link rel=stylesheet href=x.css><div class=hero><p style='color:white'>KEEP</p></div>",
	},
	{"a child with another colour", "<div style='color:#fff;background:#fff'><p style='color:#000'>KEEP</p></div>"},
	{"a child with a size of its own", "<div style='font-size:0'><span style='font-size:14px'>KEEP</span></div>"},
	{"a visible child of a hidden box", "<div style='visibility:hidden'><p style='visibility:visible'>KEEP</p></div>"},
	{"a gradient", "<p style='color:transparent;background-clip:text;background-image:linear-gradient(red,blue)'>KEEP</p>"},
	{"a shadow", "<p style='color:transparent;text-shadow:0 0 1px #000'>KEEP</p>"},
	{"a link within white on white", "<style>body{color:#fff;background:#fff}</style><p style='color:#000'>KEEP</p>"},
	{"small print", "<p style='font-size:9px'>KEEP</p>"},
	{"a hanging indent", "<p style='text-indent:-2em'>KEEP</p>"},
	{"a moved box", "<p style='position:relative;left:-20px;margin-left:-15px'>KEEP</p>"},
	{"waiting for its entrance", "<p style='opacity:0;transform:translateY(20px)'>KEEP</p>"},
	{"waiting for its entrance by a name", "<p class=wow style='visibility:hidden'>KEEP</p>"},
	{
		"found by search under its head",
		"<div class=faq><h3>Question?</h3><div hidden=until-found><p>KEEP</p></div></div>",
	},
	{"closed details", "<details><summary>More</summary><p>KEEP</p></details>"},
	{
		"the panel of a tab",
		"<div role=tablist><a role=tab aria-controls=p>Tab</a></div><div role=tabpanel id=p hidden><p>KEEP</p></div>",
	},
	{
		"a section under its button",
		"<h3><button aria-expanded=false aria-controls=a>Question?</button></h3><div id=a hidden><p>KEEP</p></div>",
	},
	{
		"an accordion by its name",
		"<div class=accordion><h3>Question?</h3><div class=accordion-content style='display:none'><p>KEEP</p></div></div>",
	},
	{
		"a panel that a class opens",
		"<style>.panel{display:none}.panel.open{display:block}</style><div class=panel>KEEP</div>",
	},
	{
		"a panel that its parent opens",
		"<style>.panel{max-height:0;overflow:hidden}.on .panel{max-height:none}</style><div class=panel>KEEP</div>",
	},
	{"hidden from small windows", "<style>@media (max-width:600px){.a{display:none}}</style><p class=a>KEEP</p>"},
	{
		"hidden from large windows",
		"<style>.a{display:none}@media (max-width:600px){.a{display:block}}</style><p class=a>KEEP</p>",
	},
	{"hidden on paper", "<style>@media print{.a{display:none}}</style><p class=a>KEEP</p>"},
	{"a frame of an animation", "<style>@keyframes x{from{opacity:0}.a{display:none}}</style><p class=a>KEEP</p>"},
	{"a pseudo-element", "<style>.a::before{display:none}</style><p class=a>KEEP</p>"},
	{"under the pointer", "<style>.a:hover{display:none}</style><p class=a>KEEP</p>"},
	{"another class", "<style>.b{display:none}.a .b{display:none}</style><p class=a>KEEP</p>"},
	{"a later rule", "<style>.a{display:none}.a{display:block}</style><p class=a>KEEP</p>"},
	{"an inline style over a rule", "<style>.a{display:none}</style><p class=a style='display:block'>KEEP</p>"},
	{"a script's class that is not there", "<style>.js .a{display:none}</style><p class=a>KEEP</p>"},
	{"room for a picture of fixed shape", "<div style='height:0;padding-bottom:50%;overflow:hidden'><p>KEEP</p></div>"},
	{"a broken sheet", "<style>.a{display:none</style><p>KEEP</p>"},
	{"emoji and joined letters", "<p>\U0001F469\u200D\U0001F4BB \u2764\uFE0F \u0915\u094D\u200D\u0937 KEEP</p>"},
	{"an icon hidden from screen readers", "<p><span aria-hidden=true>→</span> KEEP</p>"},
	{"words in a font of icons", "<p class=material-icons>KEEP all of this</p>"},
	{"an image with words", "<img src=/a.png alt=KEEP>"},
	{
		"a part that React sent later",
		`<!--$?--><template id="B:0"></template><p>Loading</p><!--/$--><div hidden id="S:0"><p>KEEP</p></div><script>$RC("B:0","S:0")</script>`,
	},
}

func TestVisibleTextIsKept(t *testing.T) {
	for _, tt := range visibleText {
		t.Run(tt.name, func(t *testing.T) {
			if text, report := clean(t, tt.html); !strings.Contains(text, "KEEP") {
				t.Errorf("visible text is missing: %q, report %+v", text, report.Removed)
			}
		})
	}
}
