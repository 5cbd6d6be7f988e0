package proxy

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/proxy/strict"
)

// options are the X-Readthru fields of a request. They are for this proxy and are never forwarded.
type options struct {
	mode      string
	maxTokens int
	view      fetch.View
	render    string
}

// readFields parses the X-Readthru fields of a request and removes them from it.
func readFields(h http.Header) (asked options, bad *strict.Refusal) {
	if !hasFields(h) {
		return options{}, nil
	}
	asked = options{mode: strings.ToLower(strings.TrimSpace(h.Get("X-Readthru-Mode")))}
	if !validMode(asked.mode) {
		return options{}, strict.BadRequest(fmt.Sprintf("X-Readthru-Mode must be auto, markdown, text, html or raw, not %q.",
			strict.Shown(asked.mode)))
	}
	if tokens := h.Get("X-Readthru-Max-Tokens"); tokens != "" {
		n, err := strconv.Atoi(tokens)
		if err != nil || n < 0 {
			return options{}, strict.BadRequest(fmt.Sprintf("X-Readthru-Max-Tokens must be a number, not %q.", strict.Shown(tokens)))
		}
		asked.maxTokens = n
	}
	if asked.view, bad = readView(h); bad != nil {
		return options{}, bad
	}
	switch render := h.Get("X-Readthru-Render"); render {
	case "", fetch.RenderAuto, fetch.RenderAlways, fetch.RenderNever:
		asked.render = render
	default:
		return options{}, strict.BadRequest(fmt.Sprintf("X-Readthru-Render must be auto, always or never, not %q.", strict.Shown(render)))
	}
	for name := range h {
		if strings.HasPrefix(name, httpfield.OurPrefix) {
			delete(h, name)
		}
	}
	return asked, nil
}

// readView parses the fields that select a part of a page: X-Readthru-Content: whole, X-Readthru-Selector,
// X-Readthru-Drop, X-Readthru-Section, X-Readthru-Start, X-Readthru-Links and X-Readthru-Images.
func readView(h http.Header) (v fetch.View, bad *strict.Refusal) {
	v = fetch.View{
		Selector: h.Get("X-Readthru-Selector"), Drop: h.Get("X-Readthru-Drop"), Section: h.Get("X-Readthru-Section"),
		Links: h.Get("X-Readthru-Links"), Images: h.Get("X-Readthru-Images"),
	}
	switch content := h.Get("X-Readthru-Content"); content {
	case "", "main":
	case "whole":
		v.WholePage = true
	default:
		return fetch.View{}, strict.BadRequest(fmt.Sprintf("X-Readthru-Content must be main or whole, not %q.", strict.Shown(content)))
	}
	if start := h.Get("X-Readthru-Start"); start != "" {
		n, err := strconv.Atoi(start)
		if err != nil {
			return fetch.View{}, strict.BadRequest(fmt.Sprintf("X-Readthru-Start must be a number, not %q.", strict.Shown(start)))
		}
		v.Start = n
	}
	if err := v.Check(); err != nil {
		return fetch.View{}, strict.BadRequest("Invalid selection of a part of the page: " + err.Error() + ".")
	}
	return v, nil
}

func hasFields(h http.Header) bool {
	for name := range h {
		if strings.HasPrefix(name, httpfield.OurPrefix) {
			return true
		}
	}
	return false
}
