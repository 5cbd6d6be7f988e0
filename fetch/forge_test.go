package fetch_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/fetch/github"
	"github.com/readthru/readthru/fetch/github/githubtest"
	"github.com/readthru/readthru/internal/transport/transporttest"
	"github.com/readthru/readthru/page"
)

// tokens returns the host names that were asked with a secret.
func (c *chain) tokens(secret string) map[string]bool {
	c.origin.mu.Lock()
	defer c.origin.mu.Unlock()
	hosts := map[string]bool{}
	for _, r := range c.origin.requests {
		_, password, _ := r.BasicAuth()
		if strings.Contains(fmt.Sprint(r.Header, r.URL), secret) || password == secret {
			hosts[r.Host] = true
		}
	}
	return hosts
}

func privateSea(t *testing.T) *githubtest.Host {
	t.Helper()
	h := githubtest.New(t)
	h.Add("ann/sea", project)
	h.Private["ann/sea"], h.Token = true, "ghp_secret"
	return h
}

func TestPrivateRepositoryIsReadWithTheTokenAndNotKept(t *testing.T) {
	for name, change := range map[string]func(*githubtest.Host){
		"archive": func(*githubtest.Host) {}, "clone": func(h *githubtest.Host) { h.NoArchives = true },
		"no answer of the API": func(h *githubtest.Host) { h.APIStatus = http.StatusForbidden },
	} {
		t.Run(name, func(t *testing.T) {
			h := privateSea(t)
			change(h)
			c := newChain(t, h, withGitHub(&github.Options{
				Token: "ghp_secret", Git: "git", Dir: filepath.Join(t.TempDir(), "git"),
			}))
			ans := c.readOwn(t, "https://github.com/ann/sea")
			contains(t, "the page", string(ans.Body), "# Sea\n", "docs/: guide.md")
			lacks(t, "the page", fmt.Sprint(ans.Page)+string(ans.Body), "ghp_secret")
			if !ans.Private || ans.Page.Stored || c.stored(t, "https://github.com/ann/sea") != nil {
				t.Errorf("private %v, stored %v: want a private page that is not kept", ans.Private, ans.Page.Stored)
			}
		})
	}
}

func TestPrivateRepositoryIsKeptByAPrivateCache(t *testing.T) {
	c := newChain(t, privateSea(t), withGitHub(&github.Options{Token: "ghp_secret"}),
		func(o *fetch.Options) { o.Private = true })
	if ans := c.readOwn(t, "https://github.com/ann/sea"); !ans.Private || !ans.Page.Stored {
		t.Errorf("private %v, stored %v, want both", ans.Private, ans.Page.Stored)
	}
}

func TestPrivateFileIsReadWithTheTokenAndNotKept(t *testing.T) {
	h := privateSea(t)
	githubtest.Git(t, filepath.Join(h.Root, "ann/sea.git"), "branch", "-m", "main", "master")
	c := newChain(t, h, withGitHub(&github.Options{Token: "ghp_secret"}))
	for range 2 { // the second time it is known that it needs the token
		ans := c.readOwn(t, "https://github.com/ann/sea/blob/main/sea.go")
		contains(t, "the file", string(ans.Body), "```go\npackage sea")
		if !ans.Private || ans.Page.Stored || ans.Page.GitHub.Branch != "master" {
			t.Errorf("private %v, page %+v", ans.Private, ans.Page)
		}
	}
	if _, err := c.own(t, "https://github.com/ann/sea/blob/main/none.go"); err == nil ||
		err.Error() != "HTTP 404 fetching https://github.com/ann/sea/blob/main/none.go" {
		t.Errorf("error %v, want 404", err)
	}
}

func TestPublicRepositoryIsReadWithoutTheToken(t *testing.T) {
	h := privateSea(t)
	h.Private = map[string]bool{}
	h.API = githubtest.Discussions()
	c := newChain(t, h, withGitHub(&github.Options{Token: "ghp_secret"}))
	for _, u := range []string{"https://github.com/ann/sea", "https://github.com/ann/sea/blob/main/sea.go"} {
		if ans := c.readOwn(t, u); ans.Private || !ans.Page.Stored {
			t.Errorf("%s: private %v, stored %v", u, ans.Private, ans.Page.Stored)
		}
	}
	if got := c.tokens("ghp_secret"); len(got) != 1 || !got["api.github.com"] {
		t.Errorf("asked with the token: %v, want the API alone", got)
	}
}

