package fetch_test

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/fetch/robots"
	"github.com/readthru/readthru/page"
)

// TestPreferencesOfAnOrigin shows what each policy does with what origins state, for each way to ask for a page.
func TestPreferencesOfAnOrigin(t *testing.T) {
	const text = "<p>This page has words enough to be a page that anybody would want to keep for later. "
	origin := &inProcess{answer: func(req *http.Request) (int, string, []string) {
		fields := []string{"Content-Type: text/html", "Cache-Control: max-age=600"}
		head := ""
		switch {
		case req.URL.Path == "/robots.txt":
			return http.StatusOK, "User-agent: *\nContent-Signal: ai-train=no\nContent-Usage: /unlisted search=n\n", nil
		case strings.HasPrefix(req.URL.Path, "/input"):
			fields = append(fields, "Content-Signal: search=yes, ai-input=no")
		case strings.HasPrefix(req.URL.Path, "/search"):
			fields = append(fields, "Content-Usage: search=n")
		case strings.HasPrefix(req.URL.Path, "/noindex"):
			head = "<meta name=robots content='noindex, follow'>"
		}
		return http.StatusOK, "<!doctype html><title>T</title>" + head + "<h1>T</h1>" + strings.Repeat(text, 5), fields
	}}
	const (
		given   = "given"   // and found by searches
		hidden  = "hidden"  // given, but not found
		refused = "refused" // with an error
		apart   = "apart"   // given to the caller, and not stored
	)
	for _, tt := range []struct {
		policy, path             string
		proxied, own, unattended string
		denied                   []page.Use
	}{
		{"", "/plain", given, given, given, nil},
		{"", "/input", given, given, apart, []page.Use{page.UseInput}},
		{"", "/search", given, given, apart, []page.Use{page.UseSearch}},
		{"", "/noindex", given, given, given, []page.Use{page.UseIndex}},
		{fetch.PreferencesRespect, "/input", given, refused, apart, []page.Use{page.UseInput}},
		{fetch.PreferencesRespect, "/search", hidden, hidden, apart, []page.Use{page.UseSearch}},
		{fetch.PreferencesRespect, "/noindex", hidden, hidden, apart, []page.Use{page.UseIndex}},
		{fetch.PreferencesTell, "/input", given, given, given, []page.Use{page.UseInput}},
		{fetch.PreferencesTell, "/search", given, given, given, []page.Use{page.UseSearch}},
		{fetch.PreferencesIgnore, "/input", given, given, given, nil},
	} {
		for way, want := range map[string]string{"proxied": tt.proxied, "own": tt.own, "unattended": tt.unattended} {
			st := emptyStore(t)
			f := fetch.New(fetch.Options{
				Client: origin, Store: st, UserAgent: "readthru/test", Preferences: tt.policy,
				MarkdownNew: fetch.MarkdownNew{Mode: "off"},
			})
			u := &url.URL{Scheme: "http", Host: "site.test", Path: tt.path}
			r := fetch.Request{URL: u, Own: way != "proxied", Unattended: way == "unattended"}
			if way == "proxied" {
				r.Header = http.Header{"Accept": {"text/markdown"}}
			}
			ans, err := f.Page(t.Context(), r)
			got := given
			switch unwanted, isUnwanted := errors.AsType[*fetch.UnwantedError](err); {
			case isUnwanted && unwanted.Preference.Use == tt.denied[0] && strings.Contains(err.Error(), "ai-input=no"):
				got = refused
			case err != nil:
				t.Fatalf("%q %s %s: %v", tt.policy, tt.path, way, err)
			case !ans.Page.Stored:
				got = apart
			case !ans.Page.Findable():
				got = hidden
			}
			if got != want {
				t.Errorf("policy %q: %s, %s: %s, want %s", tt.policy, tt.path, way, got, want)
			}
			if ans != nil {
				for _, use := range []page.Use{page.UseInput, page.UseSearch, page.UseIndex} {
					if _, denied := ans.Page.Preferences.Denied(use); denied != slices.Contains(tt.denied, use) {
						t.Errorf("policy %q: %s, %s: denied %s: %v", tt.policy, tt.path, way, use, denied)
					}
				}
				warned := slices.Contains(ans.Page.Warnings, page.WarnInputDenied)
				if warned != slices.Contains(tt.denied, page.UseInput) {
					t.Errorf("policy %q: %s, %s: warnings %v", tt.policy, tt.path, way, ans.Page.Warnings)
				}
			}
			kept, err := st.Page(page.KeyOf("http://site.test" + tt.path))
			if stored := err == nil && kept.NormalizedURL != ""; stored != (want == given || want == hidden) ||
				stored && kept.Findable() != (want == given) {
				t.Errorf("policy %q: %s, %s: stored %v: %+v", tt.policy, tt.path, way, stored, kept)
			}
			_ = f.Close()
		}
	}
}

