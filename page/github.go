package page

import (
	"net/url"
	"path"
	"strconv"
	"strings"
)

// GitHubInfo is what a URL of GitHub, or of another [Forge], names. A field is empty if the URL does not name it.
// It is also the member github_info of the page object, so its names are the API's.
type GitHubInfo struct {
	Owner       string `json:"owner"` // on GitLab with the groups above it: "group/subgroup"
	Repo        string `json:"repo"`  // without ".git"
	Branch      string `json:"branch,omitempty"`
	Path        string `json:"path,omitempty"`
	IssueNumber int    `json:"issue_number,omitempty"`
	PRNumber    int    `json:"pr_number,omitempty"` // of a pull or merge request
	RepoURL     string `json:"repo_url,omitempty"`  // address of the repository (rule B36)
	CloneURL    string `json:"clone_url,omitempty"` // what git clones it from
}

// GitHubOf returns what u names on github.com or raw.githubusercontent.com, with its type; nil if that is not a
// repository, a file, an issue or a pull request (rules B2, B3).
// On any other port than the scheme's a host called github.com is not GitHub.
func GitHubOf(u *url.URL) (*GitHubInfo, Type) {
	host := asciiHost(u)
	if host != "raw.githubusercontent.com" && host != "github.com" && host != "www.github.com" || !defaultPort(u) {
		return nil, ""
	}
	g, kind := githubOf(u, host == "raw.githubusercontent.com")
	if kind == Directory {
		return nil, "" // rule B2: a repository, and nothing further
	}
	return g, kind
}

// githubOf reads the path of a URL as github.com does, or, with raw, as raw.githubusercontent.com does, where the
// branch follows the repository at once. It does not look at the host's name, so that it serves GitHub Enterprise
// hosts, too; a directory has the type [Directory].
func githubOf(u *url.URL, raw bool) (*GitHubInfo, Type) {
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, ""
	}
	parts := segments(u)
	if len(parts) < 2 || !repositoryName(parts[0]) || !repositoryName(parts[1]) || !raw && githubSection(parts[0]) {
		return nil, ""
	}
	g := &GitHubInfo{Owner: parts[0], Repo: parts[1]}
	base := &url.URL{Scheme: u.Scheme, Host: Authority(u)}
	if host := asciiHost(u); raw || host == "www.github.com" || host == "github.com" {
		base = &url.URL{Scheme: "https", Host: "github.com"}
	}
	g.addresses(base)
	switch {
	case raw:
		return g.file(parts[2:])
	case len(parts) == 2:
		return g, GitHubRepo
	case parts[2] == "blob", parts[2] == "raw":
		return g.file(parts[3:])
	case parts[2] == "tree" && len(parts) > 3:
		return g.directory(parts[3:])
	case parts[2] == "issues" && len(parts) == 4:
		g.IssueNumber = number(parts[3])
		return named(g, GitHubIssue, g.IssueNumber > 0)
	case parts[2] == "pull" && len(parts) >= 4:
		g.PRNumber = number(parts[3])
		return named(g, GitHubPR, g.PRNumber > 0)
	}
	return nil, ""
}

// addresses sets the addresses of the repository on the host at base.
func (g *GitHubInfo) addresses(base *url.URL) {
	g.RepoURL = base.JoinPath(g.Owner, g.Repo).String()
	g.CloneURL = g.RepoURL + ".git"
}

// file takes, for a file of GitHub, branch and path from what follows a repository's name.
//
// A URL does not tell where the name of a branch with slashes ends. The first segment, or the one after refs/heads and
// refs/tags, is taken as the branch, and the rest as Path. The address of the file's content is the same wherever they
// are divided.
func (g *GitHubInfo) file(ref []string) (*GitHubInfo, Type) {
	if ref = shortRef(ref); len(ref) < 2 {
		return nil, ""
	}
	g.Branch, g.Path = ref[0], strings.Join(ref[1:], "/")
	return g, GitHubFile
}

// directory is file for a directory, which may be the whole tree of a branch.
func (g *GitHubInfo) directory(ref []string) (*GitHubInfo, Type) {
	ref = shortRef(ref)
	g.Branch, g.Path = ref[0], strings.Join(ref[1:], "/")
	return g, Directory
}

// shortRef drops, of a URL of GitHub, refs/heads and refs/tags before the name of a branch or tag. A URL may name a
// branch either way, and both must become one Branch.
func shortRef(ref []string) []string {
	if len(ref) >= 3 && ref[0] == "refs" && (ref[1] == "heads" || ref[1] == "tags") {
		return ref[2:]
	}
	return ref
}

// named returns g, what a URL of GitHub names, with its type if the number in the URL was one, else nil: a URL such as
// issues/new names no issue.
func named(g *GitHubInfo, t Type, ok bool) (*GitHubInfo, Type) {
	if !ok {
		return nil, ""
	}
	return g, t
}

// number reads the number of an issue or a pull request of GitHub from a segment of a path; 0 for what is none. 31 bits
// hold any that a forge gives and fit an int of every machine.
func number(s string) int {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		return 0
	}
	return int(n)
}

// repositoryName reports whether s can be the name of an owner or a repository: letters, digits, and the marks that
// GitHub and other forges take.
func repositoryName(s string) bool {
	if s == "" || s == "." || s == ".." || s[0] == '-' || len(s) > 100 {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
	}) < 0
}

// segments returns the parts of the path of a URL of GitHub or another forge, unescaped and without empty ones, the
// ".git" of a repository's clone URL dropped. It splits before it unescapes: %2F is part of a segment.
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
		"topics", "trending", "users", "watching":
		return true
	}
	return false
}

// Name returns a short name of what g names, for lists and logs: owner/repo, owner/repo/file, owner/repo#N for an
// issue, owner/repo!N for a pull or merge request.
func (g *GitHubInfo) Name(t Type) string {
	switch {
	case t.IsFile(), t == Directory && g.Path != "":
		return g.Owner + "/" + g.Repo + "/" + path.Base(g.Path)
	case g.IssueNumber > 0:
		return g.Owner + "/" + g.Repo + "#" + strconv.Itoa(g.IssueNumber)
	case g.PRNumber > 0:
		return g.Owner + "/" + g.Repo + "!" + strconv.Itoa(g.PRNumber)
	}
	return g.Owner + "/" + g.Repo
}
