package page

import (
	"net/url"
	"strings"
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

// documentationPath classifies a path: it reports whether the path of a URL says that documentation stands there: it
// has such a directory, or ends with its name. Letter case does not count.
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

// digits reports, for the class of a URL, whether a text is one or more ASCII digits: a port, a version, a number in a
// parameter.
func digits(s string) bool {
	for _, r := range s {
		if r < '0' || r > '9' {
			return false
		}
	}
	return s != ""
}
