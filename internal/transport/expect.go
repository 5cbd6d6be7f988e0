package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"

	"github.com/readthru/readthru/internal/httpfield"
)

// continueTimeout is how long a request waits for 100 (Continue) before it sends its content nevertheless (RFC 9110
// §10.1.1).
const continueTimeout = time.Second

var errNotWanted = errors.New("the origin has answered without asking for the content")

// An expectation is the content of a request with Expect: 100-continue. If the origin answers without asking for it,
// net/http reads it all the same, to use the connection again, and that has the client send what was refused. An
// expectation then holds net/http up until the answer has been read, so that the connection is given up instead.
type expectation struct {
	io.ReadCloser
	ctx    context.Context //nolint:containedctx // that of the request, whose content this is
	waits  atomic.Pointer[time.Time]
	wanted atomic.Bool
	over   func()
	done   <-chan struct{}
}

// expecting returns a request whose content waits for 100 (Continue), and the expectation. It returns req and nil if
// req has none.
func expecting(req *http.Request) (*http.Request, *expectation) {
	if req.Body == nil || req.Body == http.NoBody || !httpfield.Has(req.Header, "Expect", "100-continue") {
		return req, nil
	}
	done := make(chan struct{})
	e := &expectation{
		ReadCloser: req.Body, ctx: req.Context(), done: done, over: sync.OnceFunc(func() { close(done) }),
	}
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		Wait100Continue: func() {
			now := time.Now()
			e.waits.Store(&now)
		},
		Got100Continue: func() { e.wanted.Store(true) },
	}))
	req.Body = e
	return req, e
}

// Read gives the content of a request to net/http. After an answer that did not ask for the content it waits for the
// answer's end and then fails, so that the client is not asked to send it.
func (e *expectation) Read(p []byte) (int, error) {
	if since := e.waits.Load(); since != nil && !e.wanted.Load() && time.Since(*since) < continueTimeout {
		select {
		case <-e.done:
		case <-e.ctx.Done():
		}
		return 0, errNotWanted
	}
	e.wanted.Store(true)
	return e.ReadCloser.Read(p)
}

// answered has the expectation end with the body of a response. It may be nil.
func (e *expectation) answered(resp *http.Response, err error) {
	switch {
	case e == nil:
	case err != nil || resp.Body == http.NoBody:
		e.over()
	case resp.StatusCode != http.StatusSwitchingProtocols: // whose body must be one that is written to
		resp.Body = &readBody{resp.Body, e.over}
	}
}

// A readBody calls over when it has been read or closed.
type readBody struct {
	io.ReadCloser
	over func()
}

// Read reads the body of a response, at whose end the expectation of its request ends.
func (b *readBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.over()
	}
	return n, err
}

// Close closes the body, which is over with that.
func (b *readBody) Close() error {
	b.over()
	return b.ReadCloser.Close()
}
