package wiring

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestTheEndOfASessionsProxyIsAwaited: the summary of a command must not be told before its last request is counted.
func TestTheEndOfASessionsProxyIsAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &sessionProxies{open: map[string]<-chan struct{}{}}
		d.Closed(t.Context(), "127.0.0.1:1") // none is there
		end := d.opened("127.0.0.1:1")
		defer d.opened("127.0.0.1:2")()
		began := time.Now()
		time.AfterFunc(time.Second, end)
		d.Closed(t.Context(), "127.0.0.1:1")
		if waited := time.Since(began); waited != time.Second {
			t.Errorf("the end of the proxy after a second is awaited for %v", waited)
		}
		d.Closed(t.Context(), "127.0.0.1:1")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		d.Closed(ctx, "127.0.0.1:2")
		if waited := time.Since(began); waited != 2*time.Second {
			t.Errorf("both are awaited for %v, want two seconds", waited)
		}
	})
}
