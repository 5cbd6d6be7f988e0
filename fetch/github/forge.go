package github

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/readthru/readthru/page"
)

// forge is how hosts of one kind are asked. Only discussion does I/O.
type forge interface {
	// repository returns the API's address of a repository.
	repository(t *Target) *url.URL

	// archive returns the address of the archive of a branch, tag or commit; for an empty ref, of the default branch,
	// which is main if that is not empty.
	archive(t *Target, ref, main string) *url.URL

	// raw returns the address of a file's content. ref and file are one escaped path, as URLs of the host have it.
	raw(t *Target, refAndFile string) *url.URL

	// blob returns the address of the page that shows a file. ref and file are escaped.
	blob(t *Target, ref, file string) *url.URL

	// gitUser is the user name for git with a token that comes without one.
	gitUser() string

	// discussion reads an issue or a pull request. The fields are those of the answer that tells whether it is current.
	discussion(ctx context.Context, r *read) (*discussion, http.Header, error)
}

// forges are the kinds of hosts that this package reads, by their names in the configuration.
var forges = map[page.Forge]forge{
	page.GitHub: githubForge{}, page.GitLab: gitlab{}, page.Gitea: gitea{}, page.Bitbucket: bitbucket{},
}

// escape returns a path at a forge, such as a branch with slashes, for use in a URL: its segments are escaped, the
// slashes stay.
func escape(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

// below returns the URL of an escaped path at a forge below dir, with a query, which replaces that of dir.
func below(dir *url.URL, path, query string) *url.URL {
	u := dir.JoinPath(path)
	u.RawQuery = query
	return u
}

// place returns the path of the repository on its host, a forge, escaped.
func (t *Target) place() string { return escape(t.name()) }

// forge returns how hosts of this kind are asked.
func (h *host) forge() forge { return forges[h.kind] }

// has reports whether a host with a name is among those of the reader.
func (r *Reader) has(name string) bool {
	return slices.ContainsFunc(r.hosts, func(h *host) bool { return h.name == name })
}

// forgeAt returns the forge that an entry of the options names, or nil if its URL cannot be used. The address of a
// known forge is not configured: it gets no access to private addresses.
func (r *Reader) forgeAt(f Host) *host {
	h := (*host)(nil)
	if u, err := page.Parse(f.URL); err == nil && page.KnownForges[page.Authority(u)] == f.Kind && f.Kind != "" ||
		err == nil && page.Authority(u) == "github.com" && f.Kind == page.GitHub {
		u.Path = "/"
		h = newHost(f.Kind, u)
	} else if base := r.endpoint("forges.url", f.URL, nil); base != nil && forges[f.Kind] != nil {
		h = newHost(f.Kind, base)
	}
	if h == nil {
		return nil
	}
	h.api = r.endpoint("forges.api_url", f.APIURL, h.api)
	h.wallet = r.wallet(h, f.Token)
	return h
}

// newHost returns the forge at a URL, with the API where hosts of its kind have it, without a wallet.
func newHost(kind page.Forge, base *url.URL) *host {
	h := &host{kind: kind, name: page.Authority(base), base: base}
	switch {
	case h.name == "github.com":
		return public()
	case kind == page.GitHub:
		h.api = base.JoinPath("api/v3")
	case kind == page.GitLab:
		h.api = base.JoinPath("api/v4")
	case kind == page.Gitea:
		h.api = base.JoinPath("api/v1")
	case h.name == "bitbucket.org":
		h.api = mustParse("https://api.bitbucket.org/2.0/")
	default:
		h.api = base.JoinPath("2.0")
	}
	return h
}
