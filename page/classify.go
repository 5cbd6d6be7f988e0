package page

import (
	"cmp"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/readthru/readthru/internal/clip"
)

// Type is the kind of a URL (rule B2). Of a page of a forge it decides how package fetch/github reads it;
// [Documentation] tells the converter and the summaries what to expect.
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

// The types of URLs of other forges than GitHub.
const (
	Repository     Type = "repository"
	RepositoryFile Type = "repository_file"
	Issue          Type = "issue"
	PullRequest    Type = "pull_request" // or merge request

	// Directory is the type of a directory of a repository while it is read. No page has it: on GitHub its type is Web, by
	// rule B2, and elsewhere Repository.
	Directory Type = "directory"
)

// IsRepository reports whether t is the type of a repository on any forge.
func (t Type) IsRepository() bool { return t == GitHubRepo || t == Repository }

// IsFile reports whether t is the type of a file of a repository on any forge.
func (t Type) IsFile() bool { return t == GitHubFile || t == RepositoryFile }

// IsDiscussion reports whether t is the type of an issue or a pull request on any forge.
func (t Type) IsDiscussion() bool {
	return t == GitHubIssue || t == GitHubPR || t == Issue || t == PullRequest
}

// Classify says what kind of URL u is, from its text alone (rules B2–B4).
func Classify(u *url.URL) Type {
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return Unknown
	}
	if _, kind := RepositoryOf(u); kind != "" {
		return kind
	}
	if OnHost(asciiHost(u), documentationHosts...) || documentationPath(u.Path) {
		return Documentation
	}
	return Web
}

// documentationHosts are hosts that hold documentation on every path, so that [Classify] need not look at the path. A
// name matches itself and what ends with "." and it.
var documentationHosts = []string{
	"docs.python.org", "developer.mozilla.org", "readthedocs.io", "readthedocs.org", "pkg.go.dev", "docs.rs",
	"doc.rust-lang.org",
	"docs.oracle.com", "docs.microsoft.com", "learn.microsoft.com", "docs.github.com", "cppreference.com",
	"docs.djangoproject.com",
	"kubernetes.io", "nodejs.org", "react.dev", "vuejs.org", "typescriptlang.org", "ruby-doc.org", "hexdocs.pm",
	"docs.ruby-lang.org",
	"docs.aws.amazon.com", "docs.docker.com", "docs.gitlab.com", "docs.npmjs.com", "docs.pytest.org",
	"docs.sqlalchemy.org",
	"docs.anthropic.com", "docs.scala-lang.org", "docs.swift.org", "devdocs.io", "javadoc.io", "godoc.org",
	"cplusplus.com",
}

// documentationPath reports whether the path of a URL says that documentation stands there: it has such a directory, or
// ends with its name. Letter case does not count.
func documentationPath(p string) bool {
	p = strings.ToLower(p)
	for _, mark := range []string{
		"/docs/", "/doc/", "/documentation/", "/api/", "/apidocs/", "/javadoc/", "/reference/", "/manual/",
	} {
		if strings.Contains(p, mark) || strings.HasSuffix(p, strings.TrimSuffix(mark, "/")) {
			return true
		}
	}
	return false
}

// displayMax is the longest display name, in characters (rule B45).
const displayMax = 40

// Display returns a short name of u for people, at most 40 characters (rule B45): owner/repo, owner/repo/file,
// owner/repo#N, owner/repo!N, or host/path. A host that is not ASCII is shown in its DNS form, so that it cannot pass
// for another. User info is never shown.
func Display(u *url.URL) string { return Shown(longName(u)) }

// Shown returns a name as Display does: on one line, and cut.
func Shown(name string) string { return cut(clip.OneLine(name), displayMax) }

// longName returns the display name of a URL before it is cut: what [Display] shortens. It has no query, and of a route
// in the fragment only the path.
func longName(u *url.URL) string {
	if g, kind := RepositoryOf(u); kind != "" {
		return g.Name(kind)
	}
	host := asciiHost(u)
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port := u.Port(); port != "" {
		host += ":" + port
	}
	if Route(u) != "" {
		route, _, _ := strings.Cut(u.Fragment, "?")
		return host + cmp.Or(u.Path, "/") + "#" + route
	}
	return host + strings.TrimSuffix(u.Path, "/")
}

// asciiHost returns u's host without port as it is asked for: in lower case, letters beyond ASCII mapped as a
// connection would map them (UTS 46). Of a name that no connection would take it is the plain encoding.
func asciiHost(u *url.URL) string {
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if strings.IndexFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return host
	}
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		return strings.TrimSuffix(ascii, ".")
	}
	ascii, _ := idna.Punycode.ToASCII(host) // what cannot be encoded stays as it is
	return ascii
}

// cut shortens s to at most limit characters, the last three of them "..." when something was left out (rule B45).
func cut(s string, limit int) string {
	if clip.Runes(s, limit) == s {
		return s
	}
	return clip.Runes(s, limit-len("...")) + "..."
}

// digits reports whether a text is one or more ASCII digits: a port, a version, a number in a parameter.
func digits(s string) bool {
	for _, r := range s {
		if r < '0' || r > '9' {
			return false
		}
	}
	return s != ""
}
