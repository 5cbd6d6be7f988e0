package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/knowledge/outline"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// Error is a failure with an HTTP status. On the wire it is a problem document (RFC 9457).
type Error struct {
	Status int    `json:"status"`
	Code   Code   `json:"code"`   // for programs: stable, one of Codes
	Title  string `json:"title"`  // the status in words
	Detail string `json:"detail"` // for people: what went wrong, and the remedy where there is one

	Wait time.Duration `json:"-"` // until the request may be repeated
}

// Error returns the detail.
func (e *Error) Error() string { return e.Detail }

// Code tells programs what went wrong. Codes do not change.
type Code string

// The codes of errors.
const (
	CodeInvalid       Code = "invalid_request"  // a parameter or the content is wrong
	CodeUnauthorized  Code = "unauthorized"     // the token is missing or wrong
	CodeGuesses       Code = "too_many_guesses" // too many wrong tokens came from there
	CodeLimit         Code = "limit_reached"    // the user has used what they may for now
	CodeForbidden     Code = "forbidden"        // this caller may not do that
	CodeUnknownSigner Code = "unknown_signer"   // the signer of a pack is not trusted
	CodeNotFound      Code = "not_found"        // there is no such page, document, job, note or path
	CodeUnknownBase   Code = "unknown_base"     // there is no knowledge base of that name
	CodeMethod        Code = "wrong_method"     // the path does not take that method
	CodeConflict      Code = "conflict"         // the request does not fit the present state
	CodeUserExists    Code = "user_exists"      // there is a user of that name
	CodeBaseExists    Code = "base_exists"      // there is a knowledge base of that name
	CodeBaseBuilding  Code = "base_building"    // the knowledge base is being filled
	CodeRecording     Code = "recording"        // the session is recorded already, or is not recorded
	CodeNoProxy       Code = "no_proxy"         // no proxy runs in this process
	CodeTooLarge      Code = "too_large"        // the content is over a limit
	CodeMediaType     Code = "wrong_media_type" // the content is neither JSON nor bytes
	CodeRefused       Code = "refused"          // the text may not be kept
	CodeInternal      Code = "internal"         // a fault of this server
	CodeUnavailable   Code = "unavailable"      // a part that the request needs does not run
	CodeStopping      Code = "stopping"         // the daemon is about to stop
	CodeBusy          Code = "busy"             // too many jobs run
	CodeStoreFull     Code = "store_full"       // there is no space to write
)

// Codes lists all codes.
var Codes = []Code{
	CodeInvalid, CodeUnauthorized, CodeGuesses, CodeLimit, CodeForbidden, CodeUnknownSigner, CodeNotFound, CodeUnknownBase,
	CodeMethod, CodeConflict, CodeUserExists, CodeBaseExists, CodeBaseBuilding, CodeRecording, CodeNoProxy, CodeTooLarge,
	CodeMediaType, CodeRefused, CodeInternal, CodeUnavailable, CodeStopping, CodeBusy, CodeStoreFull,
}

// CodeOf returns the code of an error that a [Client] returned; empty if it is no answer of a server.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

// statusCodes are the codes of errors that have none of their own.
var statusCodes = map[int]Code{
	http.StatusBadRequest:            CodeInvalid,
	http.StatusUnauthorized:          CodeUnauthorized,
	http.StatusForbidden:             CodeForbidden,
	http.StatusNotFound:              CodeNotFound,
	http.StatusMethodNotAllowed:      CodeMethod,
	http.StatusConflict:              CodeConflict,
	http.StatusRequestEntityTooLarge: CodeTooLarge,
	http.StatusUnsupportedMediaType:  CodeMediaType,
	http.StatusUnprocessableEntity:   CodeRefused,
	http.StatusServiceUnavailable:    CodeUnavailable,
}

// Problem makes an Error with the code that its status has.
func Problem(status int, format string, args ...any) *Error {
	return NewError(status, statusCodes[status], fmt.Sprintf(format, args...))
}

// NewError makes an Error. An empty code is [CodeInternal].
func NewError(status int, code Code, detail string) *Error {
	code = cmp.Or(code, CodeInternal)
	return &Error{Status: status, Code: code, Title: http.StatusText(status), Detail: detail}
}

// ErrNoProxy is the error of operations that need a proxy.
var ErrNoProxy = NewError(http.StatusConflict, CodeNoProxy, "no proxy runs here")

// AsError gives an error of an operation its status and code.
func AsError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return Problem(http.StatusRequestEntityTooLarge, "the request's content is over %d bytes", e.Limit)
	}
	_, unknownBase := errors.AsType[*knowledge.UnknownBaseError](err)
	_, unknownSigner := errors.AsType[*knowledge.UnknownSignerError](err)
	_, refused := errors.AsType[*knowledge.RefusedError](err)
	status, code := http.StatusInternalServerError, Code("")
	switch is := func(target error) bool { return errors.Is(err, target) }; {
	case unknownBase:
		status, code = http.StatusNotFound, CodeUnknownBase
	case unknownSigner:
		status, code = http.StatusForbidden, CodeUnknownSigner
	case refused:
		status = http.StatusUnprocessableEntity
	case is(store.ErrNotFound), is(outline.ErrNoSection):
		status = http.StatusNotFound
	case is(store.ErrFull):
		status, code = http.StatusServiceUnavailable, CodeStoreFull
	case is(knowledge.ErrBaseExists):
		status, code = http.StatusConflict, CodeBaseExists
	case is(knowledge.ErrBuilding):
		status, code = http.StatusConflict, CodeBaseBuilding
	case is(knowledge.ErrTooLarge), is(knowledge.ErrTooManyPassages):
		status = http.StatusRequestEntityTooLarge
	case is(store.ErrCursor), is(knowledge.ErrInvalid), is(knowledge.ErrEmptyQuery), is(knowledge.ErrBadPack):
		status = http.StatusBadRequest
	}
	return NewError(status, cmp.Or(code, statusCodes[status]), err.Error())
}

// Refuse writes err as a problem document.
func Refuse(w http.ResponseWriter, err error) {
	e := AsError(err)
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(e.Status)
	_ = json.NewEncoder(w).Encode(e) // the status is out: nothing is left to do about a client that has gone
}

// Answer writes v as JSON, with the status that [StatusOf] gives it. It returns no error: the status is sent.
func Answer(w http.ResponseWriter, v any) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(StatusOf(v))
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // an error is a client that has gone
	return nil
}

// StatusOf returns the status of an answer. A page that could not be had and a daemon that is not ready are answers
// too, whose status tells of that.
func StatusOf(v any) int {
	switch v := v.(type) {
	case *page.Page:
		if v.Stored && v.ContentFormat != "" { // what is stored may be empty
			return http.StatusOK // its error is of a fetch since
		}
		return failureStatus(v.Error)
	case *Readiness:
		if !v.Ready {
			return http.StatusServiceUnavailable
		}
	}
	return http.StatusOK
}

// failureStatus is the status that a page object answers with: 200, or for a failure 403, 502 or 504.
func failureStatus(e *page.Error) int {
	switch {
	case e == nil:
		return http.StatusOK
	case e.Kind == "blocked":
		return http.StatusForbidden
	case e.Kind == "timeout":
		return http.StatusGatewayTimeout
	}
	return http.StatusBadGateway
}
