package github

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
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
	page.GitHub: hub{}, page.GitLab: lab{}, page.Gitea: tea{}, page.Bitbucket: bucket{},
}

// escape returns a path, such as a branch with slashes, for use in a URL: its segments are escaped, the slashes stay.
func escape(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

// below returns the URL of an escaped path below dir, with a query, which replaces that of dir.
func below(dir *url.URL, path, query string) *url.URL {
	u := dir.JoinPath(path)
	u.RawQuery = query
	return u
}

// place returns the path of the repository on its host, escaped.
func (t *Target) place() string { return escape(t.name()) }

// hub is the forge GitHub, and GitHub Enterprise Server, which has no hosts of its own for archives and contents.
type hub struct{}

func (hub) repository(t *Target) *url.URL { return below(t.api, "repos/"+t.place(), "") }

// archive names the default branch HEAD, whatever it is called.
func (hub) archive(t *Target, ref, _ string) *url.URL {
	ref = cmp.Or(ref, "HEAD")
	if t.codeload != nil {
		return below(t.codeload, t.place()+"/tar.gz/"+escape(ref), "")
	}
	return below(t.base, t.place()+"/archive/"+escape(ref)+".tar.gz", "")
}

func (hub) raw(t *Target, refAndFile string) *url.URL {
	if t.contents != nil {
		return below(t.contents, t.place()+"/"+refAndFile, "")
	}
	return below(t.base, t.place()+"/raw/"+refAndFile, "")
}

func (hub) blob(t *Target, ref, file string) *url.URL {
	return below(t.base, t.place()+"/blob/"+ref+"/"+file, "")
}

func (hub) gitUser() string { return "x-access-token" }
