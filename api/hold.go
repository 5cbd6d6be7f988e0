package api

import (
	"context"
	"net/http"
	"sync"
)

// holds counts the commands that use a daemon that another command started: it must not end before they do.
type holds struct {
	mu       sync.Mutex
	held     int
	stopping bool
	changed  chan struct{} // closed and replaced at every change
}

func newHolds() *holds { return &holds{changed: make(chan struct{})} }

// update applies change under the lock and wakes the goroutines that wait.
func (h *holds) update(change func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change()
	close(h.changed)
	h.changed = make(chan struct{})
}

// now returns the state, and a channel that is closed when it changes.
func (h *holds) now() (held int, stopping bool, changed <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.held, h.stopping, h.changed
}

// Holds returns how many commands keep this server running.
func (s *Server) Holds() int {
	n, _, _ := s.holds.now()
	return n
}

// Retire waits until no command keeps the server running, or ctx ends. From then on it refuses new ones.
func (s *Server) Retire(ctx context.Context) {
	for {
		unused := false
		s.holds.update(func() {
			unused = s.holds.held == 0 || ctx.Err() != nil
			s.holds.stopping = s.holds.stopping || unused
		})
		if unused {
			return
		}
		held, _, changed := s.holds.now()
		if held == 0 {
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// serveHold keeps the server running for as long as the request stays open.
func (s *Server) serveHold(w http.ResponseWriter, r *http.Request, _ none) error {
	stopping := false
	s.holds.update(func() {
		s.holds.held++
		stopping = s.holds.stopping
	})
	defer s.holds.update(func() { s.holds.held-- })
	if stopping {
		return NewError(http.StatusServiceUnavailable, CodeStopping, "this daemon is about to stop")
	}
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(http.StatusOK)
	if err := http.NewResponseController(w).Flush(); err != nil || r.Method == http.MethodHead {
		return nil // HEAD asks whether the server is about to stop
	}
	s.untilStopping(r.Context())
	return nil
}

// untilStopping waits until the server stops or ctx ends.
func (s *Server) untilStopping(ctx context.Context) {
	for {
		_, stopping, changed := s.holds.now()
		if stopping {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}
