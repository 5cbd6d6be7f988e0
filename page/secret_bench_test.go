package page_test

import (
	"net/url"
	"testing"

	"github.com/readthru/readthru/page"
)

// Every request is judged, those that are answered from the cache among them.
func BenchmarkHasSecret(b *testing.B) {
	for name, raw := range map[string]string{
		"path":     "https://en.wikipedia.test/wiki/Hypertext_Transfer_Protocol",
		"query":    "https://shop.test/list/shoes?page=2&sort=price&colour=dark-blue&utm_source=mail",
		"fragment": "https://docs.test/guide/install.html#on-other-systems",
		"long": "https://news.test/2026/11/27/world/europe/the-longest-title-that-anybody-has-made-for-a-page" +
			"?ref=home&id=8271&x=abcdef0123456789",
		"asset":  "https://a.test/static/js/main.8f3a9b2c7d1e4f60a1b2.js",
		"nested": "https://a.test/go?url=https%3A%2F%2Fb.test%2Fx%3Fpage%3D2%26q%3Dword",
	} {
		u, err := url.Parse(raw)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				page.HasSecret(u)
			}
		})
	}
}
