package page_test

import (
	"testing"
	"unicode/utf8"

	"github.com/readthru/readthru/page"
)

func TestClassifyAndDisplay(t *testing.T) {
	for _, tt := range []struct {
		url     string
		kind    page.Type
		display string
	}{
		{"https://github.com/golang/go", page.GitHubRepo, "golang/go"},
		{"https://github.com/golang/go/", page.GitHubRepo, "golang/go"},
		{"https://github.com/golang/go.git", page.GitHubRepo, "golang/go"},
		{"https://www.GitHub.com/golang/go?tab=readme#x", page.GitHubRepo, "golang/go"},
		{"https://github.com/golang/go/blob/master/src/net/http/server.go", page.GitHubFile, "golang/go/server.go"},
		{"https://raw.githubusercontent.com/golang/go/master/README.md", page.GitHubFile, "golang/go/README.md"},
		{"https://github.com/golang/go/issues/42", page.GitHubIssue, "golang/go#42"},
		{"https://github.com/golang/go/pull/7", page.GitHubPR, "golang/go!7"},
		{"https://github.com/golang/go/pull/7/files", page.GitHubPR, "golang/go!7"},
		{"https://github.com/golang/go/issues", page.Web, "github.com/golang/go/issues"},
		{"https://github.com/features/copilot", page.Web, "github.com/features/copilot"},
		{"https://github.com/orgs/golang", page.Web, "github.com/orgs/golang"},
		{"https://github.com/topics/go", page.Web, "github.com/topics/go"},
		{"https://github.com/golang", page.Web, "github.com/golang"},
		{"https://gist.github.com/a/b", page.Web, "gist.github.com/a/b"},
		{"https://docs.python.org/3/", page.Documentation, "docs.python.org/3"},
		{"https://developer.mozilla.org/en-US/", page.Documentation, "developer.mozilla.org/en-US"},
		{"https://requests.readthedocs.io/en/latest/", page.Documentation, "requests.readthedocs.io/en/latest"},
		{"https://pkg.go.dev/net/http", page.Documentation, "pkg.go.dev/net/http"},
		{"https://a.test/docs/x", page.Documentation, "a.test/docs/x"},
		{"https://a.test/doc/x", page.Documentation, "a.test/doc/x"},
		{"https://a.test/doctor/x", page.Web, "a.test/doctor/x"},
		{"https://a.test/documentation/", page.Documentation, "a.test/documentation"},
		{"https://a.test/v1/api/x", page.Documentation, "a.test/v1/api/x"},
		{"https://a.test/reference", page.Documentation, "a.test/reference"},
		{"https://a.test/capital/apices", page.Web, "a.test/capital/apices"},
		{"https://notdocs.rs.test/", page.Web, "notdocs.rs.test"},
		{"https://a.test/", page.Web, "a.test"},
		{"https://a.test", page.Web, "a.test"},
		{"http://a.test:8080/x", page.Web, "a.test:8080/x"},
		{"https://a.test#/guide/start?x=1", page.Web, "a.test/#/guide/start"},
		{"https://a.test/x#place", page.Web, "a.test/x"},
		{"https://a.test/a/very/long/path/that/goes/on/and/on", page.Web, "a.test/a/very/long/path/that/goes/on/..."},
		{"file:///etc/passwd", page.Unknown, "/etc/passwd"},
		{"mailto:a@b.test", page.Unknown, ""},
	} {
		u := mustParse(t, tt.url)
		if got := page.Classify(u); got != tt.kind {
			t.Errorf("Classify(%s) = %s, want %s", tt.url, got, tt.kind)
		}
		got := page.Display(u)
		if got != tt.display {
			t.Errorf("Display(%s) = %q, want %q", tt.url, got, tt.display)
		}
		if n := utf8.RuneCountInString(got); n > 40 {
			t.Errorf("Display(%s) has %d characters", tt.url, n)
		}
	}
}

func TestDisplayCutsAtACharacter(t *testing.T) {
	got := page.Display(mustParse(t, "https://a.test/ääääääääääääääääääääääääääääääääääääääääää"))
	if !utf8.ValidString(got) || utf8.RuneCountInString(got) != 40 {
		t.Errorf("Display = %q", got)
	}
}
