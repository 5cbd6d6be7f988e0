package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"readthru/knowledge"
	"readthru/store"
)

// Error is a failure with an HTTP status. On the wire it is a problem document (RFC 9457).
type Error struct {
	Status int    `json:"status"`
	Title  string `json:"title"`  // the status in words
	Detail string `json:"detail"` // one sentence: what went wrong, and the remedy where there is one
}

// Error returns the detail.
func (e *Error) Error() string { return e.Detail }

// problem makes an Error.
func problem(status int, format string, args ...any) *Error {
	return &Error{Status: status, Title: http.StatusText(status), Detail: fmt.Sprintf(format, args...)}
}

// asError gives err a status: its own, 404 for what is not stored, 400 for a cursor that is none, 413 for a body over
// the limit, those of knowledge, else 500.
func asError(err error) *Error {
	var e *Error
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, store.ErrNotFound):
		return problem(http.StatusNotFound, "%s", err)
	case errors.Is(err, store.ErrCursor):
		return problem(http.StatusBadRequest, "%s", err)
	case errors.Is(err, store.ErrFull):
		return problem(http.StatusServiceUnavailable, "%s", err)
	case knowledgeStatus(err) != 0:
		return problem(knowledgeStatus(err), "%s", err)
	case errors.As(err, &tooLarge):
		return problem(http.StatusRequestEntityTooLarge, "the request's content is over %d bytes", tooLarge.Limit)
	}
	return problem(http.StatusInternalServerError, "%s", err)
}

// StatusOf returns the status that an error of an operation has on the wire, whether a Server or a Client gave it; 0
// for nil.
func StatusOf(err error) int {
	if err == nil {
		return 0
	}
	return asError(err).Status
}

// knowledgeStatus returns the status of an error of knowledge, 0 for any other.
func knowledgeStatus(err error) int {
	_, unknownBase := errors.AsType[*knowledge.UnknownBaseError](err)
	_, unknownSigner := errors.AsType[*knowledge.UnknownSignerError](err)
	_, refused := errors.AsType[*knowledge.RefusedError](err)
	switch {
	case unknownBase:
		return http.StatusNotFound
	case unknownSigner:
		return http.StatusForbidden
	case refused:
		return http.StatusUnprocessableEntity
	case errors.Is(err, knowledge.ErrBaseExists), errors.Is(err, knowledge.ErrBuilding):
		return http.StatusConflict
	case errors.Is(err, knowledge.ErrTooLarge), errors.Is(err, knowledge.ErrTooManyPassages):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, knowledge.ErrInvalid), errors.Is(err, knowledge.ErrEmptyQuery),
		errors.Is(err, knowledge.ErrBadPack):
		return http.StatusBadRequest
	}
	return 0
}

// refuse writes err as a problem document.
func refuse(w http.ResponseWriter, err error) {
	e := asError(err)
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(e.Status)
	_ = json.NewEncoder(w).Encode(e) // the status is out: nothing is left to do about a client that has gone
}
