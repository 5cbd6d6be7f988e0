package page

import (
	"net/url"
	"path"
	"strings"
	"unicode/utf8"
)

// Type is the kind of a URL (rule B2).
type Type string

// The types, in the order they are tried.
const (
	GitHubRepo    Type = "github_repo"
	GitHubFile    Type = "github_file"
	GitHubIssue   Type = "github_issue"
	GitHubPR      Type = "github_pr"
	Documentation Type = "documentation"
	Web           Type = "web"
	Unknown       Type = "unknown"
)

// Classify says what kind of URL u is, from its text alone (rules B2–B4).
func Classify(u *url.URL) Type {
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return Unknown
	}
	host := strings.ToLower(u.Hostname())
	if kind, ok := classifyGitHub(host, segments(u)); ok {
		return kind
	}
	if documentationHost(host) || documentationPath(u.Path) {
		return Documentation
	}
	return Web
}

func classifyGitHub(host string, parts []string) (Type, bool) {
	if host == "raw.githubusercontent.com" && len(parts) >= 4 {
		return GitHubFile, true
	}
	if host != "github.com" && host != "www.github.com" || len(parts) < 2 || githubSection(parts[0]) {
		return "", false
	}
	switch {
	case len(parts) == 2:
		return GitHubRepo, true
	case parts[2] == "blob" && len(parts) >= 5:
		return GitHubFile, true
	case parts[2] == "issues" && len(parts) == 4 && digits(parts[3]):
		return GitHubIssue, true
	case parts[2] == "pull" && len(parts) >= 4 && digits(parts[3]):
		return GitHubPR, true
	}
	return "", false
}

// githubSection reports whether the first path segment is one of GitHub's own sections and so no owner.
func githubSection(name string) bool {
	switch strings.ToLower(name) {
	case "about", "apps", "collections", "contact", "customer-stories", "enterprise", "events", "explore", "features", "login",
		"marketplace", "notifications", "orgs", "pricing", "search", "security", "settings", "site", "sponsors", "stars", "topics", "trending":
		return true
	}
	return false
}

// documentationHosts are hosts that hold documentation on every path; a name matches itself and what ends with "." and it.
var documentationHosts = []string{
	"docs.python.org", "developer.mozilla.org", "readthedocs.io", "readthedocs.org", "pkg.go.dev", "docs.rs", "doc.rust-lang.org",
	"docs.oracle.com", "docs.microsoft.com", "learn.microsoft.com", "docs.github.com", "cppreference.com", "docs.djangoproject.com",
	"kubernetes.io", "nodejs.org", "react.dev", "vuejs.org", "typescriptlang.org", "ruby-doc.org", "hexdocs.pm",
}

func documentationHost(host string) bool {
	for _, h := range documentationHosts {
		if host == h || strings.HasSuffix(host, "."+h) {
			return true
		}
	}
	return false
}

func documentationPath(p string) bool {
	p = strings.ToLower(p)
	for _, mark := range []string{"/docs/", "/documentation/", "/api/", "/reference/"} {
		if strings.Contains(p, mark) || strings.HasSuffix(p, strings.TrimSuffix(mark, "/")) {
			return true
		}
	}
	return false
}

// displayMax is the longest display name, in characters (rule B45).
const displayMax = 40

// Display returns a short name of u for people, at most 40 characters (rule B45): owner/repo, owner/repo/file, owner/repo#N,
// owner/repo!N, else host/path.
func Display(u *url.URL) string {
	parts := segments(u)
	name := strings.ToLower(u.Host) + strings.TrimSuffix(u.Path, "/")
	switch Classify(u) {
	case GitHubRepo:
		name = parts[0] + "/" + parts[1]
	case GitHubFile:
		name = parts[0] + "/" + parts[1] + "/" + path.Base(u.Path)
	case GitHubIssue:
		name = parts[0] + "/" + parts[1] + "#" + parts[3]
	case GitHubPR:
		name = parts[0] + "/" + parts[1] + "!" + parts[3]
	}
	return cut(name, displayMax)
}

// cut shortens s to at most limit characters, the last three of them "..." when something was left out.
func cut(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit-3]) + "..."
}

// segments returns the path's parts without empty ones, the ".git" of a repository's clone URL dropped.
func segments(u *url.URL) []string {
	parts := strings.FieldsFunc(u.Path, func(r rune) bool { return r == '/' })
	if len(parts) == 2 {
		parts[1] = strings.TrimSuffix(parts[1], ".git")
	}
	return parts
}

func digits(s string) bool {
	for _, r := range s {
		if r < '0' || r > '9' {
			return false
		}
	}
	return s != ""
}
