package page

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/readthru/readthru/internal/clip"
)

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

// cut shortens a display name to at most limit characters, the last three of them "..." when something was left out
// (rule B45).
func cut(s string, limit int) string {
	if clip.Runes(s, limit) == s {
		return s
	}
	return clip.Runes(s, limit-len("...")) + "..."
}
