package crawl_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/crawl"
)

// A text of a whole site gives its pages, each under its own URL, by one request, in each form that tools write.
func TestATextOfAWholeSiteGivesItsPages(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string // URL, title, markdown
	}{
		{
			"a line below the title, with a page of another site and one in code",
			"# Start\nSource: http://site.test/start\n\nHow to begin.\n\n## Install\n\nGet it.\n\n\n# Use\n\n" +
				"Source: /use\n\nHow to go on.\n\n# Other\nSource: http://bank.test/\n\nSend it here.\n\n" +
				"```md\n# Not\nSource: /not\n```\n",
			[]string{
				"http://site.test/start", "Start", "# Start\n\nHow to begin.\n\n## Install\n\nGet it.\n",
				"http://site.test/use", "Use", "# Use\n\nHow to go on.\n\n# Other\nSource: http://bank.test/\n\nSend it here.\n\n" +
					"```md\n# Not\nSource: /not\n```\n",
			},
		},
		{
			"behind the title, with an introduction and a page in parts",
			"# Site\n\n> All of it.\n\n# A (/docs/a)\n\nOf a.\n\n---\n\n# B (/docs/b)\n\nOf b.\n\n# A (/docs/a)\n\nMore of a.\n",
			[]string{
				"http://site.test/llms-full.txt", "Site", "# Site\n\n> All of it.\n",
				"http://site.test/docs/a", "A", "# A\n\nOf a.\n\nMore of a.\n",
				"http://site.test/docs/b", "B", "# B\n\nOf b.\n",
			},
		},
		{
			"front matter, which the first page has, too",
			"---\nurl: /guide/a.md\ndescription: x\n---\n\n# A\n\nOf a.\n\n---\n\n" +
				"---\nurl: '/guide/b.md'\n---\n\n# B\n\nOf b.\n",
			[]string{
				"http://site.test/guide/a.md", "A", "# A\n\nOf a.\n",
				"http://site.test/guide/b.md", "B", "# B\n\nOf b.\n",
			},
		},
		{
			"front matter in elements, which says where HTML and markdown are",
			"<page>\n---\ntitle: A\nsource_url:\n  html: http://site.test/a/\n  md: http://site.test/a/index.md\n---\n\n" +
				"Of a, [b](/b/).\n\n</page>\n\n<page>\n---\ntitle: B\nsource_url:\n  html: http://site.test/b/\n---\n\n" +
				"# B\n\nOf b.\n\n</page>\n",
			[]string{
				"http://site.test/a/", "A", "# A\n\nOf a, [b](/b/).\n",
				"http://site.test/b/", "B", "# B\n\nOf b.\n",
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, pages{"/llms-full.txt": tt.text, "/start": html("Start")})
			var got []string
			report, err := r.Crawl(t.Context(), crawl.Options{URL: "http://site.test/llms-full.txt", Whole: true},
				func(e crawl.Event) error {
					line(t, e)
					got = append(got, e.Page.URL, e.Page.Title, e.Page.Markdown)
					return nil
				})
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
			if n := r.count("site.test/"); n != 2 || report.Pages != len(tt.want)/3 {
				t.Errorf("%d pages by %d requests, want one for robots.txt and one for the text", report.Pages, n)
			}
		})
	}
}

// Patterns, the limit, what is known already and what the site denies count for the pages of a text as for others.
func TestPagesOfATextAreCrawledByTheSameRules(t *testing.T) {
	text := "# A (/a)\n\nOf a.\n\n# B (/b)\n\nOf b.\n\n# C (/c)\n\nOf c.\n\n# D (/d)\n\nOf d.\n\n# E (/e)\n\nOf e.\n"
	r := newRig(t, pages{
		"/robots.txt":    "User-agent: *\nContent-Signal: /c search=no\n",
		"/llms-full.txt": text, "/plain.txt": "# A (/a)\n\nOf a alone.\n", "/other.txt": text,
	})
	known := ""
	o := crawl.Options{URL: "http://site.test/llms-full.txt", Whole: true, Exclude: []string{"/b"}, Limit: 2}
	report, err := r.Crawl(t.Context(), o, func(e crawl.Event) error {
		if e.URL == "http://site.test/a" {
			known = e.Page.Hash
		}
		return nil
	})
	if err != nil || report.Pages != 2 || report.Queued != 1 {
		t.Errorf("%v: %d pages, %d left, want 2 and 1", err, report.Pages, report.Queued)
	}
	o.Limit, o.Known = 10, func(url string) (string, bool) { return known, url == "http://site.test/a" }
	list, _ := must3(t)(r.run(t, o))
	if want := (told{"unchanged /a", "forbidden /c", "new /d", "new /e"}); !cmp.Equal(want, list) {
		t.Errorf("crawl %v, want %v", list, want)
	}
	// One page named is no text of a site, nor is any that others did not ask to be taken apart.
	for _, o := range []crawl.Options{
		{URL: "http://site.test/plain.txt", Whole: true}, {URL: "http://site.test/other.txt"},
	} {
		list, _ = must3(t)(r.run(t, o))
		if !strings.HasSuffix(strings.Join(list[:1], ""), ".txt") {
			t.Errorf("crawl %v, want the text as one page", list)
		}
	}
}
