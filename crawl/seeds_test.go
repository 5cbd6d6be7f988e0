package crawl_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/crawl"
)

func TestSitemapsAndLLMsTxtAreSeeds(t *testing.T) {
	crawl.LimitSitemap(t, 1<<20)
	index := `<?xml version="1.0"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>http://site.test/one.xml.gz</loc></sitemap><sitemap><loc> http://site.test/two.txt </loc></sitemap><sitemap><loc>http://site.test/index.xml</loc></sitemap><sitemap><loc>http://site.test/bomb.xml.gz</loc></sitemap><sitemap><loc>http://site.test/no.xml</loc></sitemap></sitemapindex>`
	one := `<?xml version="1.0" encoding="UTF-8"?><urlset xmlns:image="i"><url><loc>http://site.test/a?x=1&amp;y=2</loc><image:image><image:loc>http://site.test/picture</image:loc></image:image></url><url><loc><![CDATA[http://site.test/b]]></loc></url><url><loc>http://other.test/</loc></url></urlset>`
	r := newRig(t, pages{
		"/robots.txt": "Sitemap: /index.xml\n", "/index.xml": index, "/one.xml.gz": zip(one),
		"/two.txt": "http://site.test/c\nhttps://other.test/d\n",
		"/bomb.xml.gz": zip(`<?xml version="1.0"?><urlset><url><loc>http://site.test/late</loc></url>` + strings.Repeat(" ",
			1<<20) + "</urlset>"),
		"/llms.txt": "# Site\n\n> About it\n\n- [E](/e.md): the e\n- [G](/g.md)\n- [H](https://site.test/h)\n- <http://site.test/i>\n",
		"/":         html("Home", "/z", "/g"), "/z": html("Z"), "/a?x=1&y=2": html("A"), "/b": html("B"), "/c": html("C"),
		"/e.md": "# E\n\nThe text of e, which is markdown.\n",
		"/g":    html("G"), "/g.md": "# G\n\nThe text of g.\n", "/h": html("H"), "/i": html("I"), "/late": html("Late"),
	})
	list, report := must3(t)(r.run(t, crawl.Options{}))
	want := told{
		"new /", "new /z", "new /g", "new /a?x=1&y=2", "new /b", "new /c", "new /late", "new /e.md", "new /h",
		"new /i",
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("crawl (-want +got):\n%s", diff)
	}
	if len(report.Sitemaps) != 2 || !strings.Contains(report.Sitemaps[0], "the sitemap is too large") ||
		!strings.Contains(report.Sitemaps[1], "HTTP 404") {
		t.Errorf("trouble with sitemaps %q, want the bomb and the missing one", report.Sitemaps)
	}
}

// A list with a byte order mark, as programs send it that know no type but HTML, is one; its addresses are relative to
// its own.
func TestAnLLMsTxtMayBeMislabelled(t *testing.T) {
	p := pages{
		"/docs/": html("Docs"), "/docs/a": html("A"), "/docs/b": html("B"),
		"/docs/llms.txt": "\ufeff# Docs\n\n- [A](a)\n- [B](./b): the b\n", "/llms.txt": html("Not found", "/lost"),
	}
	r := newRig(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if text := p[req.URL.Path]; strings.HasSuffix(req.URL.Path, "/llms.txt") {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			io.WriteString(w, text)
			return
		}
		p.ServeHTTP(w, req)
	}))
	list, _ := must3(t)(r.run(t, crawl.Options{URL: "http://site.test/docs/"}))
	if want := (told{"new /docs/", "new /docs/a", "new /docs/b"}); !cmp.Equal(want, list) {
		t.Errorf("crawl %v, want %v", list, want)
	}
}

func TestSitemapIsReadOnlyUntilTheLimit(t *testing.T) {
	var big strings.Builder
	big.WriteString(`<?xml version="1.0"?><urlset>`)
	for i := range 49_999 {
		fmt.Fprintf(&big, "<url><loc>http://site.test/p/%d</loc></url>", i)
	}
	big.WriteString("</urlset>")
	p := pages{"/sitemap.xml": big.String(), "/": html("Home")}
	for i := range 100 {
		p[fmt.Sprintf("/p/%d", i)] = html(fmt.Sprintf("P %d", i))
	}
	_, report := must3(t)(newRig(t, p).run(t, crawl.Options{Limit: 20}))
	if report.Pages != 20 || report.Queued != 981 {
		t.Errorf("%d pages, %d queued, want 20 and what is left of 1000", report.Pages, report.Queued)
	}
}

func zip(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, s)
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.String()
}
