package httpfield_test

import (
	"net/http"
	"testing"

	"github.com/readthru/readthru/internal/httpfield"
)

func TestOtherSite(t *testing.T) {
	for _, tt := range []struct {
		name          string
		origins, site []string
		want          string
		same          bool
	}{
		{name: "no browser"},
		{name: "typed into the address bar", site: []string{"none"}},
		{name: "our own page", origins: []string{"http://127.0.0.1:7887"}, site: []string{"same-origin"}, same: true},
		{name: "our own page over TLS", origins: []string{"https://127.0.0.1:7887"}, same: true},
		{name: "another site", site: []string{"cross-site"}, want: `a "cross-site" request of a browser`},
		{name: "another port", site: []string{"same-site"}, want: `a "same-site" request of a browser`},
		{name: "two lines", site: []string{"none", "cross-site"}, want: `a "cross-site" request of a browser`},
		{name: "two values", site: []string{"none, cross-site"}, want: `a "none, cross-site" request of a browser`},
		{name: "nothing after the name", site: []string{""}, want: `a "" request of a browser`},
		{name: "another origin", origins: []string{"https://evil.test"}, want: `origin "https://evil.test"`},
		{
			name: "another origin that calls itself ours", origins: []string{"https://evil.test"}, site: []string{"same-origin"},
			want: `origin "https://evil.test"`,
		},
		{name: "origin of another port", origins: []string{"http://127.0.0.1:1"}, want: `origin "http://127.0.0.1:1"`},
		{
			name: "begins like ours", origins: []string{"http://127.0.0.1:7887.evil.test"},
			want: `origin "http://127.0.0.1:7887.evil.test"`,
		},
		{name: "opaque", origins: []string{"null"}, want: `origin "null"`},
		{name: "no origin after the name", origins: []string{""}, want: `origin ""`},
		{name: "a file", origins: []string{"file://127.0.0.1:7887"}, want: `origin "file://127.0.0.1:7887"`},
		{
			name: "two origins", origins: []string{"http://127.0.0.1:7887", "https://evil.test"},
			want: `origin "http://127.0.0.1:7887"`,
		},
	} {
		h := http.Header{}
		if tt.origins != nil {
			h["Origin"] = tt.origins
		}
		if tt.site != nil {
			h["Sec-Fetch-Site"] = tt.site
		}
		if got, other := httpfield.OtherSite(h, "127.0.0.1:7887"); got != tt.want || other != (tt.want != "") {
			t.Errorf("%s: %q, %v, want %q", tt.name, got, other, tt.want)
		}
		if got := httpfield.SameOrigin(h, "127.0.0.1:7887"); got != tt.same {
			t.Errorf("%s: same origin %v, want %v", tt.name, got, tt.same)
		}
	}
}
