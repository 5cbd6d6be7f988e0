package cache

import (
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/store"
)

func TestExplainSaysWhatJudgeDecides(t *testing.T) {
	pages := shared
	pages.pageLifetime = 24 * time.Hour
	for _, tt := range []struct {
		name   string
		p      *policy
		stored string
		req    string
		want   []string // in this order
	}{
		{
			"fresh", &shared, "Cache-Control: max-age=7200", "",
			[]string{"4.1 no Vary", "4.2.1 lifetime 2h: max-age", "4.2.3 age 1h", "4.2 fresh for 1h", "→ reused"},
		},
		{
			"stale with a tag", &shared, "Cache-Control: max-age=60\nETag: \"a\"", "",
			[]string{
				"4.2 stale for 59m", "4.2.4 served stale when", `4.3.1 can be validated by its entity tag "a"`,
				"→ validated",
			},
		},
		{
			"must-revalidate", &shared, "Cache-Control: max-age=60, must-revalidate", "",
			[]string{"5.2.2.2 must-revalidate", "→ validated"},
		},
		{"no-cache", &shared, "Cache-Control: no-cache\nETag: \"a\"", "", []string{"5.2.2.4 no-cache", "→ validated"}},
		{
			"request says so", &shared, "Cache-Control: max-age=7200", "Cache-Control: no-cache",
			[]string{"5.2.1 the request says no-cache", "→ validated"},
		},
		{
			"other language", &shared, "Cache-Control: max-age=7200\nVary: Accept-Language", "Accept-Language: de",
			[]string{"4.1 Vary: accept-language: the request's value does not select it", "→ not reused"},
		},
		{
			"page of this cache's lifetime", &pages, "Content-Type: text/html", "",
			[]string{"4.2.1 lifetime 24h: this cache's own", "→ reused (override)"},
		},
		{
			"a page for others", &pages, "Content-Type: text/html", "Accept: text/markdown",
			[]string{"4.1 sent to a request not naming text/markdown", "→ not reused"},
		},
		{"nothing stated", &shared, "ETag: \"a\"", "", []string{"4.2.1 lifetime 0s: none is stated", "→ validated"}},
		{
			"stale-while-revalidate", &shared, "Cache-Control: max-age=60, stale-while-revalidate=7200", "",
			[]string{"→ reused though stale, and validated in the background"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var text strings.Builder
			for _, line := range tt.p.explain(get(tt.p, tt.req), []*store.Response{stored(tt.p, tt.stored)},
				true, epoch.Add(time.Hour)) {
				text.WriteString(strings.TrimSpace(line.Section+" "+line.Text) + "\n")
			}
			rest := text.String()
			for _, want := range tt.want {
				i := strings.Index(rest, want)
				if i < 0 {
					t.Fatalf("%q is missing in\n%s", want, text.String())
				}
				rest = rest[i:]
			}
		})
	}
}

func TestExplainOfSeveral(t *testing.T) {
	p := &policy{shared: true}
	q := get(p, "")
	newer, older := stored(p, "Cache-Control: max-age=7200"), stored(p, "Cache-Control: max-age=7200")
	foreign := stored(p, "Cache-Control: max-age=7200")
	foreign.Partition = "x"
	lines := p.explain(q, []*store.Response{newer, older, foreign}, true, epoch.Add(time.Minute))
	var ends []string
	for _, line := range lines {
		if strings.HasPrefix(line.Text, "→") {
			ends = append(ends, line.Text)
		}
	}
	if strings.Join(ends, "|") != "→ reused|→ not reused|→ not reused" {
		t.Errorf("conclusions = %q", ends)
	}
	q.secret = true
	if lines := p.explain(q, []*store.Response{newer}, true, epoch); lines[len(lines)-1].Text != "→ not reused" {
		t.Errorf("with a secret URL: %q", lines)
	}
}

func TestExplainOfANewerResponseInAnotherForm(t *testing.T) {
	p := shared
	const fields = "Cache-Control: max-age=7200\nContent-Type: text/html"
	q := get(&p, "Accept: text/markdown")
	newer, older := stored(&p, fields), answered(&p, q, 200, fields)
	for _, tt := range []struct {
		name string
		body store.Sum
		want string
	}{
		{"other content", store.Sum{1}, "→ not reused; its entity tag may go along with the question to the origin (§4.3.1)|" +
			"→ validated, or fetched again, before reuse"},
		{"the same content", store.Sum{}, "→ reused|→ not reused"},
	} {
		newer.Body = tt.body
		var ends []string
		for _, line := range p.explain(q, []*store.Response{newer, older}, true, epoch.Add(time.Minute)) {
			if strings.HasPrefix(line.Text, "→") {
				ends = append(ends, line.Text)
			}
		}
		if got := strings.Join(ends, "|"); got != tt.want {
			t.Errorf("%s: conclusions = %q, want %q", tt.name, got, tt.want)
		}
	}
}
