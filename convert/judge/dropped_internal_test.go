package judge

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/rules"
)

// outlined divides the body of a page and returns both.
func outlined(t *testing.T, page string) (*outline, *html.Node) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	body := root.FirstChild.LastChild
	return newOutline(t.Context(), body, rules.Choice{Root: body}, odds{}), body
}

func TestPicturesStayWithTheTextTheyIllustrate(t *testing.T) {
	const p = "<p>Text that is kept</p>"
	for _, tt := range []struct {
		name, page string
		want       bool
	}{
		{"between paragraphs", p + "<div><img src=x></div>" + p, true},
		{"with a caption that is dropped", p + "<figure><img src=x><figcaption>Photo</figcaption></figure>" + p, true},
		{"before the text", "<div><img src=x></div>" + p, true},
		{"a logo above the title", "<div><img src=x></div><h1>Text</h1>" + p, false},
		{"a picture of the article above its title", "<article><div><img src=x></div><h1>Text</h1>" + p + "</article>", true},
		{"linked to another article after the text", p + "<div><a href=/y><img src=x></a></div>", false},
		{"linked to itself after the text", p + "<div><a href=/y.png><img src=x></a></div>", true},
		{"a teaser that is all link", p + "<div><a href=/y><img src=x>Next</a></div>" + p, false},
		{"far from the text", p + strings.Repeat("<div>No</div>", 4) + "<div><img src=x></div>" +
			strings.Repeat("<div>No</div>", 4), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, body := outlined(t, tt.page)
			o.kind = rules.Article
			keep := make([]bool, len(o.blocks))
			for i := range o.blocks {
				keep[i] = strings.HasPrefix(dom.OneLine(o.blocks[i].first.Parent), "Text")
			}
			dropped := o.dropped(keep)
			img := dom.Find(body, func(n *html.Node) bool { return dom.Is(n, atom.Img) })
			got := true
			for n := img; n != nil; n = n.Parent {
				got = got && !dropped[n]
			}
			if got != tt.want {
				t.Errorf("the picture is kept: %v, want %v", got, tt.want)
			}
		})
	}
}

func TestListsAndTablesAreKeptOrDroppedWhole(t *testing.T) {
	const list = "<ul><li>a<li>b<li>c<li>d</ul>"
	for _, tt := range []struct {
		name, page string
		kind       rules.PageType
		keep, want string
	}{
		{"most are kept, so are all", list, rules.Article, "1110", "1111"},
		{"half is kept, and stays half", list, rules.Article, "1100", "1100"},
		{"lists of a forum stay as they are", list, rules.Forum, "1110", "1110"},
		{
			"tables of a forum do not", "<table><tr><td><p>a</p><p>b</p><tr><td><p>c</p><p>d</p></table>", rules.Forum, "1110",
			"1111",
		},
	} {
		o, _ := outlined(t, tt.page)
		o.kind = tt.kind
		keep := bits(tt.keep)
		o.keepWhole(keep)
		if !slices.Equal(keep, bits(tt.want)) {
			t.Errorf("%s: keepWhole(%s) = %v, want %s", tt.name, tt.keep, keep, tt.want)
		}
	}
}

func TestHeadingsAreKeptWithTheirSections(t *testing.T) {
	for _, tt := range []struct {
		name, page, keep, want string
	}{
		{"section kept", "<h2>A</h2><p>a", "01", "11"},
		{"section dropped", "<h2>A</h2><p>a", "10", "00"},
		{"a card's line between does not part them", "<div><div><h2>A</h2><p>by</p></div><p>a b c d</p></div>", "001", "101"},
		{"the next heading ends a section", "<h2>A</h2><p>a</p><h2>B</h2><p>b", "0001", "0011"},
		{"a title is never dropped", "<h1>A</h1><p>a", "10", "10"},
	} {
		o, _ := outlined(t, tt.page)
		keep := bits(tt.keep)
		chance := make([]float32, len(keep))
		for i := range chance {
			chance[i] = .4
		}
		o.keepHeadings(chance, .5, keep)
		if !slices.Equal(keep, bits(tt.want)) {
			t.Errorf("%s: keepHeadings(%s) = %v, want %s", tt.name, tt.keep, keep, tt.want)
		}
	}
}

func TestRepetitionsAndPlaceholdersAreDropped(t *testing.T) {
	for _, tt := range []struct{ name, page, want string }{
		{"the same twice, for two widths of screen", "<p>Welcome to us</p><p>Welcome to us</p>", "10"},
		{"what a script would replace", "<p>Loading...</p><p>text", "01"},
		{"a sentence that begins like it", "<p>Loading is what ships do", "1"},
		{"two words are not enough", "<p>No</p><p>No", "11"},
		{"a refrain", "<p>And so we sailed</p><p>Far from home</p><p>And so we sailed", "111"},
		{"one heading over two sections", "<h2>Notes</h2><p>a b</p><h2>Notes</h2><p>c d", "1111"},
		{"a heading and the line that repeats it", "<h2>Welcome to us</h2><p>Welcome to us", "11"},
		{"items of a list", "<ul><li>None of these apply<li>None of these apply</ul>", "11"},
		{"definitions", "<dl><dt>one<dd>None of these apply<dt>two<dd>None of these apply</dl>", "1111"},
		{"code", "<pre>go test ./... -v</pre><pre>go test ./... -v</pre>", "11"},
	} {
		o, _ := outlined(t, tt.page)
		keep := make([]bool, len(o.blocks))
		for i := range keep {
			keep[i] = true
		}
		o.dropEchoes(keep)
		if !slices.Equal(keep, bits(tt.want)) {
			t.Errorf("%s: kept %v, want %s", tt.name, keep, tt.want)
		}
	}
}

// bits reads a row of 0 and 1.
func bits(s string) []bool {
	row := make([]bool, len(s))
	for i := range s {
		row[i] = s[i] == '1'
	}
	return row
}
