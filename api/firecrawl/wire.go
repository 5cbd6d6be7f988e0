package firecrawl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/page"
)

// failure is an error with its status and code in the API.
type failure struct {
	status     int
	code, text string
}

func (f *failure) Error() string { return f.text }

func (f *failure) body() any {
	return Refusal{Code: f.code, Error: f.text}
}

// Refusal is the answer to a request that failed.
type Refusal struct {
	Success bool   `json:"success"` // false
	Code    string `json:"code,omitempty"`
	Error   string `json:"error"` // one sentence
}

// Firecrawl's error codes.
const (
	codeBadRequest  = "BAD_REQUEST"
	codeBlocked     = "UNSUPPORTED_SITE"
	codeTimeout     = "SCRAPE_TIMEOUT"
	codeDNS         = "SCRAPE_DNS_RESOLUTION_ERROR"
	codeTLS         = "SCRAPE_SSL_ERROR"
	codeUnsupported = "SCRAPE_UNSUPPORTED_FILE_ERROR"
	codeFailed      = "SCRAPE_ALL_ENGINES_FAILED"
	codeNotCached   = "SCRAPE_LOCKDOWN_CACHE_MISS"
	codeLimited     = "RATE_LIMITED"
)

// bad returns the failure of a request that is wrong.
func bad(format string, args ...any) *failure {
	return &failure{http.StatusBadRequest, codeBadRequest, fmt.Sprintf(format, args...)}
}

// failed returns an error as a failure, with the code of its kind if it is that of a fetch. u may be nil.
func failed(u *url.URL, err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	e, ok := errors.AsType[*fetch.Error](err)
	switch {
	case ok:
	case errors.Is(err, context.DeadlineExceeded):
		e = fetch.Explain(u, err)
	default:
		return &failure{http.StatusInternalServerError, codeFailed, err.Error()}
	}
	f := &failure{http.StatusInternalServerError, codeFailed, e.Error()}
	switch {
	case e.Kind == fetch.KindBlocked:
		f.status, f.code = http.StatusForbidden, codeBlocked
	case e.Kind == fetch.KindTimeout:
		f.status, f.code = http.StatusRequestTimeout, codeTimeout
	case e.Kind == fetch.KindTLS:
		f.code = codeTLS
	case e.Kind == fetch.KindUnsupported, e.Kind == fetch.KindTooLarge:
		f.code = codeUnsupported
	case e.Type == "dns_error":
		f.code = codeDNS
	}
	return f
}

// Refuse answers a request that is refused before it reaches a route, in the form of this API.
func Refuse(w http.ResponseWriter, status int, text string) {
	codes := map[int]string{
		http.StatusBadRequest: codeBadRequest, http.StatusUnauthorized: "UNAUTHORIZED",
		http.StatusForbidden: "FORBIDDEN", http.StatusNotFound: "NOT_FOUND",
	}
	answer(w, status, Refusal{Code: codes[status], Error: text})
}

// answer writes v as JSON.
func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // the status is sent; an error means that the client has left
}

// decode decodes a request's content. It refuses by name keys that are unknown and those that are not supported, and a
// second JSON value.
func decode(r *http.Request, v any) error {
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	err := dec.Decode(v)
	if err == nil {
		if _, err := dec.Token(); !errors.Is(err, io.EOF) {
			return bad("the request's content has more than one JSON value")
		}
		return refuse(reflect.ValueOf(v).Elem())
	}
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	if e, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &failure{
			http.StatusRequestEntityTooLarge, codeBadRequest,
			fmt.Sprintf("the request's content is longer than %d bytes", e.Limit),
		}
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return bad("%s cannot be a JSON %s", e.Field, e.Value)
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return bad("Unrecognized key in body: %s", name)
	}
	if errors.Is(err, io.EOF) {
		return bad("the request has no content: send a JSON object")
	}
	return bad("parse the request's JSON: %s", strings.TrimPrefix(err.Error(), "json: "))
}

// ignored is the value of a key that is accepted and ignored.
type ignored = json.RawMessage

// wanted is the value of a key that is not supported. It is refused unless it asks for nothing: null, false, zero or an
// empty value.
type wanted json.RawMessage

func (w *wanted) UnmarshalJSON(b []byte) error {
	*w = bytes.Clone(bytes.TrimSpace(b))
	return nil
}

// JSONSchema describes its JSON form: anything.
func (w wanted) JSONSchema() map[string]any { return map[string]any{} }

// something reports whether an option was given that is not supported, with a value that asks for something: clients
// send false, null and empty ones for all options.
func (w wanted) something() bool {
	switch string(bytes.Join(bytes.Fields(w), nil)) {
	case "", "null", "false", "0", `""`, "[]", "{}":
		return false
	}
	return true
}

// refuse returns an error that names the first key of a struct, and of those in it, that is not supported and asks for
// something.
func refuse(v reflect.Value) error {
	for i := range v.NumField() {
		f, value := v.Type().Field(i), v.Field(i)
		if value.Kind() == reflect.Pointer && !value.IsNil() {
			value = value.Elem()
		}
		switch {
		case value.Type() == reflect.TypeFor[wanted]():
			if wanted(value.Bytes()).something() {
				return bad("%s is not supported here", f.Tag.Get("json"))
			}
		case value.Kind() == reflect.Struct && (f.Anonymous || f.Tag.Get("json") != ""):
			if err := refuse(value); err != nil {
				return err
			}
		}
	}
	return nil
}

// read decodes a request's content into body and checks it. about points to the member of body with the URL.
func read(r *http.Request, body interface{ check() error }, about *string) (*url.URL, error) {
	if err := decode(r, body); err != nil {
		return nil, err
	}
	u, err := address(*about)
	if err != nil {
		return nil, err
	}
	return u, body.check()
}

// address parses a URL. One without a scheme is an http URL.
func address(raw string) (*url.URL, error) {
	raw = strings.TrimSpace(raw)
	if raw == "" {
		return nil, bad("url is missing")
	}
	if !strings.Contains(raw, "://") {
		raw = "http://" + raw
	}
	u, err := page.Parse(raw)
	if err != nil {
		return nil, bad("%s", err)
	}
	return u, nil
}
