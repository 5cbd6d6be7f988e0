package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"readthru/cache"
	"readthru/recording"
	"readthru/store"
)

// recorder is a recording under way.
type recorder struct {
	to    *recording.Writer
	ended chan struct{} // closed when the recording is to end
	once  sync.Once
	done  chan struct{} // closed when it has ended
	err   error         // set before done is closed
}

// writer returns what a session is recorded to, or nil.
func (s *sessions) writer(name string) *recording.Writer {
	if name == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.recording[name]; r != nil {
		return r.to
	}
	return nil
}

// ErrRecording is wrapped when a session is recorded already, or is not.
var ErrRecording = errors.New("recording")

// Record writes what a session is answered to w, as package recording describes it, until [Proxy.EndRecording] or ctx
// ends it. It calls begun when everything that is answered from then on is recorded, and writes nothing before.
func (p *Proxy) Record(ctx context.Context, session, madeBy string, w io.Writer, begun func()) error {
	if err := store.CheckSession(session); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	r := &recorder{to: recording.NewWriter(w, madeBy), ended: make(chan struct{}), done: make(chan struct{})}
	s := p.sessions
	s.mu.Lock()
	if s.recording[session] != nil {
		s.mu.Unlock()
		return fmt.Errorf("%w: session %s is recorded already", ErrRecording, session)
	}
	s.recording[session] = r
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.recording, session)
		s.mu.Unlock()
		close(r.done)
	}()
	begun()
	closing := ctx
	select {
	case <-r.ended:
		var cancel context.CancelFunc
		closing, cancel = context.WithTimeout(ctx, lastAnswers)
		defer cancel()
	case <-ctx.Done():
	}
	r.err = r.to.Close(closing)
	return r.err
}

// EndRecording ends the recording of a session, and waits until it is written. Answers under way have a few seconds to
// end.
func (p *Proxy) EndRecording(ctx context.Context, session string) error {
	p.sessions.mu.Lock()
	r := p.sessions.recording[session]
	p.sessions.mu.Unlock()
	if r == nil {
		return fmt.Errorf("%w: session %.40q is not recorded", ErrRecording, session)
	}
	r.once.Do(func() { close(r.ended) })
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// record begins to record the answer if the session is recorded.
func (x *exchange) record() {
	to := x.p.sessions.writer(x.session)
	if to == nil {
		return
	}
	if x.recorded = to.Begin(x.w, x.r, x.recordedURL()); x.recorded != nil {
		x.w = x.recorded
	}
}

// recordedURL is the URL under which a recording has the answer: that of the prefix form begins with a slash.
func (x *exchange) recordedURL() string {
	if x.prefix != nil {
		return "/" + x.masked()
	}
	return x.masked()
}

// replay answers a request from the recording. What it does not have is the gateway's timeout, as for a cache that may
// not ask (RFC 9111 §5.2.1.7).
func (x *exchange) replay() {
	resp, err := x.p.o.Replay.Respond(x.r, x.recordedURL())
	if err == nil {
		x.stream(resp, cache.ParseOutcome(resp.Header))
		return
	}
	if _, missed := errors.AsType[*recording.NotRecordedError](err); !missed {
		x.fail(x.r.URL, err)
		return
	}
	x.refuse(&refusal{
		status: http.StatusGatewayTimeout, title: "Not recorded", detail: err.Error() + ".",
		proxyError: "destination_unavailable",
	})
}
