package proxy

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/httpfield"
)

// options are the X-Readthru fields of a request. They are for this proxy and are never forwarded.
type options struct {
	mode      string
	maxTokens int
	view      fetch.View
	render    string
}

// readFields parses the X-Readthru fields and removes them from the request.
func (x *exchange) readFields() *refusal {
	h := x.r.Header
	if !hasFields(h) {
		return nil
	}
	x.asked = options{mode: strings.ToLower(strings.TrimSpace(h.Get("X-Readthru-Mode")))}
	if !validMode(x.asked.mode) {
		return badRequest(fmt.Sprintf("X-Readthru-Mode must be auto, markdown, text, html or raw, not %q.",
			shown(x.asked.mode)))
	}
	if tokens := h.Get("X-Readthru-Max-Tokens"); tokens != "" {
		n, err := strconv.Atoi(tokens)
		if err != nil || n < 0 {
			return badRequest(fmt.Sprintf("X-Readthru-Max-Tokens must be a number, not %q.", shown(tokens)))
		}
		x.asked.maxTokens = n
	}
	if bad := x.readView(h); bad != nil {
		return bad
	}
	switch render := h.Get("X-Readthru-Render"); render {
	case "", fetch.RenderAuto, fetch.RenderAlways, fetch.RenderNever:
		x.asked.render = render
	default:
		return badRequest(fmt.Sprintf("X-Readthru-Render must be auto, always or never, not %q.", shown(render)))
	}
	for name := range h {
		if strings.HasPrefix(name, httpfield.OurPrefix) {
			delete(h, name)
		}
	}
	return nil
}

// readView parses the fields that select a part of a page: X-Readthru-Content: whole, X-Readthru-Selector,
// X-Readthru-Drop, X-Readthru-Section, X-Readthru-Start, X-Readthru-Links and X-Readthru-Images.
func (x *decided) readView(h http.Header) *refusal {
	v := fetch.View{
		Selector: h.Get("X-Readthru-Selector"), Drop: h.Get("X-Readthru-Drop"), Section: h.Get("X-Readthru-Section"),
		Links: h.Get("X-Readthru-Links"), Images: h.Get("X-Readthru-Images"),
	}
	switch content := h.Get("X-Readthru-Content"); content {
	case "", "main":
	case "whole":
		v.WholePage = true
	default:
		return badRequest(fmt.Sprintf("X-Readthru-Content must be main or whole, not %q.", shown(content)))
	}
	if start := h.Get("X-Readthru-Start"); start != "" {
		n, err := strconv.Atoi(start)
		if err != nil {
			return badRequest(fmt.Sprintf("X-Readthru-Start must be a number, not %q.", shown(start)))
		}
		v.Start = n
	}
	if err := v.Check(); err != nil {
		return badRequest("Invalid selection of a part of the page: " + err.Error() + ".")
	}
	x.asked.view = v
	return nil
}

func hasFields(h http.Header) bool {
	for name := range h {
		if strings.HasPrefix(name, httpfield.OurPrefix) {
			return true
		}
	}
	return false
}
