package twins_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/fetch/twins"
	"github.com/readthru/readthru/internal/processor"
)

// found returns the addresses at which twins of a page are looked for.
func found(t *testing.T, raw string, h http.Header, named string, guess bool) (list []string) {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	for _, twin := range twins.Find(u, h, named, guess) {
		list = append(list, twin.String())
	}
	return list
}

func TestCandidatesForTwins(t *testing.T) {
	for _, tt := range []struct {
		name, url, link, named string
		guess                  bool
		want                   []string
	}{
		{
			"relative", "https://a.test/x/y", "<y.md>; rel=alternate; type=text/markdown", "", false,
			[]string{"https://a.test/x/y.md"},
		},
		{
			"Link before head before guess, none twice", "https://a.test/y",
			"</1.md>; rel=alternate; type=text/markdown",
			"https://a.test/y.md", true,
			[]string{"https://a.test/1.md", "https://a.test/y.md"},
		},
		{"directory", "https://a.test/d/", "", "", true, []string{
			"https://a.test/d/index.md", "https://a.test/d/index.html.md",
		}},
		{"root", "https://a.test", "", "", true, []string{
			"https://a.test/index.md", "https://a.test/index.html.md",
		}},
		{"html ending", "https://a.test/p.html", "", "", true, []string{
			"https://a.test/p.md", "https://a.test/p.html.md",
		}},
		{"query, no guess", "https://a.test/p?q=1", "", "", true, nil},
		{
			"the page itself is no twin", "https://a.test/p",
			"<https://a.test/p#x>; rel=alternate; type=text/markdown", "",
			false, nil,
		},
		{
			"http is none for https", "https://a.test/p",
			"<http://a.test/p.md>; rel=alternate; type=text/markdown", "", false,
			nil,
		},
		{
			"file is none", "https://a.test/p", "<file:///etc/passwd>; rel=alternate; type=text/markdown",
			"javascript:x", false,
			nil,
		},
		{
			"secrets are not followed", "https://a.test/p",
			"<https://u:p@a.test/p.md>; rel=alternate; type=text/markdown", "",
			false, nil,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := http.Header{}
			if tt.link != "" {
				h.Set("Link", tt.link)
			}
			if diff := cmp.Diff(tt.want, found(t, tt.url, h, tt.named, tt.guess)); diff != "" {
				t.Errorf("candidates (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnEndlessLinkFieldGivesFewTwins(t *testing.T) {
	var b strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&b, "<%d>;rel=alternate;type=text/markdown,", i)
	}
	took := processor.Of(func() {
		h := http.Header{"Link": {b.String()}}
		if n := len(found(t, "https://site.test/a", h, "", true)); n != 2 {
			t.Errorf("%d twins, want 2: no more are asked for", n)
		}
	})
	if took > time.Second {
		t.Errorf("it took %s of processor time, want a second at most", took)
	}
}
