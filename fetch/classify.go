package fetch

import (
	"bytes"
	"mime"
	"net/http"
	"path"
	"strings"

	"readthru/page"
)

// kind is what the head of a response says its content is, for us.
type kind int

const (
	opaque       kind = iota // no page: it passes untouched
	htmlKind                 // HTML or XHTML
	documentKind             // another form that is converted here: PDF and feeds; in own fetches whatever there is
	markdownKind             // labelled as markdown
	textKind                 // plain text or unlabelled: markdown if it looks so (own fetches only)
)

// converted reports whether the markdown of content of this kind is always made here, and kept.
func (k kind) converted() bool { return k == htmlKind || k == documentKind }

// classify says what a response is from its head. Of what is proxied, HTML, PDF and feeds are pages and nothing else is
// (AD1a): plain text and JSON may be files that a tool reads. A stream without an end is never one.
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

// mediaType returns the media type that a response names.
func mediaType(h http.Header) string { return page.MediaType(h.Get("Content-Type")) }

// charset returns the charset that Content-Type names, in lower case; empty if none.
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

// disguised reports whether content labelled as markdown is HTML or XML all the same (rule A3).
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

// noText reports whether content is no text: it holds a NUL, and does not begin as UTF-16 does.
func noText(content []byte) bool {
	return bytes.IndexByte(content, 0) >= 0 && !bytes.HasPrefix(content, []byte("\xff\xfe")) &&
		!bytes.HasPrefix(content, []byte("\xfe\xff"))
}
