package sitecheck_test

import (
	"cmp"
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/fetch/sitecheck"
	"github.com/readthru/readthru/page"
)

// direct asks without a transport of ours, whose rules are not what is tested.
type direct struct{ verdict fetch.Verdict }

func (direct) Ask(req *http.Request, _ int64) (int, http.Header, []byte, error) {
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return 0, nil, nil, err
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, content, err
}

func (d direct) Allowed(context.Context, *url.URL) (fetch.Verdict, error) { return d.verdict, nil }

const (
	text = "The harbour lies in the north of the town, and its cranes move by day and by night when the tide is " +
		"high. "
	markdown = "# Harbour\n\n" + text
)

var html = "<html><head><title>Harbour</title></head><body><main><h1>Harbour</h1>" +
	strings.Repeat("<p>"+text+"</p>", 20) + "</main></body></html>"

// site is an origin with one page, at /page, in the forms that a test asks for.
type site struct {
	negotiates, vary, weights bool
	markdown                  string            // what it negotiates, if not the page
	refuses                   int               // the status for who names markdown
	strict                    bool              // it is that of who accepts nothing else
	named                     string            // the twin that a Link field names
	files                     map[string]string // other paths: media type, line break, content
	fields                    http.Header
	status                    int
	body                      string
}

func (s site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if file, ok := s.files[r.URL.Path]; ok {
		contentType, content, _ := strings.Cut(file, "\n")
		w.Header().Set("Content-Type", contentType)
		io.WriteString(w, content)
		return
	}
	if r.URL.Path != "/page" {
		http.NotFound(w, r)
		return
	}
	maps.Copy(w.Header(), s.fields)
	if tag := w.Header().Get("Etag"); tag != "" && r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if s.vary {
		w.Header().Set("Vary", "Accept")
	}
	if s.named != "" {
		w.Header().Set("Link", "<"+s.named+`>; rel="alternate"; type="text/markdown"`)
	}
	accept := r.Header.Get("Accept")
	wants := strings.Contains(accept, "text/markdown")
	if s.weights && strings.Contains(accept, "markdown;q=0") {
		wants = false
	}
	if s.refuses != 0 && wants && (!s.strict || accept == "text/markdown") {
		w.WriteHeader(s.refuses)
		return
	}
	if s.negotiates && wants {
		w.Header().Set("Content-Type", "text/markdown; charset=utf-8")
		io.WriteString(w, cmp.Or(s.markdown, markdown))
		return
	}
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(max(s.status, 200))
	if s.body != "" {
		io.WriteString(w, s.body)
		return
	}
	io.WriteString(w, html)
}

