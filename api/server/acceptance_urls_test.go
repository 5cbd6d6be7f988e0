package server_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/internal/summary"
	"github.com/readthru/readthru/page"
)

var detectionRows = []acceptance{
	{"B1 one URL", detects("Read https://a.test/x today", "https://a.test/x")},
	{"B1 several, in the text's order", detects("https://b.test/ before https://a.test/x", "https://b.test/",
		"https://a.test/x")},
	{"B1 duplicates once", detects("https://a.test/x and https://a.test/x", "https://a.test/x")},
	{
		"B1 trailing punctuation and comma stripped",
		detects("https://a.test/x, https://a.test/y. (https://a.test/z)! https://a.test/w?", "https://a.test/x",
			"https://a.test/y", "https://a.test/z", "https://a.test/w"),
	},
	{"B1 no URL, nothing", detects("nothing to read here")},
	{"B1 http works", detects("http://a.test/x", "http://a.test/x")},
	{"B1 file:// refused", func(t *testing.T) {
		t.Helper()
		detects("file:///etc/passwd")(t)
		w := newWorld(t, nil)
		if _, err := w.client.Fetch(t.Context(),
			api.FetchRequest{URL: "file:///etc/passwd"}); statusOf(err) != http.StatusBadRequest {
			t.Errorf("a fetch of it: %v, want 400", err)
		}
	}},
	{
		"B3 raw.githubusercontent.com is a GitHub file",
		classifies("https://raw.githubusercontent.com/acme/tool/main/lib/a.go", page.GitHubFile,
			&page.GitHubInfo{Owner: "acme", Repo: "tool", Branch: "main", Path: "lib/a.go"}),
	},
}

var classificationRows = []acceptance{
	{"B2 repository", classifies("https://github.com/acme/tool", page.GitHubRepo,
		&page.GitHubInfo{Owner: "acme", Repo: "tool"})},
	{"B2 repository with trailing slash", classifies("https://github.com/acme/tool/", page.GitHubRepo,
		&page.GitHubInfo{Owner: "acme", Repo: "tool"})},
	{"B2 repository with .git", classifies("https://github.com/acme/tool.git", page.GitHubRepo,
		&page.GitHubInfo{Owner: "acme", Repo: "tool"})},
	{"B2 file", classifies("https://github.com/acme/tool/blob/main/lib/a.go", page.GitHubFile,
		&page.GitHubInfo{Owner: "acme", Repo: "tool", Branch: "main", Path: "lib/a.go"})},
	{"B2 issue", classifies("https://github.com/acme/tool/issues/42", page.GitHubIssue,
		&page.GitHubInfo{Owner: "acme", Repo: "tool", IssueNumber: 42})},
	{"B2 pull request", classifies("https://github.com/acme/tool/pull/7", page.GitHubPR,
		&page.GitHubInfo{Owner: "acme", Repo: "tool", PRNumber: 7})},
	{"B36 repository and clone URL", func(t *testing.T) {
		t.Helper()
		g := page.New(parsed(t, "https://github.com/acme/tool/issues/42")).GitHub
		if g.RepoURL != "https://github.com/acme/tool" || g.CloneURL != "https://github.com/acme/tool.git" {
			t.Errorf("%s and %s", g.RepoURL, g.CloneURL)
		}
	}},
	{"B4 documentation by known hosts", func(t *testing.T) {
		t.Helper()
		classifies("https://docs.python.org/3/library/re.html", page.Documentation, nil)(t)
		classifies("https://developer.mozilla.org/en-US/", page.Documentation, nil)(t)
	}},
	{"B4 documentation on readthedocs", classifies("https://tool.readthedocs.io/en/latest/", page.Documentation, nil)},
	{"B4 documentation by path", func(t *testing.T) {
		t.Helper()
		for _, p := range []string{"/docs/x", "/documentation/x", "/api/x", "/reference/x"} {
			classifies("https://a.test"+p, page.Documentation, nil)(t)
		}
	}},
	{"B2 unknown as fallback", classifies("ftp://a.test/x", page.Unknown, nil)},
	{"B2 web for other HTTP(S) URLs", func(t *testing.T) {
		t.Helper()
		classifies("https://a.test/x", page.Web, nil)(t)
		classifies("http://a.test/", page.Web, nil)(t)
	}},
}

