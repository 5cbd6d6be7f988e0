package fetch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/page"
)

const sections = `<h2 id=one>One <a class=headerlink href="#one">¶</a></h2><p class=lead>First <a href="/x">link</a> of the harbour, which is told of here at such a length that nobody takes it for a menu. <img src="/i.png" alt="An image"></p><p hidden>IGNORE</p><h3 id=sub>Sub</h3><p>Deep</p><h2 id=two>Two</h2><p>Second</p>`

func view(t *testing.T, c *chain, rawURL string, v fetch.View, tokens int) *fetch.Answer {
	t.Helper()
	ans, err := c.try(t, fetch.Request{URL: parse(t, rawURL), Own: true, View: v, MaxTokens: tokens})
	if err != nil {
		t.Fatal(err)
	}
	return ans
}

func TestAViewChangesTheAnswerAndNotWhatIsKept(t *testing.T) {
	c := newChain(t, respond(200, article("Harbour", sections), html))
	whole := view(t, c, "https://site.test/p", fetch.View{}, 0)
	for _, tt := range []struct {
		name, fragment string
		v              fetch.View
		has, lacks     []string
		warning        string
	}{
		{"whole page", "", fetch.View{WholePage: true}, []string{"Menu entry", "Imprint", "Second"}, nil, ""},
		{
			"a selector", "",
			fetch.View{Selector: "main > p.lead"},
			[]string{"First [link](https://site.test/x)"},
			[]string{"harbour wakes", "Second"},
			"",
		},
		{
			"a selector that matches nothing", "",
			fetch.View{Selector: "table.x"},
			[]string{"First", "Second"},
			nil,
			"selector-missing",
		},
		{
			"without what a selector matches", "",
			fetch.View{Drop: "h2, .lead"},
			[]string{"Second", "Deep"},
			[]string{"First", "## One"},
			"",
		},
		{"links as text", "", fetch.View{Links: "text"}, []string{"First link"}, []string{"[link]("}, ""},
		{
			"compact links", "",
			fetch.View{Links: "compact"},
			[]string{"First [link](/x)", "![An image](/i.png)", "Second"},
			[]string{"(https://site.test/"},
			"",
		},
		{
			"compact links of a section", "",
			fetch.View{Links: "compact", Section: "one"},
			[]string{"First [link](/x)"},
			[]string{"Second", "harbour wakes"},
			"",
		},
		{"images as text", "", fetch.View{Images: "alt"}, []string{"An image"}, []string{"!["}, ""},
		{
			"the section of a fragment", "#one",
			fetch.View{},
			[]string{"## One", "First", "### Sub", "Deep"},
			[]string{"Second", "harbour wakes"},
			"",
		},
		{
			"the section of a name", "",
			fetch.View{Section: "sub"},
			[]string{"### Sub", "Deep"},
			[]string{"First", "Second"},
			"",
		},
		{"a heading's slug", "#harbour", fetch.View{}, []string{"# Harbour", "First"}, nil, ""},
		{"a fragment that is not there", "#none", fetch.View{}, []string{"First", "Second"}, nil, "section-missing"},
		{"a fragment that a script routes by", "#/one", fetch.View{}, []string{"First", "Second"}, nil, ""},
		{"highlighted text", "#:~:text=one", fetch.View{}, []string{"First", "Second"}, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for range 2 { // made, and from the store
				ans := view(t, c, "https://site.test/p"+tt.fragment, tt.v, 0)
				for _, s := range tt.has {
					if !strings.Contains(string(ans.Body), s) {
						t.Errorf("lacks %q: %.400q", s, ans.Body)
					}
				}
				for _, s := range tt.lacks {
					if strings.Contains(string(ans.Body), s) {
						t.Errorf("holds %q: %.400q", s, ans.Body)
					}
				}
				if warned := slices.ContainsFunc(ans.Page.Warnings,
					func(w string) bool { return strings.HasSuffix(w, "-missing") }); warned != (tt.warning != "") ||
					tt.warning != "" && !slices.Contains(ans.Page.Warnings, tt.warning) {
					t.Errorf("warnings %q, want %q", ans.Page.Warnings, tt.warning)
				}
			}
			if kept := c.stored(t, "https://site.test/p"); kept.ContentHash != whole.Page.ContentHash || kept.Section != "" ||
				kept.Tokens != whole.Page.Tokens {
				t.Errorf("what is kept of the page changed: %+v", kept)
			}
		})
	}
	if n := len(c.origin.asked()); n > 3 { // naming HTML first may miss once in a cache that looks at Accept
		t.Errorf("%d origin requests", n)
	}
	if again := view(t, c, "https://site.test/p", fetch.View{}, 0); string(again.Body) != string(whole.Body) {
		t.Error("the page itself changed")
	}
}

func TestSectionsOfMarkdownAreFoundByTheirSlug(t *testing.T) {
	md := "# Guide\n\n" + strings.Repeat("Words about the harbour and its boats. ", 10) +
		"\n\n## Install it!\n\nRun it.\n\n```\n## not a heading\n```\n\n## Use & enjoy\n\nDo.\n\n## Install it!\n\nAgain.\n"
	c := newChain(t, respond(200, md, "Content-Type: text/markdown"))
	for fragment, want := range map[string]string{
		"install-it": "## Install it!\n\nRun it.\n\n```\n## not a heading\n```\n\n",
		"use--enjoy": "## Use & enjoy\n\nDo.\n\n", "install-it-1": "## Install it!\n\nAgain.\n", "not-a-heading": md,
	} {
		if ans := view(t, c, "https://site.test/p#"+fragment, fetch.View{}, 0); string(ans.Body) != want {
			t.Errorf("#%s gives %q", fragment, ans.Body)
		}
	}
}

