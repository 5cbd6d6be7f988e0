package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"

	"github.com/readthru/readthru/internal/fault"
)

// inProcess is an [http.RoundTripper] that has a handler answer in this process. Answers stream: what the handler
// writes is read at once or not at all. As over a network, a panic of the handler breaks the answer off, and so does
// the end of the request's context. Unlike there, the handler has returned when RoundTrip fails and when the answer's
// body is closed, so that what it uses can be closed then.
type inProcess struct {
	handler http.Handler
	log     *slog.Logger
}

// errBrokenOff is the error of an answer that its handler broke off without a reason.
var errBrokenOff = errors.New("the answer was broken off")

// RoundTrip implements [http.RoundTripper].
func (t inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	r := req.Clone(ctx)
	r.RequestURI, r.RemoteAddr = req.URL.RequestURI(), "127.0.0.1:0" // the caller is on this machine
	if r.Body == nil {
		r.Body = http.NoBody
	}
	body, out := io.Pipe()
	w := &pipedResponse{fields: http.Header{}, out: out, begun: make(chan struct{})}
	done := make(chan struct{})
	go fault.Contain("api: end an answer in this process", func() {
		defer close(done)
		defer r.Body.Close()
		t.serve(w, r)
	})()
	<-w.begun
	end := func() {
		cancel()
		_ = body.Close() // a pipe's never fails
		<-done
	}
	if req.Context().Err() != nil || w.status == 0 {
		end()
		return nil, cmp.Or(context.Cause(req.Context()), w.broken)
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: w.sent, ContentLength: -1, Request: req,
		Body: &pipedBody{body, req.Context(), end},
	}, nil
}

// serve runs the handler and ends the response.
func (t inProcess) serve(w *pipedResponse, r *http.Request) {
	defer func() {
		if cause := recover(); cause != nil {
			w.broken = cmp.Or(w.broken, errBrokenOff)
			if cause != http.ErrAbortHandler { //nolint:errorlint // net/http compares the same way
				w.broken = fmt.Errorf("internal error: %w", fault.Note("api: request", cause))
			}
		} else {
			w.WriteHeader(http.StatusOK)
		}
		_ = w.out.CloseWithError(w.broken) // a pipe's never fails
		w.begin()
	}()
	t.handler.ServeHTTP(w, r)
}

// pipedResponse is the [http.ResponseWriter] of a handler that answers in process.
type pipedResponse struct {
	fields http.Header
	out    *io.PipeWriter
	broken error // why the answer ends before its end

	status int         // set when begun is closed, as is sent; 0 if the handler panicked before
	sent   http.Header // fields as they were at the first byte
	begun  chan struct{}
	open   bool // begun is closed
}

// Header implements [http.ResponseWriter].
func (w *pipedResponse) Header() http.Header { return w.fields }

// WriteHeader implements [http.ResponseWriter].
func (w *pipedResponse) WriteHeader(status int) {
	if w.status == 0 {
		w.status, w.sent = status, w.fields.Clone()
		w.begin()
	}
}

func (w *pipedResponse) begin() {
	if !w.open {
		w.open = true
		close(w.begun)
	}
}

// Write implements [http.ResponseWriter]. It returns when the reader has taken p.
func (w *pipedResponse) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.out.Write(p)
}

// Flush implements [http.Flusher]: nothing is held back.
func (w *pipedResponse) Flush() { w.WriteHeader(http.StatusOK) }

// pipedBody is the body of an answer in process.
type pipedBody struct {
	*io.PipeReader
	ctx context.Context //nolint:containedctx // the request's, whose end is an error to a reader
	end func()
}

// Read implements [io.Reader].
func (b *pipedBody) Read(p []byte) (int, error) {
	n, err := b.PipeReader.Read(p)
	if err != nil && b.ctx.Err() != nil {
		err = context.Cause(b.ctx) // the handler may have ended for that, and the answer be cut short
	}
	return n, err
}

// Close implements [io.Closer].
func (b *pipedBody) Close() error {
	b.end()
	return nil
}

// AnswersHere reports whether w is read in this process.
func AnswersHere(w http.ResponseWriter) bool {
	_, ok := w.(*pipedResponse)
	return ok
}

// BreakOff ends a response in the middle, so that a part is never taken for the whole. It does not return.
func BreakOff(w http.ResponseWriter, err error) {
	if in, ok := w.(*pipedResponse); ok {
		in.broken = err
	}
	panic(http.ErrAbortHandler)
}
