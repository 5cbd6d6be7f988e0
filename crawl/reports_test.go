package crawl_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/crawl"
)

// TestReportsOfOtherSitemapReaders reads the sitemaps, made small, that users of other crawlers reported as read wrong.
// docs/reports.md says what each report is about.
func TestReportsOfOtherSitemapReaders(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		report, text string
		want         []string // URLs without http://site.test, those of sitemaps after a >
		err          string   // how the error begins
	}{
		{"crawler-commons#143", zip("http://site.test/a\nhttp://site.test/b\n"), []string{"/a", "/b"}, ""},
		{
			"ultimate-sitemap-parser#6",
			`<?xml version="1.0"?><urlset><url><loc>http://site.test/a</loc></url></urlset>`,
			[]string{"/a"},
			"",
		},
		{
			"wpull#484",
			zip(`<?xml version="1.0"?><urlset><url><loc>http://site.test/a</loc></url></urlset>`) + "<!-- cached -->",
			[]string{"/a"},
			"",
		},
		{
			"crawler-commons#169",
			`<sitemapindex><sitemap><loc>http://site.test/s.xml?y=2017&amp;m=07&amp;d=11</loc></sitemap></sitemapindex>`,
			[]string{">/s.xml?y=2017&m=07&d=11"},
			"",
		},
		{
			"crawler-commons#174",
			`<s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="i"><s:url>` +
				`<s:loc>http://site.test/a</s:loc><image:image><image:loc>http://site.test/a.png</image:loc></image:image>` +
				`</s:url><s:url><s:loc>http://site.test/b</s:loc></s:url></s:urlset>`,
			[]string{"/a", "/b"},
			"",
		},
		{
			"crawler-commons#210",
			`<urlset xmlns="http://www.google.com/schemas/sitemap/0.84"><url><loc>http://site.test/a</loc></url></urlset>`,
			[]string{"/a"},
			"",
		},
		{
			"crawler-commons#24",
			`<urlset><url><loc>http://site.test/1&Acirc;&ordm;.html</loc></url><url><loc>http://site.test/b</loc></url>` +
				`</urlset>`,
			[]string{"/1Âº.html", "/b"},
			"",
		},
		{
			"techblog#146",
			`<urlset><url><loc>http://site.test/erik-&-king?a=1&b=2</loc></url><url><loc>http://site.test/b</loc></url>` +
				`</urlset>`,
			[]string{"/erik-&-king?a=1&b=2", "/b"},
			"",
		},
		{
			"crawler-commons#234", "\ufeff\n\n" +
				`<?xml version="1.0" encoding="UTF-8"?><urlset><url><loc>http://site.test/a</loc></url></urlset>`,
			[]string{"/a"},
			"",
		},
		{
			"hakrawler#3, Latin-1",
			`<?xml version="1.0" encoding="ISO-8859-1"?><urlset><url><loc>http://site.test/` + "caf\xe9" +
				`</loc></url></urlset>`,
			[]string{"/café"},
			"",
		},
		{
			"hakrawler#3, UTF-16",
			inUTF16(`<?xml version="1.0" encoding="UTF-16"?><urlset><url><loc>http://site.test/é</loc></url></urlset>`),
			[]string{"/é"},
			"",
		},
		{
			"retype#125",
			`<?xml version="1.0" encoding="utf-16"?><urlset><url><loc>http://site.test/a</loc></url></urlset>`,
			[]string{"/a"},
			"",
		},
		{
			"AVideo#5021",
			"<urlset><url><loc>http://site.test/a</loc><video:title>a \x03 \xff b</video:title></url>" +
				"<url><loc>http://site.test/\xff</loc></url><url><loc>http://site.test/b</loc></url></urlset>",
			[]string{"/a", "/b"},
			"",
		},
		{
			"spatie/crawler#511",
			`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="i"><url><loc>http://site.test/a</loc>` +
				`</url></urlset>`,
			[]string{"/a"},
			"",
		},
		{
			"Norconex#761",
			`<urlset><url><loc>http://site.test/about</loc><image:image><image:loc>https://https://site.test/x.jpg</image:loc>` +
				`<image:title>About</image:title></image:image></url></urlset>`,
			[]string{"/about"},
			"",
		},
		{
			"news-crawl#23", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" +
				"<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"\n" +
				"\txmlns:news=\"http://www.google.com/schemas/sitemap-news/0.9\"\n\txsi:schemaLocation=\"a\n b\">\n<url>\n" +
				"\t<loc>http://site.test/a</loc><news:news><news:title>A</news:title></news:news>\n</url>\n</urlset>\n",
			[]string{"/a"},
			"",
		},
		{
			"beside it: lines that are no URLs",
			"\ufeffhttp://site.test/a\r\n\r\nHTTP://site.test/b\r\n# end\r\nhttp://site.test/c\r\n\r\n",
			[]string{"/a", "HTTP://site.test/b", "/c"},
			"",
		},
		{
			"crawler-commons#203, RSS", `<rss xmlns:atom="a"><channel><link>http://site.test/no</link>` +
				`<atom:link href="http://site.test/no"/><item><link>http://site.test/a</link></item>` +
				"<item><link><![CDATA[ http://site.test/b ]]></link></item></channel></rss>", []string{"/a", "/b"}, "",
		},
		{
			"crawler-commons#203, RSS 1.0", `<rdf:RDF xmlns:rdf="r"><channel><link>http://site.test/no</link></channel>` +
				"<item><link>http://site.test/a</link></item></rdf:RDF>", []string{"/a"}, "",
		},
		{
			"crawler-commons#203, Atom", `<feed><link href="http://site.test/no"/><entry>` +
				`<link rel="self" href="http://site.test/no"/><link href="http://site.test/a"/></entry><entry>` +
				`<link rel="alternate" href="http://site.test/b"/></entry></feed>`, []string{"/a", "/b"}, "",
		},
		{
			"beside it: XML 1.1",
			`<?xml version="1.1" encoding="UTF-8"?><urlset><url><loc>http://site.test/a</loc></url></urlset>`,
			[]string{"/a"},
			"",
		},
		{
			"beside it: a page",
			"<!doctype html><title>Not found</title><p>http://site.test/a", nil, "not a sitemap",
		},
		{
			"beside it: a sitemap that is cut off", `<urlset><url><loc>http://site.test/a</loc></url><url><loc>http://site.te`,
			[]string{"/a"},
			"unexpected EOF",
		},
	} {
		var got []string
		take := func(mark string) func(string) bool {
			return func(u string) bool { got = append(got, mark+strings.TrimPrefix(u, "http://site.test")); return true }
		}
		err := crawl.ReadSitemap(strings.NewReader(tt.text), take(""), take(">"))
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.report, diff)
		}
		if (err != nil) != (tt.err != "") || err != nil && !strings.HasPrefix(err.Error(), tt.err) {
			t.Errorf("%s: error %v, want %q", tt.report, err, tt.err)
		}
	}
}

