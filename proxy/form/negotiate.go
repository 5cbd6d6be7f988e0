// Package form knows which form of a page a client wants: by Accept and what else tells agents, tools and browsers
// apart, by our own fields, or by those of Jina Reader.
package form

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/page"
)

// Form is the form of an answer.
type Form int

// The forms.
const (
	AsIs      Form = iota // the origin's bytes, not inspected
	Observed              // the origin's bytes; a page among them is stored in the background
	Markdown              // markdown if the answer is a page
	PlainText             // plain text if the answer is a page
)

// String returns the form as the log and the journal name it.
func (f Form) String() string { return [...]string{"as is", "observed", "markdown", "text"}[f] }

// Facts are the input of Decide.
type Facts struct {
	Method string
	URL    *url.URL
	Header http.Header // as the client sent it
	Asked  string      // X-Readthru-Mode: auto, markdown, text, html, raw, or a mode as below; empty is unset
	Rule   string      // the rule's mode: auto, always, negotiate, never; empty is unset
	User   string      // the proxy user's mode, likewise
	Config string      // the configured mode, likewise; empty is auto
}

// validMode reports whether the field X-Readthru-Mode may have this value.
func validMode(asked string) bool {
	switch asked {
	case "", "auto", "markdown", "text", "html", "raw", "always", "negotiate", "never":
		return true
	}
	return false
}

// Decide returns the form of the answer to a request (AD1, AD1a). Only GET and HEAD may get markdown. A range does not
// matter: a client that continues a download must get the form that it began with. A form named by the request itself
// comes first. Requests of tools, subresources and scripts get the origin's bytes. The others get the form of the first
// mode that is set: the request's, the rule's, the user's, or the configured one. Decide acts as if every origin
// offered its pages as text/markdown too (RFC 9110 §12.5.1).
func Decide(f Facts) Form {
	if f.Method != http.MethodGet && f.Method != http.MethodHead {
		return AsIs
	}
	switch f.Asked {
	case "markdown":
		return Markdown
	case "text":
		return PlainText
	case "html":
		return Observed
	case "raw":
		return AsIs
	}
	if isTool(f.URL, f.Header) || isSubresource(f.Header) || isXHR(f.URL, f.Header) {
		return AsIs
	}
	mode := cmp.Or(f.Asked, f.Rule, f.User, f.Config, "auto")
	if mode == "never" {
		return Observed
	}
	if mode == "always" {
		return Markdown
	}
	if isNavigation(f.Header) {
		return Observed
	}
	a := parseAccept(f.Header["Accept"])
	if a.markdown > 0 && a.markdown >= a.html || mode == "auto" && a.anything {
		return Markdown
	}
	return Observed
}

// NamesHTML reports whether the client asks for HTML by name.
func NamesHTML(h http.Header) bool { return parseAccept(h["Accept"]).html > 0 }

// TakesAnything reports whether the client names no type in Accept.
func TakesAnything(h http.Header) bool { return parseAccept(h["Accept"]).anything }

// Reads reports whether the client asks for markdown or text by name: it reads what it gets, and is no tool that saves
// a file.
func Reads(h http.Header, asked string) bool {
	return asked == "markdown" || asked == "text" || parseAccept(h["Accept"]).markdown > 0
}

// accept is a parsed Accept field, reduced to what Decide needs. Weights are in thousandths.
type accept struct {
	markdown int  // weight of text/markdown; 0 if not named
	html     int  // weight of HTML; 0 if not named
	anything bool // the field is absent or names only wildcards
}

// parseAccept parses the lines of an Accept field. Only weights matter, not the order (RFC 9110 §12.5.1). It skips
// malformed items.
func parseAccept(lines []string) accept {
	var a accept
	ranges, wildcards := 0, 0
	for _, line := range lines {
		for item := range strings.SplitSeq(line, ",") {
			name, q, ok := httpfield.Weighted(item)
			if name == "" || !ok {
				continue
			}
			name = strings.ToLower(name)
			weight := int(q*1000 + .5)
			ranges++
			switch kind := page.KindOf(name); {
			case kind == page.Markdown:
				a.markdown = max(a.markdown, weight)
			case kind == page.HTML:
				a.html = max(a.html, weight)
			case name == "*/*" || name == "text/*" || name == "*":
				if weight > 0 {
					wildcards++
				}
			}
		}
	}
	a.anything = ranges == wildcards
	return a
}