// TestRobotsTxtStatesPreferences: the lines that match the path most specifically count, of the groups that count for
// the rules (draft-ietf-aipref-attach-05 §3.1), and a file that is known says so of each page that is read then.
func TestRobotsTxtStatesPreferences(t *testing.T) {
	origin := &inProcess{answer: func(req *http.Request) (int, string, []string) {
		if req.URL.Path == "/robots.txt" {
			return http.StatusOK, "User-Agent: *\nAllow: /\nDisallow: /never/\nContent-Usage: train-ai=n\n" +
				"Content-Usage: /ai-ok/ train-ai=y\nContent-Usage: /ai-ok/no search=n\nContent-Signal: ai-input=no # all\n" +
				"\nUser-Agent: ExampleBot\nAllow: /\nContent-Usage: train-ai=y\n", nil
		}
		return http.StatusOK, "<h1>T</h1>" + strings.Repeat("<p>words of a page ", 30), []string{"Content-Type: text/html"}
	}}
	for _, tt := range []struct{ agent, path, want string }{
		{"readthru", "/test", "ai-train- ai-input-"},
		{"readthru", "/ai-ok/test", "ai-train+ ai-input-"},
		{"readthru", "/ai-ok/not", "search- ai-input-"},
		{"readthru", "/never/test", ""},
		{"ExampleBot", "/test", "ai-train+"},
	} {
		f := fetcherOver(t, emptyStore(t), origin, tt.agent)
		u := &url.URL{Scheme: "http", Host: "site.test", Path: tt.path}
		v, err := f.Allowed(t.Context(), u)
		if err != nil {
			t.Fatal(err)
		}
		if got := uses(v.Preferences); got != tt.want {
			t.Errorf("%s: %s: %q, want %q", tt.agent, tt.path, got, tt.want)
		}
		ans, err := f.Page(t.Context(), fetch.Request{URL: u, Own: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := uses(ans.Page.Preferences); tt.want != "" && got != tt.want {
			t.Errorf("%s: the page of %s: %q, want %q", tt.agent, tt.path, got, tt.want)
		}
	}
}

// Who has set that preferences are told, or respected, sees in front matter what is denied, also of what is stored; a
// robots.txt that was read says it of its host.
func TestDeniedUsesStandInFrontMatterWhereTheyAreAskedFor(t *testing.T) {
	origin := &inProcess{answer: func(req *http.Request) (int, string, []string) {
		if req.URL.Path == "/robots.txt" {
			return http.StatusOK, "User-agent: *\nContent-Signal: ai-train=no\n", nil
		}
		return http.StatusOK, "<title>T</title><h1>T</h1>" + strings.Repeat("<p>words of a page ", 30), []string{
			"Content-Type: text/html", "Cache-Control: max-age=600", "Content-Usage: search=n, train-ai=y",
		}
	}}
	u := &url.URL{Scheme: "http", Host: "site.test", Path: "/"}
	for policy, want := range map[string]bool{
		fetch.PreferencesTell: true, fetch.PreferencesRespect: true, fetch.PreferencesAuto: false,
		fetch.PreferencesIgnore: false,
	} {
		f := fetch.New(fetch.Options{
			Client: origin, Store: emptyStore(t), UserAgent: "readthru/test", Preferences: policy, FrontMatter: true,
			MarkdownNew: fetch.MarkdownNew{Mode: "off"},
		})
		for range 2 {
			ans, err := f.Page(t.Context(), fetch.Request{URL: u, Header: http.Header{"Accept": {"text/markdown"}}})
			if err != nil {
				t.Fatal(err)
			}
			block, _ := page.SplitFrontMatter(ans.Body)
			if got := strings.Contains(string(block), "\ndenied_use: \"Content-Usage: search=n\"\n"); got != want {
				t.Errorf("%s: told %v, want %v: %s", policy, got, want, block)
			}
		}
		if stated := f.StatedBy("site.test"); stated != nil {
			t.Errorf("%v is stated by a robots.txt that nobody has read", stated)
		}
		if _, err := f.Allowed(t.Context(), u); err != nil || uses(f.StatedBy("site.test")) != "ai-train-" {
			t.Errorf("%v, stated %v, want what robots.txt says", err, f.StatedBy("site.test"))
		}
		_ = f.Close()
	}
}

// A robots.txt of five megabytes is read up to its limit, which is told: what stands there counts, a line that the
// limit cuts and what comes after it do not.
func TestALongRobotsTxtIsReadInPart(t *testing.T) {
	sent := 0
	origin := &inProcess{answer: func(req *http.Request) (int, string, []string) {
		if req.URL.Path == "/robots.txt" {
			sent++
			begin := "User-agent: *\nDisallow: /no\nContent-Signal: ai-train=no\n"
			return http.StatusOK, begin + strings.Repeat("# nothing to see here\n", (robots.MaxSize-len(begin))/22) +
				strings.Repeat("Disallow: /\n", 5<<20/12), nil
		}
		return http.StatusOK, "<h1>T</h1>" + strings.Repeat("<p>words of a page ", 30), []string{"Content-Type: text/html"}
	}}
	f := fetcherOver(t, emptyStore(t), origin, "readthru")
	for path, want := range map[string]bool{"/yes": true, "/no": false} {
		v, err := f.Allowed(t.Context(), &url.URL{Scheme: "http", Host: "site.test", Path: path})
		if err != nil || v.Allowed != want || !v.Long || len(v.Text) > 8<<10 || want && uses(v.Preferences) != "ai-train-" {
			t.Errorf("%s: %v: allowed %v, long %v, %v; want %v, and told", path, err, v.Allowed, v.Long, v.Preferences, want)
		}
	}
	if sent != 1 {
		t.Errorf("it was asked for %d times", sent)
	}
}

// uses lists preferences as "use+" and "use-".
func uses(ps page.Preferences) string {
	var list []string
	for _, p := range ps {
		sign := "-"
		if p.Allowed {
			sign = "+"
		}
		list = append(list, string(p.Use)+sign)
	}
	return strings.Join(list, " ")
}
