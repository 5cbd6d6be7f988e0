package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

const (
	maxChat     = 4 << 20  // bytes of an answer in words
	maxVectors  = 64 << 20 // bytes of an answer in vectors: 256 of 8192 numbers fit
	maxCalls    = 8        // at once; further ones wait, within their time
	firstWait   = 500 * time.Millisecond
	longestWait = 30 * time.Second // between two requests of one call
	patience    = 3                // failures in a row after which the endpoint is left alone
	longestRest = 24 * time.Hour   // however long the endpoint asks for
)

// question is what a call asks.
type question struct {
	about, why string // for the ledger
	most       int64  // bytes of its answer
	build      func() (path string, body any, err error)
}

// ask sends a question and returns the content of a successful answer. It asks again after trouble that may pass, as
// far as the call's time allows: a wait that does not fit is the caller's to take, and stands in the error.
func (c *Client) ask(caller context.Context, q question) ([]byte, error) {
	ctx, cancel := context.WithTimeout(caller, c.o.Timeout)
	defer cancel()
	select {
	case c.calls <- struct{}{}:
		defer func() { <-c.calls }()
	case <-ctx.Done():
		return nil, c.explain(lost(caller, ctx, "", nil))
	}
	if rest := c.resting(time.Now()); rest > 0 {
		return nil, c.explain(&Error{Kind: Limited, Message: "left alone after trouble", RetryAfter: rest})
	}
	for attempt, adapted := 1, 0; ; attempt++ {
		path, body, err := q.build()
		if err != nil {
			return nil, c.explain(err)
		}
		content, err := c.send(caller, ctx, path, body, q)
		if err == nil {
			c.note(time.Now(), nil)
			return content, nil
		}
		e, ours := errors.AsType[*Error](err)
		if !ours {
			return nil, err // the caller has left
		}
		refused := e.Status == http.StatusBadRequest || e.Status == http.StatusUnprocessableEntity
		if refused && adapted < len(optional) && c.provider.adapt(body, e.Message) {
			adapted++
			attempt--
			continue
		}
		c.note(time.Now(), e)
		wait := max(e.RetryAfter, backOff(attempt))
		deadline, _ := ctx.Deadline()
		if !worthAsking(e.Kind) || attempt >= c.o.Attempts || wait > longestWait || time.Now().Add(wait).After(deadline) {
			return nil, c.explain(e)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, c.explain(lost(caller, ctx, "", nil))
		}
	}
}

// worthAsking reports whether trouble may pass within a call.
func worthAsking(k Kind) bool { return k == Unreachable || k == Limited || k == Trouble }

// backOff returns how long to wait after an attempt: twice as long each time, by half more or less so that many callers
// do not come back at once.
func backOff(attempt int) time.Duration {
	wait := firstWait << min(attempt-1, 10)
	return min(wait/2+rand.N(wait), longestWait)
}

// send sends one request and reads its answer.
func (c *Client) send(caller, ctx context.Context, path string, body any, q question) ([]byte, error) {
	content, err := json.Marshal(body)
	if err != nil {
		return nil, &Error{Kind: BadRequest, Message: "the request cannot be written as JSON", cause: err}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base.JoinPath(path).String(), bytes.NewReader(content))
	if err != nil {
		return nil, &Error{Kind: BadRequest, Message: "the request cannot be made", cause: err}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if c.o.APIKey != "" {
		c.provider.authorise(req.Header, c.o.APIKey)
	}
	if c.o.Disclose != nil {
		about := q.about
		if about == "" {
			about = c.base.String()
		}
		if err := c.o.Disclose(c.o.Provider+" "+c.base.Host, about, int64(len(content)), q.why); err != nil {
			return nil, &Error{Kind: Undisclosed, Message: "the ledger cannot be written", cause: err}
		}
	}
	resp, err := c.o.Transport.RoundTrip(req)
	if err != nil {
		return nil, lost(caller, ctx, "cannot be reached", err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, q.most+1))
	if err != nil {
		return nil, lost(caller, ctx, "the answer broke off", err)
	}
	if resp.StatusCode != http.StatusOK {
		said := messageOf(answer)
		return nil, &Error{
			Kind: kindOf(resp.StatusCode), Status: resp.StatusCode, Message: said,
			RetryAfter: retryAfter(resp.Header, time.Now()), TooLong: tooLong(resp.StatusCode, said),
		}
	}
	if int64(len(answer)) > q.most {
		return nil, &Error{Kind: Malformed, Message: fmt.Sprintf("the answer is larger than %d bytes", q.most)}
	}
	return answer, nil
}

// messageOf returns the words of an error's content: all providers put them under error, as text or as an object's
// message.
func messageOf(content []byte) string {
	var v struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	if json.Unmarshal(content, &v) != nil {
		return "no reason is given"
	}
	var inner struct {
		Message string `json:"message"`
	}
	var text string
	switch {
	case json.Unmarshal(v.Error, &inner) == nil && inner.Message != "":
		return inner.Message
	case json.Unmarshal(v.Error, &text) == nil && text != "":
		return text
	case v.Message != "":
		return v.Message
	}
	return "no reason is given"
}

// retryAfter returns how long an endpoint asks to be left alone (RFC 9110 §10.2.3, else the fields that OpenAI
// invented), 0 when it does not.
func retryAfter(h http.Header, now time.Time) time.Duration {
	s := h.Get("Retry-After")
	if n, err := strconv.ParseUint(s, 10, 31); err == nil {
		return min(time.Duration(n)*time.Second, longestRest)
	}
	if t, err := http.ParseTime(s); err == nil {
		return min(max(t.Sub(now), 0), longestRest)
	}
	var wait time.Duration
	for _, what := range []string{"Requests", "Tokens"} {
		if d, err := time.ParseDuration(h.Get("X-Ratelimit-Reset-" + what)); err == nil &&
			h.Get("X-Ratelimit-Remaining-"+what) == "0" {
			wait = max(wait, d)
		}
	}
	return min(wait, longestRest)
}

// note remembers how a request went. What the endpoint asks for is kept to; one that fails again and again is left
// alone, twice as long each time up to a minute.
func (c *Client) note(now time.Time, e *Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case e == nil:
		c.failures, c.until = 0, time.Time{}
		return
	case e.Kind != Unreachable && e.Kind != TimedOut && e.Kind != Trouble && e.Kind != Limited:
		return // it answers
	}
	c.failures++
	rest := e.RetryAfter
	if over := c.failures - patience; over >= 0 {
		rest = max(rest, min(time.Second<<min(over, 6), time.Minute))
	}
	if until := now.Add(rest); until.After(c.until) {
		c.until = until
	}
}

// resting returns for how long the endpoint is still to be left alone.
func (c *Client) resting(now time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.until.Sub(now)
}