// Each thing that a site does right or wrong has its finding: negotiation and Vary (RFC 9110 §12.5), twins (RFC 8288),
// llms.txt, what is stated about use, validation (RFC 9110 §13), walls and prices.
func TestWhatAgentsGetOfASite(t *testing.T) {
	md := "text/markdown\n" + markdown
	for _, tt := range []struct {
		name    string
		site    site
		verdict fetch.Verdict
		want    []string // "name state" or "name state: help", which may be a part; the others are not looked at
		wrong   int
	}{
		{
			"all is right",
			site{
				negotiates: true, vary: true, weights: true, named: "/page.md",
				files: map[string]string{
					"/page.md": md, "/llms.txt": "text/plain\n# Site", "/llms-full.txt": "text/plain\n# Site",
				},
				fields: http.Header{"Etag": {`"1"`}, "Content-Signal": {"ai-input=yes, ai-train=no"}},
			},
			fetch.Verdict{Allowed: true},
			[]string{
				"page good", "negotiation good", "Vary good", "weights good", "twin good", "llms.txt good",
				"robots.txt good",
				"preferences good", "validation good",
			},
			0,
		},
		{
			"nothing for agents",
			site{},
			fetch.Verdict{Allowed: true},
			[]string{
				"page good", "negotiation advice", "twin advice", "llms.txt advice", "preferences advice",
				"validation advice",
			},
			0,
		},
		{
			"who names markdown is kept out",
			site{refuses: http.StatusForbidden},
			fetch.Verdict{Allowed: true},
			[]string{"page good", "negotiation wrong"},
			1,
		},
		{
			"who accepts markdown alone is kept out",
			site{refuses: http.StatusForbidden, strict: true},
			fetch.Verdict{Allowed: true},
			[]string{"page good", "negotiation wrong"},
			1,
		},
		{
			"who accepts markdown alone is told that there is none",
			site{refuses: http.StatusNotAcceptable, strict: true},
			fetch.Verdict{Allowed: true},
			[]string{"page good", "negotiation advice"},
			0,
		},
		{
			"who names markdown is told that there is none, whatever else is named",
			site{refuses: http.StatusNotAcceptable},
			fetch.Verdict{Allowed: true},
			[]string{"page good", "negotiation wrong"},
			1,
		},
		{
			"caches mix the forms",
			site{negotiates: true, weights: true},
			fetch.Verdict{Allowed: true},
			[]string{"negotiation good", "Vary wrong", "weights good"},
			1,
		},
		{
			"weights do not count",
			site{negotiates: true, vary: true},
			fetch.Verdict{Allowed: true},
			[]string{"negotiation good", "Vary good", "weights wrong"},
			1,
		},
		{"a twin that is gone", site{named: "/gone.md"}, fetch.Verdict{Allowed: true}, []string{"twin wrong"}, 1},
		{
			"a twin that is HTML",
			site{named: "/page.md", files: map[string]string{"/page.md": "text/html\n" + html}},
			fetch.Verdict{Allowed: true},
			[]string{"twin wrong"},
			1,
		},
		{
			"a twin that is labelled as HTML",
			site{named: "/page.md", files: map[string]string{"/page.md": "text/html\n" + markdown}},
			fetch.Verdict{Allowed: true},
			[]string{"twin wrong: label it as text/markdown"},
			1,
		},
		{
			"a twin that is not named",
			site{files: map[string]string{"/page.md": md}},
			fetch.Verdict{Allowed: true},
			[]string{"twin advice"},
			0,
		},
		{
			"llms.txt is a page",
			site{files: map[string]string{"/llms.txt": "text/html\n" + html}},
			fetch.Verdict{Allowed: true},
			[]string{"llms.txt wrong"},
			1,
		},
		{
			"markdown that is an error page",
			site{negotiates: true, vary: true, weights: true, markdown: "# Page not found\n\nThe page that you are " +
				"looking for is not here, and we do not know where it is. Try the search, or go home.\n"},
			fetch.Verdict{Allowed: true},
			[]string{"negotiation wrong"},
			1,
		},
		{
			"a twin that is HTML, labelled as markdown",
			site{named: "/page.md", files: map[string]string{"/page.md": "text/markdown\n" + html}},
			fetch.Verdict{Allowed: true},
			[]string{"twin wrong"},
			1,
		},
		{"a price in no form that is known", site{status: 402}, fetch.Verdict{Allowed: true}, []string{"page advice"}, 0},
		{
			"robots.txt forbids it",
			site{},
			fetch.Verdict{Reason: "robots.txt disallows it", Preferences: page.Preferences{{
				Use: page.UseTrain, Says: "Content-Usage: train-ai=n", In: page.InRobots,
			}}},
			[]string{"robots.txt advice", "preferences good"},
			0,
		},
		{
			"what is malformed, and what contradicts itself",
			site{fields: http.Header{"Content-Usage": {`train-ai="n`}, "Content-Signal": {"ai-input=yes"}}},
			fetch.Verdict{Allowed: true, Preferences: page.Preferences{{
				Use: page.UseInput, Says: "Content-Signal: ai-input=no", In: page.InRobots,
			}}},
			[]string{"preferences wrong", "preferences wrong", "preferences good"},
			2,
		},
		{
			"a robots.txt that is too long, with a statement in it that is malformed",
			site{},
			fetch.Verdict{Allowed: true, Long: true, Text: "User-agent: *\nContent-Signal: /a no # ai\nDisallow: /b\n"},
			[]string{"robots.txt good", "robots.txt wrong", "preferences wrong"},
			2,
		},
		{
			"no 304",
			site{fields: http.Header{"Last-Modified": {"Mon, 02 Nov 2026 00:00:00 GMT"}}},
			fetch.Verdict{Allowed: true},
			[]string{"validation advice"},
			0,
		},
		{
			"a wall",
			site{status: 403, fields: http.Header{"Cf-Mitigated": {"challenge"}}},
			fetch.Verdict{Allowed: true},
			[]string{"page wrong"},
			1,
		},
		{
			"a price",
			site{status: 402, fields: http.Header{"Crawler-Price": {"USD 1"}}},
			fetch.Verdict{Allowed: true},
			[]string{"page advice"},
			0,
		},
		{"an error", site{status: 500}, fetch.Verdict{Allowed: true}, []string{"page wrong"}, 1},
		{
			"scripts make it",
			site{body: `<html><body><div id="root"></div><script src="/app.js"></script></body></html>`},
			fetch.Verdict{Allowed: true},
			[]string{"page advice"},
			0,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := httptest.NewServer(tt.site)
			defer srv.Close()
			u, err := url.Parse(srv.URL + "/page")
			if err != nil {
				t.Fatal(err)
			}
			r, err := sitecheck.Check(t.Context(), direct{tt.verdict}, u)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range tt.want {
				if !slices.ContainsFunc(r.Findings, func(f sitecheck.Finding) bool {
					return strings.HasPrefix(f.Name+" "+f.State+": "+f.Help, want)
				}) {
					t.Errorf("no finding %q in %+v", want, r.Findings)
				}
			}
			if r.Wrong() != tt.wrong {
				t.Errorf("%d things are wrong, want %d: %+v", r.Wrong(), tt.wrong, r.Findings)
			}
		})
	}
}

// A site that cannot be reached, and one that redirects for ever, are errors that name it.
func TestASiteThatCannotBeRead(t *testing.T) {
	srv := httptest.NewServer(http.RedirectHandler("/again", http.StatusFound))
	u, err := url.Parse(srv.URL + "/again")
	if err != nil {
		t.Fatal(err)
	}
	_, err = sitecheck.Check(t.Context(), direct{}, u)
	if err == nil || !strings.Contains(err.Error(), "redirects ten times") {
		t.Errorf("error %v, want that it redirects", err)
	}
	srv.Close()
	if _, err := sitecheck.Check(t.Context(), direct{}, u); err == nil {
		t.Error("no error for a closed port")
	}
}
