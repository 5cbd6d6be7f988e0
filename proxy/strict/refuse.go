// Package strict refuses requests that two parsers could read differently, and loops. It knows what a request may be:
// its framing, its target, and the fields that belong to its connection. It knows no proxy.
//
// A request passes three gates: [Scan] follows the bytes of the client before net/http reads them (scan.go);
// [Malformed] and [Via.Looped] look at the request that net/http read (hop.go); [ResolvePlain] and [AuthorityOf] bring
// its target into the one form in which it is forwarded (target.go, authority.go). Each gives a [Refusal], or an error
// that the proxy makes one of.
package strict

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

// Refusal is an error response of the proxy itself: a problem document (RFC 9457) with a detail in plain words, and a
// Proxy-Status field (RFC 9209) with the reason.
type Refusal struct {
	Status     int
	Title      string
	Detail     string // must be understandable alone: many agents show nothing else
	ProxyError string // an error type of RFC 9209 §2.3; if empty there is no Proxy-Status
	Header     http.Header
	Cause      error // for the log
}

// BadRequest refuses a request that is wrong in itself, with a sentence that says what is wrong. The status is 400.
func BadRequest(detail string) *Refusal {
	return &Refusal{Status: http.StatusBadRequest, Title: "Bad request", Detail: detail, ProxyError: "http_request_error"}
}

// Internal refuses a request at which this program failed. The cause goes to the log alone.
func Internal(cause error) *Refusal {
	return &Refusal{
		Status: http.StatusInternalServerError, Title: "Internal error", ProxyError: "proxy_internal_error", Cause: cause,
		Detail: "readthru failed at this request; its log says where. Other requests are not affected.",
	}
}

// Blocked refuses a request for a blocked host with status 403, and says by what the host is blocked ([ByRule],
// [ByList]), so that the reader of the error knows where to change it.
func Blocked(host, by string) *Refusal {
	return &Refusal{
		Status: http.StatusForbidden, Title: "Blocked", ProxyError: "http_request_denied",
		Detail: "Blocked: " + Shown(host) + " is blocked by " + by + ".",
	}
}

// What blocks a host, with where that is listed.
const (
	ByRule = "a rule (rules in the configuration, or readthru site rule list)"
	ByList = "the list of blocked domains (blocked_domains in the configuration)"
)

// Fields returns the content and the header fields of the refusal, for whoever writes it. No cache on the way may store
// them.
func (f *Refusal) Fields() (body []byte, h http.Header) {
	body, err := json.Marshal(struct {
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail"`
	}{"about:blank", f.Title, f.Status, f.Detail})
	if err != nil {
		panic("proxy: marshal problem: " + err.Error())
	}
	body = append(body, '\n')
	h = http.Header{}
	maps.Copy(h, f.Header)
	h.Set("Content-Type", "application/problem+json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	if f.ProxyError != "" {
		h.Set("Proxy-Status", "readthru; error="+f.ProxyError+"; details="+quoted(f.Detail))
	}
	return body, h
}

// Response returns the refusal as a response that closes the connection: after a request that could be read in two ways
// nobody knows where the next one begins. r may be nil.
func (f *Refusal) Response(r *http.Request) *http.Response {
	body, h := f.Fields()
	return &http.Response{
		StatusCode: f.Status, ProtoMajor: 1, ProtoMinor: 1, Header: h, Request: r, Close: true,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}
}

// quoted returns the detail of a refusal as a String of a structured field (RFC 9651 §3.3.3), which holds printable
// ASCII alone. It replaces everything else by question marks; the problem document has the text as it is.
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

// Shown returns foreign text, such as a host or a scheme of a request, as a refusal or a record has it: on one line, at
// most 200 characters.
func Shown(s string) string { return clip.Line(s, 200) }
