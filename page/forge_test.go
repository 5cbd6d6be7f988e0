package page_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/page"
)

func TestURLsOfForges(t *testing.T) {
	for _, tt := range []struct {
		url     string
		kind    page.Type
		display string
		want    page.GitHubInfo
	}{
		{"https://gitlab.com/a/b", page.Repository, "a/b", page.GitHubInfo{Owner: "a", Repo: "b"}},
		{"https://gitlab.com/a/b/c.git", page.Repository, "a/b/c", page.GitHubInfo{Owner: "a/b", Repo: "c"}},
		{
			"https://gitlab.com/a/b/c/-/blob/main/x/y.go#L3", page.RepositoryFile, "a/b/c/y.go",
			page.GitHubInfo{Owner: "a/b", Repo: "c", Branch: "main", Path: "x/y.go"},
		},
		{
			"https://gitlab.com/a/b/blob/main/y.go", page.RepositoryFile, "a/b/y.go",
			page.GitHubInfo{Owner: "a", Repo: "b", Branch: "main", Path: "y.go"},
		},
		{
			"https://gitlab.com/a/b/-/tree/main/x?ref_type=heads", page.Repository, "a/b",
			page.GitHubInfo{Owner: "a", Repo: "b", Branch: "main", Path: "x"},
		},
		{"https://gitlab.com/a/b/-/issues/7", page.Issue, "a/b#7", page.GitHubInfo{Owner: "a", Repo: "b", IssueNumber: 7}},
		{
			"https://gitlab.com/a/b/-/work_items/7", page.Issue, "a/b#7",
			page.GitHubInfo{Owner: "a", Repo: "b", IssueNumber: 7},
		},
		{
			"https://gitlab.com/a/b/c/-/merge_requests/8/diffs", page.PullRequest, "a/b/c!8",
			page.GitHubInfo{Owner: "a/b", Repo: "c", PRNumber: 8},
		},
		{"https://codeberg.org/a/b", page.Repository, "a/b", page.GitHubInfo{Owner: "a", Repo: "b"}},
		{
			"https://codeberg.org/a/b/src/branch/main/x/y.go", page.RepositoryFile, "a/b/y.go",
			page.GitHubInfo{Owner: "a", Repo: "b", Branch: "main", Path: "x/y.go"},
		},
		{
			"https://codeberg.org/a/b/src/tag/v1/x", page.Repository, "a/b",
			page.GitHubInfo{Owner: "a", Repo: "b", Branch: "v1", Path: "x"},
		},
		{
			"https://codeberg.org/a/b/src/branch/main/Makefile", page.RepositoryFile, "a/b/Makefile",
			page.GitHubInfo{Owner: "a", Repo: "b", Branch: "main", Path: "Makefile"},
		},
		{"https://codeberg.org/a/b/pulls/8", page.PullRequest, "a/b!8", page.GitHubInfo{Owner: "a", Repo: "b", PRNumber: 8}},
		{
			"https://bitbucket.org/a/b/src/main/x/y.go", page.RepositoryFile, "a/b/y.go",
			page.GitHubInfo{Owner: "a", Repo: "b", Branch: "main", Path: "x/y.go"},
		},
		{
			"https://bitbucket.org/a/b/pull-requests/8/title", page.PullRequest, "a/b!8",
			page.GitHubInfo{Owner: "a", Repo: "b", PRNumber: 8},
		},
	} {
		p := page.New(mustParse(t, tt.url))
		u := mustParse(t, tt.url)
		tt.want.RepoURL = "https://" + u.Host + "/" + tt.want.Owner + "/" + tt.want.Repo
		tt.want.CloneURL = tt.want.RepoURL + ".git"
		if diff := cmp.Diff(&tt.want, p.GitHub); diff != "" || p.Type != tt.kind || p.Display != tt.display {
			t.Errorf("%s is %s, shown as %s; want %s, %s (-want +got):\n%s", tt.url, p.Type, p.Display, tt.kind, tt.display,
				diff)
		}
	}
	for _, other := range []string{
		"https://gitlab.com/explore/projects", "https://gitlab.com/a", "https://gitlab.com/a/b/-/pipelines",
		"https://gitlab.com/-/snippets/7", "https://codeberg.org/user/login", "https://codeberg.org/a/b/issues",
		"https://codeberg.org/a/b/releases", "https://bitbucket.org/product/pricing", "https://gitlab.com:8443/a/b",
		"https://git.example.com/a/b", "https://gitlab.com/a/..", "https://gitlab.com/a/%2e%2e/b",
	} {
		if p := page.New(mustParse(t, other)); p.GitHub != nil || p.Type != page.Web {
			t.Errorf("%s is %s, %+v; want a page like others", other, p.Type, p.GitHub)
		}
	}
}
