package page

import (
	"net/url"
	"strconv"
	"strings"
)

// GitHubInfo is what a URL of GitHub, or of an Enterprise Server, names. A field is empty if the URL does not name it.
type GitHubInfo struct {
	Owner       string `json:"owner"`
	Repo        string `json:"repo"` // without ".git"
	Branch      string `json:"branch,omitempty"`
	Path        string `json:"path,omitempty"`
	IssueNumber int    `json:"issue_number,omitempty"`
	PRNumber    int    `json:"pr_number,omitempty"`
}

// RepoURL returns the address of the repository on github.com (rule B36).
func (g *GitHubInfo) RepoURL() string { return "https://github.com/" + g.Owner + "/" + g.Repo }

// CloneURL returns the address that git clones the repository from (rule B36).
func (g *GitHubInfo) CloneURL() string { return g.RepoURL() + ".git" }

// GitHubOf returns what u names on github.com or raw.githubusercontent.com, with its type; nil if that is not a
// repository, a file, an issue or a pull request (rules B2, B3).
//
// A URL does not tell where the name of a branch with slashes ends. The first segment after blob, or after refs/heads
// and refs/tags, is taken as the branch, and the rest as Path. The address of the file's content is the same wherever
// they are divided.
func GitHubOf(u *url.URL) (*GitHubInfo, Type) {
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, ""
	}
	host := asciiHost(u)
	raw := host == "raw.githubusercontent.com"
	if !raw && host != "github.com" && host != "www.github.com" || !defaultPort(u) {
		return nil, ""
	}
	parts := segments(u)
	if len(parts) < 2 || !githubName(parts[0]) || !githubName(parts[1]) || !raw && githubSection(parts[0]) {
		return nil, ""
	}
	g := &GitHubInfo{Owner: parts[0], Repo: parts[1]}
	switch {
	case raw:
		return g.file(parts[2:])
	case len(parts) == 2:
		return g, GitHubRepo
	case parts[2] == "blob", parts[2] == "raw":
		return g.file(parts[3:])
	case parts[2] == "issues" && len(parts) == 4:
		g.IssueNumber = number(parts[3])
		return named(g, GitHubIssue, g.IssueNumber > 0)
	case parts[2] == "pull" && len(parts) >= 4:
		g.PRNumber = number(parts[3])
		return named(g, GitHubPR, g.PRNumber > 0)
	}
	return nil, ""
}

// file takes branch and path from what follows a repository's name.
func (g *GitHubInfo) file(ref []string) (*GitHubInfo, Type) {
	if len(ref) >= 4 && ref[0] == "refs" && (ref[1] == "heads" || ref[1] == "tags") {
		ref = ref[2:]
	}
	if len(ref) < 2 {
		return nil, ""
	}
	g.Branch, g.Path = ref[0], strings.Join(ref[1:], "/")
	return g, GitHubFile
}

func named(g *GitHubInfo, t Type, ok bool) (*GitHubInfo, Type) {
	if !ok {
		return nil, ""
	}
	return g, t
}

// number reads the number of an issue; 0 for what is none.
func number(s string) int {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		return 0
	}
	return int(n)
}

// githubName reports whether s can be the name of an owner or a repository: letters, digits, and the marks that GitHub
// takes.
func githubName(s string) bool {
	if s == "" || s == "." || s == ".." || s[0] == '-' || len(s) > 100 {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
	}) < 0
}

// segments returns the path's parts, unescaped and without empty ones, the ".git" of a repository's clone URL dropped.
func segments(u *url.URL) []string {
	parts := strings.FieldsFunc(u.EscapedPath(), func(r rune) bool { return r == '/' })
	for i, p := range parts {
		if plain, err := url.PathUnescape(p); err == nil {
			parts[i] = plain
		}
	}
	if len(parts) >= 2 {
		parts[1] = strings.TrimSuffix(parts[1], ".git")
	}
	return parts
}

// githubSection reports whether the first path segment is one of GitHub's own sections and so no owner.
func githubSection(name string) bool {
	switch strings.ToLower(name) {
	case "about", "account", "apps", "codespaces", "collections", "contact", "customer-stories", "dashboard",
		"discussions", "enterprise",
		"events", "explore", "features", "issues", "join", "login", "logout", "marketplace", "new", "notifications",
		"organizations", "orgs",
		"pricing", "pulls", "readme", "search", "security", "sessions", "settings", "site", "solutions", "sponsors", "stars",
		"topics",
		"trending", "users", "watching":
		return true
	}
	return false
}
