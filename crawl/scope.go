package crawl

import (
	"cmp"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/readthru/readthru/internal/lazy"
	"github.com/readthru/readthru/page"
)

// scope says which URLs a crawl may fetch: those of one site that the patterns choose.
type scope struct {
	scheme, host     string // of the start page; host as page.Authority
	near, beside     string // path prefixes: of URLs below the start page, and of URLs below its directory
	include, exclude patterns
	below            bool // only URLs below the start page
}

// newScope returns the scope of a crawl that begins at u. What is below the start page is below its path; a last
// segment with a dot is a file, whose directory counts.
func newScope(u *url.URL, include, exclude patterns) scope {
	s := scope{scheme: u.Scheme, host: page.Authority(u), include: include, exclude: exclude}
	p := cmp.Or(u.EscapedPath(), "/")
	s.beside = p[:strings.LastIndexByte(p, '/')+1]
	switch last := p[len(s.beside):]; {
	case last == "" || strings.Contains(last, "."):
		s.near = s.beside
	default:
		s.near = p + "/"
	}
	return s
}

// site returns a URL as one of the site that is crawled: with the scheme of the start page, without session and anchor.
// It returns false for a URL of another site. The scheme is adapted because sites link to themselves by http long after
// they have moved to https.
func (s scope) site(u *url.URL) (*url.URL, bool) {
	if u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return nil, false
	}
	own := page.WithoutAnchor(withoutSession(u))
	if own.Scheme != s.scheme && own.Port() == "" {
		own.Scheme = s.scheme
	}
	if page.Authority(own) != s.host || own.Scheme != s.scheme {
		return nil, false
	}
	return own, true
}

// wants reports whether a URL of the site is to be crawled, judged by its text: no file, no form to edit a page, no
// secret, and as the patterns say.
func (s scope) wants(u *url.URL) bool {
	if s.below && !s.isBelow(u) || isFile(u.Path) || maintenance().MatchString(u.RequestURI()) || page.HasSecret(u) ||
		s.exclude.match(u) {
		return false
	}
	return len(s.include) == 0 || s.include.match(u)
}

// tiers is the number of degrees of nearness to the start; see [scope.tier].
const tiers = 6

// tier returns how near to the start a URL is; 0 is nearest. URLs below the start page come first, then those in its
// directory, then the rest of the site. Within each of these, URLs that pages link to come before those that a sitemap
// lists.
func (s scope) tier(u *url.URL, listed bool) int {
	p, t := u.EscapedPath(), 4
	switch {
	case s.isBelow(u):
		t = 0
	case strings.HasPrefix(p, s.beside):
		t = 2
	}
	if listed {
		t++
	}
	return t
}

// isBelow reports whether a URL of the site is the start page of the crawl or lies below it.
func (s scope) isBelow(u *url.URL) bool {
	p := u.EscapedPath()
	return strings.HasPrefix(p, s.near) || p+"/" == s.near
}

// files are extensions of files that are not pages. They save requests; other files are recognised by their media type.
var files = strings.Fields(`7z aac apk atom avi avif bin bmp bz2 css csv dat deb dll dmg doc docx eot epub exe flac
	gif gz ico ics iso jar jpeg jpg js json m4a m4v map mjs mkv mobi mov mp3 mp4 mpeg mpg msi odp ods odt ogg ogv opus
	otf pkg png ppt pptx ps rar rdf rpm rss svg svgz swf tar tgz tif tiff ttf wasm wav webm webmanifest webp whl wma wmv
	woff woff2 xls xlsx xml xz zip zst`)

// maintenance matches URLs that serve to maintain a site, not to read it: forms that edit a page, its history and
// source, interfaces for programs.
var maintenance = lazy.Pattern(`/(?:_sources|wp-json|wp-admin|wp-login\.php|xmlrpc\.php|cgi-bin)(?:/|$|\?)|/feed/?$|` +
	`[?&](?:(?:action|do)=(?:edit|history|raw|login|info|diff|revisions|recent|export)|veaction=|oldid=|diff=|replytocom=|share=)`)

// isFile reports whether a path ends like a file that is not a page, so that it is out of the crawl's scope, in any
// case of its letters.
func isFile(p string) bool {
	return slices.Contains(files, strings.TrimPrefix(strings.ToLower(path.Ext(p)), "."))
}