// inUTF16 returns a text in UTF-16 with a byte order mark.
func inUTF16(s string) string {
	b := []byte("\xff\xfe")
	for _, c := range utf16.Encode([]rune(s)) {
		b = append(b, byte(c), byte(c>>8))
	}
	return string(b)
}

// TestReportsOfOtherCrawlers maps and crawls small sites that users of other crawlers reported as read wrong.
func TestReportsOfOtherCrawlers(t *testing.T) {
	t.Parallel()
	const declared = `<?xml version="1.0" encoding="UTF-8"?>`
	list := func(locations ...string) string {
		return declared + "<urlset><url><loc>" + strings.Join(locations, "</loc></url><url><loc>") + "</loc></url></urlset>"
	}
	var sites sync.Map // pages by host
	r := newRig(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		own, _ := sites.Load(r.Host)
		own.(pages).ServeHTTP(w, r)
	}))
	for i, tt := range []struct {
		report string
		site   pages // with site.test for the host
		want   told
	}{
		{
			"crawl4ai#1559", pages{
				"/robots.txt":     "Sitemap: maps/index.xml\n",
				"/maps/index.xml": `<?xml version="1.0"?><sitemapindex><sitemap><loc>one.xml</loc></sitemap></sitemapindex>`,
				"/maps/one.xml":   ">/list/one.xml",
				"/list/one.xml":   `<?xml version="1.0"?><urlset><url><loc>/a</loc></url><url><loc>b</loc></url></urlset>`,
				"/":               html("Home"), "/a": html("A"), "/list/b": html("B"),
			}, told{"new /", "new /a", "new /list/b"},
		},
		{
			"Norconex#1001", pages{
				"/robots.txt": "Sitemap: http://site.test/map.xml?id=1&type=841132\n\nUser-agent: *\nDisallow: /no\n",
				"/map.xml?id=1&type=841132": `<?xml version="1.0"?><urlset><url><loc>http://site.test/no</loc></url>` +
					`<url><loc>http://site.test/a</loc></url></urlset>`,
				"/": html("Home"), "/a": html("A"), "/no": html("No"),
			}, told{"new /", "forbidden /no", "new /a"},
		},
		{
			"Norconex#112", pages{
				"/":     strings.Replace(html("Home", "/a_de"), "<head>", `<head><link rel="canonical" href="/">`, 1),
				"/a_de": strings.Replace(html("A"), "<head>", `<head><link rel="canonical" href="/a_de" />`, 1),
			}, told{"new /", "new /a_de"},
		},
		{
			"browsertrix-crawler#578, CDATA",
			pages{"/sitemap.xml": list("<![CDATA[http://site.test/a]]>"), "/": html("Home"), "/a": html("A")},
			told{"new /", "new /a"},
		},
		{
			"browsertrix-crawler#578, broken gzip", pages{
				"/robots.txt": "Sitemap: /s.xml.gz\nSitemap: /t.xml", "/s.xml.gz": "\x1f\x8bnone",
				"/t.xml": list("http://site.test/a"), "/": html("Home"), "/a": html("A"),
			}, told{"new /", "new /a"},
		},
		{
			"browsertrix-crawler#933", pages{
				"/robots.txt": "User-agent: *\nDisallow:", "/sitemap.xml": list("http://site.test/a"), "/": html("Home"),
				"/a": html("A"),
			}, told{"new /", "new /a"},
		},
		{
			"chaosbringer#9", pages{
				"/": html("Home", "http://site.test", "http://site.test/", "/?", "#top", "/a"), "/a": html("A"),
			}, told{"new /", "new /a"},
		},
		{
			"crawlee-python#2032",
			pages{"/sitemap.xml": list("", "http://site.test/a"), "/": html("Home"), "/a": html("A")},
			told{"new /", "new /a"},
		},
		{
			"crawler-commons#203", pages{
				"/robots.txt": "Sitemap: /rss", "/rss": declared + `<rss version="2.0"><channel><link>/</link>` +
					"<item><link>/a</link></item><item><link>/b</link></item></channel></rss>",
				"/": html("Home"), "/a": html("A"), "/b": html("B"),
			}, told{"new /", "new /a", "new /b"},
		},
		{
			"scrapy#2390", pages{
				"/robots.txt": "Sitemap: /map.ashx\nSitemap: http://site.test/map.xml\n",
				"/map.ashx":   list("http://site.test/a"), "/map.xml": list("http://site.test/b"),
				"/": html("Home"), "/a": html("A"), "/b": html("B"),
			}, told{"new /", "new /a", "new /b"},
		},
		{
			"ultimate-sitemap-parser#86", pages{
				"/sitemap.xml": strings.Replace(list("http://site.test/a"), "<urlset>", "<urlset><urlset>", 1) +
					"<url><loc>http://site.test/b</loc></url></urlset>",
				"/": html("Home"), "/a": html("A"), "/b": html("B"),
			}, told{"new /", "new /a", "new /b"},
		},
		{
			"open-seo#61", pages{
				"/": html("Home", "/services/", "/services"), "/services": ">/services/",
				"/services/": html("Services", "/services", "/a"), "/a": html("A"),
			}, told{"new /", "new /services/", "moved /services", "new /a"},
		},
		{
			"fess#1440", pages{
				"/": html("Home", "/a"), "/a": strings.Replace(html("A"), "<head>",
					`<head><link rel="canonical" href="/a"><link rel="canonical" href="/a">`, 1),
			}, told{"new /", "new /a"},
		},
		{
			"indieweb-search#30", pages{
				"/":      html("Home", "/a"),
				"/a":     strings.Replace(html("A"), "<head>", `<head><link rel="canonical" href="/round">`, 1),
				"/round": ">/a",
			}, told{"new /", "new /a"},
		},
	} {
		host := fmt.Sprintf("site-%d.test", i)
		own := pages{}
		for path, content := range tt.site {
			own[path] = strings.ReplaceAll(content, "http://site.test", "http://"+host)
		}
		sites.Store(host, own)
		list, _ := must3(t)(r.run(t, crawl.Options{URL: "http://" + host + "/"}))
		if diff := cmp.Diff(tt.want, list); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.report, diff)
		}
	}
}
