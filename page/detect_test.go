package page_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/page"
)

func TestDetect(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"B1 basic", "see https://a.test/x for more", []string{"https://a.test/x"}},
		{
			"B1 several, in order of appearance", "https://b.test/ then http://a.test/ then https://c.test",
			[]string{"https://b.test/", "http://a.test/", "https://c.test"},
		},
		{
			"B1 once per text", "https://a.test/x https://b.test https://a.test/x",
			[]string{"https://a.test/x", "https://b.test"},
		},
		{
			"B1 spellings of one page once", "https://A.test https://a.test/ https://a.test:443/?utm_source=x",
			[]string{"https://A.test"},
		},
		{
			"sections of a page are apart", "https://a.test/#one https://a.test/#two https://a.test/#one",
			[]string{"https://a.test/#one", "https://a.test/#two"},
		},
		{"B1 none", "no address here, nor www.a.test", nil},
		{"B1 empty", "", nil},
		{
			"B1 file: and javascript: do not count", "file:///etc/passwd javascript:alert(1) ftp://a.test/ data:text/html,x",
			nil,
		},
		{"scheme in any case", "HTTPS://A.test/X", []string{"HTTPS://A.test/X"}},
		{
			"trailing punctuation",
			"https://a.test/a. https://a.test/b, https://a.test/c; https://a.test/d: https://a.test/e! https://a.test/f?",
			[]string{
				"https://a.test/a", "https://a.test/b", "https://a.test/c", "https://a.test/d", "https://a.test/e",
				"https://a.test/f",
			},
		},
		{
			"trailing marks of emphasis", "**https://a.test/a** _https://a.test/b_ 'https://a.test/c' \"https://a.test/d\".",
			[]string{
				"https://a.test/a", "https://a.test/b", "https://a.test/c", "https://a.test/d",
			},
		},
		{
			"punctuation inside stays", "https://a.test/v1.2/a,b;c:d!e?f=g*h_i'j",
			[]string{"https://a.test/v1.2/a,b;c:d!e?f=g*h_i'j"},
		},
		{"brackets", "(https://a.test/a) [https://a.test/b] {https://a.test/c} <https://a.test/d>", []string{
			"https://a.test/a", "https://a.test/b", "https://a.test/c", "https://a.test/d",
		}},
		{
			"a pair of parentheses stays", "https://en.wikipedia.org/wiki/Go_(programming_language).",
			[]string{"https://en.wikipedia.org/wiki/Go_(programming_language)"},
		},
		{"a pair within parentheses", "(see https://a.test/x_(y))", []string{"https://a.test/x_(y)"}},
		{"nested pairs", "https://a.test/x_((y)_z)!", []string{"https://a.test/x_((y)_z)"}},
		{"a parenthesis that is not closed ends it", "https://a.test/x(y and z)", []string{"https://a.test/x"}},
		{
			"one URL after what is not closed", "https://a.test/(https://b.test/x",
			[]string{"https://a.test/", "https://b.test/x"},
		},
		{
			"markdown links", "[a](https://a.test/x) ![b](https://b.test/y.png \"title\") <https://c.test>",
			[]string{"https://a.test/x", "https://b.test/y.png", "https://c.test"},
		},
		{"markdown link with parentheses", "[a](https://a.test/x_(y))", []string{"https://a.test/x_(y)"}},
		{"markdown link whose text is a URL", "[https://a.test/x](https://a.test/x)", []string{"https://a.test/x"}},
		{
			"reference definition", "[1]: https://a.test/x\n[2]: <https://b.test/y>",
			[]string{"https://a.test/x", "https://b.test/y"},
		},
		{"table cells", "|https://a.test/x|https://b.test/y|", []string{"https://a.test/x", "https://b.test/y"}},
		{"code span", "`https://a.test/x`", []string{"https://a.test/x"}},
		{"HTML", `<a href="https://a.test/x">y</a><a href='https://b.test'>`, []string{"https://a.test/x", "https://b.test"}},
		{"a list in code", `['https://a.test/x','https://b.test/y']`, []string{"https://a.test/x", "https://b.test/y"}},
		{
			"an apostrophe in a word stays", "https://en.wikipedia.org/wiki/Rubik's_Cube",
			[]string{"https://en.wikipedia.org/wiki/Rubik's_Cube"},
		},
		{"typographic quotes", "“https://a.test/x” «https://b.test/y»", []string{"https://a.test/x", "https://b.test/y"}},
		{
			"East Asian punctuation", "见https://a.test/x，然后（https://b.test/y）。",
			[]string{"https://a.test/x", "https://b.test/y"},
		},
		{
			"letters beyond ASCII stay", "https://de.wikipedia.org/wiki/Käse und",
			[]string{"https://de.wikipedia.org/wiki/Käse"},
		},
		{
			"invisible characters end it", "https://a.test/x\u200bhttps://b.test/y\u202e https://c.test\x00/z",
			[]string{"https://a.test/x", "https://b.test/y", "https://c.test"},
		},
		{
			"escaped newlines of JSON", `{"text":"https://a.test/x\nhttps://b.test/y"}`,
			[]string{"https://a.test/x", "https://b.test/y"},
		},
		{
			"a URL in a URL is one", "https://web.archive.org/web/2020/https://a.test/x",
			[]string{"https://web.archive.org/web/2020/https://a.test/x"},
		},
		{
			"a scheme before it", "git+https://github.com/a/b.git view-source:https://a.test",
			[]string{"https://github.com/a/b.git", "https://a.test"},
		},
		{
			"user info is refused", "https://me:secret@a.test/x https://github.com@evil.test/a/b https://a.test/@b",
			[]string{"https://a.test/@b"},
		},
		{"no host", "http:// https://. https://../x https:///path https://?q", nil},
		{
			"what cannot be parsed", "https://a.test/%zz https://a.test:port/ https://[::1 https://a.test/ok",
			[]string{"https://a.test/ok"},
		},
		{"over 8,000 bytes", "https://a.test/" + strings.Repeat("x", 8000) + " https://b.test", []string{"https://b.test"}},
		{
			"bytes that are no text", "\xff'\xffhttps://a.test/x\xffy 'https://b.test'",
			[]string{"https://a.test/x", "https://b.test"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, d := range page.Detect(tt.text) {
				got = append(got, d.URL)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Detect(%q) (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

func TestDetectSaysWhatEachIs(t *testing.T) {
	got := page.Detect("Compare https://github.com/golang/go, https://docs.python.org/3/ and https://a.test/.")
	want := []page.Detected{
		{"https://github.com/golang/go", page.GitHubRepo, "golang/go"},
		{"https://docs.python.org/3/", page.Documentation, "docs.python.org/3"},
		{"https://a.test/", page.Web, "a.test"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Detect (-want +got):\n%s", diff)
	}
}

func TestHostsThatLookAlikeAreTold(t *testing.T) {
	for _, tt := range []struct {
		url     string
		kind    page.Type
		display string
	}{
		{"https://gіthub.com/golang/go", page.Web, "xn--gthub-n2e.com/golang/go"}, // a Cyrillic і
		{"https://ｇｉｔｈｕｂ.com/golang/go", page.GitHubRepo, "golang/go"},            // what a connection makes of it
		{"https://github.com./golang/go", page.GitHubRepo, "golang/go"},
		{"https://github.com:8443/golang/go", page.Web, "github.com:8443/golang/go"},
		{"https://github.com@evil.test/golang/go", page.Web, "evil.test/golang/go"},
		{"https://github.com.evil.test/golang/go", page.Web, "github.com.evil.test/golang/go"},
		{"https://münchen.de/", page.Web, "xn--mnchen-3ya.de"},
	} {
		u := mustParse(t, tt.url)
		if got := page.Classify(u); got != tt.kind {
			t.Errorf("Classify(%s) = %s, want %s", tt.url, got, tt.kind)
		}
		if got := page.Display(u); got != tt.display {
			t.Errorf("Display(%s) = %q, want %q", tt.url, got, tt.display)
		}
	}
}

// Each would take minutes where time grows with the square.
func TestDetectTakesTimeLinearInTheText(t *testing.T) {
	var many strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&many, "see https://host%d.test/path/%d, ", i, i)
	}
	if got := len(page.Detect(many.String())); got != 10_000 {
		t.Errorf("%d URLs, want 10,000", got)
	}
	for name, piece := range map[string]string{
		"never closed": "https://a.test/(", "closed at the end": "https://a(", "schemes": "https://",
		"one long URL": "https://a.test/x", "apostrophes": "'a",
	} {
		text := strings.Repeat(piece, 1<<20/len(piece))
		if name == "closed at the end" {
			text += strings.Repeat(")", len(text)/len(piece))
		}
		if got := page.Detect(text); len(got) > 1 {
			t.Errorf("%s: %d URLs, want at most 1", name, len(got))
		}
	}
}

func FuzzDetectedURLsStandInTheText(f *testing.F) {
	f.Add("see (https://a.test/x_(y)), `http://b.test`")
	f.Add("https://github.com/a/b.git’s [x](https://a.test)")
	f.Add("https://(https://a\xff'b'https://[::1]/")
	f.Fuzz(func(t *testing.T, text string) {
		at := 0
		for _, d := range page.Detect(text) {
			i := strings.Index(text[at:], d.URL)
			if i < 0 {
				t.Fatalf("%q of Detect(%q) is not in the text after byte %d", d.URL, text, at)
			}
			at += i
			u, err := url.Parse(d.URL)
			if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
				t.Fatalf("%q of Detect(%q) is no URL to fetch", d.URL, text)
			}
			if d.Type != page.Classify(u) || utf8.RuneCountInString(d.Display) > 40 || d.Display == "" {
				t.Fatalf("%+v of Detect(%q)", d, text)
			}
			if again := page.Detect(d.URL); len(again) != 1 || again[0] != d {
				t.Fatalf("Detect(%q) = %v, want the URL itself", d.URL, again)
			}
		}
	})
}

func BenchmarkDetect(b *testing.B) {
	text := strings.Repeat("Some words about a library (see https://a.test/docs/x_(y)) and a little more of them, with a comma. ", 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		page.Detect(text)
	}
}
