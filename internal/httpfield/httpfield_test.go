package httpfield_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/httpfield"
)

func TestElements(t *testing.T) {
	for _, tt := range []struct {
		lines         []string
		elements, tag string // joined by |
	}{
		{[]string{" a ,, b", "c"}, "a|b|c", "a|b|c"},
		{[]string{`x="a,b", y`}, `x="a,b"|y`, `x="a,b"|y`},
		{[]string{`"a\",b", c`}, `"a\",b"|c`, `"a\"|b", c`},
		{[]string{`"open, a`}, `"open, a`, `"open, a`},
		{nil, "", ""},
	} {
		if got := strings.Join(slices.Collect(httpfield.Elements(tt.lines)), "|"); got != tt.elements {
			t.Errorf("Elements(%q) = %s, want %s", tt.lines, got, tt.elements)
		}
		if got := strings.Join(slices.Collect(httpfield.EntityTags(tt.lines)), "|"); got != tt.tag {
			t.Errorf("EntityTags(%q) = %s, want %s", tt.lines, got, tt.tag)
		}
	}
}

func TestDirective(t *testing.T) {
	for _, tt := range []struct {
		lines []string
		want  bool
	}{
		{[]string{"no-store"}, true},
		{[]string{"max-age=5 , NO-Store"}, true},
		{[]string{"max-age=5", "no-store"}, true},
		{[]string{`no-store="x"`}, true},
		{[]string{`x="a, no-store, b"`}, false},
		{[]string{"x-no-store"}, false},
		{[]string{"no-store; max-age=5"}, true},
		{[]string{"max-age=5 no-store"}, true},
		{[]string{`max-age=5, private="a, no-store`}, true},
		{nil, false},
	} {
		if got := httpfield.Directive(http.Header{"Cache-Control": tt.lines}, "no-store"); got != tt.want {
			t.Errorf("Directive(%q) = %t, want %t", tt.lines, got, tt.want)
		}
	}
}

func TestDirectivesNeverHideARestriction(t *testing.T) {
	for _, tt := range []struct{ line, want string }{ // name or name=argument, joined by |
		{`max-age=5, Private="a, b", x`, `max-age=5|private="a, b"|x`},
		{`max-age="5", x="a\", private"`, `max-age="5"|x="a\", private"`},
		{`max-age=`, `max-age=""`},
		{`max-age=5; foo`, `max-age=5; foo`},
		{`private; max-age=5`, `private; max-age=5|private`},
		{`max-age=5;PRIVATE`, `max-age=5;PRIVATE|private`},
		{`max-age=5 private no-cache`, `max-age=5 private no-cache|private|no-cache`},
		{`no-store ="a"`, `no-store ="a"|no-store`},
		{`max-age=5, private="a, no-store`, `max-age=5|private="a, no-store|private|private|no-store`},
		{`x="open`, `x="open|private`},
		{`x="a"b, private`, `x="a"b|private`},
	} {
		var got []string
		for name, argument := range httpfield.Directives([]string{tt.line}) {
			if argument != "" {
				name += "=" + argument
			}
			got = append(got, name)
		}
		if text := strings.Join(got, "|"); text != tt.want {
			t.Errorf("Directives(%q) = %s, want %s", tt.line, text, tt.want)
		}
	}
}

func TestRemoveConnection(t *testing.T) {
	h := http.Header{
		"Connection": {"close, x-own", "Cache-Control"}, "X-Own": {"1"}, "Keep-Alive": {"1"}, "Te": {"trailers"},
		"Trailer": {"X"}, "Proxy-Authorization": {"Basic x"}, "Proxy-Authentication-Info": {"x"},
		"Cache-Control": {"no-store"}, "Content-Type": {"text/plain"},
	}
	httpfield.RemoveConnection(h)
	if len(h) != 2 || h.Get("Cache-Control") != "no-store" || h.Get("Content-Type") != "text/plain" {
		t.Errorf("left: %v", h)
	}
}
