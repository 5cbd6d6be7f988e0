package api

import (
	"context"
	"net/http"
	"sync"
)

// leases counts the commands that use a daemon which another command started: it must not end before they do.
type leases struct {
	mu       sync.Mutex
	held     int
	stopping bool
	changed  chan struct{} // closed, and made anew, at every change
}

func newLeases() *leases { return &leases{changed: make(chan struct{})} }

// update applies change under the lock and wakes who waits.
func (l *leases) update(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
	close(l.changed)
	l.changed = make(chan struct{})
}

// now returns the state, and a channel that is closed when it changes.
func (l *leases) now() (held int, stopping bool, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held, l.stopping, l.changed
}

// Leases returns how many commands hold this server up.
func (s *Server) Leases() int {
	n, _, _ := s.leases.now()
	return n
}

// Retire waits until no command holds the server up, or ctx ends. From then on no lease is to be had.
func (s *Server) Retire(ctx context.Context) {
	for {
		unused := false
		s.leases.update(func() {
			unused = s.leases.held == 0 || ctx.Err() != nil
			s.leases.stopping = s.leases.stopping || unused
		})
		if unused {
			return
		}
		held, _, changed := s.leases.now()
		if held == 0 {
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// serveLease holds the request open until the client goes or the server stops.
func (s *Server) serveLease(w http.ResponseWriter, r *http.Request) error {
	stopping := false
	s.leases.update(func() {
		s.leases.held++
		stopping = s.leases.stopping
	})
	defer s.leases.update(func() { s.leases.held-- })
	if stopping {
		return problem(http.StatusServiceUnavailable, "this daemon is about to stop")
	}
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(http.StatusOK)
	if err := http.NewResponseController(w).Flush(); err != nil || r.Method == http.MethodHead {
		return nil // HEAD asks whether there is a lease to be had
	}
	s.untilStopping(r.Context())
	return nil
}

// untilStopping waits until the server stops or ctx ends.
func (s *Server) untilStopping(ctx context.Context) {
	for {
		_, stopping, changed := s.leases.now()
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

// Lease holds the daemon up until release is called. It returns when the daemon knows.
func (c *Client) Lease(ctx context.Context) (release func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	resp, err := c.do(ctx, http.MethodGet, "/api/v1/lease", nil, nil) //nolint:bodyclose // release closes it
	if err != nil {
		cancel()
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		defer cancel()
		defer resp.Body.Close()
		return nil, refusal(resp)
	}
	return func() { cancel(); resp.Body.Close() }, nil
}
