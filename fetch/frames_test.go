package fetch_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/page"
)

// framesOf serves pages by path.
func framesOf(pages map[string]string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, known := pages[r.URL.Path]
		if !known {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "max-age=600")
		_, _ = fmt.Fprint(w, text)
	})
}

const (
	before = "The mole was built by hand from the stones of an older one."
	after  = "Nobody rebuilt it after the second storm."
)

// beside is a page with text, and what stands between its halves.
func beside(middle string) string {
	return "<!doctype html><title>Mole</title><main><h1>Mole</h1>" + strings.Repeat("<p>"+before+"</p>", 9) + middle +
		strings.Repeat("<p>"+after+"</p>", 9) + "</main>"
}

func TestFramesAreContent(t *testing.T) {
	inner := strings.Repeat("<p>"+shellText+"</p>", 9)
	halves, whole, left := []string{before, after}, []string{before, shellText, after}, []string{"frame-left-out=1"}
	for _, tt := range []struct {
		name, page string
		warnings   []string
		asked      int // requests
		want       []string
	}{
		{"a page that is only a frame", `<title>Out</title><iframe src=/inner></iframe>`, nil, 2, []string{shellText}},
		{"beside text, in its place", beside(`<iframe src=/inner></iframe>`), nil, 2, whole},
		{"a frame in a frame", beside(`<iframe src=/outer></iframe>`), nil, 3, whole},
		{"of another host of the site", beside(`<iframe src=//docs.site.test/inner></iframe>`), nil, 2, whole},
		{"of another site", beside(`<iframe src=//other.test/inner></iframe>`), left, 1, halves},
		{"that is not there", beside(`<iframe src=/lost></iframe>`), left, 2, halves},
		{"without text", beside(`<iframe src=/empty></iframe>`), left, 2, halves},
		{"made by scripts", beside(`<iframe src=/shell></iframe>`), left, 2, halves},
		{
			"rules of its document", beside(`<iframe src=/hides></iframe><p class=x>Shown beside it.</p>`),
			[]string{"hidden-text-removed=2"},
			2,
			[]string{before, shellText, "Shown beside it", after},
		},
		{
			"rules of the page", `<style>.x,section p{display:none}</style>` + beside(`<iframe src=/hides></iframe>`),
			[]string{"hidden-text-removed=2"},
			2,
			[]string{before, shellText, after},
		},
		{"the page itself", beside(`<iframe src=/page></iframe>`), nil, 1, halves},
		{"a small frame", beside(`<iframe src=/inner width=1 height=1></iframe>`), nil, 1, halves},
		{"a hidden frame", beside(`<div style="display: none"><iframe src=/inner></iframe></div>`), nil, 1, halves},
		{
			"a video", beside(`<iframe src=https://www.youtube.com/embed/abc></iframe>`), nil, 1,
			[]string{before, "youtube.com/watch?v=abc", after},
		},
		{
			"a manual made of frames", `<title>Manual</title><frameset cols="20%,80%"><frameset rows="30%,70%">
			<frame src=/overview name=packageListFrame><frame src=/classes name=packageFrame></frameset>
			<frame src=/inner name=classFrame><noframes><h2>Frame Alert</h2></noframes></frameset>`, nil, 4,
			[]string{"harbour.boats", "AbstractBoat", "Keelboat", shellText},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			conv, with := newConverter(t)
			c := newChain(t, framesOf(map[string]string{
				"/page": tt.page, "/inner": "<title>Inner</title>" + inner, "/outer": `<iframe src=/inner></iframe>`,
				"/hides": `<style>.x,body p.y{display:none}</style><p class=x>UNSEEN text of a frame that tells agents what to do` +
					`<p class=y>UNSEEN too, by a rule that names the body` + inner,
				"/empty": "<body></body>", "/shell": `<div id=root>Loading</div><script src=/x.js></script>`,
				"/overview": "<h2>Packages</h2><ul><li><a href=harbour/boats.html>harbour.boats</a></li></ul>",
				"/classes": "<h1>All Classes</h1><ul><li><a href=a.html>AbstractBoat</a></li>" +
					"<li><a href=k.html>Keelboat</a></li></ul>",
			}), with("fallback", 0))
			for range 2 { // the second time from the store
				ans := c.read(t, "https://site.test/page")
				text, at := string(ans.Body), 0
				for _, want := range tt.want {
					i := strings.Index(text[at:], want)
					if i < 0 {
						t.Fatalf("no %q after byte %d of\n%s", want, at, text)
					}
					at += i
				}
				if strings.Contains(text, "UNSEEN") {
					t.Errorf("hidden text in\n%s", text)
				}
				if ans.Page.Source != page.Local || !slices.Equal(ans.Page.Warnings, tt.warnings) {
					t.Errorf("by %s, warnings %q, want %q", ans.Page.Source, ans.Page.Warnings, tt.warnings)
				}
			}
			if asked := c.origin.asked(); len(asked) != tt.asked || len(conv.asked) != 0 {
				t.Errorf("the origin was asked %q, want %d; markdown.new %q", asked, tt.asked, conv.asked)
			}
		})
	}
}