func TestTokenDoesNotFollowARedirectToAnotherHost(t *testing.T) {
	h := privateSea(t)
	c := newChain(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" &&
			(r.Host == "codeload.github.com" || r.Host == "raw.githubusercontent.com") {
			http.Redirect(w, r, "https://storage.site.test"+r.URL.Path, http.StatusFound)
			return
		}
		if r.Host == "storage.site.test" {
			r.Host, r.Header = "codeload.github.com", http.Header{"Authorization": {"Bearer " + h.Token}}
		}
		h.ServeHTTP(w, r)
	}), withGitHub(&github.Options{Token: "ghp_secret"}))
	ans := c.readOwn(t, "https://github.com/ann/sea")
	contains(t, "the page", string(ans.Body), "# Sea\n")
	_, _ = c.own(t, "https://github.com/ann/sea/blob/main/sea.go")
	if got := c.tokens("ghp_secret"); got["storage.site.test"] || !got["codeload.github.com"] {
		t.Errorf("asked with the token: %v", got)
	}
	if !strings.Contains(fmt.Sprint(c.origin.asked()), "storage.site.test") {
		t.Error("the redirect was not followed at all")
	}
}

func TestCredentialHelperOfGitIsAskedWhenItIsAllowed(t *testing.T) {
	config := filepath.Join(t.TempDir(), "gitconfig")
	helper := "[credential \"https://github.com\"]\n\thelper = \"!f() { test \\\"$1\\\" = get && echo " +
		"username=ann && echo password=ghp_secret; }; f\"\n"
	if err := os.WriteFile(config, []byte(helper), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", config)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	for _, allowed := range []bool{true, false} {
		h := privateSea(t)
		c := newChain(t, h, withGitHub(&github.Options{
			CredentialHelper: allowed, Git: "git", Dir: filepath.Join(t.TempDir(), "git"),
		}))
		ans, err := c.own(t, "https://github.com/ann/sea")
		if read := err == nil && strings.Contains(string(ans.Body), "# Sea\n"); read != allowed {
			t.Errorf("helper allowed %v: read %v, %v", allowed, read, err)
		}
		if got := c.tokens("ghp_secret"); len(got) > 0 != allowed {
			t.Errorf("helper allowed %v: asked with its password: %v", allowed, got)
		}
	}
}

// forgeCase is a repository on a forge, with the addresses of what is in it.
type forgeCase struct {
	serve                                             func(*githubtest.Host) http.Handler
	name                                              string // of the repository
	repository, file, directory, issue, pull, markURL string
	api                                               map[string]any
}

type object = map[string]any

