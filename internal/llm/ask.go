package llm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/readthru/readthru/internal/httpfield"
)

const (
	maxChat     = 4 << 20  // maximum size of a chat answer, in bytes
	maxVectors  = 64 << 20 // maximum size of an embeddings answer, in bytes: 256 vectors of 8192 numbers fit
	maxCalls    = 8        // running at the same time; others wait, within their timeout
	firstWait   = 500 * time.Millisecond
	longestWait = 30 * time.Second // between two requests of one call
	maxFailures = 3                // consecutive failures after which the endpoint is left alone
	longestRest = 24 * time.Hour   // even if the endpoint asks for more
)

// question is the request of a call, independent of its retries.
type question struct {
	about, why string // for the ledger
	most       int64  // maximum size of the answer, in bytes
	build      func() (path string, body any, err error)
}

// ask sends a question and returns the content of a successful answer. It retries after failures that may pass, if the
// wait fits into the call's timeout. If it does not fit, the error says how long to wait.
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
		return nil, c.explain(&Error{
			Kind: Limited, Message: "too many failures or requests; waiting before the next request",
			RetryAfter: rest,
		})
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
			return nil, err // the caller's context has ended
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
		if !mayPass(e.Kind) || attempt >= c.o.Attempts || wait > longestWait || time.Now().Add(wait).After(deadline) {
			return nil, c.explain(e)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, c.explain(lost(caller, ctx, "", nil))
		}
	}
}

// mayPass reports whether a failure may pass, so that a call asks again.
func mayPass(k Kind) bool { return k == Unreachable || k == Limited || k == Trouble }

// send asks once: it sends one request and reads its answer.
func (c *Client) send(caller, ctx context.Context, path string, body any, q question) ([]byte, error) {
	content, err := json.Marshal(body)
	if err != nil {
		return nil, &Error{Kind: BadRequest, Message: "cannot encode the request as JSON", cause: err}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base.JoinPath(path).String(), bytes.NewReader(content))
	if err != nil {
		return nil, &Error{Kind: BadRequest, Message: "cannot create the request", cause: err}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if c.o.APIKey != "" {
		c.provider.authorise(req.Header, c.o.APIKey)
	}
	if c.o.Disclose != nil {
		about := cmp.Or(q.about, c.base.String())
		if err := c.o.Disclose(c.Service(), about, int64(len(content)), q.why); err != nil {
			return nil, &Error{Kind: Undisclosed, Message: "nothing was sent", cause: err}
		}
	}
	resp, err := c.o.Transport.RoundTrip(req)
	if err != nil {
		return nil, lost(caller, ctx, "request failed", err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, q.most+1))
	if err != nil {
		return nil, lost(caller, ctx, "the answer ended early", err)
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

// messageOf returns the message in an error's content. All providers put it under error, as text or as the message of
// an object.
func messageOf(content []byte) string {
	var v struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	if json.Unmarshal(content, &v) != nil {
		return "no reason given"
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
	return "no reason given"
}

// retryAfter returns how long an endpoint asks to wait, by Retry-After (RFC 9110 §10.2.3) or by the fields that OpenAI
// invented. It is 0 if the endpoint does not ask, and at most longestRest.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if wait, ok := httpfield.RetryAfter(h, now, longestRest); ok {
		return wait
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

// note records the result of a request. The client waits as the endpoint asks. From the third consecutive failure on,
// it also waits by itself, twice as long each time, up to a minute.
func (c *Client) note(now time.Time, e *Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case e == nil:
		c.failures, c.until = 0, time.Time{}
		return
	case e.Kind != Unreachable && e.Kind != TimedOut && e.Kind != Trouble && e.Kind != Limited:
		return // the endpoint works; the request is at fault
	}
	c.failures++
	rest := e.RetryAfter
	if over := c.failures - maxFailures; over >= 0 {
		rest = max(rest, min(time.Second<<min(over, 6), time.Minute))
	}
	if until := now.Add(rest); until.After(c.until) {
		c.until = until
	}
}

// resting returns how long the client still has to wait; it is not positive if the client may ask.
func (c *Client) resting(now time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.until.Sub(now)
}
