package preference_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/internal/preference"
	"github.com/readthru/readthru/page"
)

// list returns preferences as "use+ (statement)" and "use- (statement)".
func list(ps page.Preferences) (lines []string) {
	for _, p := range ps {
		sign := "-"
		if p.Allowed {
			sign = "+"
		}
		lines = append(lines, string(p.Use)+sign+" "+p.String())
	}
	return lines
}

func TestPreferencesOfAHeader(t *testing.T) {
	for _, tt := range []struct {
		name   string
		header http.Header
		want   []string
	}{
		{"nothing", nil, nil},
		{
			"Content-Usage (attach-05 §2)",
			http.Header{"Content-Usage": {"train-ai=n, search=y"}},
			[]string{`ai-train- "Content-Usage: train-ai=n" in the response`, `search+ "Content-Usage: search=y" in the response`},
		},
		{
			"two lines are one dictionary",
			http.Header{"Content-Usage": {"train-ai=n", "search=n"}},
			[]string{`ai-train- "Content-Usage: train-ai=n" in the response`, `search- "Content-Usage: search=n" in the response`},
		},
		{
			"the last value of a key counts, also if it is no token (vocab-08 §6.5.1)",
			http.Header{"Content-Usage": {`train-ai=y, train-ai, search=n, search="n"`}},
			nil,
		},
		{
			"parameters are ignored (vocab-08 §6.5.2)",
			http.Header{"Content-Usage": {"train-ai;allow=n, train-ai=y;x=1"}},
			[]string{`ai-train+ "Content-Usage: train-ai=y" in the response`},
		},
		{"a malformed dictionary says nothing", http.Header{"Content-Usage": {"train-ai=n, SEARCH=n"}}, nil},
		{"unknown labels say nothing", http.Header{"Content-Usage": {"bots=n, ai=n"}}, nil},

		{
			"Content-Signal",
			http.Header{"Content-Signal": {"ai-train=no, search=yes, ai-input=no"}},
			[]string{
				`ai-train- "Content-Signal: ai-train=no" in the response`, `search+ "Content-Signal: search=yes" in the response`,
				`ai-input- "Content-Signal: ai-input=no" in the response`,
			},
		},
		{
			"signals in capitals, with spaces, and what is none",
			http.Header{"Content-Signal": {"AI-Train = NO , use=reference, ,search=maybe"}},
			[]string{`ai-train- "Content-Signal: ai-train=no" in the response`},
		},

		{
			"X-Robots-Tag",
			http.Header{"X-Robots-Tag": {"noindex, nofollow", "noai, noimageai"}},
			[]string{
				`index- "X-Robots-Tag: noindex" in the response`, `ai-input- "X-Robots-Tag: noai" in the response`,
				`ai-train- "X-Robots-Tag: noai" in the response`,
			},
		},
		{"a line for another crawler", http.Header{"X-Robots-Tag": {"googlebot: noindex", "otherbot: none"}}, nil},
		{
			"a line for us",
			http.Header{"X-Robots-Tag": {"ReadThru: noarchive, nosnippet"}},
			[]string{`archive- "X-Robots-Tag: noarchive" in the response`, `snippet- "X-Robots-Tag: nosnippet" in the response`},
		},
		{
			"a rule with a value is no crawler",
			http.Header{"X-Robots-Tag": {
				"max-snippet: 20, noindex",
				"unavailable_after: 25 Jun 2010 15:00:00 PST, none",
			}},
			[]string{`index- "X-Robots-Tag: noindex" in the response`, `index- "X-Robots-Tag: none" in the response`},
		},
		{"a line of a megabyte says nothing", http.Header{
			"X-Robots-Tag":  {strings.Repeat("x,", 1<<19) + "noindex"},
			"Content-Usage": {"search=n;x=\"" + strings.Repeat("y", 1<<20) + `"`},
		}, nil},
	} {
		if diff := cmp.Diff(tt.want, list(preference.OfHeader(tt.header, "readthru"))); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.name, diff)
		}
	}
}

func TestPreferencesOfAMetaElement(t *testing.T) {
	for content, want := range map[string][]string{
		"":                             nil,
		"index, follow":                nil,
		"NOINDEX,NoFollow":             {`index- "robots: noindex" in the page`},
		"none":                         {`index- "robots: none" in the page`},
		"max-snippet:-1, noarchive":    {`archive- "robots: noarchive" in the page`},
		"follow noindex without comma": nil,
	} {
		if diff := cmp.Diff(want, list(preference.OfMeta(content))); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", content, diff)
		}
	}
}

