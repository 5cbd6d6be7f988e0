package convert_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/convert"
)

const around = "<h1>Real</h1><p>The first visible paragraph of the page, which stays whatever stands beside it, and is long enough.</p>%s<p>The last visible paragraph of the page, which stays as well, and has as many words as the first of them had.</p>"

// hiddenText are pages with text hidden from readers, and the kind that is reported. HIDE must not be left. The ways in
// which styles hide text are tested in package hidden.
var hiddenText = []struct{ name, html, kind string }{
	{"white on the white behind it", "<div style='background:#fff'><p style='color:white'>HIDE</p></div>", "colour"},
	{"tag characters", "<p>x" + smuggle("HIDE") + "</p>", "characters"},
	{"a comment", "<!-- HIDE -->", "comment"},
	{"much hidden text beside little", "<div style='display:none'>" +
		strings.Repeat("<p>HIDE me, a long text that is most of the page.</p>", 100) + "</div>", "display"},
	{"a noscript beside content", "<noscript>HIDE</noscript>", ""},
	{"an image of one pixel", "<img src=/a.png width=1 height=1 alt=HIDE>", ""},
	{"attributes", "<abbr title=HIDE data-x=HIDE aria-label=HIDE>x</abbr>", ""},
	{"the content of a frame", "<iframe srcdoc='<p>HIDE</p>'>HIDE</iframe>", ""},
}

// smuggle spells text in tag characters.
func smuggle(s string) string {
	return strings.Map(func(r rune) rune { return r + 0xe0000 }, s)
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

// visibleText are pages with text that looks hidden and is not. KEEP must be left.
var visibleText = []struct{ name, html string }{
	{"closed details", "<details><summary>More</summary><p>KEEP</p></details>"},
	{
		"the panel of a tab",
		"<div role=tablist><a role=tab aria-controls=p>Tab</a></div><div role=tabpanel id=p hidden><p>KEEP</p></div>",
	},
	{
		"a part that React sent later",
		`<!--$?--><template id="B:0"></template><p>Loading</p><!--/$--><div hidden id="S:0"><p>KEEP</p></div><script>$RC("B:0","S:0")</script>`,
	},
	{"a shadow root", "<div><template shadowrootmode=open><p>KEEP</p></template></div>"},
}

func TestVisibleTextIsKept(t *testing.T) {
	for _, tt := range visibleText {
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
		"<html data-wf-page=1><body><div>" + strings.Repeat("go ", 26) + "</div><div style='opacity:0'>%s</div>",
		"<main style='opacity:0'>%s</main><script type='application/json'>" + strings.Repeat("{} ", 5000) + "</script>",
	} {
		res := convertPage(t, fmt.Sprintf(html, fmt.Sprintf(around, "")), convert.Options{})
		if !strings.Contains(res.Markdown, "The first visible") || !slices.Contains(res.Warnings, convert.WarnShown) {
			t.Errorf("%s\nwarnings %q: %q", html, res.Warnings, res.Markdown)
		}
	}
}

// pagesThatHideMost hide all of their text but a little: SEEN is what browsers paint, WAITS what they do not.
var pagesThatHideMost = []struct{ name, html string }{
	{
		"colours of the body", `<style>body{background:#000}.x{color:#fff}</style><p>WAITS one</p><p class=x>SEEN</p>
			<p>WAITS two</p>`,
	},
	{"visibility of the body", `<body style="visibility:hidden"><p>WAITS</p><p style="visibility:visible">SEEN</p>`},
	{"size of the body", `<body style="font-size:0"><p style="font-size:16px">SEEN</p><p>WAITS</p><p>WAITS too</p>`},
	{
		"visibility of a box", `<div style="visibility:hidden"><h2>WAITS</h2><p>WAITS` + strings.Repeat(" for a script", 30) +
			`</p><p style="visibility:visible">SEEN</p></div>`,
	},
	{"a box beside it", "<p>SEEN</p><div style=opacity:0><p>WAITS" + strings.Repeat(" for a script", 30) + "</p></div>"},
	{
		"content beside it", "<p>SEEN</p><main hidden><h1>WAITS</h1><p>WAITS" + strings.Repeat(" for a script", 30) +
			"</p></main>",
	},
	{
		"a list", `<body style="color:#fff"><ul><li>WAITS<li style="color:#000">SEEN</ul><table><tr><td>WAITS
			<td style="color:#000">SEEN</table>`,
	},
}

func TestAPageThatHidesMostKeepsWhatIsSeen(t *testing.T) {
	for _, tt := range pagesThatHideMost {
		for _, whole := range []bool{false, true} {
			res := convertPage(t, tt.html, convert.Options{WholePage: whole})
			if got, want := strings.Count(res.Markdown, "SEEN"), strings.Count(tt.html, "SEEN"); got != want {
				t.Errorf("%s: %d of %d visible texts: %q", tt.name, got, want, res.Markdown)
			}
			quoted := false // a mark precedes
			for line := range strings.Lines(res.Markdown) {
				quote := strings.HasPrefix(strings.TrimLeft(line, " *-|"), ">")
				quoted = quote && (quoted || strings.Contains(line, "The styles of the page hide this text:"))
				if quoted != strings.Contains(line, "WAITS") && strings.ContainsAny(line, "SW") {
					t.Errorf("%s: hidden text is not marked, or visible text is: %q", tt.name, res.Markdown)
				}
			}
			if !slices.Contains(res.Warnings, convert.WarnShown) {
				t.Errorf("%s: warnings %q", tt.name, res.Warnings)
			}
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
