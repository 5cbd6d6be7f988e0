package read

import (
	"net/url"
	"testing"
)

func TestTypesAreGuessed(t *testing.T) {
	for _, tt := range []struct{ name, url, content, want string }{
		{"page.html", "https://a.test/", "x", "text/html"},
		{"", "https://a.test/doc.pdf", "x", "application/pdf"},
		{"", "https://a.test/", "%PDF-1.7", ""}, // package convert tells by itself
		{"", "https://a.test/", "<article>a fragment", "text/html"},
		{"README.md", "https://a.test/", "# x", "text/markdown"},
		{"", "https://a.test/", "\x89PNG\r\n\x1a\n", ""},
	} {
		u, _ := url.Parse(tt.url)
		if got := guessType(tt.name, u, []byte(tt.content)); got != tt.want {
			t.Errorf("guessType(%q, %s, %q) = %s, want %s", tt.name, tt.url, tt.content, got, tt.want)
		}
	}
}
