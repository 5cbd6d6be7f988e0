package server_test

import (
	"context"
	"net/http/httptest"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server"
	"github.com/readthru/readthru/internal/eventually"
)

func TestAServerIsHeldUpByLeases(t *testing.T) {
	var ends atomic.Int32
	w := newWorld(t, func(o *server.Options) { o.End = func() { ends.Add(1) } })
	l := httptest.NewUnstartedServer(nil).Listener
	serving, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.server.Serve(serving, l) }()
	c := api.NewClient(l.Addr().String(), "", "agent/1")
	defer c.Close()

	release, err := c.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := w.server.Holds(); got != 1 {
		t.Errorf("%d leases, want 1", got)
	}
	if open, begun := w.server.Use(); open != 1 || begun != 1 {
		t.Errorf("%d requests open of %d, want the lease", open, begun)
	}
	if err := c.Stop(t.Context(), true); api.CodeOf(err) != api.CodeConflict {
		t.Errorf("a server with a lease was to stop: %v, want %s", err, api.CodeConflict)
	}
	second, err := c.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	release()
	second()
	for w.server.Holds() > 0 { // which the server sees in its own time
		runtime.Gosched()
	}
	if err := c.Stop(t.Context(), true); err != nil || ends.Load() != 1 {
		t.Errorf("a server without leases did not stop: %v", err)
	}
	if _, err := c.Hold(t.Context()); statusOf(err) != 503 {
		t.Errorf("a lease of a server about to stop: %v, want 503", err)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestLeasesDoNotHoldUpAServerThatIsToldToStop(t *testing.T) {
	// Requests that go on hold a server up for five seconds.
	eventually.True(t, "a server stops before that", func() bool {
		w := newWorld(t, nil)
		l := httptest.NewUnstartedServer(nil).Listener
		serving, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- w.server.Serve(serving, l) }()
		c := api.NewClient(l.Addr().String(), "", "agent/1")
		defer c.Close()
		if _, err := c.Hold(t.Context()); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		stop()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		return time.Since(began) < 4*time.Second
	})
}
