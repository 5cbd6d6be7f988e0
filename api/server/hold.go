package server

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/readthru/readthru/api"
)

// holds counts the commands (run, mcp, the guided setup) that need the daemon to run, so that one that was started for
// them does not end under them.
type holds struct {
	mu       sync.Mutex
	held     int
	stopping bool
	changed  chan struct{} // closed and replaced at every change
}

// newHolds returns the counts of a server that nobody holds.
func newHolds() *holds { return &holds{changed: make(chan struct{})} }

// update applies change under the lock and wakes the goroutines that wait.
func (h *holds) update(change func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change()
	close(h.changed)
	h.changed = make(chan struct{})
}

// now returns how many commands hold the daemon and whether it stops, and a channel that is closed when that changes.
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

// Retire reports whether no command keeps the server running. From then on it refuses new ones.
func (s *Server) Retire() (unused bool) {
	s.holds.update(func() {
		unused = s.holds.held == 0
		s.holds.stopping = s.holds.stopping || unused
	})
	return unused
}

// serveHold keeps the daemon running for as long as the request of a command stays open. The kernel closes it with the
// command, however that ends.
func (s *Server) serveHold(w http.ResponseWriter, r *http.Request, _ api.None) error {
	stopping := false
	s.holds.update(func() {
		s.holds.held++
		stopping = s.holds.stopping
	})
	defer s.holds.update(func() { s.holds.held-- })
	if stopping {
		return api.NewError(http.StatusServiceUnavailable, api.CodeStopping, "this daemon is about to stop")
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

// stopDaemon has the daemon stop, for commands that end it or start another one in its place. With Unused it refuses
// while commands use the daemon. It answers before the daemon has stopped.
func (s *Server) stopDaemon(_ context.Context, q api.Stopping) (*api.Stopped, error) {
	if s.o.End == nil {
		return nil, api.ErrNoProxy
	}
	if q.Unused && !s.Retire() {
		return nil, api.NewError(http.StatusConflict, api.CodeConflict, "commands use this daemon")
	}
	s.o.End()
	return &api.Stopped{Stopping: true}, nil
}

// flushStore waits until all that the store accepted is on disk and synced.
func (s *Server) flushStore(context.Context, api.None) (*api.Flushed, error) {
	if err := s.o.Store.Flush(); err != nil {
		return nil, fmt.Errorf("flush the store: %w", err)
	}
	return &api.Flushed{Flushed: true}, nil
}

// use counts requests to the admin port over the network, by which a daemon that nobody uses ends.
type use struct{ open, begun atomic.Int64 }

// Use returns how many requests over the network are open, leases among them, and how many have begun since the start.
func (s *Server) Use() (open, begun int64) { return s.use.open.Load(), s.use.begun.Load() }
