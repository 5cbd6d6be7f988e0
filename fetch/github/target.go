package github

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/readthru/readthru/page"
)

// Target is what a URL names on a forge.
type Target struct {
	*page.GitHubInfo           // nil for a gist
	Type             page.Type // of the page

	*host
	ref  string // of a file: branch and path as the URL has them, escaped
	tree bool   // it is the directory, or the whole, of a branch
	gist string // id of a gist
}

// Target returns what u names on one of the reader's forges, or nil if this package does not read it: issues and pull
// requests of GitHub need a token. It sends nothing.
func (r *Reader) Target(u *url.URL) *Target {
	for _, h := range r.hosts {
		if t := h.target(u); t != nil {
			if t.kind == page.GitHub && t.Type.IsDiscussion() && !t.wallet.mayHave() {
				return nil
			}
			return t
		}
	}
	return nil
}

// target returns what u names on this forge, or nil.
func (h *host) target(u *url.URL) *Target {
	if id := gistID(u); id != "" && h.name == "github.com" {
		return &Target{host: h, Type: page.Web, gist: id}
	}
	var info *page.GitHubInfo
	var kind page.Type
	if h.name == "github.com" {
		if info, kind = page.GitHubOf(u); kind == "" && page.Authority(u) == h.name {
			info, kind = h.kind.Of(u)
		}
	} else if page.Authority(u) == h.name {
		info, kind = h.kind.Of(u)
	}
	if kind == "" {
		return nil
	}
	t := &Target{GitHubInfo: info, Type: kind, host: h}
	switch {
	case kind == page.Directory:
		t.tree = true
		if t.Type = page.Web; h.kind != page.GitHub { // rule B2: on GitHub, a repository's URL says nothing further
			t.Type = page.Repository
		}
	case kind.IsFile():
		// What follows the repository in a file's URL is not said in one form: the branch and the path are known by their
		// number of segments.
		parts := strings.FieldsFunc(u.EscapedPath(), func(r rune) bool { return r == '/' })
		after := strings.Count(info.Branch+"/"+info.Path, "/") + 1 // segments of branch and path
		switch {
		case len(parts) >= after+2 && parts[len(parts)-after-2] == "refs":
			after += 2
		case h.kind == page.Gitea:
			after++ // branch, tag or commit
		}
		t.ref = strings.Join(parts[max(0, len(parts)-after):], "/")
	}
	return t
}

// name returns the repository's name with its owner.
func (t *Target) name() string { return t.Owner + "/" + t.Repo }

// Display returns a short name of the target for people. The target must not be a gist.
func (t *Target) Display() string {
	if t.tree {
		return page.Shown(t.Name(page.Directory))
	}
	return page.Shown(t.Name(t.Type))
}

// Recipe names how the target's page is made: the same source gives another page when the recipe is another, so that a
// stored page is made again.
func (r *Reader) Recipe(t *Target) string {
	version := "none"
	if r.o.Symbols != nil {
		version = r.o.Symbols.Version()
	}
	return fmt.Sprintf("github %d %s %s %t", recipe, version, t.base, t.wallet.mayHave())
}