var displayRows = []acceptance{
	{"B45 owner/repo", displays("https://github.com/acme/tool", "acme/tool")},
	{"B45 owner/repo/filename", displays("https://github.com/acme/tool/blob/main/lib/a.go", "acme/tool/a.go")},
	{"B45 owner/repo#N", displays("https://github.com/acme/tool/issues/42", "acme/tool#42")},
	{"B45 owner/repo!N", displays("https://github.com/acme/tool/pull/7", "acme/tool!7")},
	{"B45 hostname/path", displays("https://a.test/x/y", "a.test/x/y")},
	{"B45 long ones cut to 40", displays("https://a.test/"+strings.Repeat("long/", 20),
		"a.test/long/long/long/long/long/long/...")},
	{"B45 root URL without slash", displays("https://a.test/", "a.test")},
}

var choiceRows = []acceptance{
	{
		"B21 repository with symbols, ARCHITECTURE",
		chooses(page.Page{
			Record: page.Record{Type: page.GitHubRepo},
			Answer: page.Answer{SymbolMap: "a.go: A"},
		}, "", summary.Architecture),
	},
	{"B21 repository without, BRIEF", chooses(page.Page{Record: page.Record{Type: page.GitHubRepo}}, "", summary.Brief)},
	{"B21 documentation, USAGE", chooses(page.Page{Record: page.Record{Type: page.Documentation}}, "", summary.Usage)},
	{"B21 generic, BRIEF", chooses(page.Page{Record: page.Record{Type: page.Web}}, "", summary.Brief)},
	{"B22 how to, USAGE", chooses(page.Page{Record: page.Record{Type: page.Web}}, "How to install it?", summary.Usage)},
	{"B22 api, API", chooses(page.Page{Record: page.Record{Type: page.Web}}, "the API of it", summary.API)},
	{"B22 architecture, ARCHITECTURE", chooses(page.Page{Record: page.Record{Type: page.Web}}, "its architecture",
		summary.Architecture)},
	{"B22 compare, EVALUATION", chooses(page.Page{Record: page.Record{Type: page.Documentation}}, "compare it",
		summary.Evaluation)},
	{"B22 evaluate, EVALUATION", chooses(page.Page{Record: page.Record{Type: page.Documentation}}, "evaluate it",
		summary.Evaluation)},
}