func TestPreferencesOfALineOfRobots(t *testing.T) {
	for _, tt := range []struct {
		key, value, pattern string
		want                []string
	}{
		{"content-usage", "train-ai=n", "/", []string{`ai-train- "Content-Usage: train-ai=n" in robots.txt`}},
		{"content-usage", "/ai-ok/ train-ai=y", "/ai-ok/", []string{`ai-train+ "Content-Usage: train-ai=y" in robots.txt`}},
		{"content-usage", "/path-without-statement", "/path-without-statement", nil},
		{"content-signal", "search=yes,ai-train=no", "/", []string{
			`search+ "Content-Signal: search=yes" in robots.txt`,
			`ai-train- "Content-Signal: ai-train=no" in robots.txt`,
		}},
		{"noindex", "/", "/", nil}, // Google's unofficial line, given up in 2019
	} {
		pattern, statement := preference.SplitRobots(tt.value)
		if pattern != tt.pattern {
			t.Errorf("%s: %s: pattern %q, want %q", tt.key, tt.value, pattern, tt.pattern)
		}
		if diff := cmp.Diff(tt.want, list(preference.OfRobots(tt.key, statement))); diff != "" {
			t.Errorf("%s: %s (-want +got)\n%s", tt.key, tt.value, diff)
		}
	}
}

func TestTheMostRestrictivePreferenceApplies(t *testing.T) {
	ps := append(preference.OfRobots("content-signal", "search=yes"),
		preference.OfHeader(http.Header{"Content-Usage": {"search=n"}}, "")...)
	if p, denied := ps.Denied(page.UseSearch); !denied || p.In != page.InHeader {
		t.Errorf("search: %v, denied %v; want the response's statement (vocab-08 §5.1)", p, denied)
	}
	if _, denied := ps.Denied(page.UseInput); denied {
		t.Error("a use that nobody speaks of is denied")
	}
}

// What says nothing because of its form is told, and so is what says both.
func TestMalformedAndContradictingStatementsAreFound(t *testing.T) {
	for _, tt := range []struct {
		usage, signal string
		malformed     []string
	}{
		{"train-ai=n, search=y", "search=yes", nil},
		{"search=maybe, other=1", "search=yes, use=immediate", nil}, // unknown, which is no fault of form
		{`search=y, search;a="x`, "search=allow", []string{`Content-Usage: search=y, search;a="x`}},
		{"Train-AI=n", "yes", []string{"Content-Usage: Train-AI=n", "Content-Signal: yes"}},
		{strings.Repeat("a", 2000), "", []string{"Content-Usage: " + strings.Repeat("a", 2000), "Content-Signal: "}},
	} {
		h := http.Header{"Content-Usage": {tt.usage}, "Content-Signal": {tt.signal}}
		if diff := cmp.Diff(tt.malformed, preference.Malformed(h)); diff != "" {
			t.Errorf("%v (-want +got)\n%s", h, diff)
		}
	}
	text := "User-agent: *\nContent-Usage: train-ai=n\r\n content-usage : /a Train=\"n # x\nContent-Signal: /b yes\n" +
		"# Content-Signal: no\nDisallow: /content-usage: x\nSitemap: http://a.test/\n"
	malformed := []string{`Content-Usage: Train="n`, "Content-Signal: yes"}
	if diff := cmp.Diff(malformed, preference.MalformedRobots(text)); diff != "" {
		t.Errorf("robots.txt (-want +got)\n%s", diff)
	}
	both := append(preference.OfRobots("content-signal", "search=disallow, ai-train=no, ai-input=yes"),
		preference.OfHeader(http.Header{"Content-Signal": {"search=yes, search=allow, ai-input=yes"}}, "")...)
	if got := preference.Contradictions(both); len(got) != 1 || got[0] != page.UseSearch {
		t.Errorf("contradictions %v, want one about search", got)
	}
}

func FuzzHeader(f *testing.F) {
	f.Add("train-ai=n", "search=yes", "noindex")
	f.Fuzz(func(_ *testing.T, usage, signal, robots string) {
		preference.OfHeader(http.Header{"Content-Usage": {usage}, "Content-Signal": {signal}, "X-Robots-Tag": {robots}}, "x")
	})
}

func BenchmarkOfHeader(b *testing.B) {
	h := http.Header{
		"Content-Usage": {"train-ai=n, search=y"}, "Content-Signal": {"search=yes, ai-train=no"},
		"X-Robots-Tag": {"noarchive"},
	}
	for b.Loop() {
		preference.OfHeader(h, "readthru")
	}
}