var forgeCases = map[string]forgeCase{
	"gitlab": {
		serve: (*githubtest.Host).GitLab, name: "ann/salt/sea", repository: "https://gitlab.com/ann/salt/sea",
		file:      "https://gitlab.com/ann/salt/sea/-/blob/feature/x/sea.go",
		directory: "https://gitlab.com/ann/salt/sea/-/tree/feature/x/docs",
		issue:     "https://gitlab.com/ann/salt/sea/-/issues/7", pull: "https://gitlab.com/ann/salt/sea/-/merge_requests/8",
		markURL: "https://gitlab.com/ann/salt/sea/-/blob/HEAD/docs/guide.md#start",
		api: map[string]any{
			"/projects/ann%2Fsalt%2Fsea?license=true": object{
				"path_with_namespace": "ann/salt/sea", "description": "About the sea", "default_branch": "main",
				"license": object{"name": "MIT License"},
			},
			"/projects/ann%2Fsalt%2Fsea/issues/7": object{
				"iid": 7, "title": "It leaks", "state": "closed", "description": "See this", "labels": []string{"bug"},
				"author": object{"username": "ann"}, "user_notes_count": 1, "created_at": "2024-01-01T10:00:00Z",
			},
			"/projects/ann%2Fsalt%2Fsea/issues/7/notes?sort=asc&order_by=created_at&per_page=100&page=1": []object{
				{"body": "added a label", "system": true},
				{"body": "I see it too", "author": object{"username": "bob"}, "created_at": "2024-02-01T00:00:00Z"},
			},
			"/projects/ann%2Fsalt%2Fsea/merge_requests/8": object{
				"iid": 8, "title": "Mend it", "state": "merged", "author": object{"username": "ann"}, "user_notes_count": 1,
				"source_branch": "fix", "target_branch": "main", "changes_count": "2", "created_at": "2024-01-01T10:00:00Z",
			},
			"/projects/ann%2Fsalt%2Fsea/merge_requests/8/notes?sort=asc&order_by=created_at&per_page=100&page=1": []object{
				{
					"body": "Why?", "author": object{"username": "bob"}, "created_at": "2024-02-01T00:00:00Z",
					"position": object{"new_path": "sea.go", "new_line": 12},
				},
			},
		},
	},
	"gitea": {
		serve: (*githubtest.Host).Gitea, name: "ann/sea", repository: "https://codeberg.org/ann/sea",
		file:      "https://codeberg.org/ann/sea/src/branch/feature/x/sea.go",
		directory: "https://codeberg.org/ann/sea/src/branch/feature/x/docs",
		issue:     "https://codeberg.org/ann/sea/issues/7", pull: "https://codeberg.org/ann/sea/pulls/8",
		markURL: "https://codeberg.org/ann/sea/src/branch/main/docs/guide.md#start",
		api: map[string]any{
			"/repos/ann/sea": object{"full_name": "ann/sea", "description": "About the sea", "default_branch": "main"},
			"/repos/ann/sea/issues/7": object{
				"number": 7, "title": "It leaks", "state": "closed", "body": "See this", "labels": []object{{"name": "bug"}},
				"user": object{"login": "ann"}, "comments": 1, "created_at": "2024-01-01T10:00:00Z",
			},
			"/repos/ann/sea/issues/7/comments": []object{
				{"body": "I see it too", "user": object{"login": "bob"}, "created_at": "2024-02-01T00:00:00Z"},
			},
			"/repos/ann/sea/issues/8": object{
				"number": 8, "title": "Mend it", "state": "closed", "user": object{"login": "ann"},
				"pull_request": object{"merged": true},
				"created_at":   "2024-01-01T10:00:00Z",
			},
			"/repos/ann/sea/pulls/8": object{
				"merged": true, "head": object{"label": "fix"}, "base": object{"ref": "main"}, "changed_files": 2,
			},
			"/repos/ann/sea/pulls/8/reviews": []object{{"id": 3, "user": object{"login": "bob"}, "comments_count": 1}},
			"/repos/ann/sea/pulls/8/reviews/3/comments": []object{{
				"body": "Why?", "user": object{"login": "bob"}, "created_at": "2024-02-01T00:00:00Z", "path": "sea.go",
				"position": 12,
			}},
		},
	},
	"bitbucket": {
		serve: (*githubtest.Host).Bitbucket, name: "ann/sea", repository: "https://bitbucket.org/ann/sea",
		file:      "https://bitbucket.org/ann/sea/src/feature/x/sea.go",
		directory: "https://bitbucket.org/ann/sea/src/feature/x/docs/",
		issue:     "https://bitbucket.org/ann/sea/issues/7/it-leaks", pull: "https://bitbucket.org/ann/sea/pull-requests/8",
		markURL: "https://bitbucket.org/ann/sea/src/HEAD/docs/guide.md#start",
		api: map[string]any{
			"/repositories/ann/sea": object{
				"full_name": "ann/sea", "description": "About the sea", "mainbranch": object{"name": "main"}, "is_private": false,
			},
			"/repositories/ann/sea/issues/7": object{
				"id": 7, "title": "It leaks", "state": "closed", "content": object{"raw": "See this"}, "kind": "bug",
				"reporter": object{"display_name": "Ann", "nickname": "ann"}, "created_on": "2024-01-01T10:00:00Z",
			},
			"/repositories/ann/sea/issues/7/comments?pagelen=100": object{"size": 1, "values": []object{{
				"content": object{"raw": "I see it too"}, "user": object{"nickname": "bob"}, "created_on": "2024-02-01T00:00:00Z",
			}}},
			"/repositories/ann/sea/pullrequests/8": object{
				"id": 8, "title": "Mend it", "state": "MERGED", "author": object{"nickname": "ann"},
				"source": object{"branch": object{"name": "fix"}}, "destination": object{"branch": object{"name": "main"}},
				"created_on": "2024-01-01T10:00:00Z",
			},
			"/repositories/ann/sea/pullrequests/8/comments?pagelen=100": object{"size": 1, "values": []object{{
				"content": object{"raw": "Why?"}, "user": object{"nickname": "bob"}, "created_on": "2024-02-01T00:00:00Z",
				"inline": object{"path": "sea.go", "to": 12},
			}}},
		},
	},
}

