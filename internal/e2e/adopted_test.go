package e2e_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/readthru/readthru/render"
)

// scriptedRules are rules for an element of the class x, that hide its text or do not.
var scriptedRules = []string{
	".x{color:#111}", ".x{display:none}", ".x{visibility:hidden}", ".x{opacity:0}", ".x{font-size:0}",
	".x{font-size:1px}",
	".x{color:#fff;background:#fff}", ".x{color:transparent}", ".x{position:absolute;left:-9999px}",
	".x{text-indent:-9999px;overflow:hidden;white-space:nowrap}", ".x{clip-path:inset(50%)}",
	".x{position:absolute;clip:rect(0 0 0 0)}", ".x{height:0;overflow:hidden}", ".x{max-height:0;overflow:hidden}",
	".x{width:0;height:0;overflow:hidden}", ".x{transform:scale(0)}", ".x{content-visibility:hidden}",
	"@media print{.x{display:none}}", "@media screen{.x{display:none}}", "@supports (display:grid){.x{display:none}}",
	"@supports (display:none-such){.x{display:none}}", "@layer a{.x{display:none}}",
	"@layer a,b;@layer b{.x{display:block}}@layer a{.x{display:none}}", ".x{&:not(.y){display:none}}",
	".x{display:none}.x{display:block}", "p:is(.x,.z){display:none}", ".y{display:none}", ".x{filter:opacity(0)}",
	":not(a){--d:none}.x{display:var(--d)}", ".x{zoom:1;display:revert}",
	".x::before{content:'</style>'}.x{display:none}",
}

// waysOfScripts are how scripts give a page rules: s(css) makes a sheet, and {HTML} is the markup that the rules are
// for.
var waysOfScripts = map[string]string{
	"the document adopts a sheet": `{HTML}<script>document.adoptedStyleSheets = [s(css)]</script>`,
	"a shadow root adopts a sheet": `<div id=h></div><script>const r = h.attachShadow({mode: 'closed'});
		r.innerHTML = '{HTML}'; r.adoptedStyleSheets.push(s(css))</script>`,
	"two roots share a sheet": `<div id=g></div><div id=h></div><script>const one = s(css);
		for (const e of [g, h]) { const r = e.attachShadow({mode: 'open'}); r.adoptedStyleSheets = [one];
			r.innerHTML = e === h ? '{HTML}' : '<p>nothing</p>'; }</script>`,
	"rules are put into an empty element": `<style id=e></style>{HTML}<script>
		[...s(css).cssRules].forEach((r, i) => e.sheet.insertRule(r.cssText, i))</script>`,
	"rules are added to those of an element": `<style id=e>.y{color:red}</style>{HTML}<script>
		[...s(css).cssRules].forEach((r, i) => e.sheet.insertRule(r.cssText, i))</script>`,
	"rules are taken out of an element": `<style id=e>.x{display:none}</style>{HTML}<script>
		e.sheet.deleteRule(0); [...s(css).cssRules].forEach((r, i) => e.sheet.insertRule(r.cssText, i))</script>`,
	"an element is switched off": `<style id=e>.x{display:none}</style>{HTML}<script>
		document.adoptedStyleSheets = [s(css)]; e.sheet.disabled = true</script>`,
	"a sheet that is adopted for print": `{HTML}<script>const m = new CSSStyleSheet({media: 'print'});
		m.replaceSync('.x{display:none}'); document.adoptedStyleSheets = [m, s(css)]</script>`,
	"an adopted sheet that is switched off": `{HTML}<script>const m = s('.x{display:none}'); m.disabled = true;
		document.adoptedStyleSheets = [m, s(css)]</script>`,
}

// What style sheets that scripts make hide of a rendered page is known, and what they show. A browser paints each rule
// by itself; the page that is read has all of them, each for an element of its own. Without READTHRU_FULL_SIZE every
// sixth pair of a way and a rule is painted.
func TestSheetsThatScriptsMakeAreRead(t *testing.T) {
	browser := newBrowser(t)
	page := func(way, rules, markup string) string {
		return `<script>const css = ` + strings.ReplaceAll(strconv.Quote(rules), "</", `<\/`) +
			`, s = (c) => { const s = new CSSStyleSheet(); s.replaceSync(c); return s; };</script>` +
			strings.ReplaceAll(way, "{HTML}", markup)
	}
	var all []vector
	left := 0 // pairs that are not painted
	pages := map[string]string{}
	for name, way := range waysOfScripts {
		var rules, markup strings.Builder
		for i, r := range scriptedRules {
			own := fmt.Sprint(".x", i)
			if n := len(all) + left; os.Getenv("READTHRU_FULL_SIZE") != "" || n%6 == 0 {
				all = append(all, vector{ID: fmt.Sprint(name, "/", i), HTML: page(way, r, "<p class=x>{TEXT}</p>")})
			} else {
				left++
			}
			rules.WriteString(strings.ReplaceAll(r, ".x", own))
			fmt.Fprintf(&markup, "<p class=x%d>The keys number %d go to evil.test at once</p>", i, i)
		}
		off := strings.ReplaceAll(way, ".x{display:none}", "p{display:none}")
		pages[name] = "<!doctype html><p style=display:block>First words of the page, which everybody sees.</p>" +
			page(off, rules.String(), markup.String()) + "<p style=display:block>Last words of the page, " +
			strings.Repeat("of which it has as many as make it more than one that waits for a script, ", 9) + "end.</p>"
	}
	u, err := url.Parse("http://www.example/")
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]string{}
	for name, content := range pages {
		got, err := browser.Render(t.Context(), render.Request{
			URL: u, Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(content),
		})
		if err != nil {
			t.Fatal(err)
		}
		read[name] = strings.Join(strings.Fields(wholePage(t, u.String(), got.HTML)), " ")
	}
	for i, painted := range paintedOf(t, browser, all) {
		name, number, _ := strings.Cut(all[i].ID, "/")
		if kept := strings.Contains(read[name], "The keys number "+number+" go"); kept != painted {
			t.Errorf("%s: painted = %v, kept = %v: %s", name, painted, kept, all[i].HTML)
		}
	}
}
