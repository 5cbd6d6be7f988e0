package proxy

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"readthru/fetch"
)

// refusal is an answer of the proxy's own: a problem (RFC 9457) with one plain sentence, and the reason in Proxy-Status
// (RFC 9209).
type refusal struct {
	status     int
	title      string
	detail     string // one sentence that makes sense alone: many agents show nothing else
	proxyError string // an error type of RFC 9209 §2.3; empty: the request was at fault, and there is no Proxy-Status
	header     http.Header
	cause      error // for the log
}

func badRequest(detail string) *refusal {
	return &refusal{status: http.StatusBadRequest, title: "Bad request", detail: detail, proxyError: "http_request_error"}
}

func blockedRefusal(host string) *refusal {
	return &refusal{
		status: http.StatusForbidden, title: "Blocked", proxyError: "http_request_denied",
		detail: "Blocked: " + clip(host) + " is on the list of blocked hosts.",
	}
}

// explain turns an error of a round trip or a dial into a refusal that names its cause.
func (p *Proxy) explain(u *url.URL, err error) *refusal {
	e := fetch.Explain(u, err)
	status := e.HTTPStatus()
	if status < 400 || status > 599 {
		status = http.StatusBadGateway
	}
	title := http.StatusText(status)
	if title == "" {
		title = "Upstream error"
	}
	return &refusal{status: status, title: title, detail: e.Error(), proxyError: e.Type, cause: err}
}

// fields returns the refusal's content and fields.
func (f *refusal) fields() (body []byte, h http.Header) {
	body, err := json.Marshal(struct {
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail"`
	}{"about:blank", f.title, f.status, f.detail})
	if err != nil {
		panic("proxy: a problem of strings cannot be written: " + err.Error())
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

// response returns the refusal as the last response of a connection. r may be nil.
func (f *refusal) response(r *http.Request) *http.Response {
	body, h := f.fields()
	return &http.Response{
		StatusCode: f.status, ProtoMajor: 1, ProtoMinor: 1, Header: h, Request: r, Close: true,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}
}

// quoted returns s as a string of a structured field (RFC 9651 §3.3.3): printable ASCII, anything else a question mark.
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

// printable reports whether s is plain ASCII without control characters.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// clip shortens foreign text for a sentence or a record, and takes control characters out of it.
func clip(s string) string {
	const most = 200
	if len(s) <= most && printable(s) {
		return s
	}
	cut := len(s) > most
	if cut {
		s = s[:most]
	}
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\uFFFD' {
			return -1
		}
		return r
	}, s)
	if cut {
		s += "…"
	}
	return s
}
