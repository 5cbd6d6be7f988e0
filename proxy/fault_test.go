package proxy_test

import (
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/readthru/readthru/internal/fault/faulttest"
)

// A relay that panics hangs up on both sides, and a server whose end panics is hung up on. Serve returns.
func TestARelayThatPanicsHangsUp(t *testing.T) {
	gone := make(chan struct{}, 2)
	origin := rawOrigin(t, func(c net.Conn) {
		_, _ = io.Copy(io.Discard, c)
		gone <- struct{}{}
	})
	b := newBench(t, origins{"a.test:443": origin}, tunnelEverything)
	faulttest.Once(t, "proxy: relay an origin", "proxy: stop a server")
	c, _ := b.connect("a.test:443")
	if _, err := io.ReadAll(c); err != nil {
		t.Error(err)
	}
	<-gone
	c, _ = b.connect("a.test:443")
	_ = c.Close()
	<-gone
	b.stop()
}

// A connection whose parking panics is closed: its client asks on another one.
func TestAConnectionWhoseParkingPanicsIsClosed(t *testing.T) {
	body := &timedBody{size: 10}
	inMemory(t, ways[0], "text/plain", body, func(t *testing.T, get func() *http.Response) {
		t.Helper()
		faulttest.Once(t, "proxy: park a connection")
		for range 3 {
			body.pieces = 1
			resp := get()
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			time.Sleep(6 * time.Second)
			synctest.Wait()
		}
	})
}
