package render

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"
)

// sink is the only address a browser knows. It takes connections and closes them.
type sink struct {
	net.Listener
	addr string // host:port
	hits atomic.Int64
	done sync.WaitGroup
}

func newSink() (*sink, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it does not wait
	if err != nil {
		return nil, fmt.Errorf("listen for the browser: %w", err)
	}
	s := &sink{Listener: l, addr: l.Addr().String()}
	s.done.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.hits.Add(1)
			_ = c.Close() // it is refused
		}
	})
	return s, nil
}

// Close stops listening.
func (s *sink) Close() error {
	err := s.Listener.Close()
	s.done.Wait()
	return err
}
