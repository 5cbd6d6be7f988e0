// Package media says of which kind the content of a response is, and removes its content codings (RFC 9110 §8).
//
// [Read] takes a response's body up to a limit and gives it as it came, for its hash and length, and decoded, for the
// converter; the kind (kind.go) decides which step of a fetch reads the content, and text.go brings text into UTF-8.
package media

import (
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/readthru/readthru/page"
)

// Kind classifies a response by its head: whether it may become a page, and how.
type Kind int

// The kinds of responses.
const (
	Opaque   Kind = iota // not a page: passes unchanged
	HTML                 // HTML or XHTML
	Document             // another convertible form: PDF and feeds; in own fetches any form
	Markdown             // labelled as markdown
	Text                 // plain text or unlabelled: markdown if it looks like it (own fetches only)
)

// Converted reports whether content of this kind is always converted to markdown locally and stored.
func (k Kind) Converted() bool { return k == HTML || k == Document }

// Classify returns the kind of a response from its head. Of proxied responses only HTML, markdown, PDF and feeds are
// pages (AD1a), because plain text and JSON may be files that a tool reads. Endless streams are never pages.
func Classify(own bool, status int, h http.Header) Kind {
	if status == http.StatusPartialContent || status == http.StatusNoContent || status < 200 || status >= 300 &&
		status < 400 {
		return Opaque
	}
	t := Type(h)
	switch kind := page.KindOf(t); {
	case kind == page.HTML:
		return HTML
	case kind == page.Markdown:
		return Markdown
	case kind != page.NoPage:
		return Document
	case own && t == "multipart/related": // a web archive (RFC 2557)
		return Document
	case t == "text/event-stream", strings.HasPrefix(t, "multipart/"):
		return Opaque
	case own && (t == "text/plain" || t == ""):
		return Text
	case own:
		return Document
	}
	return Opaque
}

// Type returns the media type of a response's Content-Type, in lower case and without parameters; empty if there is
// none.
func Type(h http.Header) string { return page.MediaType(h.Get("Content-Type")) }

// Charset returns the charset that the Content-Type of a response names, in lower case, or "" if it names none.
func Charset(h http.Header) string {
	contentType := h.Get("Content-Type")
	if !strings.Contains(contentType, ";") {
		return ""
	}
	_, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return ""
	}
	return strings.Map(tokenRune, strings.ToLower(params["charset"]))
}

// tokenRune drops, from a charset of content of any kind, what may not stand in a token (RFC 9110 §5.6.2): an origin
// has written it, and an answer may repeat it.
func tokenRune(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' || r == '+' {
		return r
	}
	return -1
}

// MarkdownPath reports whether a URL's path names a markdown file.
func MarkdownPath(p string) bool {
	ext := strings.ToLower(path.Ext(p))
	return ext == ".md" || ext == ".markdown"
}

// Disguised reports whether content labelled as markdown is in fact HTML or XML (rule A3), by its first 512 bytes.
// Sites answer every address with their page.
func Disguised(content []byte) bool {
	s := strings.ToLower(strings.TrimLeft(strings.TrimPrefix(string(content[:min(len(content), 512)]), "\ufeff"),
		" \t\r\n\f"))
	return slices.ContainsFunc([]string{"<!doctype", "<html", "<?xml"}, func(begin string) bool {
		return strings.HasPrefix(s, begin)
	})
}
