package markdownnew

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/page"
)

// Request returns the request to the service for a page, whose URL has no fragment. It uses the POST form for URLs with
// a query or an escape, because the GET form would mix the query with the service's own options. It sends nothing of
// the client's request.
func (c *Client) Request(target, method string) (*http.Request, error) {
	verb, address, body := http.MethodGet, c.base.String()+"/"+target, []byte(nil)
	if method != Auto {
		address += "?method=" + method
	}
	if strings.ContainsAny(target, "?%") {
		verb, address = http.MethodPost, c.base.String()+"/"
		var err error
		body, err = json.Marshal(map[string]any{"url": target, "method": method, "retain_images": false})
		if err != nil {
			return nil, err
		}
	}
	//nolint:noctx // Do sets it
	req, err := http.NewRequest(verb, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/markdown, application/json;q=0.9")
	req.Header.Set("Accept-Encoding", "gzip")
	if verb == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// Answer is what the service says that a page is. Nothing was taken out of it.
type Answer struct {
	Markdown []byte
	Title    string // empty if it names none
	Tokens   string // number of tokens as it states it
}

// Read returns the service's answer in a response with status 200, which is JSON or markdown, depending on its
// Content-Type. It believes only what looks like markdown. The error is an [UnfitError].
func Read(h http.Header, content []byte) (*Answer, error) {
	a := &Answer{Markdown: content, Tokens: h.Get("X-Markdown-Tokens")}
	switch t := media.Type(h); {
	case t == "application/json":
		var v struct {
			Success bool        `json:"success"`
			Title   string      `json:"title"`
			Content string      `json:"content"`
			Tokens  json.Number `json:"tokens"`
			Error   string      `json:"error"`
		}
		if err := json.Unmarshal(content, &v); err != nil {
			return nil, UnfitError("markdown.new returned malformed JSON")
		}
		if !v.Success {
			return nil, UnfitError(strings.TrimSuffix("markdown.new failed: "+v.Error, ": "))
		}
		a = &Answer{[]byte(v.Content), v.Title, v.Tokens.String()}
	case t == "", t == "text/plain", page.KindOf(t) == page.Markdown:
	default:
		return nil, UnfitError("markdown.new returned " + t)
	}
	switch {
	case len(bytes.TrimSpace(a.Markdown)) == 0:
		return nil, UnfitError("markdown.new returned nothing")
	case media.Disguised(a.Markdown), !convert.LooksLikeMarkdown(a.Markdown[:min(len(a.Markdown), 16<<10)]):
		return nil, UnfitError("the answer of markdown.new does not look like markdown")
	}
	return a, nil
}
