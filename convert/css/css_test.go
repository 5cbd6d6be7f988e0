package css_test

import (
	"math"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/css"
	"github.com/readthru/readthru/convert/dom"
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
		wide, phone       string // values of display; that of a phone when it may differ
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
			got, phone := css.Read(root).StylesOf(subject), ""
			if got.Windows != nil {
				phone = got.Windows[0].Get("display")
			}
			if got.Values.Get("display") != tt.wide || phone != tt.phone {
				t.Errorf("display = %q, on a phone %q; want %q, %q", got.Values.Get("display"), phone, tt.wide, tt.phone)
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
		if got := css.Declarations(style).Get("display"); got != want {
			t.Errorf("Declarations(%q): display = %q, want %q", style, got, want)
		}
	}
}

func TestColours(t *testing.T) {
	for value, want := range map[string]css.Colour{
		"white": {R: 1, G: 1, B: 1, A: 1}, "#fff": {R: 1, G: 1, B: 1, A: 1}, "#ffff": {R: 1, G: 1, B: 1, A: 1},
		"#0000": {}, "rgb(255, 255, 255)": {R: 1, G: 1, B: 1, A: 1}, "rgba(1 2 3 / 0%)": {R: 0, G: .01, B: .01},
		"rgba(0,0,0,.5)": {A: .5}, "hsl(0, 0%, 100%)": {R: 1, G: 1, B: 1, A: 1},
		"hsl(120deg 50% 50%)": {R: .25, G: .75, B: .25, A: 1}, "hwb(0 100% 0%)": {R: 1, G: 1, B: 1, A: 1},
		"oklch(1 0 0)": {R: 1, G: 1, B: 1, A: 1}, "oklch(62.8% .2577 29.23)": {R: 1, A: 1},
		"lab(100 0 0)":           {R: 1, G: 1, B: 1, A: 1},
		"color(srgb 1 0 0 / .5)": {R: 1, A: .5}, "color-mix(in srgb, red, blue)": {R: .5, B: .5, A: 1},
		"color-mix(in srgb, red 25%, blue)": {R: .25, B: .75, A: 1}, "light-dark(#fff, #000)": {R: 1, G: 1, B: 1, A: 1},
		"rgb(calc(255 * 1) 0 0)": {R: 1, A: 1},
		"rgb(from red r g b)":    {R: 1, A: 1}, "hsl(from rgb(255 0 0 / .5) h s l)": {R: 1, A: .5},
		"rgb(from red 0 0 255 / alpha)": {B: 1, A: 1}, "color(from red srgb r g b / 25%)": {R: 1, A: .25},
		"rgb(from currentcolor r g b / 0)": {},
	} {
		got, ok := css.ParseColour(value)
		if far := max(math.Abs(got.R-want.R), math.Abs(got.G-want.G), math.Abs(got.B-want.B), math.Abs(got.A-want.A)); !ok ||
			far > .01 {
			t.Errorf("ParseColour(%q) = %v, %v; want %v", value, got, ok, want)
		}
	}
	for _, value := range []string{
		"currentcolor", "", "#ff", "nonsense", "rgb(1 2)", "rgb(from red r g)",
		"rgb(from currentcolor r g b)", "rgb(from red calc(r / 2) g b)", "rgb(from red r g b / x)",
	} {
		if got, ok := css.ParseColour(value); ok {
			t.Errorf("ParseColour(%q) = %v, want none", value, got)
		}
	}
}

func TestLengths(t *testing.T) {
	for value, want := range map[string]css.Length{
		"12px": {Px: 12}, "-1.5em": {Px: -15}, "50%": {Share: .5}, "0": {Bare: true}, "1e-3": {Px: .001, Bare: true},
		"200vw": {Px: 2732, Window: true}, "calc(0)": {Bare: true}, "calc(1px * 0)": {},
		"calc(100% - 2 * (3px + 1em))": {Px: -26, Share: 1},
		"min(1px, 5em)":                {Px: 1}, "max(-9999px, -1em)": {Px: -10}, "clamp(0px, -9px, 5px)": {},
		"calc(-1 * 9999px)": {Px: -9999},
		"calc(10px / 4)":    {Px: 2.5}, "abs(-3px)": {Px: 3}, "calc(min(1px,2px) + 1px)": {Px: 2},
	} {
		if got, ok := css.ParseLength(value, 10); !ok || math.Abs(got.Px-want.Px) > .01 || got.Share != want.Share ||
			got.Window != want.Window || got.Bare != want.Bare {
			t.Errorf("ParseLength(%q) = %+v, %v; want %+v", value, got, ok, want)
		}
	}
	for _, value := range []string{
		"", "auto", "calc()", "calc(1px", "1px 2px", "calc(1px + )", "calc(a)",
		strings.Repeat("calc(", 999),
	} {
		if got, ok := css.ParseLength(value, 10); ok && value != "calc(1px" {
			t.Errorf("ParseLength(%q) = %+v, want none", value, got)
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
		for _, v := range css.Declarations(s) {
			if v.Name != strings.ToLower(v.Name) || v.Value != strings.ToLower(v.Value) {
				t.Errorf("Declarations(%q) has %q: %q", s, v.Name, v.Value)
			}
		}
		css.ParseColour(s)
		css.ParseLength(s, 16)
	})
}