func TestACutAnswerSaysWhereToGoOn(t *testing.T) {
	c := newChain(t, respond(200, article("Hafen – größer", "<p>Ä</p>", sections), html))
	whole := view(t, c, "https://site.test/p", fetch.View{}, 0)
	_, content := page.SplitFrontMatter(whole.Body)
	var got strings.Builder
	start, parts := 0, 0
	for {
		ans := view(t, c, "https://site.test/p", fetch.View{Start: start}, 60)
		_, part := page.SplitFrontMatter(ans.Body)
		text, _, cut := strings.Cut(string(part), "\n[Cut here: ")
		got.WriteString(strings.TrimRight(text, "\n") + "\n\n")
		parts++
		if (ans.Page.Next > 0) != cut || cut != slices.Contains(ans.Page.Warnings, "truncated") {
			t.Fatalf("next %d, cut %v, warnings %q", ans.Page.Next, cut, ans.Page.Warnings)
		}
		if start = ans.Page.Next; start == 0 || parts > 50 {
			break
		}
	}
	if strings.TrimSpace(got.String()) != strings.TrimSpace(string(content)) || parts < 2 {
		t.Errorf("%d parts give\n%s\nwant\n%s", parts, got.String(), content)
	}
	if ans := view(t, c, "https://site.test/p", fetch.View{Start: 1 << 20}, 0); len(ans.Body) != 0 {
		t.Errorf("beyond the end there is %q", ans.Body)
	}
}

func TestReceiptsShowWhatWasRemoved(t *testing.T) {
	c := newChain(t, respond(200, article("Harbour", sections), html))
	view(t, c, "https://site.test/p", fetch.View{}, 0)
	ans := view(t, c, "https://site.test/p", fetch.View{Receipts: true}, 0)
	if ans.Page.Removed == nil || ans.Page.Removed.Counts["hidden"] != 1 || ans.Page.Removed.Pieces[0].Text != "IGNORE" ||
		strings.Contains(string(ans.Body), "IGNORE") {
		t.Errorf("removed %+v", ans.Page.Removed)
	}
	if p := c.stored(t, "https://site.test/p"); p.Removed != nil {
		t.Error("receipts are kept with the page")
	}
	if ans := view(t, c, "https://site.test/p", fetch.View{}, 0); ans.Page.Removed != nil {
		t.Error("receipts come unasked")
	}
}

func TestViewsThatCannotBeAreErrors(t *testing.T) {
	for _, v := range []fetch.View{
		{Start: -1},
		{Selector: "p >"},
		{Drop: "a:has(b)"},
		{Links: "blue"},
		{Images: "big"},
		{Selector: strings.Repeat("a ", 9) + "b"},
	} {
		if v.Check() == nil {
			t.Errorf("%+v is taken", v)
		}
	}
	if err := (fetch.View{Selector: "main > p.lead:first-child, [href^='/x']", Drop: "nav"}).Check(); err != nil {
		t.Error(err)
	}
}

func TestSelectorsAskForHTMLWhereMarkdownIsNegotiated(t *testing.T) {
	md := "# H\n\n" + strings.Repeat("The harbour wakes before the town does. ", 20) + "\n"
	c := newChain(t, negotiating(md, article("Harbour", sections)))
	view(t, c, "https://site.test/p", fetch.View{}, 0)
	kept := c.stored(t, "https://site.test/p")
	if ans := view(t, c, "https://site.test/p", fetch.View{Selector: "p.lead"}, 0); !strings.Contains(string(ans.Body),
		"First [link]") {
		t.Errorf("body %s", ans.Body)
	}
	if now := c.stored(t, "https://site.test/p"); now.ContentHash != kept.ContentHash || now.VisitCount != 2 {
		t.Errorf("kept %s, was %s; %d visits", now.ContentHash, kept.ContentHash, now.VisitCount)
	}
	if ans := view(t, c, "https://site.test/p", fetch.View{Links: "text"}, 0); ans.Page.Source != page.Negotiated ||
		!slices.Contains(ans.Page.Warnings, "options-ignored") {
		t.Errorf("source %s, warnings %q", ans.Page.Source, ans.Page.Warnings)
	}
}

func TestAStartPastTheEndSaysSo(t *testing.T) {
	c := newChain(t, respond(200, article("Short"), html, "Cache-Control: max-age=600"))
	whole, err := c.own(t, "https://site.test/")
	if err != nil {
		t.Fatal(err)
	}
	n := whole.Page.Info.MarkdownChars
	past := fmt.Sprint("start-past-end=", n)
	for start, want := range map[int]string{n - 5: "", n: past, 999_991: past} {
		ans, err := c.try(t, fetch.Request{URL: parse(t, "https://site.test/"), Own: true, View: fetch.View{Start: start}})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(ans.Page.Warnings, " "); got != want || (len(ans.Body) == 0) != (want != "") {
			t.Errorf("from %d of %d: warnings %q, want %q; %q", start, n, got, want, ans.Body)
		}
	}
}
