package github

import (
	"fmt"
	"net/url"
	"strings"

	"readthru/page"
)

// Target is what a URL names on GitHub.
type Target struct {
	*page.GitHubInfo // nil for a gist
	Type             page.Type

	*host
	ref  string // of a file: branch and path as the URL has them, escaped
	gist string // id of a gist
}

// Target returns what u names on GitHub, or nil if this package does not read it: issues and pull requests need a
// token.
func (r *Reader) Target(u *url.URL) *Target {
	for _, h := range r.hosts {
		if t := h.target(u); t != nil {
			if t.token == "" && (t.Type == page.GitHubIssue || t.Type == page.GitHubPR) {
				return nil
			}
			return t
		}
	}
	return nil
}

func (h *host) target(u *url.URL) *Target {
	if id := gistID(u); id != "" && h.name == "github.com" {
		return &Target{host: h, Type: page.Web, gist: id}
	}
	public := *u // as it would be on github.com
	if page.Authority(u) == h.name {
		public.Scheme, public.Host = "https", "github.com"
	} else if h.name != "github.com" {
		return nil
	}
	info, kind := page.GitHubOf(&public)
	switch kind {
	case "":
		return nil
	case page.GitHubFile:
		parts := strings.FieldsFunc(public.EscapedPath(), func(r rune) bool { return r == '/' })
		skip := 3 // owner, repository, blob
		if !strings.EqualFold(public.Host, "github.com") && !strings.EqualFold(public.Host, "www.github.com") {
			skip = 2
		}
		return &Target{host: h, GitHubInfo: info, Type: kind, ref: strings.Join(parts[skip:], "/")}
	}
	return &Target{host: h, GitHubInfo: info, Type: kind}
}

// name returns the repository's name with its owner.
func (t *Target) name() string { return t.Owner + "/" + t.Repo }

// PublicURL returns the address that the target has, or would have, on github.com. The target must not be a gist.
func (t *Target) PublicURL() *url.URL {
	u := mustParse(t.RepoURL)
	switch t.Type {
	case page.GitHubFile:
		return u.JoinPath("blob", t.Branch, t.Path)
	case page.GitHubIssue:
		return u.JoinPath("issues", fmt.Sprint(t.IssueNumber))
	case page.GitHubPR:
		return u.JoinPath("pull", fmt.Sprint(t.PRNumber))
	}
	return u
}

// Recipe names how the target's page is made: the same source gives another page when the recipe is another.
func (r *Reader) Recipe(t *Target) string {
	version := "none"
	if r.o.Symbols != nil {
		version = r.o.Symbols.Version()
	}
	return fmt.Sprintf("github %d %s %s %t", recipe, version, t.base, t.token != "")
}
