package page_test

import (
	"testing"

	"github.com/readthru/readthru/page"
)

func TestLibraryIsWhatPeopleCallIt(t *testing.T) {
	for raw, want := range map[string]string{
		"https://github.com/spf13/cobra":                           "cobra",
		"https://github.com/spf13/cobra.git":                       "cobra",
		"https://github.com/spf13/cobra/issues/7":                  "cobra",
		"https://github.com/spf13/cobra/tree/main/doc":             "cobra",
		"https://github.com/topics/go":                             "",
		"https://raw.githubusercontent.com/spf13/cobra/main/a.md":  "cobra",
		"https://gitlab.com/inkscape/inkscape/-/issues/1":          "inkscape",
		"https://pkg.go.dev/github.com/spf13/cobra@v1.9.1/doc":     "cobra",
		"https://pkg.go.dev/golang.org/x/net/html":                 "html",
		"https://pkg.go.dev/gopkg.in/yaml/v3":                      "yaml",
		"https://pkg.go.dev/":                                      "",
		"https://docs.rs/serde/latest/serde/":                      "serde",
		"https://requests.readthedocs.io/en/latest/":               "requests",
		"https://docs.djangoproject.com/en/5.2/":                   "djangoproject",
		"https://docs.example.co.uk/docs/start":                    "example",
		"https://kubernetes.io/docs/concepts/":                     "kubernetes",
		"https://docs.python.org/3/library/re.html":                "python",
		"https://www.npmjs.com/package/express":                    "express",
		"https://www.npmjs.com/package/@mendable/firecrawl-js":     "@mendable/firecrawl-js",
		"https://pypi.org/project/httpx/":                          "httpx",
		"https://example.com/a-post":                               "",
		"https://127.0.0.1/docs/":                                  "",
		"https://[::1]/docs/":                                      "",
		"http://localhost:8080/docs/":                              "",
		"https://example.com:8443/docs/":                           "",
		"ftp://docs.python.org/3/":                                 "",
		"https://devdocs.io/python~3.12/":                          "python",
		"https://javadoc.io/doc/org.slf4j/slf4j-api/latest/x.html": "slf4j-api",
	} {
		if got := page.Library(mustParse(t, raw)); got != want {
			t.Errorf("Library(%s) = %q, want %q", raw, got, want)
		}
	}
}
