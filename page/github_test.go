package page_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/page"
)

func TestGitHubOf(t *testing.T) {
	for _, tt := range []struct {
		url  string
		kind page.Type
		want *page.GitHubInfo
	}{
		{"https://github.com/golang/go", page.GitHubRepo, &page.GitHubInfo{Owner: "golang", Repo: "go"}},
		{"https://github.com/golang/go/", page.GitHubRepo, &page.GitHubInfo{Owner: "golang", Repo: "go"}},
		{"https://github.com/golang/go.git", page.GitHubRepo, &page.GitHubInfo{Owner: "golang", Repo: "go"}},
		{"http://www.github.com/vercel/next.js#readme", page.GitHubRepo, &page.GitHubInfo{Owner: "vercel", Repo: "next.js"}},
		{"https://github.com/golang/go/tree/master", "", nil},
		{
			"https://github.com/golang/go/blob/master/src/net/http/server.go#L5", page.GitHubFile,
			&page.GitHubInfo{Owner: "golang", Repo: "go", Branch: "master", Path: "src/net/http/server.go"},
		},
		{
			"https://github.com/golang/go/raw/go1.22/VERSION", page.GitHubFile,
			&page.GitHubInfo{Owner: "golang", Repo: "go", Branch: "go1.22", Path: "VERSION"},
		},
		{
			"https://github.com/a/b/blob/refs/heads/dev/x.md", page.GitHubFile,
			&page.GitHubInfo{Owner: "a", Repo: "b", Branch: "dev", Path: "x.md"},
		},
		{
			"https://github.com/a/b/blob/refs/tags/v1.0/dir/x%20y.md", page.GitHubFile,
			&page.GitHubInfo{Owner: "a", Repo: "b", Branch: "v1.0", Path: "dir/x y.md"},
		},
		{
			"https://github.com/a/b/blob/feature/x/file.go", page.GitHubFile,
			&page.GitHubInfo{Owner: "a", Repo: "b", Branch: "feature", Path: "x/file.go"},
		},
		{
			"https://raw.githubusercontent.com/a/b/main/dir/x.md", page.GitHubFile,
			&page.GitHubInfo{Owner: "a", Repo: "b", Branch: "main", Path: "dir/x.md"},
		},
		{
			"https://raw.githubusercontent.com/a/b/refs/heads/main/x.md", page.GitHubFile,
			&page.GitHubInfo{Owner: "a", Repo: "b", Branch: "main", Path: "x.md"},
		},
		{"https://raw.githubusercontent.com/a/b/main", "", nil},
		{"https://github.com/a/b/blob/main", "", nil},
		{
			"https://github.com/a/b/issues/42#issuecomment-1", page.GitHubIssue,
			&page.GitHubInfo{Owner: "a", Repo: "b", IssueNumber: 42},
		},
		{"https://github.com/a/b/issues/42/", page.GitHubIssue, &page.GitHubInfo{Owner: "a", Repo: "b", IssueNumber: 42}},
		{"https://github.com/a/b/pull/7/files", page.GitHubPR, &page.GitHubInfo{Owner: "a", Repo: "b", PRNumber: 7}},
		{"https://github.com/a/b/issues/0", "", nil},
		{"https://github.com/a/b/issues/99999999999999999999", "", nil},
		{"https://github.com/a/b/issues/new", "", nil},
		{"https://github.com/a/b/pulls", "", nil},
		{"https://github.com/features/copilot", "", nil},
		{"https://github.com/a/..", "", nil},
		{"https://github.com/-x/b", "", nil},
		{"https://github.com/a/b%2Fc", "", nil},
		{"https://github.com/a/b%0Ac", "", nil},
		{"https://gist.github.com/a/0123456789abcdef0123456789abcdef", "", nil},
		{"ssh://github.com/a/b", "", nil},
	} {
		got, kind := page.GitHubOf(mustParse(t, tt.url))
		if tt.want != nil {
			tt.want.RepoURL = "https://github.com/" + tt.want.Owner + "/" + tt.want.Repo
			tt.want.CloneURL = tt.want.RepoURL + ".git"
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || kind != tt.kind {
			t.Errorf("GitHubOf(%s) is %q, want %q (-want +got):\n%s", tt.url, kind, tt.kind, diff)
		}
	}
}

func TestGitHubInfoNamesItsRepository(t *testing.T) {
	p := page.New(mustParse(t, "https://github.com/golang/go/issues/42"))
	if got := p.GitHub.RepoURL; got != "https://github.com/golang/go" {
		t.Errorf("RepoURL = %s", got)
	}
	if got := p.GitHub.CloneURL; got != "https://github.com/golang/go.git" {
		t.Errorf("CloneURL = %s", got)
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var again page.Page
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p, &again); diff != "" {
		t.Errorf("after a round trip through JSON (-want +got):\n%s", diff)
	}
}
