package cache

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/readthru/readthru/internal/fault"
)

// ask sends a flight's request to the origin, and insists. If there is no head after headWait, and others wait for it
// beside the leader, it sends the request once more, because the connection may be lost, and takes the first answer.
func (f *flight) ask(req *http.Request) (*http.Response, error) {
	if f.group == "" {
		return f.cache.next.RoundTrip(req)
	}
	ctx, cancel := context.WithCancel(req.Context()) // ends with the flight
	s := &secondAsk{flight: f, req: req, cancelFirst: cancel}
	s.mu.Lock()
	s.timer = time.AfterFunc(headWait, fault.Contain("cache: end a round trip", s.send))
	s.mu.Unlock()
	defer s.end()
	resp, err := f.cache.next.RoundTrip(req.WithContext(ctx))
	return s.choose(resp, err)
}

// A secondAsk sends a request once more while the first one has no answer, on a goroutine of its timer.
type secondAsk struct {
	flight      *flight
	req         *http.Request
	cancelFirst context.CancelFunc

	mu     sync.Mutex
	timer  *time.Timer
	over   bool               // nothing more is wanted of it
	done   chan struct{}      // closed when it has ended; nil: it was not sent
	cancel context.CancelFunc // of what was sent
	resp   *http.Response     // it was faster than the first
}

// send insists: it is called when it is time to send the request a second time. It waits on as long as nobody waits
// beside the leader.
func (s *secondAsk) send() {
	s.mu.Lock()
	switch {
	case s.over:
		s.mu.Unlock()
		return
	case s.flight.others() == 0:
		s.timer.Reset(headWait)
		s.mu.Unlock()
		return
	}
	ctx, cancel := context.WithCancel(s.req.Context()) // ends with the flight
	s.done, s.cancel = make(chan struct{}), cancel
	s.flight.cache.wg.Add(1) // the flight, which waits for the first, is counted
	s.mu.Unlock()
	defer s.flight.cache.wg.Done()
	defer close(s.done)
	var resp *http.Response
	//nolint:bodyclose // whoever takes the answer closes it
	err := fault.Catch("cache: round trip", func() (err error) {
		resp, err = s.flight.cache.next.RoundTrip(s.req.WithContext(ctx))
		return err
	})
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		resp.Body.Close()
		return
	}
	s.resp, s.over = resp, true
	s.cancelFirst()
}

// choose returns, after the proxy has insisted, the answer to take once the first request has ended with resp or err:
// the answer to the second, if that came before it or may still come in place of an error.
func (s *secondAsk) choose(resp *http.Response, err error) (*http.Response, error) {
	s.mu.Lock()
	sent := s.done
	s.over = s.over || err == nil || sent == nil // else it may still come
	s.mu.Unlock()
	if err != nil && sent != nil {
		<-sent
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	second := s.resp
	s.resp = nil
	switch {
	case second == nil && err != nil:
		s.cancelFirst()
	case second == nil && s.cancel != nil:
		s.cancel()
	case second != nil && err == nil:
		resp.Body.Close() // it came when it was no longer wanted
	}
	if second != nil {
		return second, nil
	}
	return resp, err
}

// end ends the insisting: it has no answer to the second request come any more.
func (s *secondAsk) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.timer.Stop()
	if s.resp != nil { // the first one panicked
		s.resp.Body.Close()
	}
}
