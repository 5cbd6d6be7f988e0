package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/httpfield"
)

const (
	byScript   = "Sec-Fetch-Mode: cors|Sec-Fetch-Site: same-origin"
	navigation = "Sec-Fetch-Dest: document|Sec-Fetch-Mode: navigate|Sec-Fetch-Site: none"
)

// clientsOfOnePage are the fields that programs and browsers send for a page, or for what a script asks of its URL.
// Tools that are known by their User-Agent are not among them.
var clientsOfOnePage = map[string]string{
	"curl":                             "Accept: */*|User-Agent: curl/8.5.0",
	"nothing said":                     "User-Agent: x",
	"Python":                           "Accept: */*|User-Agent: python-requests/2.32",
	"fetch of Node":                    "Accept: */*|Sec-Fetch-Mode: cors|User-Agent: node",
	"an agent that names markdown":     "Accept: text/markdown, text/html;q=0.9",
	"an agent that names HTML":         "Accept: text/html, */*;q=0.1",
	"fetch of a browser":               "Accept: */*|Sec-Fetch-Dest: empty|" + byScript,
	"fetch of a browser, plain":        "Accept: */*|User-Agent: Mozilla/5.0|Referer: http://a.test/",
	"POST of a browser's cross site":   "Accept: */*|User-Agent: Mozilla/5.0|Origin: http://b.test",
	"jQuery":                           "Accept: */*|X-Requested-With: XMLHttpRequest",
	"an image":                         "Accept: */*|Sec-Fetch-Dest: image|" + byScript,
	"a page in a browser":              "Accept: text/html,*/*;q=0.8|" + navigation,
	"a page in a browser, wildcard":    "Accept: */*|" + navigation,
	"an agent that wants HTML of us":   "Accept: */*|X-Readthru-Mode: html",
	"an agent that wants text of us":   "Accept: */*|X-Readthru-Mode: text",
	"an agent that wants it anyway":    "Accept: text/html|X-Readthru-Mode: markdown",
	"markdown named, HTML asked of us": "Accept: text/markdown, text/html;q=0.9|X-Readthru-Mode: html",
	"a script in a browser, for JSON":  "Accept: application/json, */*|" + byScript,
}

// A shared cache between us and clients (RFC 9111 §4.1) gives nobody the markdown that another asked for, whatever it
// is made by; and agents that send the same Accept share it.
func TestASharedCacheBehindUsMixesUpNoForms(t *testing.T) {
	type told struct {
		asked http.Header
		vary  []string
		form  string
	}
	for _, base := range []string{"http://a.test", "https://a.test"} {
		b, _ := newSiteBench(t, nil)
		answers := map[string]told{}
		for name, fields := range clientsOfOnePage {
			asked := http.Header{}
			for field := range strings.SplitSeq(fields, "|") {
				k, v, _ := strings.Cut(field, ": ")
				asked.Add(k, v)
			}
			resp, _ := b.get(base+"/page", strings.Split(fields, "|")...)
			answers[name] = told{asked, resp.Header["Vary"], resp.Header.Get("Content-Type")}
		}
		for stored, a := range answers {
			if !strings.HasPrefix(a.form, "text/markdown") && !strings.HasPrefix(a.form, "text/plain") {
				continue // what an origin says of its bytes stays as it is
			}
			for name, other := range answers {
				same := true
				for field := range httpfield.Elements(a.vary) {
					same = same && fmt.Sprint(a.asked[http.CanonicalHeaderKey(field)]) ==
						fmt.Sprint(other.asked[http.CanonicalHeaderKey(field)])
				}
				if same && other.form != a.form {
					t.Errorf("%s: %s would get the %s of %s: Vary %q", base, name, a.form, stored, a.vary)
				}
			}
		}
		if a, c := answers["curl"], answers["Python"]; a.form != c.form || len(a.vary) == 0 {
			t.Errorf("curl and Python get %+v and %+v", a, c)
		}
	}
}
