package proxy

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// wishes are the X-Readthru fields of a request: for us, never sent on.
type wishes struct {
	mode      string
	maxTokens int
	session   string
}

// readWishes reads the fields that are for us and takes them out of the request.
func (x *exchange) readWishes() *refusal {
	h := x.r.Header
	if !hasWishes(h) {
		return nil
	}
	x.told = wishes{mode: strings.ToLower(strings.TrimSpace(h.Get("X-Readthru-Mode"))), session: clip(h.Get("X-Readthru-Session"))}
	if !validMode(x.told.mode) {
		return badRequest(fmt.Sprintf("X-Readthru-Mode is auto, markdown, text, html or raw, not %q.", clip(x.told.mode)))
	}
	if tokens := h.Get("X-Readthru-Max-Tokens"); tokens != "" {
		n, err := strconv.Atoi(tokens)
		if err != nil || n < 0 {
			return badRequest(fmt.Sprintf("X-Readthru-Max-Tokens is a number, not %q.", clip(tokens)))
		}
		x.told.maxTokens = n
	}
	switch render := h.Get("X-Readthru-Render"); render {
	case "", "auto", "always", "never":
	default:
		return badRequest(fmt.Sprintf("X-Readthru-Render is auto, always or never, not %q.", clip(render)))
	}
	for name := range h {
		if strings.HasPrefix(name, "X-Readthru-") {
			delete(h, name)
		}
	}
	return nil
}

func hasWishes(h http.Header) bool {
	for name := range h {
		if strings.HasPrefix(name, "X-Readthru-") {
			return true
		}
	}
	return false
}
