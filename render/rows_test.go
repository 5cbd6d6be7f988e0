package render_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/internal/needs"
)

// virtual is a page whose list has only the rows in view in its document. place says how a script places rows from a
// first one up to a last one, each 40 pixels high.
func virtual(rows int, scroller, place string) string {
	return fmt.Sprintf(`<h1>Harbours</h1><p>A list of them follows.</p><div id=s style="%s"><div id=t style="height:%dpx;
		position:relative"><div id=l></div></div></div><p>That was the list.</p><script>
		const total = %d, inner = s.style.overflow === 'auto';
		const at = () => inner ? s.scrollTop : Math.max(0, scrollY - s.offsetTop);
		const draw = () => {
			const first = Math.max(0, Math.floor(at() / 40) - 1), last = Math.min(total, first + (inner ? 10 : 30));
			const row = (i, more) => '<div class=row style="height:40px" ' + (more ?? '') + '>Harbour ' + i + ' is open</div>';
			%s
		};
		draw();
		(inner ? s : window).addEventListener('scroll', () => requestAnimationFrame(draw));
		</script>`, scroller, rows*40, rows, place)
}

func TestAVirtualListIsReadWhole(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.browser(t)
	const inner = "height:320px;overflow:auto"
	const absolute = `t.innerHTML = ''; for (let i = first; i < last; i++) t.insertAdjacentHTML('beforeend',
		row(i).replace('height', 'position:absolute;top:' + i * 40 + 'px;height'));`
	moved := func(more string) string {
		return `l.style.transform = 'translateY(' + first * 40 + 'px)'; l.innerHTML = '';
			for (let i = first; i < last; i++) l.insertAdjacentHTML('beforeend', row(i, ` + more + `));`
	}
	for name, tt := range map[string]struct {
		rows           int
		scroller, draw string
		want           int
		more           string
	}{
		"absolute rows in an inner scroller": {100, inner, absolute, 100, ""},
		"moved rows with numbers":            {100, inner, moved(`'data-index=' + i`), 100, ""},
		"spacers": {
			100, inner, `t.style.height = ''; t.innerHTML = '<div style="height:' + first * 40 + 'px"></div>'; for (let i =
			first; i < last; i++) t.insertAdjacentHTML('beforeend', row(i)); t.insertAdjacentHTML('beforeend',
			'<div style="height:' + (total - last) * 40 + 'px"></div>');`, 100, "",
		},
		"rows that are used again": {
			100, inner, `document.getElementById('l')?.remove();
			while (t.childElementCount < last - first) t.insertAdjacentHTML('beforeend', row(0).replace('height',
			'position:absolute;height')); for (let i = first; i < last; i++) { const e = t.children[i %% t.childElementCount];
			e.textContent = 'Harbour ' + i + ' is open'; e.style.top = i * 40 + 'px'; }`, 100, "",
		},
		"absolute rows in the page":         {200, "", absolute, 200, ""},
		"moved rows in the page, by number": {200, "", moved(`'aria-rowindex=' + (i + 1)`), 200, ""},
		"more than the limit":               {100_000, inner, absolute, 500, "rows"},
	} {
		t.Run(name, func(t *testing.T) {
			at := "/" + strings.NewReplacer(" ", "-", ",", "").Replace(name)
			s.add(at, virtual(tt.rows, tt.scroller, strings.ReplaceAll(tt.draw, "%%", "%")))
			p := rendered(t, b, s.page(t, at))
			found := regexp.MustCompile(`>Harbour (\d+) is open<`).FindAllSubmatch(p.HTML, -1) // not in the script
			for i, m := range found {
				if string(m[1]) != fmt.Sprint(i) {
					t.Fatalf("row %d is %s", i, m[1])
				}
			}
			if n := len(found); n < tt.want || tt.more == "" && n != tt.want || p.More != tt.more {
				t.Errorf("%d rows, more %q, unsettled %q; want %d, %q", n, p.More, p.Unsettled, tt.want, tt.more)
			}
			list, _, _ := strings.Cut(string(p.HTML), "That was the list")
			if n := strings.Count(list, " is open<"); n != len(found) {
				t.Errorf("the rows are not in their place")
			}
		})
	}
}

func TestAListThatIsWholeStaysAsItIs(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var rows strings.Builder
	for i := range 40 {
		_, _ = fmt.Fprintf(&rows, `<li>Harbour %d is open</li>`, i%7)
	}
	s.add("/whole", `<main style="height:300px;overflow:auto"><h1>Harbours</h1><ul style="margin-bottom:900px">`+
		rows.String()+`</ul></main>`)
	p := rendered(t, s.browser(t), s.page(t, "/whole"))
	if !strings.Contains(string(p.HTML), rows.String()+"</ul>") || p.More != "" {
		t.Errorf("more %q: %s", p.More, p.HTML)
	}
}

func TestAPageThatGoesOnGrowingSaysSo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.browser(t)
	s.add("/data", "{}")
	for at, tt := range map[string]struct{ script, more string }{
		"/feed":   {`setInterval(add, 500)`, "growing"},
		"/polled": {`setInterval(() => fetch('/data').then(add), 900)`, "growing"},
		"/ends":   {`let n = 0; const id = setInterval(() => { add(); if (++n === 5) clearInterval(id); }, 300)`, ""},
		"/clock":  {`add(); setInterval(() => { l.firstChild.textContent = 'It is ' + performance.now(); }, 500)`, ""},
	} {
		s.add(at, `<ul id=l></ul><script>let k = 0;
			const add = () => l.insertAdjacentHTML('beforeend', '<li>Message ' + k++ + ' has come'); `+tt.script+`</script>`)
		if p := rendered(t, b, s.page(t, at)); p.More != tt.more || len(p.HTML) > 5000 {
			t.Errorf("%s: more %q, want %q; %d bytes", at, p.More, tt.more, len(p.HTML))
		}
	}
}

