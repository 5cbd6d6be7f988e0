package fetch

import (
	"bytes"
	"mime"
	"net/http"
	"path"
	"strings"

	"github.com/readthru/readthru/page"
)

// kind classifies a response by its head.
type kind int

const (
	opaque       kind = iota // not a page: passes unchanged
	htmlKind                 // HTML or XHTML
	documentKind             // another convertible form: PDF and feeds; in own fetches any form
	markdownKind             // labelled as markdown
	textKind                 // plain text or unlabelled: markdown if it looks like it (own fetches only)
)

// converted reports whether content of this kind is always converted to markdown locally and stored.
func (k kind) converted() bool { return k == htmlKind || k == documentKind }

// classify returns the kind of a response from its head. Of proxied responses only HTML, markdown, PDF and feeds are
// pages (AD1a), because plain text and JSON may be files that a tool reads. Endless streams are never pages.
func classify(own bool, status int, h http.Header) kind {
	if status == http.StatusPartialContent || status == http.StatusNoContent || status < 200 || status >= 300 &&
		status < 400 {
		return opaque
	}
	t := mediaType(h)
	switch page.KindOf(t) {
	case page.HTML:
		return htmlKind
	case page.Markdown:
		return markdownKind
	case page.Feed, page.PDF:
		return documentKind
	}
	switch {
	case t == "text/event-stream", strings.HasPrefix(t, "multipart/"):
		return opaque
	case own && (t == "text/plain" || t == ""):
		return textKind
	case own:
		return documentKind
	}
	return opaque
}

// mediaType returns the media type of Content-Type.
func mediaType(h http.Header) string { return page.MediaType(h.Get("Content-Type")) }

// charset returns the charset of Content-Type in lower case, or "" if it names none.
func charset(h http.Header) string {
	_, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return strings.ToLower(params["charset"])
}

// markdownPath reports whether a path names a markdown file.
func markdownPath(p string) bool {
	ext := strings.ToLower(path.Ext(p))
	return ext == ".md" || ext == ".markdown"
}

// disguised reports whether content labelled as markdown is in fact HTML or XML (rule A3).
func disguised(content []byte) bool {
	s := strings.ToLower(strings.TrimLeft(strings.TrimPrefix(string(content[:min(len(content), 512)]), "\ufeff"),
		" \t\r\n\f"))
	for _, begin := range []string{"<!doctype", "<html", "<?xml"} {
		if strings.HasPrefix(s, begin) {
			return true
		}
	}
	return false
}

// noText reports whether content is not text: it contains a NUL and does not begin with a UTF-16 byte order mark.
func noText(content []byte) bool {
	return bytes.IndexByte(content, 0) >= 0 && !bytes.HasPrefix(content, []byte("\xff\xfe")) &&
		!bytes.HasPrefix(content, []byte("\xfe\xff"))
}
