package judge

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/head"
	"github.com/readthru/readthru/convert/rules"
)

func TestModelIsReadAndSummed(t *testing.T) {
	m, err := readModel("name sidebar -0.5\nword share -0.75\ntree 0:1:2.5 -1 4:3:0 0.25 0.5\ntree 1\n")
	if err != nil {
		t.Fatal(err)
	}
	if m.odds.name["sidebar"] != -.5 || m.odds.text["share"] != -.75 {
		t.Errorf("odds %v", m.odds)
	}
	for _, tt := range []struct{ first, fifth, want float32 }{{2.5, 0, 0}, {3, 0, 1.25}, {3, .1, 1.5}} {
		f := [featureCount]float32{0: tt.first, 4: tt.fifth}
		if got := m.forest.sumOf(&f); got != tt.want {
			t.Errorf("sum with features %v, %v = %v, want %v", tt.first, tt.fifth, got, tt.want)
		}
	}
}

func TestBadModelIsAnError(t *testing.T) {
	for _, text := range []string{
		"leaf 1", "name x y", "tree", "tree 999:1:0 1 1", "tree 0:0:0 1 1", "tree 0:2:0 1 1",
		"tree 0:1:x 1 1", "tree one",
	} {
		if _, err := readModel(text); err == nil {
			t.Errorf("readModel(%q) gave no error", text)
		}
	}
}

func TestDamagedModelIsAnError(t *testing.T) {
	whole, err := unpackModel(packedModel)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(packedModel); at += len(packedModel)/40 + 1 {
		damaged := []byte(packedModel)
		damaged[at] ^= 0x10
		if text, err := unpackModel(string(damaged)); err == nil && text != whole {
			t.Errorf("a model with byte %d changed is read as another one", at)
		}
		if _, err := unpackModel(packedModel[:at]); err == nil {
			t.Errorf("the first %d bytes of a model are read as one", at)
		}
	}
}

func TestEndlessPagesAreBounded(t *testing.T) {
	const size, word = 50 << 20, "word "
	body := func(nodes ...*html.Node) *html.Node {
		n := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
		for _, c := range nodes {
			n.AppendChild(c)
		}
		return n
	}
	long := body(&html.Node{Type: html.TextNode, Data: strings.Repeat(word, size/len(word))})
	o := newOutline(t.Context(), long, rules.Choice{Root: long}, contentModel().odds)
	if b := &o.blocks[0]; len(o.blocks) != 1 || int(b.openings) != len(b.opening) || b.words != size/int32(len(word)) {
		t.Errorf("%d blocks, the first of %d words, of which %d were looked up", len(o.blocks), b.words, b.openings)
	}
	units := make([]*html.Node, 100_000)
	for i := range units {
		units[i] = &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div}
		units[i].AppendChild(&html.Node{Type: html.TextNode, Data: "A thing to buy"})
	}
	many := body(units...)
	o = newOutline(t.Context(), many, rules.Choice{Root: many}, contentModel().odds)
	if len(o.blocks) != maxJudged+1 {
		t.Errorf("%d blocks of a page of %d were looked at, want %d", len(o.blocks), len(units), maxJudged+1)
	}
	if c := Choose(t.Context(), Page{Body: many, Kind: rules.Listing, Head: &head.Head{}}); c.Name == "blocks" {
		t.Error("a page of too many blocks is judged")
	}
}

func TestBestCutIsHalfOfTheBestExpectedScore(t *testing.T) {
	o := &outline{blocks: []block{{words: 10}, {words: 10}, {words: 10}}}
	for _, tt := range []struct {
		chance []float32
		want   float32
	}{
		{[]float32{1, 1, 0}, .5},    // certain: half of 1
		{[]float32{.5, .5, 0}, .33}, // keep both: 2·10/(20+10)/2
		{[]float32{0, 0, 0}, 0},
	} {
		if got := o.bestCut(tt.chance); got < tt.want-.01 || got > tt.want+.01 {
			t.Errorf("bestCut(%v) = %v, want %v", tt.chance, got, tt.want)
		}
	}
}

func TestOutlineDividesAPageIntoBlocks(t *testing.T) {
	root, err := html.Parse(strings.NewReader(`<h1>Title</h1>some <b>bold</b> text<p>Para <a href=/x>link</a>.</p><ul>` +
		`<li>one<ul><li>inner</ul></ul><pre>code here</pre><table><tr><td>1<td>2</table><a href=/y><div>card</div></a>`))
	if err != nil {
		t.Fatal(err)
	}
	body := root.FirstChild.LastChild
	o := newOutline(t.Context(), body, rules.Choice{Root: body}, odds{})
	var got []string
	for i := range o.blocks {
		b := &o.blocks[i]
		got = append(got, b.tag.String()+"|"+chars.OneLine(b.textOf()))
		if b.words != int32(len(toks(b.textOf()))) && !strings.Contains(b.textOf(), "12") {
			t.Errorf("%q has %d words", b.textOf(), b.words)
		}
	}
	want := "h1|Title, body|some bold text, p|Para link., li|one, li|inner, pre|code here, table|1 2, div|card"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("blocks %s\nwant   %s", s, want)
	}
}

func TestPageOfMenusIsEmpty(t *testing.T) {
	const menus = `<h5>Help</h5><p><a href=/help>Help center</a>, <a href=/terms>Terms of use</a></p>`
	for _, tt := range []struct {
		name, page string
		cut        float32
		want       bool
	}{
		{"menus", menus, .3, true},
		{"likely menus", menus, .4, false},
		{"labels", "<p>One</p><p>Two</p>", .3, false},
		{"menus under a title", "<h1>All pages</h1>" + menus, .3, false},
		{"menus beside prose", menus + "<p>" + strings.Repeat("one and two ", 5), .3, false},
		{"menus around a post", menus + "<p>Here is some more context about the project" + menus, .3, false},
		{"unlikely prose", menus + "<p>" + strings.Repeat("one and two ", 5), .2, true},
	} {
		if o, _ := outlineOf(t, tt.page); o.empty(tt.cut) != tt.want {
			t.Errorf("%s with the cut %g: empty is %t, want %t", tt.name, tt.cut, !tt.want, tt.want)
		}
	}
}

func TestUnlikelyHeadingIsKeptOnlyAboveProse(t *testing.T) {
	prose := "<p>" + strings.Repeat("Words of prose. ", 10)
	const likely, unlikely = .4, .1 // against a cut of .5
	for _, tt := range []struct {
		name, page string
		chance     float32
		prose      bool // is kept
		want       bool
	}{
		{"a likely one of what is kept", "<h2>Heading</h2><p>Word" + prose, likely, true, true},
		{"a likely one of what is dropped", "<h2>Heading</h2>" + prose, likely, false, false},
		{"an unlikely one right above prose that is kept", "<h2>Heading</h2>" + prose, unlikely, true, true},
		{"an unlikely one of a label and prose", "<h2>Heading</h2><p>Word" + prose, unlikely, true, false},
		{"an unlikely title", "<h1>Heading</h1>" + prose, unlikely, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, _ := outlined(t, tt.page)
			chance, keep := make([]float32, len(o.blocks)), make([]bool, len(o.blocks))
			chance[0], keep[len(keep)-1] = tt.chance, tt.prose
			if o.keepHeadings(chance, .5, keep); keep[0] != tt.want {
				t.Errorf("the heading is kept: %v, want %v", keep[0], tt.want)
			}
		})
	}
}
