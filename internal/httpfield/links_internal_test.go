package httpfield

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// partsOf returns target, rel and type of each link.
func partsOf(lines ...string) [][3]string {
	var list [][3]string
	for _, l := range Links(lines) {
		list = append(list, [3]string{l.Target, l.rel, l.MediaType})
	}
	return list
}

func TestLinksAreRead(t *testing.T) { // RFC 8288 §3
	for _, tt := range []struct {
		name string
		in   []string
		want [][3]string
	}{
		{
			"one",
			[]string{`</a>; rel=alternate; type="text/markdown"`},
			[][3]string{{"/a", "alternate", "text/markdown"}},
		},
		{
			"several, commas and semicolons in quotes and targets",
			[]string{`<a,b;c>; title="x, <y>; rel=z"; rel="next prev", <d>;rel=up`, `<e>`},
			[][3]string{{"a,b;c", "next prev", ""}, {"d", "up", ""}, {"e", "", ""}},
		},
		{"first parameter counts", []string{`<a>; rel=one; rel=two`}, [][3]string{{"a", "one", ""}}},
		{"escaped quote", []string{`<a>; title="\"; rel=no"; rel=yes`}, [][3]string{{"a", "yes", ""}}},
		{
			"parameters of the type",
			[]string{`<a>; type="text/markdown; charset=utf-8"; rel=alternate`},
			[][3]string{{"a", "alternate", "text/markdown"}},
		},
		{"garbage ends the line", []string{`<a>; rel=x, garbage, <b>; rel=y`}, [][3]string{{"a", "x", ""}}},
		{"not closed", []string{`<a`, `<a>; rel="x`, `<a>;`, `;`}, [][3]string{{"a", "x", ""}, {"a", "", ""}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, partsOf(tt.in...)); diff != "" {
				t.Errorf("links (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzLinks(f *testing.F) {
	f.Add(`</a>; rel=alternate; type="text/markdown", <b>; title="\"`)
	f.Fuzz(func(t *testing.T, line string) {
		for _, l := range partsOf(line) {
			if strings.Contains(l[0], ">") {
				t.Errorf("target %q", l[0])
			}
		}
	})
}

func TestCanonicalLinkCannotBreakOut(t *testing.T) {
	for _, tt := range []struct{ canonical, origin, want string }{
		{"https://a.test/x?y=z", "", `<https://a.test/x?y=z>; rel="canonical"`},
		{"", "", ""},
		{"https://a.test/x", `<https://a.test/x>; rel="canonical"`, ""},
		{"https://a.test/x", `</next>; rel=next`, `<https://a.test/x>; rel="canonical"`},
		{"https://a.test/?a>;rel=evil", "", ""},
		{"https://a.test/\r\nSet-Cookie: a", "", ""},
		{"javascript:alert(1)", "", ""},
		{"/relative", "", ""},
	} {
		h := http.Header{}
		if tt.origin != "" {
			h.Set("Link", tt.origin)
		}
		if got := CanonicalLink(tt.canonical, h); got != tt.want {
			t.Errorf("link of %q beside %q = %q, want %q", tt.canonical, tt.origin, got, tt.want)
		}
	}
}