func TestAFrameIsReadAgainWhenItIsStale(t *testing.T) {
	var text atomic.Value
	text.Store("The first ")
	c := newChain(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "max-age=600")
		if r.URL.Path == "/inner" {
			w.Header().Set("Cache-Control", "no-cache")
			_, _ = fmt.Fprint(w, "<p>"+text.Load().(string)+shellText)
			return
		}
		_, _ = fmt.Fprint(w, beside(`<iframe src=/inner></iframe>`))
	}))
	for _, part := range []string{"The first ", "The second "} {
		text.Store(part)
		if ans := c.read(t, "https://site.test/page"); !strings.Contains(string(ans.Body), part+shellText) {
			t.Errorf("no %q in\n%s", part, ans.Body)
		}
	}
	ans, err := c.try(t, fetch.Request{
		URL: parse(t, "https://site.test/page"), Own: true, View: fetch.View{Selector: "section"},
	})
	if err != nil || !strings.Contains(string(ans.Body), "The second") || strings.Contains(string(ans.Body), before) {
		t.Errorf("its frame alone: %v\n%s", err, ans.Body)
	}
}

func TestFramesAreNotAskedForWithCredentials(t *testing.T) {
	c := newChain(t, framesOf(map[string]string{"/page": beside(`<iframe src=/inner></iframe>`), "/inner": "<p>" + shellText}))
	ans := c.read(t, "https://site.test/page", "Authorization: Bearer x")
	if asked := c.origin.asked(); len(asked) != 1 || !slices.Contains(ans.Page.Warnings, "frame-left-out=1") {
		t.Errorf("the origin was asked %q, warnings %q", asked, ans.Page.Warnings)
	}
}

func TestAFrameMadeByScriptsIsRendered(t *testing.T) { // before a third party is asked
	conv, with := newConverter(t)
	for name, text := range map[string]string{
		"iframe":   `<!doctype html><title>Out</title><iframe src=/app width=800 height=600></iframe>`,
		"frameset": `<title>Out</title><frameset cols="30%,70%"><frame src=/menu><frame src=/app></frameset>`,
	} {
		t.Run(name, func(t *testing.T) {
			c := withBrowser(t, "", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/out" {
					spa(w, r)
					return
				}
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				_, _ = fmt.Fprint(w, text)
			}), with("fallback", 0))
			ans := c.read(t, "https://site.test/out")
			n := strings.Count(string(ans.Body), shellText)
			if ans.Page.Source != page.Browser || n < 12 || len(conv.asked) != 0 {
				t.Errorf("by %s, %d paragraphs, markdown.new asked %q, attempts %+v:\n%s", ans.Page.Source, n, conv.asked,
					ans.Page.Attempts, ans.Body)
			}
		})
	}
}
