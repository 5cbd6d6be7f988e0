package page_test

import (
	"testing"

	"github.com/readthru/readthru/page"
)

func TestKindOf(t *testing.T) {
	for contentType, want := range map[string]page.Kind{
		"text/html":                      page.HTML,
		"Text/HTML ; charset=utf-8":      page.HTML,
		"text/html; charset=utf-8;;x":    page.HTML, // malformed parameters
		"application/xhtml+xml":          page.HTML,
		"text/markdown; charset=utf-8":   page.Markdown,
		"text/x-markdown":                page.Markdown,
		"text/mdx":                       page.Markdown,
		"text/markdown; variant=GFM":     page.Markdown,
		"application/rss+xml":            page.Feed,
		"application/atom+xml;type=feed": page.Feed,
		"application/feed+json":          page.Feed,
		"application/pdf":                page.PDF,
		"text/plain":                     page.NoPage,
		"text/plain; note=text/html":     page.NoPage,
		"text/htmlx":                     page.NoPage,
		"application/json":               page.NoPage,
		"application/xml":                page.NoPage,
		"text/csv":                       page.NoPage,
		"text/event-stream":              page.NoPage,
		"application/octet-stream":       page.NoPage,
		"image/svg+xml":                  page.NoPage,
		"application/vnd.openxmlformats-officedocument.wordprocessingml.document": page.NoPage,
		"": page.NoPage,
	} {
		if got := page.KindOf(contentType); got != want {
			t.Errorf("KindOf(%q) = %d, want %d", contentType, got, want)
		}
		if got := page.IsPage(contentType); got != (want != page.NoPage) {
			t.Errorf("IsPage(%q) = %t", contentType, got)
		}
	}
}
