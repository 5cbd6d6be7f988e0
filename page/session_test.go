package page_test

import (
	"net/url"
	"testing"

	"github.com/readthru/readthru/page"
)

func TestSessionsAreNoPartOfAnAddress(t *testing.T) {
	const id = "0123456789abcdef0123456789abcdef"
	for _, tt := range []struct{ raw, want string }{
		{"https://a.test/viewtopic.php?f=3&t=9&sid=" + id, "https://a.test/viewtopic.php?f=3&t=9"},
		{"https://a.test/viewtopic.php?sid=" + id + "&t=9#p1", "https://a.test/viewtopic.php?t=9#p1"},
		{"https://a.test/viewtopic.php?t=9&amp;sid=" + id, "https://a.test/viewtopic.php?t=9"},
		{"https://a.test/?PHPSESSID=abc", "https://a.test/"},
		{"./index.php?PHPSESSID=abc", "./index.php"},
		{"https://a.test/x;jsessionid=1A2B.node1?q=1", "https://a.test/x?q=1"},
		{"https://a.test/x;v=1;JSESSIONID=1A2B", "https://a.test/x;v=1"},
		{"https://a.test/a.asp?ASPSESSIONIDABCD=XYZ&p=1", "https://a.test/a.asp?p=1"},
		{"https://a.test/showthread.php?s=" + id + "&t=1", "https://a.test/showthread.php?t=1"},

		{"https://a.test/story?sid=12345", "https://a.test/story?sid=12345"},
		{"https://a.test/story?sid=news-of-the-day-2024", "https://a.test/story?sid=news-of-the-day-2024"},
		{"https://a.test/search?s=" + id, "https://a.test/search?s=" + id},
		{"https://a.test/x;a=1/y?session=spring", "https://a.test/x;a=1/y?session=spring"},
		{"https://a.test/x?token=" + id, "https://a.test/x?token=" + id},
		{"https://a.test/x;jsessionid=/y", "https://a.test/x;jsessionid=/y"},
		{"https://a.test/?", "https://a.test/?"},
	} {
		got, ok := page.WithoutSession(tt.raw)
		if got != tt.want || ok != (tt.raw != tt.want) {
			t.Errorf("WithoutSession(%q) = %q, %v, want %q", tt.raw, got, ok, tt.want)
		}
	}
	with, _ := url.Parse("https://a.test/viewtopic.php?t=9&sid=" + id)
	without, _ := url.Parse("https://a.test/viewtopic.php?t=9")
	if page.Normalize(with) != page.Normalize(without) {
		t.Errorf("%s and %s are two pages", page.Normalize(with), page.Normalize(without))
	}
	if !page.HasSecret(with) || page.HasSecret(without) {
		t.Error("a session is no secret, or a page without one is")
	}
}

func FuzzWithoutSession(f *testing.F) {
	f.Add("https://a.test/x;jsessionid=1?sid=0123456789abcdef#f")
	f.Add("?&;#")
	f.Fuzz(func(t *testing.T, raw string) {
		plain, ok := page.WithoutSession(raw)
		if len(plain) > len(raw) || !ok && plain != raw {
			t.Errorf("WithoutSession(%q) = %q, %v", raw, plain, ok)
		}
		if again, ok := page.WithoutSession(plain); ok {
			t.Errorf("%q still has a session: %q", plain, again)
		}
	})
}
