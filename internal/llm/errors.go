package llm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/page"
)

// Kind says what went wrong.
type Kind string

// The kinds of an [Error].
const (
	Unreachable Kind = "unreachable" // no connection, or the connection broke
	TimedOut    Kind = "timeout"
	Denied      Kind = "denied"      // the key is wrong or may not use the model
	Limited     Kind = "limited"     // too many requests, or no quota left
	Trouble     Kind = "trouble"     // the endpoint failed: 5xx
	BadRequest  Kind = "bad_request" // the endpoint rejects the request: unknown model, prompt too long …
	Refused     Kind = "refused"     // the model or a filter refused to answer
	Cut         Kind = "cut"         // the answer reached its maximum length
	Malformed   Kind = "malformed"   // the answer does not have the requested form
	Undisclosed Kind = "undisclosed" // the disclosure could not be recorded, so nothing was sent
)

// Error is the failure of a call.
type Error struct {
	Kind       Kind
	Status     int           // of the HTTP answer; 0 if there was no answer
	Message    string        // for people; the endpoint's own message is shortened
	RetryAfter time.Duration // how long to wait before the next call; 0 if unknown
	TooLong    bool          // the prompt is too long for the model; a shorter one may succeed
	host       string
	cause      error
}

// Error says which endpoint failed, with which status, and why; never the key.
func (e *Error) Error() string {
	text := e.Message
	if e.cause != nil {
		text += ": " + e.cause.Error()
	}
	if e.Status != 0 {
		text = fmt.Sprintf("HTTP %d: %s", e.Status, text)
	}
	if e.host != "" {
		text = "model at " + e.host + ": " + text
	}
	return text
}

// Unwrap returns what caused the failure of a call.
func (e *Error) Unwrap() error { return e.cause }

// Temporary reports whether the same call may succeed later.
func (e *Error) Temporary() bool {
	switch e.Kind {
	case Unreachable, TimedOut, Limited, Trouble, Malformed, Undisclosed:
		return true
	}
	return false
}

// explain adds the endpoint to an error and removes the key from its message.
func (c *Client) explain(err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		e = &Error{Kind: Malformed, Message: err.Error()}
	}
	e.host = c.base.Host
	e.Message = page.Said(e.Message, c.o.APIKey)
	return e
}

// kindOf returns the kind of an error for a status that is not 200.
func kindOf(status int) Kind {
	switch {
	case status == 401 || status == 403:
		return Denied
	case status == 429:
		return Limited
	case status == 408:
		return TimedOut
	case status >= 500:
		return Trouble
	}
	return BadRequest
}

// lengthWords occur in the messages about prompts that are too long, from OpenAI, vLLM, LM Studio, Anthropic,
// llama.cpp, and the gateways of Gemini and Mistral.
var lengthWords = []string{
	"context length", "context_length", "context window", "context size", "prompt is too long",
	"too many tokens", "input is too long", "too large for model", "exceeds the maximum number of tokens",
	"token count exceeds", "request_too_large",
}

// tooLong reports whether the error of an endpoint is that it refused a prompt because of its length: by the status
// 413, or by words of its message, since providers have no common code for it.
func tooLong(status int, said string) bool {
	if status == 413 {
		return true
	}
	said = strings.ToLower(said)
	return status >= 400 && status < 500 && slices.ContainsFunc(lengthWords,
		func(w string) bool { return strings.Contains(said, w) })
}

// lost returns the error of a request without an answer: that of the caller's context if it has ended, else an
// [*Error].
func lost(caller, call context.Context, what string, err error) error {
	if caller.Err() != nil {
		return context.Cause(caller)
	}
	if call.Err() != nil {
		return &Error{Kind: TimedOut, Message: "the answer took too long"}
	}
	return &Error{Kind: Unreachable, Message: what, cause: err}
}

// unreadable is the error for an answer of an endpoint that is not JSON of the expected form.
func unreadable(err error) error {
	return &Error{Kind: Malformed, Message: "the answer is not JSON of the expected form", cause: err}
}

// cut is the error for an answer of an endpoint that was cut at its maximum length.
func cut() error { return &Error{Kind: Cut, Message: "the answer reached its maximum length"} }
