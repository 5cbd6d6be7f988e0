package api_test

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"readthru/api"
)

func TestAServerIsHeldUpByLeases(t *testing.T) {
	w := newWorld(t, nil)
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
	retired := make(chan struct{})
	go func() { w.server.Retire(t.Context()); close(retired) }()
	second, err := c.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	release()
	select {
	case <-retired:
		t.Error("the wait ended while a lease was held")
	default:
	}
	second()
	<-retired
	if _, err := c.Hold(t.Context()); statusOf(err) != 503 {
		t.Errorf("a lease of a server about to stop: %v, want 503", err)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestLeasesDoNotHoldUpAServerThatIsToldToStop(t *testing.T) {
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
	if err := <-done; err != nil || time.Since(began) > 4*time.Second {
		t.Errorf("stopping took %v, %v", time.Since(began), err)
	}
}
