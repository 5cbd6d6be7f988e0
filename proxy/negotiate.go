package proxy

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"readthru/page"
)

// form is what a request is answered with.
type form int

const (
	asIs      form = iota // the origin's bytes; nobody looks at them
	observed              // the origin's bytes; a copy of a page becomes a page in the background
	markdown              // markdown where the answer is a page
	plainText             // the text of it
)

func (f form) String() string { return [...]string{"as is", "observed", "markdown", "text"}[f] }

// facts are what decides the form of an answer.
type facts struct {
	method string
	url    *url.URL
	header http.Header // as the client sent it
	asked  string      // X-Readthru-Mode: auto, markdown, text, html, raw, or a mode as below; empty is unset
	rule   string      // the rule's mode: auto, always, negotiate, never; empty is unset
	user   string      // the proxy user's mode, likewise
	config string      // the listener's mode, likewise; empty is auto
}

// validMode reports whether X-Readthru-Mode may have this value.
func validMode(asked string) bool {
	switch asked {
	case "", "auto", "markdown", "text", "html", "raw", "always", "negotiate", "never":
		return true
	}
	return false
}

// decide says what a request is answered with (AD1, AD1a): only GET and HEAD, never a range; what the request itself
// asks for; never what would break a tool; then the mode of the first that has one: request, rule, user, listener. It
// acts as if every origin offered its pages as text/markdown too (RFC 9110 §12.5.1).
func decide(f facts) form {
	if f.method != http.MethodGet && f.method != http.MethodHead || f.header["Range"] != nil {
		return asIs
	}
	switch f.asked {
	case "markdown":
		return markdown
	case "text":
		return plainText
	case "html":
		return observed
	case "raw":
		return asIs
	}
	if isTool(f.url, f.header) || isSubresource(f.header) || isXHR(f.url, f.header) {
		return asIs
	}
	mode := firstOf(f.asked, f.rule, f.user, f.config, "auto")
	if mode == "never" {
		return observed
	}
	if mode == "always" {
		return markdown
	}
	if isNavigation(f.header) {
		return observed
	}
	a := parseAccept(f.header["Accept"])
	if a.markdown > 0 && a.markdown >= a.html || mode == "auto" && a.anything {
		return markdown
	}
	return observed
}

// accept is what an Accept field says that matters here. Weights are thousandths.
type accept struct {
	markdown int  // of text/markdown, where it is named
	html     int  // of HTML, where it is named
	anything bool // there is no field, or it names only wildcards
}

// parseAccept reads the lines of an Accept field. Only weights decide, not the order (RFC 9110 §12.5.1). What cannot be
// read is passed over.
func parseAccept(lines []string) accept {
	var a accept
	ranges, wildcards := 0, 0
	for _, line := range lines {
		for item := range strings.SplitSeq(line, ",") {
			name, params, _ := strings.Cut(item, ";")
			name = strings.ToLower(strings.TrimSpace(name))
			if name == "" {
				continue
			}
			weight, ok := weightOf(params)
			if !ok {
				continue
			}
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

// weightOf returns the q parameter in thousandths, 1000 when there is none. It is false for a weight that is not one.
func weightOf(params string) (int, bool) {
	for p := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		if !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || !(q >= 0 && q <= 1) { // NaN is none either
			return 0, false
		}
		return int(q*1000 + 0.5), true
	}
	return 1000, true
}

// isNavigation reports whether a browser's user goes to a page. Node's fetch sends Sec-Fetch-Mode: cors alone and is no
// browser.
func isNavigation(h http.Header) bool {
	return h.Get("Sec-Fetch-Mode") == "navigate" || h["Sec-Fetch-Dest"] != nil || h["Sec-Fetch-Site"] != nil
}

// isSubresource reports whether a page in a browser loads something: an image, a script, what its script fetches.
func isSubresource(h http.Header) bool {
	switch h.Get("Sec-Fetch-Dest") {
	case "document", "iframe", "frame":
		return false
	case "":
		return h["Sec-Fetch-Site"] != nil && h.Get("Sec-Fetch-Mode") != "navigate"
	}
	return h.Get("Sec-Fetch-Mode") != "navigate"
}

// isXHR reports whether a script in a browser asks over plain http, where browsers send no Sec-Fetch fields.
func isXHR(u *url.URL, h http.Header) bool {
	if h["X-Requested-With"] != nil {
		return true
	}
	return u.Scheme == "http" && strings.HasPrefix(h.Get("User-Agent"), "Mozilla/") && h["Sec-Fetch-Mode"] == nil &&
		(h["Referer"] != nil || h["Origin"] != nil) && parseAccept(h["Accept"]).anything
}

// isTool reports whether a program asks that reads pages as a protocol: git, and package managers.
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
	for _, tool := range toolAgents {
		if strings.HasPrefix(agent, tool) {
			return true
		}
	}
	return false
}

// toolAgents are how the User-Agent of git and of package managers begins. A runtime's own name (deno, bun,
// go-http-client) is not here: its programs read pages with it.
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

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
