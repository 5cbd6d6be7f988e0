package fetch_test

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/page"
)

// router serves an application whose scripts show another text at each route. With text, its page has one of its own.
func router(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "max-age=600")
		if name, data := strings.CutPrefix(r.URL.Path, "/data"); data {
			_, _ = fmt.Fprintf(w, "<main><h1>Page %s</h1><p>After <a href='#/one'>page one</a> comes the page that is not "+
				"<a href='#!/three'>page three</a>; all begin at <a href='#top'>their top</a>.</p>%s</main>", name,
				strings.Repeat("<p>"+shellText+" This is "+name+".</p>", 8))
			return
		}
		_, _ = io.WriteString(w, `<!doctype html><html lang=en><head><title>App</title></head><body><div id=root>`+text+
			`</div><script>
fetch('/data' + (location.hash.replace(/^#!?/, '') || '/home')).then((r) => r.text()).then((t) => {
	document.getElementById('root').innerHTML = t;
});
</script></body></html>`)
	}
}

func TestEachRouteIsAPageOfItsOwn(t *testing.T) { // rule E4
	for name, text := range map[string]string{
		"a shell": "", "a page with a text of its own": strings.Repeat("<p>"+shellText+"</p>", 20),
	} {
		t.Run(name, func(t *testing.T) {
			c := withBrowser(t, "", router(text), func(o *fetch.Options) { o.Render = fetch.RenderAuto })
			at := map[string]string{"": "", "#/one": "/one", "#/two": "/two", "#!/three": "/three"}
			if text == "" {
				at[""], at["#top"] = "/home", "/home"
			}
			docs := map[string]string{}
			for range 2 { // the second time from the store
				for fragment, want := range at {
					raw := "https://site.test/" + fragment
					ans, err := c.try(t, fetch.Request{URL: parse(t, raw), Own: true, Links: true})
					if err != nil {
						t.Fatal(err)
					}
					if !strings.Contains(string(ans.Body), shellText+" This is "+want+".") && want != "" {
						t.Errorf("%s by %s, warnings %q:\n%s", raw, ans.Page.Source, ans.Page.Warnings, ans.Body)
					}
					if p := c.stored(t, raw); p == nil || p.Doc != ans.Page.Doc ||
						p.URL != strings.TrimSuffix(raw, "#top") || p.NormalizedURL != strings.TrimSuffix(raw, "#top") {
						t.Errorf("%s is stored as %+v", raw, p)
					}
					if want != "" && !slices.Equal(ans.Links, []string{"https://site.test/#/one", "https://site.test/#!/three"}) {
						t.Errorf("%s has the links %q", raw, ans.Links)
					}
					docs[ans.Page.Doc] = want
				}
			}
			if len(docs) != 4 {
				t.Errorf("documents %v, want one for each page", docs)
			}
			if n := c.Stats().Render.Pages; n != int64(len(at)-strings.Count(fmt.Sprint(at), "#top")) && text == "" {
				t.Errorf("%d pages rendered", n)
			}
			if _, err := c.try(t, fetch.Request{URL: parse(t, "https://site.test/#/two"), Own: true, Force: true}); err != nil {
				t.Fatal(err)
			}
			if ans := c.read(t, "https://site.test/#/one"); !strings.Contains(string(ans.Body), "This is /one.") {
				t.Errorf("after another route was forced, #/one is\n%s", ans.Body)
			}
		})
	}
}

func TestAPageKeptForEveryRouteIsReadAgain(t *testing.T) { // by a program that did not tell them apart
	c := withBrowser(t, "", router(""))
	c.read(t, "https://site.test/")
	u, shown := parse(t, "https://site.test/"), "https://site.test/#/one"
	if err := c.KeepForEveryRoute(u, "The text of route one.", shown); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"home", "two"} {
		raw := "https://site.test/" + strings.TrimSuffix("#/"+name, "#/home")
		if ans := c.read(t, raw); !strings.Contains(string(ans.Body), "This is /"+name+".") {
			t.Errorf("%s by %s:\n%s", raw, ans.Page.Source, ans.Body)
		}
	}
	versions, err := c.store.Versions(page.KeyOf("https://site.test/"))
	if err != nil || len(versions) != 3 {
		t.Errorf("%d versions, %v, want home, the text of one, and home", len(versions), err)
	}
}

func TestAPageWithoutScriptsIsOneAtEachRoute(t *testing.T) { // rule E4
	c := newChain(t, respond(200, article("Still"), html, "Cache-Control: max-age=600"))
	for _, raw := range []string{
		"https://site.test/x#/a", "https://site.test/x#!b", "https://site.test/x", "https://site.test/x#/a",
	} {
		ans, err := c.own(t, raw)
		if err != nil {
			t.Fatal(err)
		}
		p := c.stored(t, raw)
		if p == nil || p.NormalizedURL != "https://site.test/x" || p.URL != "https://site.test/x" ||
			ans.Page.Doc != p.Doc || len(ans.Page.Warnings) != 0 {
			t.Errorf("%s is %s, warnings %q, stored as %+v", raw, ans.Page.Doc, ans.Page.Warnings, p)
		}
	}
	if asked := c.origin.asked(); len(asked) != 1 {
		t.Errorf("the origin was asked %q, want once", asked)
	}
}

func TestWithoutABrowserARouteSaysWhatIsMissing(t *testing.T) { // rule C4
	text := strings.Repeat("<p>"+shellText+"</p>", 20)
	c := withBrowser(t, filepath.Join(t.TempDir(), "none"), router(text))
	for raw, want := range map[string][]string{"https://site.test/": nil, "https://site.test/#/one": {"no-browser"}} {
		for range 2 {
			ans, err := c.own(t, raw)
			if err != nil {
				t.Fatal(err)
			}
			if p := c.stored(t, raw); !slices.Equal(ans.Page.Warnings, want) || p == nil || p.NormalizedURL != raw {
				t.Errorf("%s: warnings %q, want %q; stored as %+v", raw, ans.Page.Warnings, want, p)
			}
		}
	}
}

func TestMarkdownNewIsNotAskedForARoute(t *testing.T) { // rule A5: it gets no fragment
	conv, with := newConverter(t)
	c := newChain(t, router(""), with("fallback", 0))
	for raw, want := range map[string]page.Source{
		"https://site.test/": page.MarkdownNew, "https://site.test/#/one": page.Local,
	} {
		ans, err := c.own(t, raw)
		if err != nil {
			t.Fatal(err)
		}
		if ans.Page.Source != want {
			t.Errorf("%s by %s, want %s", raw, ans.Page.Source, want)
		}
	}
	if len(conv.asked) != 1 {
		t.Errorf("markdown.new was asked %q", conv.asked)
	}
}