func TestFramesThatAreLeftOutAreCounted(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.add("/told", `<p>A frame with a text</p>`)
	s.add("/mute", `<p></p>`)
	s.add("/framed", `<p>Beside</p><iframe src="/told"></iframe><iframe src="/mute"></iframe>
		<iframe src="http://other.example/told"></iframe><iframe src="http://other.example/ad" width=1 height=1></iframe>`)
	p := rendered(t, s.browser(t), s.page(t, "/framed"))
	if p.FramesLeft != 2 || !strings.Contains(string(p.HTML), "<p>A frame with a text") {
		t.Errorf("%d frames are left out, want 2: %s", p.FramesLeft, p.HTML)
	}
}

func TestSheetsThatAreLeftOutAreCounted(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.add("/", `<p>Text</p><script>
		const sheet = (css) => { const s = new CSSStyleSheet(); s.replaceSync(css); return s; };
		const large = '.a{--b:"' + 'c'.repeat(900_000) + '"}';
		document.adoptedStyleSheets = [sheet(large), sheet(large), sheet(large), sheet('.d{display:none}'), sheet(large)];
	</script>`)
	p := rendered(t, s.browser(t), s.page(t, "/"))
	if p.StylesLeft != 2 || !strings.Contains(string(p.HTML), ".d { display: none; }") {
		t.Errorf("%d sheets are left out, want 2, which have no room; %d bytes", p.StylesLeft, len(p.HTML))
	}
}

// realLists are lists of 500 rows, made with what the web makes them with, and one that does what others do.
var realLists = map[string]string{
	"rows whose height is a guess": guessing,
	"Clusterize": `<div id=s style="max-height:320px;overflow:auto"><ol id=t></ol></div>
		<script src="/npm/clusterize.js/clusterize.min.js"></script><script>
		new Clusterize({rows: Array.from({length: 500}, (_, i) => '<li style="height:30px">Harbour ' + i + ' is open</li>'),
			scrollId: 's', contentId: 't'});</script>`,
	"react-window": `<div id=s></div>
		<script src="/npm/react/umd/react.production.min.js"></script>
		<script src="/npm/react-dom/umd/react-dom.production.min.js"></script>
		<script src="/npm/react-window/dist/index-prod.umd.js"></script><script>
		ReactDOM.createRoot(s).render(React.createElement(ReactWindow.VariableSizeList, {height: 320, width: 400,
			itemCount: 500, itemSize: (i) => 25 + i % 4 * 10},
			({index, style}) => React.createElement('div', {style}, 'Harbour ' + index + ' is open')));</script>`,
}

// A list may be so long that its last rows stand where a page hides things, and it may learn how high rows are as they
// come, keep rows for later use above itself, and show none before it knows their height.
func TestListsOfRealLibrariesAreReadWhole(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.browser(t)
	if err := unpackAll(); err != nil {
		needs.Missing(t, "the packages are not there, .ci/npm fetches them: %v", err)
	}
	for name, list := range realLists {
		t.Run(name, func(t *testing.T) {
			at := "/" + strings.ReplaceAll(name, " ", "-")
			s.add(at, `<main><h1>Harbours</h1><p>A list of all harbours of the coast follows.</p>`+list+`</main>`)
			p := rendered(t, b, s.page(t, at))
			doc, err := convert.Parse(t.Context(), p.HTML, "text/html; charset=utf-8", p.URL)
			if err != nil {
				t.Fatal(err)
			}
			res, err := doc.Convert(t.Context(), convert.Options{})
			if err != nil {
				t.Fatal(err)
			}
			found := regexp.MustCompile(`Harbour (\d+) is open`).FindAllStringSubmatch(res.Markdown, -1)
			for i, m := range found {
				if m[1] != fmt.Sprint(i) {
					t.Fatalf("row %d of %d is %s", i, len(found), m[1])
				}
			}
			if len(found) != 500 || p.More != "" {
				t.Errorf("%d rows, more %q, unsettled %q; want 500", len(found), p.More, p.Unsettled)
			}
		})
	}
}

// guessing is a list in the page that places rows as if they were 40 pixels high until it has seen that they are less,
// and then also those that it has not seen, which it hides until it has measured them.
const guessing = `<div id=t style="position:relative"></div><script>
	const height = [], real = (i) => 20 + i % 3 * 10;
	const rest = () => height.length > 60 ? 30 : 40, of = (i) => height[i] ?? rest();
	const draw = () => {
		const at = Math.max(0, scrollY - t.offsetTop), tops = [];
		let y = 0;
		for (let i = 0; i < 500; i++) { tops.push(y); y += of(i); }
		t.style.height = y + 'px';
		let fresh = false, rows = '<div style="position:absolute;top:-9999px">Harbour 7 is open</div>';
		for (let i = 0; i < 500; i++) if (tops[i] > at - 200 && tops[i] < at + innerHeight + 200) {
			rows += '<div style="position:absolute;top:' + tops[i] + 'px;height:' + real(i) + 'px;visibility:' +
				(height[i] ? 'visible' : 'hidden') + '">Harbour ' + i + ' is open</div>';
			if (height[i] === undefined && tops[i] < at + innerHeight) { height[i] = real(i); fresh = true; }
		}
		t.innerHTML = rows;
		if (fresh) requestAnimationFrame(draw);
	};
	draw();
	addEventListener('scroll', () => requestAnimationFrame(draw));
	</script>`
