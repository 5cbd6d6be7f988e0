package cache

import (
	"net/http"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/httpfield"
)

func FuzzTargeted(f *testing.F) {
	for _, s := range []string{
		"max-age=60", "max-age=60;a=b, private", `no-cache="a, b"`, "max-age=(1 2)", ":aGk=:", "?1",
		"a=1.5;b", "",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		cc, ok := targetedControl([]string{s})
		if ok && (cc.maxAge != absent && cc.maxAge < 0 || cc.sMaxAge != absent && cc.sMaxAge < 0) {
			t.Errorf("targetedControl(%q) = %+v, with a negative lifetime", s, cc)
		}
	})
}

func FuzzEntityTags(f *testing.F) {
	for _, s := range []string{`"a"`, `W/"a", "b"`, "*", `"a\"b"`, `"unended`, ",,"} {
		f.Add(s, `"a"`)
	}
	f.Fuzz(func(t *testing.T, list, tag string) {
		matched := MatchesETag([]string{list}, tag)
		found := false
		for member := range httpfield.EntityTags([]string{list}) {
			found = found || member == "*" || tag != "" && weakMatch(member, tag)
			if strings.Trim(member, " \t") == "" {
				t.Errorf("an empty member in %q", list)
			}
		}
		if matched != found {
			t.Errorf("MatchesETag(%q, %q) = %v", list, tag, matched)
		}
		if strongMatch(list, tag) && !weakMatch(list, tag) {
			t.Errorf("%q and %q match strongly and not weakly", list, tag)
		}
	})
}

func FuzzNegotiation(f *testing.F) {
	for _, s := range []string{"text/markdown, text/html;q=0.9", "de;q=0.5, en", "a;q=NaN", "a;q=1e9", `a;p="x,y"`, "*"} {
		f.Add("Accept-Language", s)
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		h := http.Header{"Accept": {value}, "Accept-Language": {value}, "Vary": {name + ", " + value}}
		for element := range httpfield.Elements([]string{value}) {
			if _, q, ok := httpfield.Weighted(element); !(q >= 0 && q <= 1) || !ok && q != 0 {
				t.Errorf("Weighted(%q) = %v", element, q)
			}
		}
		names, star := varyNames(h)
		if star != variesOnAll(h) {
			t.Errorf("varyNames and starred differ about %q", h["Vary"])
		}
		for _, n := range append(names, "accept", "accept-language") {
			once := normalise(n, []string{value})
			if twice := normalise(n, []string{once}); once != twice {
				t.Errorf("normalise(%q, %q) = %q, and again %q", n, value, once, twice)
			}
		}
		namesMarkdown(h)
		prefers(h["Accept-Language"], []string{name})
	})
}

func FuzzLocation(f *testing.F) {
	for _, s := range []string{
		"/a", "//b.test/", "http://origin.test:80/", "?q", "#f", "http://[::1",
		"https://origin.test/", "",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, reference string) {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://origin.test/path?q", http.NoBody)
		q := (&policy{}).request(req)
		if key, ok := sameOrigin(q, reference); ok && !strings.HasPrefix(key, "http://origin.test/") {
			t.Errorf("sameOrigin(%q) = %q, on another origin", reference, key)
		}
	})
}
