package render

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"github.com/readthru/readthru/internal/fault"
)

// deadProxy is the only address that the browser's network leads to. It accepts connections and closes them, so that
// whatever the browser sends past the interception goes nowhere. hits counts them, for tests.
type deadProxy struct {
	net.Listener
	addr string // host:port
	hits atomic.Int64
	stop context.CancelFunc
	done sync.WaitGroup
}

// newDeadProxy listens on a free port of the loopback interface. Close ends it.
func newDeadProxy() (*deadProxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // listening does not wait
	if err != nil {
		return nil, fmt.Errorf("listen for the browser: %w", err)
	}
	p := &deadProxy{Listener: l, addr: l.Addr().String()}
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	p.done.Go(fault.Forever(ctx, "render: refuse the browser's own network", func(context.Context) {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			p.hits.Add(1)
			_ = c.Close() // refuse it
		}
	}))
	return p, nil
}

// Close stops listening and waits for the goroutine. The browser must have ended, or it would find the port taken by
// somebody else.
func (p *deadProxy) Close() error {
	p.stop()
	err := p.Listener.Close()
	p.done.Wait()
	return err
}
