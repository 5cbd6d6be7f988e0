package page_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml"

	"github.com/readthru/readthru/page"
)

func TestFrontMatterHoldsWhatIsKnown(t *testing.T) {
	p := &page.Page{Record: page.Record{
		URL: "https://a.test/", FinalURL: "https://a.test/final", Title: `Go: "the" #1 language`, Description: "- not a list",
		Meta:      page.Meta{"author": "Ann", "date": "2024-01-02", "lang": "no"},
		FetchedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}}
	want := "---\ntitle: \"Go: \\\"the\\\" #1 language\"\nurl: https://a.test/final\ndescription: \"- not a list\"\nauthor: Ann\ndate: \"2024-01-02\"\nlang: \"no\"\nfetched_at: 2026-01-02T03:04:05Z\n---\n\n"
	if got := p.FrontMatter(); got != want {
		t.Errorf("FrontMatter:\n%s\nwant:\n%s", got, want)
	}
	bare := &page.Page{Record: page.Record{URL: "https://a.test/"}}
	if got := bare.FrontMatter(); got != "---\nurl: https://a.test/\n---\n\n" {
		t.Errorf("FrontMatter of a bare page: %q", got)
	}
}

func TestBlankFieldsAreLeftOut(t *testing.T) {
	p := &page.Page{Record: page.Record{
		URL: "https://a.test/", Title: " \n\t ", Description: "\x00\x01",
		Meta: page.Meta{"author": "\u00a0"},
	}}
	if got := p.FrontMatter(); got != "---\nurl: https://a.test/\n---\n\n" {
		t.Errorf("FrontMatter = %q", got)
	}
}

func TestSplitFrontMatter(t *testing.T) {
	for _, tt := range []struct{ name, md, block, body string }{
		{"block and body", "---\na: b\n---\n\nText\n", "---\na: b\n---\n", "Text\n"},
		{"dots end it too", "---\na: b\n...\nText", "---\na: b\n...\n", "Text"},
		{"CRLF", "---\r\na: b\r\n---\r\n\r\nText", "---\r\na: b\r\n---\r\n", "Text"},
		{"none", "# Title\n", "", "# Title\n"},
		{"a rule is no block", "---\n\nText", "", "---\n\nText"},
		{"unended", "---\na: b\n", "", "---\na: b\n"},
		{"not at the top", "x\n---\na: b\n---\n", "", "x\n---\na: b\n---\n"},
		{"nothing after it", "---\na: b\n---", "---\na: b\n---", ""},
		{"empty", "", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			block, body := page.SplitFrontMatter([]byte(tt.md))
			if string(block) != tt.block || string(body) != tt.body {
				t.Errorf("block %q, body %q; want %q, %q", block, body, tt.block, tt.body)
			}
		})
	}
}

func FuzzFrontMatterIsYAMLAndSplitsOff(f *testing.F) {
	for _, s := range []string{
		"", " ", "a: b", "---", "- x", "'", `"`, `\`, "#", "yes", "1.5", "0x10", "~", "a\nb",
		"\x00", "\xff", "é\u2028x", "{", "a #b", "x:", ": x", "?", "<<", "=", ".inf", "!!str", "&a", "*a", "%", "@", "`",
		"1:20", "2024-01-02", "\ufeff", "\t", "… x", "\u0085",
	} {
		f.Add(s, "en")
		f.Add("x", s)
	}
	f.Fuzz(func(t *testing.T, title, lang string) {
		p := &page.Page{Record: page.Record{URL: "https://a.test/", Title: title, Meta: page.Meta{"lang": lang}}}
		block := p.FrontMatter()
		got, body := page.SplitFrontMatter([]byte(block + "Body\n"))
		if string(body) != "Body\n" || string(got) != strings.TrimSuffix(block, "\n") {
			t.Fatalf("%q splits into %q and %q", block, got, body)
		}
		var fields map[string]any
		inner := strings.TrimSuffix(strings.TrimPrefix(string(got), "---\n"), "---\n")
		if err := yaml.Unmarshal([]byte(inner), &fields); err != nil {
			t.Fatalf("not YAML: %q: %v", inner, err)
		}
		if fields["url"] != "https://a.test/" {
			t.Fatalf("url is %v in %q", fields["url"], inner)
		}
		for name, value := range map[string]string{"title": title, "lang": lang} {
			if !utf8.ValidString(value) || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r >= 0x7f }) {
				continue // what of it is kept is told by the tables
			}
			want := strings.Join(strings.Fields(value), " ")
			if got, there := fields[name]; there != (want != "") || there && got != want {
				t.Fatalf("%s %q came back as %#v from %q", name, value, got, inner)
			}
		}
	})
}

func TestExcerptIsTextOfTheFirstParagraphs(t *testing.T) {
	md := "---\ntitle: x\n---\n\n# Heading\n\nFirst **paragraph**\nof two lines.\n\n| a | b |\n\n> Quoted\n"
	if got := page.Excerpt([]byte(md), 300); !strings.HasPrefix(got, "First") || strings.Contains(got, "|") ||
		strings.Contains(got, "Heading") || strings.Contains(got, "\n") {
		t.Errorf("Excerpt = %q", got)
	}
	long := page.Excerpt([]byte(strings.Repeat("wörter ", 100)), 50)
	if utf8.RuneCountInString(long) != 50 || !strings.HasSuffix(long, "...") {
		t.Errorf("Excerpt = %q", long)
	}
}

func TestExcerptLeavesOutCode(t *testing.T) {
	if got := page.Excerpt([]byte("Before.\n\n```go\nfunc main() {}\n```\n\nAfter.\n"), 300); got != "Before. After." {
		t.Errorf("Excerpt = %q", got)
	}
}
