package page_test

import (
	"testing"

	"github.com/readthru/readthru/page"
)

// What is typed is sent as a browser would send it.
func TestWhatIsTypedIsEscapedAsBrowsersDo(t *testing.T) {
	for raw, want := range map[string]string{
		"https://a.test/?x=a b":                "https://a.test/?x=a%20b",
		"https://a.test/a b?x=\"<'>\"":         "https://a.test/a%20b?x=%22%3C%27%3E%22",
		"https://a.test/ä?ö=ü#ß":               "https://a.test/%C3%A4?%C3%B6=%C3%BC#%C3%9F",
		"https://a.test/%20%e4?x=%20+%zz&y={}": "https://a.test/%20%e4?x=%20+%zz&y={}",
		"https://Bücher.example:8443/":         "https://xn--bcher-kva.example:8443/",
		"https://日本語.jp/x":                     "https://xn--wgv71a119e.jp/x",
		"https://A.test/":                      "https://A.test/",
		"http://[::1]:80/?a=|":                 "http://[::1]:80/?a=|",
		"https://a_b.test/":                    "https://a_b.test/",
	} {
		u, err := page.Parse(raw)
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if u.String() != want {
			t.Errorf("%s is sent as %s, want %s", raw, u, want)
		}
		if again, err := page.Parse(u.String()); err != nil || again.String() != want {
			t.Errorf("%s, parsed again, is %v, %v", want, again, err)
		}
	}
	for _, raw := range []string{"https://a\u200db.test/", "https://\u202ea.test/"} {
		if u, err := page.Parse(raw); err == nil {
			t.Errorf("%q is %s, want an error", raw, u)
		}
	}
}