// isNavigation reports whether a browser navigates to a page. Node's fetch is not a browser: it sends only
// Sec-Fetch-Mode: cors.
func isNavigation(h http.Header) bool {
	return h.Get("Sec-Fetch-Mode") == "navigate" || h["Sec-Fetch-Dest"] != nil || h["Sec-Fetch-Site"] != nil
}

// isSubresource reports whether a page in a browser loads a subresource: an image, a script, or a script's fetch.
func isSubresource(h http.Header) bool {
	switch h.Get("Sec-Fetch-Dest") {
	case "document", "iframe", "frame":
		return false
	case "":
		return h["Sec-Fetch-Site"] != nil && h.Get("Sec-Fetch-Mode") != "navigate"
	}
	return h.Get("Sec-Fetch-Mode") != "navigate"
}

// VaryBy returns the request fields, beside Accept, by which Decide gave the answer to a request its form: so a shared
// cache between us and its clients does not give a script in a browser the markdown of an agent. Agents have none of
// them, and share the answer. Accept alone decides where it names types. Tools are known by their User-Agent, which is
// not named: there are as many of these as clients, no answer would be shared, and tools ask for no pages.
func VaryBy(u *url.URL, h http.Header, asked Fields) []string {
	names := []string{"X-Readthru-Mode"}
	if asked.Mode == "" && parseAccept(h["Accept"]).anything {
		names = append(names, "Sec-Fetch-Dest", "Sec-Fetch-Mode", "Sec-Fetch-Site", "X-Requested-With")
		if u.Scheme == "http" {
			names = append(names, "Origin", "Referer")
		}
	}
	return names
}

// isXHR reports whether the request is by a script in a browser. Over plain http browsers send no Sec-Fetch fields.
func isXHR(u *url.URL, h http.Header) bool {
	if h["X-Requested-With"] != nil {
		return true
	}
	return u.Scheme == "http" && strings.HasPrefix(h.Get("User-Agent"), "Mozilla/") && h["Sec-Fetch-Mode"] == nil &&
		(h["Referer"] != nil || h["Origin"] != nil) && parseAccept(h["Accept"]).anything
}

// isTool reports whether the request is by git or a package manager, which parse the origin's bytes.
func isTool(u *url.URL, h http.Header) bool {
	if strings.Contains(u.RawQuery, "go-get=1") || strings.Contains(u.RawQuery, "service=git-") {
		query := u.Query()
		if query.Get("go-get") == "1" || strings.HasPrefix(query.Get("service"), "git-") {
			return true
		}
	}
	if strings.Contains(h.Get("Accept"), "application/x-git-") {
		return true
	}
	agent := strings.ToLower(h.Get("User-Agent"))
	return slices.ContainsFunc(toolAgents, func(tool string) bool { return strings.HasPrefix(agent, tool) })
}

// toolAgents are prefixes, in lower case, of the User-Agent of git and of package managers. Names of runtimes (deno,
// bun, go-http-client) are not among them, because programs that read pages send them too.
var toolAgents = []string{
	"git/", "git-lfs/", "jgit/", "libgit2", "go-git/",
	"npm/", "pnpm/", "yarn/", "corepack", "pip/", "uv/", "poetry/", "pdm/", "pipenv/", "conda/", "mamba/", "micromamba",
	"twine/",
	"cargo/", "cargo ", "rustup/", "bundler/", "rubygems/", "ruby, rubygems", "composer/", "apache-maven", "maven",
	"gradle/", "nuget",
	"debian apt", "apt-", "libdnf", "dnf", "yum", "urlgrabber", "zypp", "libzypp", "pacman/", "apk-tools", "homebrew/",
	"nix/", "winget",
	"docker/", "containerd/", "buildkit/", "skopeo/", "podman/", "buildah/", "containers/", "helm/", "terraform/",
	"opentofu/",
}
