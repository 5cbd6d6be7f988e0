package css_test

import (
	"strings"
	"testing"

	"golang.org/x/net/html"

	"readthru/convert/css"
	"readthru/convert/dom"
)

// parse parses a page and returns it with the element that has the attribute data-subject.
func parse(tb testing.TB, page string) (root, subject *html.Node) {
	tb.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		tb.Fatal(err)
	}
	return root, dom.Find(root, func(n *html.Node) bool { return dom.HasAttr(n, "data-subject") })
}

func TestStylesOf(t *testing.T) {
	const set = "{display:none}"
	for _, tt := range []struct {
		name, sheet, page string
		sure, maybe       string // values of display
	}{
		{"class", ".a" + set, "<p data-subject class='x a'>", "none", ""},
		{"list of selectors", "h9, .a , .b" + set, "<p data-subject class=b>", "none", ""},
		{"id", "#a" + set, "<p data-subject id=a>", "none", ""},
		{"tag", "p" + set, "<p data-subject>", "none", ""},
		{"descendant", ".a p" + set, "<div class=a><div><p data-subject>", "none", ""},
		{"child", ".a>p" + set, "<div class=a><p data-subject>", "none", ""},
		{"grandchild is not a child", ".a>p" + set, "<div class=a><div><p data-subject>", "", ""},
		{"next sibling", "h4 + p" + set, "<h4>x</h4><p data-subject>", "none", ""},
		{"later sibling is not the next one", "h4 + p" + set, "<h4>x</h4><hr><p data-subject>", "", ""},
		{"later sibling", "h4 ~ p" + set, "<h4>x</h4><hr><p data-subject>", "none", ""},
		{"start of an attribute", "[data-x^=a]" + set, "<p data-subject data-x=ab>", "none", ""},
		{"word of an attribute", "[data-x~=b]" + set, "<p data-subject data-x='a bc'>", "", ""},
		{"negation", "p:not(.seen).a" + set, "<p data-subject class=a>", "none", ""},
		{"negation that fails", "p:not(.a)" + set, "<p data-subject class=a>", "", ""},
		{"escaped class", `.a\:b` + set, "<p data-subject class='a:b'>", "none", ""},
		{"pseudo-element", ".a::before" + set, "<p data-subject class=a>", "", ""},
		{"state", ".a:hover" + set, "<p data-subject class=a>", "", ""},
		{"id beats class", "#a{display:none}.a{display:block}", "<p data-subject class=a id=a>", "none", ""},
		{"later rule wins", ".a{display:none}.a{display:block}", "<p data-subject class=a>", "block", ""},
		{
			"important rule beats style attribute", ".a{display:none!important}",
			"<p data-subject class=a style='display:block'>", "none", "",
		},
		{"style attribute beats rule", ".a" + set, "<p data-subject class=a style='display:block'>", "block", ""},
		{
			"media query of every window", "@media screen and (min-width:1px){.a{display:none}}", "<p data-subject class=a>",
			"none", "",
		},
		{"media query of some windows", "@media (max-width:600px){.a{display:none}}", "<p data-subject class=a>", "", "none"},
		{"media query of paper", "@media print{.a{display:none}}", "<p data-subject class=a>", "", ""},
		{"nested at-rules", "@layer x{@supports (display:grid){.a{display:none}}}", "<p data-subject class=a>", "none", ""},
		{"keyframes", "@keyframes x{from{opacity:0}.a{display:none}}", "<p data-subject class=a>", "", ""},
		{
			"comments and strings", "/* } */ .z::before{content:'}/*'} .a{display:none}", "<p data-subject class=a>", "none",
			"",
		},
		{"open block", ".a{display:none", "<p data-subject class=b>", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root, subject := parse(t, "<style>"+tt.sheet+"</style>"+tt.page)
			got := css.Read(root).StylesOf(subject)
			if got.Sure["display"] != tt.sure || got.Maybe["display"] != tt.maybe {
				t.Errorf("display = %q, in some windows %q; want %q, %q", got.Sure["display"], got.Maybe["display"], tt.sure,
					tt.maybe)
			}
		})
	}
}

func TestDeclarations(t *testing.T) {
	for style, want := range map[string]string{
		"display: NONE !important":               "none",
		"display:/**/none":                       "none",
		`d\69splay:n\6f ne`:                      "none",
		"display:none!important;display:block":   "none",
		"display:none;display:block":             "block",
		"background:url('a;display:none');color": "",
	} {
		if got := css.Declarations(style)["display"]; got != want {
			t.Errorf("Declarations(%q): display = %q, want %q", style, got, want)
		}
	}
}

func TestColour(t *testing.T) {
	for value, want := range map[string]string{
		"white": "ffffff", "#fff": "ffffff", "#ffff": "ffffff", "#0000": "transparent", "rgb(255, 255, 255)": "ffffff",
		"rgba(1 2 3 / 0%)": "transparent", "rgba(1,2,3,.5)": "", "hsl(0, 0%, 100%)": "ffffff", "hsl(120, 50%, 50%)": "",
		"currentcolor": "",
	} {
		if got := css.Colour(value); got != want {
			t.Errorf("Colour(%q) = %q, want %q", value, got, want)
		}
	}
}

// FuzzRead checks that no style sheet and no style attribute stops the reader, and that names and values are in lower
// case.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		".a{display:none}", "@media print{.a{", "/*", `\`, "a:not(", "[a^='b", "}{;", ".a{color:#FFF!important",
		`d\69splay:n\6f ne`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		root, subject := parse(t, "<style>"+strings.ReplaceAll(s, "<", "")+"</style><p data-subject class=a id=b>")
		if subject == nil {
			return
		}
		css.Read(root).StylesOf(subject)
		for name, value := range css.Declarations(s) {
			if name != strings.ToLower(name) || value != strings.ToLower(value) {
				t.Errorf("Declarations(%q) has %q: %q", s, name, value)
			}
		}
		css.Colour(s)
	})
}
