package fetch_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestReportsOfReadersOfRobotsTxt asks what a robots.txt allows that users of other readers reported as misread, made
// small. docs/reports.md says what each report is about.
func TestReportsOfReadersOfRobotsTxt(t *testing.T) {
	st := emptyStore(t)
	for _, tt := range []struct {
		report    string
		status    int
		fields    []string
		robots    string
		allowed   string // paths, or whole URLs
		forbidden string
	}{
		{"BUbiNG#17", 200, nil, "\ufeffUser-agent: *\nDisallow: /", "", "/ /goo/zoo.html"},
		{
			"movar#434, wildcards", 200, nil, "User-agent: *\nDisallow: /*/private\nDisallow: /*.json$\nDisallow: /*?",
			"/private /data.jsonp", "/uk/private /data.json /a?b",
		},
		{
			"movar#434, groups", 200, nil, "User-agent: *\nUser-agent: Googlebot\nDisallow: /private", "/", "/private",
		},
		{
			"httrack#1695", 200, nil, "User-agent: readthru\nDisallow: /secret\n\nUser-agent: *\nDisallow: /public", "/public",
			"/secret",
		},
		{
			"reppy#83", 200, nil, "User-agent: *\nDisallow: */test\nDisallow: /users/*/replies", "/anything /users/a",
			"/test /a/test /users/a/replies",
		},
		{
			"crawler4j#107", 200, nil, "User-agent: *\nDisallow: /*.print$\nDisallow: /*.print?", "/a.printer",
			"/a.2406.de.print?x /a.print",
		},
		{"wpull#273", 200, nil, "User-agent: *\n\nDisallow: images/*\n\n\nDisallow: /x", "/", "/images/a /x"},
		{
			"siteone-crawler#64", 200, nil, "User-agent: *\nAllow: /\n\nUser-agent: Mediapartners-Google\nDisallow: /\n" +
				"Crawl-delay: 5", "/ /a", "",
		},
		{"servers#3547", 503, nil, "<html><h1>Service Unavailable</h1>", "", "/ /a"},
		{"servo-fetch#113, 404", 404, nil, "User-agent: *\nDisallow: /", "/ /a", ""},
		{"servo-fetch#113, a port", 200, nil, "User-agent: *\nDisallow: /no", "http://PORT:8080/", "http://PORT:8080/no"},
		{"scrapy#2388", 403, []string{"Content-Encoding: gzip"}, "<h1>403 - Forbidden</h1>", "/", ""},
		{"stormcrawler#921", 200, nil, "User-agent: *\n" + strings.Repeat("# x\n", 100<<10) + "Disallow: /no", "/", "/no"},
		{
			"stormcrawler#2087", 200, nil, "User-agent: *\n" + strings.Repeat("# x\n", 200<<10) + "Disallow: /beyond",
			"/beyond", "",
		},
	} {
		host := strings.NewReplacer("#", "-", ",", "", " ", "").Replace(strings.ToLower(tt.report)) + ".test"
		o := &inProcess{answer: func(r *http.Request) (int, string, []string) {
			if strings.HasPrefix(tt.allowed, "http") != strings.HasSuffix(r.URL.Host, ":8080") {
				return 404, "", nil
			}
			return tt.status, tt.robots, tt.fields
		}}
		f := fetcherOver(t, st, o, "readthru/1.0")
		for want, list := range map[bool]string{true: tt.allowed, false: tt.forbidden} {
			for at := range strings.FieldsSeq(list) {
				if !strings.HasPrefix(at, "http") {
					at = "http://" + host + at
				}
				at = strings.Replace(at, "PORT", host, 1)
				if v, err := f.Allowed(t.Context(), parse(t, at)); err != nil || v.Allowed != want {
					t.Errorf("%s: %s is allowed: %v, %v, want %v (%s)", tt.report, at, v.Allowed, err, want, v.Reason)
				}
			}
		}
	}
}
