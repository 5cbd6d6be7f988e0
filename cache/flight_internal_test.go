package cache

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"

	"github.com/readthru/readthru/store"
)

// A write to a slow store keeps nobody waiting but who invalidates the same URL.
func TestNoLockIsHeldOverAWriteToTheStore(t *testing.T) {
	st, err := store.Open(store.Options{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	c := New(Options{Store: st, Next: http.DefaultTransport})
	q := c.policy().request(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://a.test/", nil))
	f := c.newFlight(t.Context(), q, selection{}, "")
	c.live[f] = struct{}{}
	begun, finish, written := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(written)
		f.write(func() { close(begun); <-finish })
	}()
	<-begun
	f.join() // these would wait for ever if the write held a lock
	f.count(-1)
	c.invalidate("http://a.test/other")
	c.ungroup(f)
	invalidated := make(chan struct{})
	go func() {
		defer close(invalidated)
		c.invalidate(q.key)
		select {
		case <-finish:
		default:
			t.Error("invalidated while the response was being written: it would be stored afterwards")
		}
	}()
	for !f.isInvalidated() { // until it is at it
		runtime.Gosched()
	}
	close(finish)
	<-invalidated
	<-written
	f.write(func() { t.Error("an invalidated flight writes") })
	f.end(nil)
}
