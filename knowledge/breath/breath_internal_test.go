package breath

import (
	"net"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/fault/faulttest"
)

// On one processor, whoever waits for bytes that have come is served at the next breath, not when the work is done.
func TestRequestsGoBeforeTheIndexOnOneProcessor(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // nothing is lost
	client, err := new(net.Dialer).DialContext(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close() //nolint:errcheck // likewise
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close() //nolint:errcheck // likewise
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const requests = 50
	var served atomic.Int64
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for b := make([]byte, 1); served.Load() < requests; served.Add(1) {
			if _, err := server.Read(b); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	breaths := 0
	for n := int64(1); n <= requests; n++ {
		if _, err := client.Write([]byte{0}); err != nil {
			t.Fatal(err)
		}
		for served.Load() < n && !t.Failed() {
			for began := time.Now(); time.Since(began) < atAStretch; { // as the index works
			}
			Take()
			breaths++
		}
	}
	<-ended
	if breaths > 3*requests {
		t.Errorf("%d requests were served after %d breaths", requests, breaths)
	}
}

// The index goes on if what wakes it panics.
func TestABreathThatPanicsEnds(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	faulttest.Once(t, "knowledge: let requests go first")
	for range 2 {
		breather.last.Store(-int64(atAStretch))
		Take()
	}
}
