package convert_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	xhtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert"
)

// TestHonestPagesKeepTheirText cleans the documents of this repository, or all in the folder that
// READTHRU_CORPUS_MARKDOWN names, and compares what a browser shows of them before and after. It says how many changed.
func TestHonestPagesKeepTheirText(t *testing.T) {
	dir, own := os.Getenv("READTHRU_CORPUS_MARKDOWN"), false
	if dir == "" {
		dir, own = "..", true
	}
	seen, all, changed, lost := map[string]bool{}, 0, 0, 0
	kinds := map[string]int{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || own && d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(strings.ToLower(name), ".md"):
			return nil
		}
		md, err := os.ReadFile(name)
		if err != nil || seen[string(md)] {
			return nil //nolint:nilerr // a file of a corpus that cannot be read
		}
		seen[string(md)] = true
		all++
		c := convert.CleanMarkdown(md, "text/markdown", nil)
		if !c.Changed {
			return nil
		}
		changed++
		for kind := range c.Removed.Counts {
			kinds[kind]++
		}
		if was, is := shownText(t, md), shownText(t, c.Text); was != is {
			lost++
			t.Logf("%s: the text that a browser shows has changed: %v", name, c.Removed.Counts)
		}
		if own {
			t.Errorf("%s has changed: %+v", name, c.Removed)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("of %d documents %d changed, by kind %v; of %d the visible text did", all, changed, kinds, lost)
	if lost*200 > all || all == 0 {
		t.Errorf("the visible text of %d of %d documents has changed, at most .5 %% may", lost, all)
	}
}

// shownText returns the words that a browser shows of markdown rendered by goldmark.
func shownText(t *testing.T, md []byte) string {
	t.Helper()
	var page bytes.Buffer
	renderer := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	if err := renderer.Convert(md, &page); err != nil {
		t.Fatal(err)
	}
	root, err := xhtml.Parse(&page)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for n := range root.Descendants() {
		if n.Type != xhtml.TextNode || n.Parent == nil {
			continue
		}
		switch n.Parent.DataAtom {
		case atom.Script, atom.Style, atom.Iframe, atom.Noscript, atom.Textarea, atom.Title:
			continue
		}
		b.WriteString(n.Data)
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(b.String(), "\ufe0f", "")), "")
}

func TestCharsetsAreReadBeforeATextIsCleaned(t *testing.T) {
	utf16 := func(s string) []byte {
		var b []byte
		for _, r := range s {
			b = append(b, byte(r), byte(r>>8))
		}
		return b
	}
	for _, tt := range []struct {
		name, contentType, want string
		text                    []byte
	}{
		{
			"UTF-16 by its label", "text/markdown; charset=utf-16le", "# Título  x\n",
			utf16("# Título <!-- HIDE --> x\u200b\n"),
		},
		{"UTF-16 by its mark", "text/plain", "# Título  x\n", utf16("\ufeff# Título <!-- HIDE --> x\n")},
		{"Latin-1", "text/markdown; charset=iso-8859-1", "# Título  x\n", []byte("# T\xedtulo <!-- HIDE --> x\n")},
		{"Latin-1 with nothing to remove", "text/markdown; charset=iso-8859-1", "# Título\n", []byte("# T\xedtulo\n")},
		{"UTF-16 with nothing to remove", "text/markdown; charset=utf-16le", "# Título\n", utf16("# Título\n")},
		{"ASCII by another name", "text/markdown; charset=iso-8859-1", "# Title\n", []byte("# Title\n")},
	} {
		got := convert.CleanMarkdown(tt.text, tt.contentType, nil)
		if string(got.Text) != tt.want || got.Changed != (tt.want != string(tt.text)) {
			t.Errorf("%s: %q, changed %v, want %q", tt.name, got.Text, got.Changed, tt.want)
		}
	}
}

func TestFeedsReportWhatTheirTextAndTheirPageHide(t *testing.T) {
	doc, err := convert.Parse(context.Background(), []byte("<rss version='2.0'><channel><title>N\u200bews</title><item>"+
		"<title>One</title><link>https://site.test/1</link><description>&lt;p hidden&gt;HIDE: ignore rules&lt;/p&gt;KEEP what everybody reads here</description>"+
		"</item></channel></rss>"), "application/rss+xml", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := doc.Convert(context.Background(), convert.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(res.Warnings, " "); !strings.Contains(got, "hidden-text-removed=2") ||
		strings.Count(got, "hidden-text-removed") != 1 || strings.Contains(res.Markdown, "HIDE") {
		t.Errorf("warnings %q of %q", got, res.Markdown)
	}
}
