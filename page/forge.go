package page

import (
	"net/url"
	"path"
	"slices"
	"strings"
)

// Forge is a kind of host for repositories. It decides what the host's URLs name.
type Forge string

// The forges.
const (
	GitHub    Forge = "github"
	GitLab    Forge = "gitlab"
	Gitea     Forge = "gitea" // and Forgejo
	Bitbucket Forge = "bitbucket"
)

// Forges lists the forges, and KnownForges those of hosts that need no configuration.
var (
	Forges      = []Forge{GitHub, GitLab, Gitea, Bitbucket}
	KnownForges = map[string]Forge{"gitlab.com": GitLab, "codeberg.org": Gitea, "bitbucket.org": Bitbucket}
)

// RepositoryOf returns what u names on GitHub or on a host of KnownForges, with its type; nil if it names nothing
// there.
func RepositoryOf(u *url.URL) (*GitHubInfo, Type) {
	if g, kind := GitHubOf(u); kind != "" {
		return g, kind
	}
	if forge, ok := KnownForges[asciiHost(u)]; ok && defaultPort(u) {
		g, kind := forge.Of(u)
		if kind == Directory {
			kind = Repository
		}
		return g, kind
	}
	return nil, ""
}

// Of returns what u names, with its type, if its host is of this forge; nil if it names nothing. It is for every host,
// also for one that nobody but the operator knows. Types are GitHub's for GitHub, and Directory for a directory.
func (f Forge) Of(u *url.URL) (*GitHubInfo, Type) {
	if f == GitHub {
		return githubOf(u, false)
	}
	parts := segments(u)
	if u.Scheme != "http" && u.Scheme != "https" || len(parts) < 2 {
		return nil, ""
	}
	names := 2
	if f == GitLab {
		names, parts = gitlabNames(parts)
	}
	if names < 2 || len(parts) < names || forgeSection(parts[0]) ||
		slices.ContainsFunc(parts[:names], func(s string) bool { return !repositoryName(s) }) {
		return nil, ""
	}
	parts[names-1] = strings.TrimSuffix(parts[names-1], ".git")
	g := &GitHubInfo{Owner: strings.Join(parts[:names-1], "/"), Repo: parts[names-1]}
	g.addresses(&url.URL{Scheme: u.Scheme, Host: Authority(u)})
	rest := parts[names:]
	if len(rest) == 0 {
		return g, Repository
	}
	var kind Type
	switch f {
	case GitLab:
		g, kind = g.gitlab(rest)
	case Gitea:
		g, kind = g.gitea(rest)
	default:
		g, kind = g.bitbucket(rest)
	}
	if kind == GitHubFile {
		kind = RepositoryFile
	}
	return g, kind
}

// gitlabNames returns, for the forge GitLab, how many of the first segments name a GitLab project with its groups, and
// the segments without the "-" that ends these names. Older URLs do not have it, but no project may be called as what
// follows.
func gitlabNames(parts []string) (int, []string) {
	if i := slices.Index(parts, "-"); i >= 0 {
		return i, slices.Delete(slices.Clone(parts), i, i+1)
	}
	for i := 2; i < len(parts)-1; i++ {
		switch parts[i] {
		case "blob", "tree", "raw":
			return i, parts
		case "issues", "merge_requests":
			if number(parts[i+1]) > 0 {
				return i, parts
			}
		}
	}
	return len(parts), parts
}

// gitlab reads what follows the name of a GitLab project in a URL: a file, a directory, an issue or a merge request. It
// returns nil for every other page of the project.
func (g *GitHubInfo) gitlab(rest []string) (*GitHubInfo, Type) {
	if len(rest) < 2 {
		return nil, ""
	}
	switch rest[0] {
	case "blob", "raw":
		return g.file(rest[1:])
	case "tree":
		return g.directory(rest[1:])
	case "issues", "work_items":
		g.IssueNumber = number(rest[1])
		return named(g, Issue, g.IssueNumber > 0)
	case "merge_requests":
		g.PRNumber = number(rest[1])
		return named(g, PullRequest, g.PRNumber > 0)
	}
	return nil, ""
}

// gitea reads what follows the name of a repository on Gitea or Forgejo, where the path says whether a branch, a tag or
// a commit is meant.
func (g *GitHubInfo) gitea(rest []string) (*GitHubInfo, Type) {
	switch {
	case len(rest) >= 3 && (rest[0] == "src" || rest[0] == "raw") && (rest[1] == "branch" || rest[1] == "tag" ||
		rest[1] == "commit"):
		if rest[0] == "src" { // of a file or of a directory: only the host knows
			return g.fileOrDirectory(rest[2:])
		}
		return g.file(rest[2:])
	case len(rest) >= 2 && rest[0] == "issues":
		g.IssueNumber = number(rest[1])
		return named(g, Issue, g.IssueNumber > 0)
	case len(rest) >= 2 && rest[0] == "pulls":
		g.PRNumber = number(rest[1])
		return named(g, PullRequest, g.PRNumber > 0)
	}
	return nil, ""
}

// bitbucket reads what follows the name of a repository on Bitbucket, which has one form of address, src, for files and
// directories.
func (g *GitHubInfo) bitbucket(rest []string) (*GitHubInfo, Type) {
	if len(rest) < 2 {
		return nil, ""
	}
	switch rest[0] {
	case "src":
		return g.fileOrDirectory(rest[1:])
	case "raw":
		return g.file(rest[1:])
	case "issues":
		g.IssueNumber = number(rest[1])
		return named(g, Issue, g.IssueNumber > 0)
	case "pull-requests":
		g.PRNumber = number(rest[1])
		return named(g, PullRequest, g.PRNumber > 0)
	}
	return nil, ""
}

// fileOrDirectory guesses which of the two a URL names that says only where it is: a directory is a branch alone, ends
// with a slash, or has a name without a dot that is not one that files have.
func (g *GitHubInfo) fileOrDirectory(ref []string) (*GitHubInfo, Type) {
	if len(ref) < 2 {
		return g.directory(ref)
	}
	switch name := path.Base(ref[len(ref)-1]); {
	case strings.Contains(strings.TrimLeft(name, "."), "."), strings.ToUpper(name) == name, name == "Makefile",
		name == "Dockerfile", name == "Jenkinsfile", name == "Gemfile", name == "Rakefile", name == "Procfile",
		name == "Vagrantfile", name == "go.mod", strings.HasPrefix(name, ".git"):
		return g.file(ref)
	}
	return g.directory(ref)
}

// forgeSection reports whether the first path segment is a section of a GitLab, Gitea or Bitbucket host (help, explore,
// users) and so no owner.
func forgeSection(name string) bool {
	switch strings.ToLower(name) {
	case "account", "admin", "api", "assets", "attachments", "avatars", "blog", "captcha", "dashboard", "devtest",
		"explore", "files", "groups", "health", "healthz", "help", "import", "invites", "issues", "jwt", "login", "metrics",
		"milestones", "notifications", "oauth", "org", "product", "profile", "projects", "public", "pulls", "repo",
		"robots.txt", "s", "search", "site", "sitemap.xml", "snippets", "ssh_info", "support", "swagger.v1.json",
		"unsubscribes", "user", "users", "uploads", "v2":
		return true
	}
	return false
}