// TestOtherForgesAreReadAsGitHubIs reads a public repository of each forge, then the same one as a private one.
func TestOtherForgesAreReadAsGitHubIs(t *testing.T) {
	for name, tt := range forgeCases {
		for _, private := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, private %v", name, private), func(t *testing.T) {
				h := githubtest.New(t)
				h.Add(tt.name, project)
				githubtest.Git(t, filepath.Join(h.Root, tt.name+".git"), "branch", "feature/x", "main")
				h.API, h.Private[tt.name], h.Token = tt.api, private, "forge_secret"
				host := parse(t, tt.repository)
				host.Path = ""
				c := newChain(t, tt.serve(h), withSymbols(t), withGitHub(&github.Options{
					Forges: []github.Host{{Kind: page.Forge(name), URL: host.String(), Token: "forge_secret"}},
				}))
				tt.read(t, c, private)
				for asked := range c.tokens("forge_secret") {
					if asked != host.Host && asked != "api."+host.Host {
						t.Errorf("%s was asked with the token", asked)
					}
				}
			})
		}
	}
}

func (tt *forgeCase) read(t *testing.T, c *chain, private bool) {
	t.Helper()
	read := func(u string, kind page.Type, wants ...string) *fetch.Answer {
		t.Helper()
		ans := c.readOwn(t, u)
		contains(t, u, string(ans.Body), wants...)
		if ans.Page.Type != kind || ans.Private != private || ans.Page.Stored == private {
			t.Errorf("%s: type %s, private %v, stored %v; want %s, %v, %v", u, ans.Page.Type, ans.Private,
				ans.Page.Stored, kind,
				private, !private)
		}
		return ans
	}
	whole := read(tt.repository, page.Repository, "# Sea\n", "docs/: guide.md", "Wave(height int) error", tt.markURL)
	if p := whole.Page; p.GitHub == nil || p.GitHub.Branch != "main" || p.GitHub.RepoURL != tt.repository ||
		p.GitHub.CloneURL != tt.repository+".git" || p.Description != "About the sea" || p.Display != tt.name {
		t.Errorf("page %+v, %+v", p, p.GitHub)
	}
	file := read(tt.file, page.RepositoryFile, "```go\npackage sea")
	if g := file.Page.GitHub; g.Branch != "feature/x" || g.Path != "sea.go" {
		t.Errorf("file %+v", g)
	}
	dir := read(tt.directory, page.Repository, "guide.md")
	lacks(t, tt.directory, string(dir.Body), "sea.go", "# Sea")
	if g := dir.Page.GitHub; g.Branch != "feature/x" || g.Path != "docs" {
		t.Errorf("directory %+v", g)
	}
	read(tt.issue, page.Issue, "# It leaks\n", "- State: closed\n", "- Labels: bug\n", "- Author: ann\n", "See this\n",
		"### bob, 2024-02-01\n", "I see it too\n")
	read(tt.pull, page.PullRequest, "# Mend it\n", "- State: merged\n", "- Branches: fix into main\n",
		"## Review comments\n",
		"### bob, 2024-02-01, on sea.go:12\n", "Why?\n")
}

func TestConfiguredForgeIsReadWhereItIs(t *testing.T) {
	h := githubtest.New(t)
	h.Add("ann/sea", project)
	h.API = forgeCases["gitea"].api
	server := transporttest.Serve(t, h.Gitea())
	c := newChain(t, h, withGitHub(&github.Options{Forges: []github.Host{{Kind: page.Gitea, URL: "http://" + server}}}))
	ans := c.readOwn(t, "http://"+server+"/ann/sea")
	contains(t, "the page", string(ans.Body), "# Sea\n")
	if p := ans.Page; p.Type != page.Repository || p.Display != "ann/sea" ||
		p.GitHub.CloneURL != "http://"+server+"/ann/sea.git" {
		t.Errorf("page %+v, %+v", p, p.GitHub)
	}
}
