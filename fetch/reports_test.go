package fetch_test

import (
	"net/http"
	"testing"
)

// TestReportsOfOtherReadersOfRobotsTxt asks whether a page may be read of origins whose robots.txt users of other
// programs reported as read wrong. docs/reports.md says what each report is about.
func TestReportsOfOtherReadersOfRobotsTxt(t *testing.T) {
	t.Parallel()
	st := emptyStore(t)
	for _, tt := range []struct {
		report, url string
		files       map[string]string // by URL; a value that begins with > is a redirect
		status      int               // of a file that is not there
		want        bool
	}{
		{
			"scrapy#6195", "http://site.test/private",
			map[string]string{"http://site.test/robots.txt": "\ufeffUser-agent: *\nDisallow: /private\n"},
			404, false,
		},
		{
			"scrapy#6292", "http://site.test/private",
			map[string]string{
				"http://site.test/robots.txt": "# stra\xdfe\nUser-agent: *\nDisallow: /\xdf\nDisallow: /private\n",
			},
			404, false,
		},
		{
			"servers#144", "http://site.test/private", map[string]string{
				"http://site.test/robots.txt":     ">http://www.site.test/robots.txt",
				"http://www.site.test/robots.txt": "User-agent: *\nDisallow: /private\n",
			}, 404, false,
		},
		{"wpull#233", "http://site.test/page", nil, 500, false},
		{
			"screenshots#3635", "http://site.test/page",
			map[string]string{"http://site.test/robots.txt": "<!doctype html><title>No</title>\n<p>Disallow: /\n"},
			404, true,
		},
	} {
		o := &inProcess{answer: func(req *http.Request) (int, string, []string) {
			content, ok := tt.files[req.URL.String()]
			switch {
			case !ok:
				return tt.status, "no", nil
			case content[0] == '>':
				return http.StatusMovedPermanently, "", []string{"Location: " + content[1:]}
			}
			return http.StatusOK, content, nil
		}}
		f := fetcherOver(t, st, o, "MyBot/1.0")
		v, err := f.Allowed(t.Context(), parse(t, tt.url))
		if err != nil || v.Allowed != tt.want {
			t.Errorf("%s: %+v, %v, want allowed %v", tt.report, v, err, tt.want)
		}
	}
}
