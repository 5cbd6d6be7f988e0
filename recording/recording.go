// Package recording keeps what a run was answered, and answers from it.
//
// A recording is a file of JSON lines. The first says what it is; then come bodies, each under the SHA-256 of its bytes
// and in parts of at most 64 KiB, text where they are text; exchanges, each after the body that it names; and at last a
// line that says how many there were, without which the file is not whole. A body that several exchanges have stands
// once.
//
//	{"readthru_recording":1,"made_by":"readthru/1.0","at":"2026-01-02T15:04:05Z"}
//	{"body":"9f86…","text":"# Title\n…"}
//	{"exchange":{"method":"GET","url":"https://go.dev/doc/","asked":{"Accept":["*/*"]},"status":200,"header":{…},"body":"9f86…"}}
//	{"end":{"exchanges":1,"bodies":1}}
//
// What a request is known by is its method, its URL with what is secret masked, those of its fields that choose the
// form of an answer, and its content. Credentials are neither kept nor compared, so a recording answers without them;
// what an origin answered is kept whole, its cookies too. Requests that are alike are answered in the order in which
// they were recorded, and the last answer again from then on.
package recording

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	version  = 1
	partSize = 64 << 10 // bytes of a body in one line
	maxLine  = 1 << 20  // bytes of a line: those of a part, each escaped, and of a head of answer
)

// line is one line of the file: one of its members is set, and with Body its content.
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

// exchange is a request as it is recognised, and its answer.
type exchange struct {
	Method  string      `json:"method"`
	URL     string      `json:"url"`               // masked; a path for the prefix form
	Asked   http.Header `json:"asked,omitempty"`   // fields that choose the form of the answer
	Content string      `json:"content,omitempty"` // what the request's content is known by; empty when it has none

	Status  int         `json:"status"`
	Header  http.Header `json:"header,omitempty"`
	Trailer http.Header `json:"trailer,omitempty"`
	Body    string      `json:"body,omitempty"` // SHA-256 in hex; empty when there is none
	Cut     bool        `json:"cut,omitempty"`  // the answer broke off after the body
}

// totals is how much a whole recording has.
type totals struct {
	Exchanges int `json:"exchanges"`
	Bodies    int `json:"bodies"`
}

// key returns what a request is found by.
func (e *exchange) key() string {
	var b strings.Builder
	b.WriteString(e.place() + "\n" + e.Content + "\n")
	names := make([]string, 0, len(e.Asked))
	for name := range e.Asked {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		b.WriteString(name + ": " + strings.Join(e.Asked[name], ", ") + "\n")
	}
	return b.String()
}

// place is the part of a key that says what was asked for, whatever the form.
func (e *exchange) place() string { return e.Method + " " + e.URL }

// askedFields are the fields that choose the form of an answer, besides the proxy's own. User-Agent is none: the next
// version of a tool gets what this one got.
var askedFields = []string{
	"Accept", "Accept-Language", "Range", "If-Range", "If-None-Match", "If-Modified-Since", "If-Match",
	"If-Unmodified-Since",
	"X-Requested-With", "Sec-Fetch-Mode", "Sec-Fetch-Dest",
}

// askedOf returns those fields of a request.
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
