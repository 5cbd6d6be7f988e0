package convert

import (
	"context"
	"strings"
	"testing"

	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/links"
)

// CheckLinks fails t for a link or an image of d that is neither absolute nor a fragment, or that names a scheme of
// scripts.
func CheckLinks(t *testing.T, d *Document) {
	t.Helper()
	if d.body == nil {
		return
	}
	for n := range d.body.Descendants() {
		for _, key := range []string{"href", "src"} {
			if v := dom.Attr(n, key); v != "" && dom.Is(n, atom.A, atom.Img) && dom.Attached(n, d.body) &&
				!dom.Within(n, atom.Pre) {
				scheme, _, ok := strings.Cut(v, ":")
				if v[0] != '#' && (!ok || !links.Schemes[strings.ToLower(scheme)]) {
					t.Errorf("link %q is not absolute", v)
				}
				if strings.ContainsAny(v, " <>\n") {
					t.Errorf("link %q ends too early in markdown", v)
				}
			}
		}
	}
}

// FallbackText is what stands in for a page that has no tree.
func FallbackText(ctx context.Context, html string) string { return fallbackText(ctx, []byte(html)) }

// LimitParts has a part of a DOCX be cut at n bytes while a test runs. It is not for tests that run side by side.
func LimitParts(tb testing.TB, n int) {
	tb.Helper()
	before := maxPart
	maxPart = n
	tb.Cleanup(func() { maxPart = before })
}
