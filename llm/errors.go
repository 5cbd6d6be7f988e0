package llm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Kind is a kind of trouble with a model.
type Kind string

// Kinds of an Error.
const (
	Unreachable Kind = "unreachable" // no connection, or it broke
	TimedOut    Kind = "timeout"
	Denied      Kind = "denied"      // the key is wrong, or may not use the model
	Limited     Kind = "limited"     // too many requests, or no quota left
	Trouble     Kind = "trouble"     // the endpoint failed: 5xx
	BadRequest  Kind = "bad_request" // the endpoint does not take the request: no such model, a prompt that is too long …
	Refused     Kind = "refused"     // the model, or a filter, would not answer
	Cut         Kind = "cut"         // the answer reached its limit
	Malformed   Kind = "malformed"   // the answer is not what was asked for
	Undisclosed Kind = "undisclosed" // it could not be put on record, so nothing was sent
)

// Error is trouble with a model.
type Error struct {
	Kind       Kind
	Status     int           // of the HTTP answer; 0 without one
	Message    string        // for people; of the endpoint's own words a beginning
	RetryAfter time.Duration // before that there is no use in asking; 0 unknown
	TooLong    bool          // the prompt is longer than the model takes: a shorter one may be answered
	host       string
	cause      error
}

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

func (e *Error) Unwrap() error { return e.cause }

// Temporary reports whether the same call may succeed later although nobody changes anything.
func (e *Error) Temporary() bool {
	switch e.Kind {
	case Unreachable, TimedOut, Limited, Trouble, Malformed, Undisclosed:
		return true
	}
	return false
}

// explain adds the endpoint to an error, and takes the key out of what the endpoint said.
func (c *Client) explain(err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		e = &Error{Kind: Malformed, Message: err.Error()}
	}
	e.host = c.base.Host
	e.Message = tidy(e.Message, c.o.APIKey)
	return e
}

// tidy makes a line of foreign words: without the key, without control characters, and short.
func tidy(text, key string) string {
	if key != "" {
		text = strings.ReplaceAll(text, key, "***")
	}
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }),
		" ")
	const most = 300 // characters
	for i, n := 0, 0; i < len(text); n++ {
		if n == most {
			return text[:i] + "…"
		}
		for i++; i < len(text) && text[i]&0xc0 == 0x80; i++ {
		}
	}
	return text
}

// kindOf returns the kind of an answer that is no success.
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

// lengthWords are in what endpoints say of a prompt that does not fit: OpenAI, vLLM and LM Studio, Anthropic,
// llama.cpp, Gemini's and Mistral's gateways.
var lengthWords = []string{
	"context length", "context_length", "context window", "context size", "prompt is too long",
	"too many tokens", "input is too long", "too large for model", "exceeds the maximum number of tokens",
	"token count exceeds", "request_too_large",
}

// tooLong reports whether an endpoint refused a prompt for its length.
func tooLong(status int, said string) bool {
	if status == 413 {
		return true
	}
	said = strings.ToLower(said)
	return status >= 400 && status < 500 && slices.ContainsFunc(lengthWords,
		func(w string) bool { return strings.Contains(said, w) })
}

// lost returns the error of a request whose answer did not come: that of the caller's context when it ended, else ours.
func lost(caller, call context.Context, what string, err error) error {
	if caller.Err() != nil {
		return context.Cause(caller)
	}
	if call.Err() != nil {
		return &Error{Kind: TimedOut, Message: "no answer in time"}
	}
	return &Error{Kind: Unreachable, Message: what, cause: err}
}
