package operate

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/readthru/readthru/page"
)

func TestExportedNamesAreSafe(t *testing.T) {
	long := strings.Repeat("ä", 200)
	for raw, want := range map[string]string{
		"https://a.test/":                "a.test/index.md",
		"https://a.test/guide":           "a.test/guide.md",
		"https://a.test/guide/":          "a.test/guide/index.md",
		"https://a.test/guide/page.md":   "a.test/guide/page.md",
		"https://a.test:8443/x":          "a.test_8443/x.md",
		"https://a.test/x?q=1":           "a.test/x-DOC.md",
		"https://a.test/..%2f..%2fetc":   "a.test/_/_/etc-DOC.md",
		"https://a.test/%2e%2e/x":        "a.test/x.md",
		"https://a.test/CON":             "a.test/_CON-DOC.md",
		"https://a.test/com1.txt":        "a.test/_com1.txt-DOC.md",
		"https://a.test/.bashrc":         "a.test/_.bashrc-DOC.md",
		"https://a.test/a%00b%0ac":       "a.test/a_b_c-DOC.md",
		"https://a.test/" + long:         "a.test/" + strings.Repeat("ä", 60) + "-DOC.md",
		"https://[2001:db8::1]/x":        "_2001_db8__1_/x.md",
		"https://a.test/a%5c..%5cb/c%3a": "a.test/a_.._b/c_-DOC.md",
	} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		pg := page.New(u)
		want = strings.ReplaceAll(want, "DOC", pg.Doc)
		if got := fileName(pg); got != want {
			t.Errorf("fileName(%s) = %s, want %s", raw, got, want)
		}
		if !filepath.IsLocal(fileName(pg)) {
			t.Errorf("fileName(%s) leads out: %s", raw, fileName(pg))
		}
	}
}
