package render

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"github.com/readthru/readthru/internal/fault"
)

// deadProxy is the only address that the browser's network leads to. It accepts connections and closes them.
type deadProxy struct {
	net.Listener
	addr string // host:port
	hits atomic.Int64
	stop context.CancelFunc
	done sync.WaitGroup
}

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

// Close stops listening.
func (p *deadProxy) Close() error {
	p.stop()
	err := p.Listener.Close()
	p.done.Wait()
	return err
}
