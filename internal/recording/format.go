// Package recording records the HTTP answers that a run received and replays them.
//
// A recording is a file of JSON lines. The first line is a header. Then come bodies and exchanges. A body is named by
// the SHA-256 of its bytes and comes in parts of at most 64 KiB, as text if possible. Each exchange follows the body
// that it names; a body of several exchanges is written once. The last line counts the bodies and exchanges. A file
// without it is incomplete.
//
//	{"readthru_recording":1,"made_by":"readthru/1.0","at":"2026-01-02T15:04:05Z"}
//	{"body":"9f86…","text":"# Title\n…"}
//	{"exchange":{"method":"GET","url":"https://go.dev/doc/","asked":{"Accept":["*/*"]},"status":200,"header":{…},"body":"9f86…"}}
//	{"end":{"exchanges":1,"bodies":1}}
//
// A request is identified by its method, its URL with secrets masked, the fields that choose the form of an answer, and
// its content. Credentials are neither recorded nor compared, so a recording can be replayed without them. Answers are
// recorded completely, including their cookies. Equal requests get their answers in the recorded order; after the last
// one it is repeated.
package recording

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	version  = 1
	partSize = 64 << 10 // bytes of a body in one line
	maxLine  = 1 << 20  // bytes of a line: a part with every byte escaped, or the head of an answer
)

// line is one line of the file: the header (Version, MadeBy, At), a part of a body (Body, and Text or Base64), an
// exchange or the end.
type line struct {
	Version int       `json:"readthru_recording,omitempty"`
	MadeBy  string    `json:"made_by,omitempty"`
	At      time.Time `json:"at,omitzero"`

	Body   string `json:"body,omitempty"`
	Text   string `json:"text,omitempty"`
	Base64 []byte `json:"base64,omitempty"`

	Exchange *exchange `json:"exchange,omitempty"`
	End      *totals   `json:"end,omitempty"`
}

// exchange is the identity of a request with its answer.
type exchange struct {
	Method string      `json:"method"`
	URL    string      `json:"url"`             // masked; for the prefix form, a path
	Asked  http.Header `json:"asked,omitempty"` // the fields that choose the form of the answer
	// Content is the name of the request's content (see content.name); empty without content.
	Content string `json:"content,omitempty"`

	Status  int         `json:"status"`
	Header  http.Header `json:"header,omitempty"`
	Trailer http.Header `json:"trailer,omitempty"`
	Body    string      `json:"body,omitempty"` // hex SHA-256; empty without a body
	Cut     bool        `json:"cut,omitempty"`  // the answer ended early, after the body
}

// totals counts the exchanges and bodies of a complete recording.
type totals struct {
	Exchanges int `json:"exchanges"`
	Bodies    int `json:"bodies"`
}

// key returns what identifies a request in a recording: method, URL, content, and the fields that choose the form of
// the answer.
func (e *exchange) key() string {
	var b strings.Builder
	b.WriteString(e.place() + "\n" + e.Content + "\n")
	names := slices.Sorted(maps.Keys(e.Asked))
	for _, name := range names {
		b.WriteString(name + ": " + strings.Join(e.Asked[name], ", ") + "\n")
	}
	return b.String()
}

// place returns the method and URL of a request, without the fields that choose the form of its answer.
func (e *exchange) place() string { return e.Method + " " + e.URL }

// askedFields are the fields that choose the form of an answer, besides the proxy's own. User-Agent is not among them,
// so that the next version of a tool gets the same answers.
var askedFields = []string{
	"Accept", "Accept-Language", "Range", "If-Range", "If-None-Match", "If-Modified-Since", "If-Match",
	"If-Unmodified-Since", "X-Requested-With", "Sec-Fetch-Mode", "Sec-Fetch-Dest",
}

// askedOf returns the fields of a request that choose the form of its answer, or nil if there are none.
func askedOf(h http.Header) http.Header {
	asked := http.Header{}
	for _, name := range askedFields {
		if values := h[name]; len(values) > 0 {
			asked[name] = slices.Clone(values)
		}
	}
	for name, values := range h {
		if strings.HasPrefix(name, "X-Readthru-") && name != "X-Readthru-Session" {
			asked[name] = slices.Clone(values)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	return asked
}
