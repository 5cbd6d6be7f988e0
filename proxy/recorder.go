package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/internal/recording"
	"github.com/readthru/readthru/proxy/strict"
	"github.com/readthru/readthru/store"
)

// recorder is the recording of a session in progress.
type recorder struct {
	to    *recording.Writer
	ended chan struct{} // closed to end the recording
	once  sync.Once
	done  chan struct{} // closed after the recording is written
	err   error         // set before done is closed
}

// writer returns the writer of a session's recording, or nil if the session is not recorded.
func (s *recordings) writer(name string) *recording.Writer {
	if name == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.of[name]; r != nil {
		return r.to
	}
	return nil
}

// ErrRecording is wrapped by errors of [Proxy.Record] for a session that is already recorded, and of
// [Proxy.EndRecording] for one that is not.
var ErrRecording = errors.New("recording")

// Record writes the answers of a session to w, in the format of package recording, until [Proxy.EndRecording] or ctx
// ends it. It calls begun once every later request is recorded, and writes nothing before.
func (p *Proxy) Record(ctx context.Context, session, madeBy string, w io.Writer, begun func()) error {
	if err := store.CheckSession(session); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	r := &recorder{to: recording.NewWriter(w, madeBy), ended: make(chan struct{}), done: make(chan struct{})}
	s := &p.recordings
	s.mu.Lock()
	if s.of[session] != nil {
		s.mu.Unlock()
		return fmt.Errorf("%w: session %s is already being recorded", ErrRecording, session)
	}
	s.of[session] = r
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.of, session)
		s.mu.Unlock()
		close(r.done)
	}()
	p.DropAnswers() // those of the session among them
	begun()
	closing := ctx
	select {
	case <-r.ended:
		var cancel context.CancelFunc
		closing, cancel = context.WithTimeout(ctx, recordingGrace)
		defer cancel()
	case <-ctx.Done():
	}
	r.err = r.to.Close(closing)
	return r.err
}

// EndRecording ends the recording of a session and waits until it is written. Answers in progress have a few seconds to
// finish.
func (p *Proxy) EndRecording(ctx context.Context, session string) error {
	p.recordings.mu.Lock()
	r := p.recordings.of[session]
	p.recordings.mu.Unlock()
	if r == nil {
		return fmt.Errorf("%w: session %.40q is not being recorded", ErrRecording, session)
	}
	r.once.Do(func() { close(r.ended) })
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// record starts recording the answer of an exchange if its session is recorded. What is written to x.w from then on is
// in the recording.
func (x *exchange) record() {
	to := x.p.recordings.writer(x.session)
	if to == nil {
		return
	}
	if x.recorded = to.Begin(x.w, x.r, x.recordedURL()); x.recorded != nil {
		x.w = x.recorded
	}
}

// recordedURL returns the URL that identifies the answer in a recording. For the prefix form it begins with a slash.
func (x *incoming) recordedURL() string {
	if x.prefix != nil {
		return "/" + x.masked()
	}
	return x.masked()
}

// replay answers a request from the recording of Options.Replay, and never asks an origin. It answers 504 if the
// recording has no answer, like a cache to only-if-cached (RFC 9111 §5.2.1.7).
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
	x.refuse(&strict.Refusal{
		Status: http.StatusGatewayTimeout, Title: "Not recorded", Detail: err.Error() + ".",
		ProxyError: "destination_unavailable",
	})
}
