package fetch

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/page"
)

// Readable reports whether content of this media type is text that an agent reads as it stands, and that is cleaned for
// it: any text but HTML, whose markup a browser reads, and streams of events.
func Readable(contentType string) bool {
	t := page.MediaType(contentType)
	switch t {
	case "application/json", "application/xml", "application/yaml", "application/x-yaml", "application/toml",
		"application/x-ndjson":
		return true
	}
	return page.KindOf(t) != page.HTML && t != "text/event-stream" &&
		(strings.HasPrefix(t, "text/") || strings.HasSuffix(t, "+json") || strings.HasSuffix(t, "+xml"))
}

// clean removes hidden text from an origin's text on its way to an agent: all kinds from markdown and plain text, but
// only invisible characters from data and source code, where comments and markup are content.
func clean(content []byte, contentType string, base *url.URL) convert.Cleaned {
	switch t := page.MediaType(contentType); {
	case t == "text/plain", t == "", page.IsMarkdown(t):
		return convert.CleanMarkdown(content, contentType, base)
	}
	return convert.CleanText(content, contentType)
}

// CleanMarkdown takes out of markdown that another program made of the page at u what no reader sees, for crawls by a
// service.
func CleanMarkdown(md []byte, u *url.URL) []byte { return convert.CleanMarkdown(md, "", u).Text }

// readAsPage reports whether the response is cleaned because the client reads it as a page although its type is not a
// page's: it is a text, and the client asked for markdown by name, so that it is an agent and no tool that saves a
// file.
func (a *attempt) readAsPage() bool {
	return a.req.Reader && a.req.Method != http.MethodHead && Readable(a.resp.Header.Get("Content-Type")) &&
		(a.status == http.StatusOK || a.status >= 400)
}

// answerCleaned answers with the text of the origin's response without hidden text. If there is none to remove, the
// response passes unchanged, with the warning. Otherwise the answer is another representation: it has our entity tag,
// and lacks the fields that hold for the origin's bytes only.
func (f *Fetcher) answerCleaned(a *attempt, warning string) (*Answer, error) {
	if a.content == nil {
		if ans, err := f.readOrPass(a); ans != nil || err != nil {
			return ans, err
		}
	}
	contentType := a.resp.Header.Get("Content-Type")
	c := clean(a.content, contentType, a.url)
	if !c.Changed {
		return f.answerAsIs(a, warning)
	}
	h := a.resp.Header.Clone()
	for _, name := range dropped {
		h.Del(name)
	}
	if a.outcome.Hit {
		httpfield.RemoveGrants(h) // they were for the one who asked first
	}
	if media.Charset(a.resp.Header) != "" {
		contentType = page.MediaType(contentType) + "; charset=utf-8"
	}
	h.Set("Content-Type", contentType)
	h.Set("Etag", form{markdown: c.Text}.tag())
	httpfield.AddVary(h, "Accept")
	if warning != "" {
		h.Add("X-Readthru-Warning", warning)
	}
	for _, w := range c.Warnings {
		h.Add("X-Readthru-Warning", w)
	}
	resp := *a.resp
	resp.Header, resp.ContentLength, resp.TransferEncoding, resp.Trailer = h, int64(len(c.Text)), nil, nil
	resp.Uncompressed = false
	resp.Body = struct {
		io.Reader
		io.Closer
	}{bytes.NewReader(c.Text), a.resp.Body}
	return &Answer{Status: resp.StatusCode, Header: h, Response: &resp, Cache: a.outcome}, nil
}

// asWritten returns, cleaned if the request wants that, the origin's content for a request that wants no markdown, in
// UTF-8. Where the request wants it cleaned, it is; else a warning says that it would have been.
func (a *attempt) asWritten() []byte {
	text := inUTF8(a)
	if a.kind == media.HTML {
		if page.HasWarning(a.best.Warnings, convert.WarnHidden) {
			a.warn(WarnUnfiltered)
		}
		return text
	}
	c := clean(text, page.MediaType(a.resp.Header.Get("Content-Type")), a.url)
	switch {
	case !c.Changed:
	case a.req.Reader:
		for _, w := range c.Warnings {
			a.warn(w)
		}
		return c.Text
	default:
		a.warn(WarnUnfiltered)
	}
	return text
}

// WarnUnfiltered is the warning of text that passes as its origin made it although it may hide something.
const WarnUnfiltered = "unfiltered"
