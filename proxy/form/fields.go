package form

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/proxy/strict"
)

// Fields are the X-Readthru fields of a request. They are for this proxy and are never forwarded.
type Fields struct {
	Mode      string
	MaxTokens int
	View      fetch.View
	Render    string
}

// ReadFields parses the X-Readthru fields of a request and removes them from it, so that no origin sees them. The
// refusal names a field whose value is wrong, and what it may be.
func ReadFields(h http.Header) (asked Fields, bad *strict.Refusal) {
	if !hasFields(h) {
		return Fields{}, nil
	}
	asked = Fields{Mode: strings.ToLower(strings.TrimSpace(h.Get("X-Readthru-Mode")))}
	if !validMode(asked.Mode) {
		return Fields{}, wrong("X-Readthru-Mode", "auto, markdown, text, html or raw", asked.Mode)
	}
	if tokens := h.Get("X-Readthru-Max-Tokens"); tokens != "" {
		n, err := strconv.Atoi(tokens)
		if err != nil || n < 0 {
			return Fields{}, wrong("X-Readthru-Max-Tokens", "a number", tokens)
		}
		asked.MaxTokens = n
	}
	if asked.View, bad = readView(h); bad != nil {
		return Fields{}, bad
	}
	switch render := h.Get("X-Readthru-Render"); render {
	case "", fetch.RenderAuto, fetch.RenderAlways, fetch.RenderNever:
		asked.Render = render
	default:
		return Fields{}, wrong("X-Readthru-Render", "auto, always or never", render)
	}
	for name := range h {
		if strings.HasPrefix(name, httpfield.OurPrefix) {
			delete(h, name)
		}
	}
	return asked, nil
}

// wrong refuses the value of an X-Readthru field, with what it must be.
func wrong(field, must, value string) *strict.Refusal {
	return strict.BadRequest(fmt.Sprintf("%s must be %s, not %q.", field, must, strict.Shown(value)))
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
		return fetch.View{}, wrong("X-Readthru-Content", "main or whole", content)
	}
	if start := h.Get("X-Readthru-Start"); start != "" {
		n, err := strconv.Atoi(start)
		if err != nil {
			return fetch.View{}, wrong("X-Readthru-Start", "a number", start)
		}
		v.Start = n
	}
	if err := v.Check(); err != nil {
		return fetch.View{}, strict.BadRequest("Invalid selection of a part of the page: " + err.Error() + ".")
	}
	return v, nil
}

// hasFields reports whether a request has any X-Readthru field; most have none, and cost only this.
func hasFields(h http.Header) bool {
	for name := range h {
		if strings.HasPrefix(name, httpfield.OurPrefix) {
			return true
		}
	}
	return false
}
