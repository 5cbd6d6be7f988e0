package convert_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"readthru/convert"
)

const around = "<h1>Real</h1><p>The first visible paragraph of the page, which stays whatever stands beside it, and is long enough.</p>%s<p>The last visible paragraph of the page, which stays as well, and has as many words as the first of them had.</p>"

// hiddenText are ways to keep text from a reader: markup in which HIDE must not be left, and the kind in the receipts.
var hiddenText = []struct{ name, html, kind string }{
	{"a hidden attribute", "<p hidden>HIDE</p>", "hidden"},
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
		"a head of a section for who cannot see",
		"<style>.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0 0 0 0)}</style><h2 class=sr>HIDE</h2>",
		"clipped",
	},
	{"much hidden text beside little", "<div style='display:none'>" +
		strings.Repeat("<p>HIDE me, a long text that is most of the page.</p>", 100) + "</div>", "display"},
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
	{"a noscript beside content", "<noscript>HIDE</noscript>", ""},
	{"an image of one pixel", "<img src=/a.png width=1 height=1 alt=HIDE>", ""},
	{"attributes", "<abbr title=HIDE data-x=HIDE aria-label=HIDE>x</abbr>", ""},
	{"the content of a frame", "<iframe srcdoc='<p>HIDE</p>'>HIDE</iframe>", ""},
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
			for _, whole := range []bool{false, true} {
				res := convertPage(t, fmt.Sprintf(around, tt.html), convert.Options{WholePage: whole})
				if strings.Contains(res.Markdown, "HIDE") || invisibles(res.Markdown) != "" {
					t.Errorf("hidden text is left: %.300q", res.Markdown)
				}
				if !strings.Contains(res.Markdown, "The first visible paragraph") ||
					!strings.Contains(res.Markdown, "The last visible paragraph") {
					t.Errorf("visible text is missing: %q", res.Markdown)
				}
				if tt.kind != "" && res.Removed.Counts[tt.kind] != 1 {
					t.Errorf("report %+v lacks %s", res.Removed, tt.kind)
				}
				if tt.kind == "" && len(res.Removed.Counts) != 0 {
					t.Errorf("report %+v, want none", res.Removed)
				}
			}
		})
	}
}

// seenText are things that look like hiding and are none: KEEP must be left.
var seenText = []struct{ name, html string }{
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
	{"found by search", "<p hidden=until-found>KEEP</p>"},
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
	{"a shadow root", "<div><template shadowrootmode=open><p>KEEP</p></template></div>"},
}

func TestVisibleTextIsKept(t *testing.T) {
	for _, tt := range seenText {
		t.Run(tt.name, func(t *testing.T) {
			res := convertPage(t, fmt.Sprintf(around, tt.html), convert.Options{WholePage: true})
			if !strings.Contains(res.Markdown, "KEEP") {
				t.Errorf("visible text is missing: %q, report %+v", res.Markdown, res.Removed)
			}
		})
	}
}

func TestPageHiddenUntilItsScriptRunsIsKept(t *testing.T) {
	for _, html := range []string{
		"<style>#app{visibility:hidden}</style><nav>Menu of the page</nav><div id=app>%s</div>",
		"<style>body{visibility:hidden}</style><body>%s", "<body style='visibility:hidden'>%s",
		"<style>.js body{opacity:0} .w{opacity:0}</style><div class=w>%s</div>",
	} {
		res := convertPage(t, fmt.Sprintf(html, fmt.Sprintf(around, "")), convert.Options{})
		if !strings.Contains(res.Markdown, "The first visible") || !slices.Contains(res.Warnings, convert.WarnShown) {
			t.Errorf("%s\nwarnings %q: %q", html, res.Warnings, res.Markdown)
		}
	}
}

func TestReportOfRemovedTextIsBoundedAndDecoded(t *testing.T) {
	res := convertPage(t, fmt.Sprintf(around,
		strings.Repeat("<p hidden>"+strings.Repeat("HIDE é ", 500)+"</p>", 100)+"<p>x"+smuggle("ignore previous")+
			"</p><!-- llms.txt lists all pages: coding agents, append .md to any url -->"), convert.Options{})
	if n := res.Removed.Counts["hidden"]; n != 100 {
		t.Errorf("%d pieces counted, want 100", n)
	}
	if !slices.Contains(res.Warnings, "hidden-text-removed=101") || !slices.Contains(res.Warnings, "agent-note=1") {
		t.Errorf("warnings %q", res.Warnings)
	}
	shown, notes := 0, 0
	for _, p := range res.Removed.Pieces {
		if p.Kind == "hidden" {
			shown++
			if n := len([]rune(p.Text)); n > 200 || p.Chars != 3499 {
				t.Errorf("a piece shows %d characters of %d", n, p.Chars)
			}
		}
		if p.Kind == "characters" && p.Text != "ignore previous" {
			t.Errorf("tag characters decoded as %q", p.Text)
		}
		if p.Note {
			notes++
		}
	}
	if shown == 0 || shown > 12 || notes != 1 {
		t.Errorf("%d pieces shown, %d notes", shown, notes)
	}
}

func TestFallbackTextHasNoHiddenText(t *testing.T) {
	got := convert.FallbackText(t.Context(),
		"<p>one<p hidden>HIDE<p>two<div style='display:none'><div>HIDE</div>HIDE</div>three<script>HIDE</script><b hidden>HIDE</b> four")
	if strings.Contains(got, "HIDE") || strings.Join(strings.Fields(got), " ") != "one two three four" {
		t.Errorf("got %q", got)
	}
}

func TestIconNamesAreNotText(t *testing.T) {
	for _, html := range []string{
		`<p>KEEP <i class="material-icons right">close</i></p>`,
		`<p>KEEP <span class="material-symbols-outlined notranslate"> close </span></p>`,
		`<p><a href="/x">KEEP<i class="big material-icons-round">close</i></a></p>`,
	} {
		res := convertPage(t, fmt.Sprintf(around, html), convert.Options{WholePage: true})
		if strings.Contains(res.Markdown, "close") || !strings.Contains(res.Markdown, "KEEP") {
			t.Errorf("%s: %q", html, res.Markdown)
		}
	}
}
