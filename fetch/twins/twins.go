// Package twins says where a page may have a markdown twin, which is the same page in markdown, and which text is one.
// It fetches nothing.
package twins

import (
	"bytes"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/internal/markdown"
	"github.com/readthru/readthru/page"
)

// most is how many addresses are tried for the markdown twin of a page, at most: each costs a request.
const most = 2

// Find returns at most two addresses where a page may have a markdown twin, the likeliest first: those of the
// Link field (RFC 8288), of the head (named, may be empty), and with guess the usual ones. It omits the page itself,
// http addresses for an https page, and addresses with a secret.
func Find(u *url.URL, h http.Header, named string, guess bool) []*url.URL {
	var list []*url.URL
	self := page.WithoutFragment(u).String()
	add := func(t *url.URL) {
		if len(list) == most || t == nil || t.Scheme != "https" && (t.Scheme != "http" || u.Scheme == "https") ||
			t.Hostname() == "" || page.HasSecret(t) {
			return
		}
		clean := page.WithoutFragment(t)
		same := func(have *url.URL) bool { return have.String() == clean.String() }
		if clean.String() != self && !slices.ContainsFunc(list, same) {
			list = append(list, clean)
		}
	}
	for _, l := range httpfield.Links(h.Values("Link")) {
		if l.Has("alternate") && strings.EqualFold(l.MediaType, "text/markdown") {
			if t, err := page.Resolve(u, l.Target); err == nil {
				add(t)
			}
		}
	}
	if named != "" {
		if t, err := page.Resolve(u, named); err == nil {
			add(t)
		}
	}
	if guess {
		for _, t := range Guesses(u) {
			add(t)
		}
	}
	return list
}

// Guesses returns the usual addresses of the twin of u, the likeliest first: page.md, or index.md in a directory, then
// the name of the file with .md (llmstxt.org), as page.html.md and index.html.md. A URL with a query has none.
func Guesses(u *url.URL) (list []*url.URL) {
	if u.RawQuery != "" {
		return nil
	}
	add := func(at string) {
		t := page.WithoutFragment(u)
		t.Path, t.RawPath = at, ""
		list = append(list, t)
	}
	switch ext := path.Ext(u.Path); {
	case u.Path == "" || strings.HasSuffix(u.Path, "/"):
		folder := strings.TrimSuffix(u.Path, "/") + "/"
		add(folder + "index.md")
		add(folder + "index.html.md")
	case ext == ".html" || ext == ".htm":
		add(strings.TrimSuffix(u.Path, ext) + ".md")
		add(u.Path + ".md")
	default:
		add(u.Path + ".md")
	}
	return list
}

// LongestList is the longest list for models that is read, in bytes.
const LongestList = 256 << 10

// What a list for models (llms.txt) must have to show how its host calls twins, and how many of its links are looked
// at.
const (
	fewestListed = 3
	mostListed   = 500
)

// Listed reports whether a list for models (llmstxt.org), which was read at an address, names the pages of its host by
// their markdown, as lists that tools make do: most addresses end in .md.
func Listed(at *url.URL, list []byte) bool {
	twins, others := 0, 0
	for link := range markdown.Links(list) {
		t, err := page.Resolve(at, link.Address(list))
		switch {
		case err != nil || t.Host != at.Host:
		case media.MarkdownPath(t.Path):
			twins++
		default:
			others++
		}
		if twins+others == mostListed {
			break
		}
	}
	return twins >= fewestListed && twins > others
}

// Unfit returns why the markdown at a twin's address is no twin of the page with this HTML, of which our own conversion
// has a number of words, or "" if it is accepted. labelled says that its media type is markdown.
func Unfit(md []byte, labelled bool, html []byte, words int) string {
	switch {
	case len(bytes.TrimSpace(md)) == 0:
		return "the twin is empty"
	case media.Disguised(md):
		return "the twin is HTML"
	case !labelled && !convert.LooksLikeMarkdown(md[:min(len(md), 16<<10)]):
		return "the twin does not look like markdown"
	}
	doubt := convert.DoubtMarkdown(md)
	if doubt == convert.NoDoubt {
		doubt = convert.DoubtAgainst(md, html, words)
	}
	if doubt != convert.NoDoubt {
		return "the twin is rejected: " + string(doubt)
	}
	return ""
}
