package fleettest

import (
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Relay is a network between a node and a server, which can be slow or broken. It is our own because all that is needed
// is three states of a connection, and the programs that make such trouble bring twenty modules with them.
type Relay struct {
	// URL is that of the server's database postgres, by way of the relay.
	URL string

	listener net.Listener
	socket   string
	work     sync.WaitGroup

	mu    sync.Mutex
	open  map[net.Conn]bool
	delay time.Duration
	cut   chan struct{} // nil: nothing is cut; closed when it no longer is
	ended bool
}

// Relay returns a network to the server, by TCP, until the test ends.
func (s *Server) Relay(tb testing.TB) *Relay {
	tb.Helper()
	l, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	r := &Relay{
		URL:      "postgres://postgres@" + l.Addr().String() + "/postgres?sslmode=disable",
		listener: l, socket: filepath.Join(s.dir, ".s.PGSQL.5432"), open: map[net.Conn]bool{},
	}
	r.work.Go(r.accept)
	tb.Cleanup(func() {
		_ = l.Close()
		r.mu.Lock()
		r.ended = true
		r.heal()
		r.mu.Unlock()
		r.work.Wait()
	})
	return r
}

func (r *Relay) accept() {
	for {
		client, err := r.listener.Accept()
		if err != nil {
			return // it was closed
		}
		server, err := net.Dial("unix", r.socket) //nolint:noctx // it connects at once or not at all
		if err != nil {
			_ = client.Close()
			continue
		}
		if !r.keep(client, server) {
			continue
		}
		r.work.Go(func() { r.copy(server, client) })
		r.work.Go(func() { r.copy(client, server) })
	}
}

// keep notes connections, so that Heal can end them.
func (r *Relay) keep(list ...net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range list {
		if r.ended {
			_ = c.Close()
			continue
		}
		r.open[c] = true
	}
	return !r.ended
}

func (r *Relay) copy(to, from net.Conn) {
	defer func() {
		_ = to.Close()
		_ = from.Close()
		r.mu.Lock()
		delete(r.open, to)
		delete(r.open, from)
		r.mu.Unlock()
	}()
	part := make([]byte, 32<<10)
	for {
		n, err := from.Read(part)
		if n > 0 {
			r.mu.Lock()
			delay, cut := r.delay, r.cut
			r.mu.Unlock()
			if cut != nil {
				<-cut
				return // what was on its way is lost
			}
			time.Sleep(delay)
			if _, err := to.Write(part[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// Slow has everything take longer, in each direction.
func (r *Relay) Slow(by time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.delay = by
}

// Cut has nothing come through any more, in both directions, without an end of connections.
func (r *Relay) Cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cut == nil {
		r.cut = make(chan struct{})
	}
}

// Heal ends what Slow and Cut began. Connections that were cut end.
func (r *Relay) Heal() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heal()
}

func (r *Relay) heal() {
	r.delay = 0
	if r.cut != nil {
		close(r.cut)
		r.cut = nil
	}
	if r.ended {
		for c := range r.open {
			_ = c.Close()
		}
	}
}
