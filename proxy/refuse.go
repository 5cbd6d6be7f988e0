package proxy

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/readthru/readthru/internal/clip"
)

// refusal is an error response of the proxy itself: a problem document (RFC 9457) with a detail in plain words, and a
// Proxy-Status field (RFC 9209) with the reason.
type refusal struct {
	status     int
	title      string
	detail     string // must be understandable alone: many agents show nothing else
	proxyError string // an error type of RFC 9209 §2.3; if empty there is no Proxy-Status
	header     http.Header
	cause      error // for the log
}

func badRequest(detail string) *refusal {
	return &refusal{status: http.StatusBadRequest, title: "Bad request", detail: detail, proxyError: "http_request_error"}
}

func internalError(cause error) *refusal {
	return &refusal{
		status: http.StatusInternalServerError, title: "Internal error", proxyError: "proxy_internal_error", cause: cause,
		detail: "readthru failed at this request; its log says where. Other requests are not affected.",
	}
}

// blockedRefusal refuses a host, and says by what it is blocked.
func blockedRefusal(host, by string) *refusal {
	return &refusal{
		status: http.StatusForbidden, title: "Blocked", proxyError: "http_request_denied",
		detail: "Blocked: " + shown(host) + " is blocked by " + by + ".",
	}
}

// What blocks a host, with where that is listed.
const (
	byRule = "a rule (rules in the configuration, or readthru site rule list)"
	byList = "the list of blocked domains (blocked_domains in the configuration)"
)

// fields returns the content and the header fields of the refusal.
func (f *refusal) fields() (body []byte, h http.Header) {
	body, err := json.Marshal(struct {
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail"`
	}{"about:blank", f.title, f.status, f.detail})
	if err != nil {
		panic("proxy: marshal problem: " + err.Error())
	}
	body = append(body, '\n')
	h = http.Header{}
	maps.Copy(h, f.header)
	h.Set("Content-Type", "application/problem+json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	if f.proxyError != "" {
		h.Set("Proxy-Status", "readthru; error="+f.proxyError+"; details="+quoted(f.detail))
	}
	return body, h
}

// response returns the refusal as a response that closes the connection. r may be nil.
func (f *refusal) response(r *http.Request) *http.Response {
	body, h := f.fields()
	return &http.Response{
		StatusCode: f.status, ProtoMajor: 1, ProtoMinor: 1, Header: h, Request: r, Close: true,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}
}

// quoted returns s as a String of a structured field (RFC 9651 §3.3.3). It replaces everything but printable ASCII by
// question marks.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r > '~':
			b.WriteByte('?')
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// shown returns foreign text as an error text or a record has it.
func shown(s string) string { return clip.Line(s, 200) }