var contentRows = []acceptance{
	{"B34 header with URL and title", prompts(page.Page{
		Record: page.Record{URL: "https://a.test/x", Title: "T"},
		Answer: page.Answer{Content: "text\n"},
	},
		"URL: https://a.test/x\nTitle: T\n\ntext\n")},
	{"B34 summary before content", prompts(page.Page{
		Record: page.Record{URL: "u"},
		Answer: page.Answer{Summary: "short", Readme: "readme", Content: "text"},
	},
		"URL: u\n\nshort\n")},
	{"B34 readme as fallback", prompts(page.Page{
		Record: page.Record{URL: "u"},
		Answer: page.Answer{Readme: "readme", Content: "readme and files"},
	},
		"URL: u\n\nreadme\n")},
	{"B34 symbol map in a code block", prompts(page.Page{
		Record: page.Record{URL: "u"},
		Answer: page.Answer{Content: "text", SymbolMap: "a.go: A `` B"},
	},
		"URL: u\n\ntext\n\n```\na.go: A `` B\n```\n")},
	{"B34 no symbol map closes its block", prompts(page.Page{
		Record: page.Record{URL: "u"},
		Answer: page.Answer{Content: "text", SymbolMap: "```"},
	},
		"URL: u\n\ntext\n\n````\n```\n````\n")},
	{"B34 cut at 4000 with ellipsis", func(t *testing.T) {
		t.Helper()
		got := api.Prompt(&page.Page{
			Record: page.Record{URL: "u"},
			Answer: page.Answer{Content: strings.Repeat("ö", 4001), SymbolMap: strings.Repeat("ü", 4001)},
		}, 0)
		if want := "URL: u\n\n" + strings.Repeat("ö", 4000) + "...\n\n```\n" + strings.Repeat("ü", 4000) +
			"...\n```\n"; got != want {
			t.Errorf("%d characters", utf8.RuneCountInString(got))
		}
		if got := api.Prompt(&page.Page{
			Record: page.Record{URL: "u"},
			Answer: page.Answer{Content: strings.Repeat("ö", 4000)},
		}, 0); strings.Contains(got, "...") {
			t.Error("an ellipsis where nothing was cut")
		}
	}},
	{"A14 size_bytes counts the bytes of the markdown", func(t *testing.T) {
		w := newWorld(t, nil)
		p := w.got(t, api.FetchRequest{URL: pageURL})
		if p.SizeBytes == 0 || p.SizeBytes != len(p.Content) {
			t.Errorf("size_bytes %d, want %d", p.SizeBytes, len(p.Content))
		}
	}},
	{"B33 serialising keeps all fields", func(t *testing.T) {
		t.Helper()
		whole := filled(t, reflect.TypeFor[page.Page]()).Interface().(page.Page)
		b, err := json.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		var back page.Page
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(whole, back); diff != "" || back.GitHub == nil || back.GitHub.PRNumber == 0 {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}},
}

var extractionRows = []acceptance{
	{"B17 title and metadata", func(t *testing.T) {
		t.Helper()
		w := newWorldOver(t, html("text/html; charset=utf-8",
			`<!doctype html><html lang="en"><head><title>Of quinces</title><meta name="description" content="How to keep quinces.">
			<meta name="author" content="A. Gardener"><meta property="article:published_time" content="2024-05-06T07:08:09Z"></head>`+quinces), nil, nil)
		p := w.got(t, api.FetchRequest{URL: p1})
		if p.Title != "Of quinces" || p.Description != "How to keep quinces." || p.Meta["author"] != "A. Gardener" ||
			!strings.HasPrefix(p.Meta["date"], "2024-05-06") {
			t.Errorf("%q, %q, %v", p.Title, p.Description, p.Meta)
		}
	}},
	{"B18 scripts and styles stripped, whitespace clean", func(t *testing.T) {
		t.Helper()
		w := newWorldOver(t, html("text/html; charset=utf-8",
			`<title>Q</title><style>.x{color:red}</style><script>alert(1)</script>`+strings.ReplaceAll(quinces, " ", "  \t\n ")),
			nil, nil)
		p := w.got(t, api.FetchRequest{URL: p1})
		for _, bad := range []string{"alert", "color", "  ", "\t", "\n\n\n"} {
			if strings.Contains(p.Content, bad) {
				t.Errorf("%q in %q", bad, p.Content)
			}
		}
		if text := convert.Text(p.Content); !strings.Contains(text, "A quince keeps for months") {
			t.Errorf("text: %q", text)
		}
	}},
	{"B16 charset from HTTP fields", func(t *testing.T) {
		t.Helper()
		w := newWorldOver(t, html("text/html; charset=iso-8859-1",
			"<title>Q</title>"+strings.ReplaceAll(quinces, "quince", "Qu\xeette")), nil, nil)
		if p := w.got(t, api.FetchRequest{URL: p1}); !strings.Contains(p.Content, "A Quîtte keeps") {
			t.Errorf("%q", p.Content)
		}
	}},
}

func detects(text string, want ...string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		var got []string
		for _, d := range page.Detect(text) {
			got = append(got, d.URL)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q has %q, want %q", text, got, want)
		}
	}
}

func classifies(raw string, want page.Type, info *page.GitHubInfo) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		p := page.New(parsed(t, raw))
		if p.Type != want {
			t.Errorf("%s is %s, want %s", raw, p.Type, want)
		}
		if info != nil {
			info.RepoURL = "https://github.com/" + info.Owner + "/" + info.Repo
			info.CloneURL = info.RepoURL + ".git"
		}
		if diff := cmp.Diff(info, p.GitHub); diff != "" {
			t.Errorf("%s (-want +got):\n%s", raw, diff)
		}
	}
}

func displays(raw, want string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		if got := page.New(parsed(t, raw)).Display; got != want || utf8.RuneCountInString(got) > 40 {
			t.Errorf("%s is shown as %q, want %q", raw, got, want)
		}
	}
}

func chooses(p page.Page, hint string, want summary.Kind) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		if got := summary.Choose(&p, hint); got != want {
			t.Errorf("hint %q: %s, want %s", hint, got, want)
		}
	}
}

func prompts(p page.Page, want string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		if diff := cmp.Diff(want, api.Prompt(&p, 0)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
