package proxy

import (
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

const (
	// silentWithin is how soon after the handshake a client that rejects our certificate closes the connection.
	silentWithin = 2 * time.Second
	// silentLimit is the number of silent connections that mean a rejection. A single one may be a connection opened in
	// advance.
	silentLimit = 2
	// maxSilentClients bounds the number of clients remembered for a silent connection.
	maxSilentClients = 1024
)

// silentClients counts, by client, the intercepted connections that ended right after a complete handshake, without a
// request. Some clients, such as Node, check the certificate only then.
type silentClients struct {
	mu    sync.Mutex
	times *lru.Cache[silentClient, int]
}

type silentClient struct{ client, host string }

func newSilentClients() *silentClients {
	times, _ := lru.New[silentClient, int](maxSilentClients) // fails for sizes below 1 only
	return &silentClients{times: times}
}

// countSilent counts a silent connection and reports whether the client has reached silentLimit.
func (s *silentClients) countSilent(c *connect) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	client := silentClient{c.client, c.host}
	n, _ := s.times.Get(client)
	if n++; n >= silentLimit {
		s.times.Remove(client)
		return true
	}
	s.times.Add(client, n)
	return false
}

// clear resets the count of c's client and host, because a request came.
func (s *silentClients) clear(c *connect) { s.times.Remove(silentClient{c.client, c.host}) }

// leftSilently handles the end of an intercepted connection before the first byte of a request. A client that
// repeatedly closes right after the handshake probably rejects our certificate and is remembered as such.
func (s *serving) leftSilently(c *connect) {
	if s.draining.Err() != nil || time.Since(c.secured) > silentWithin {
		return
	}
	rejected := s.p.silentClients.countSilent(c)
	if rejected {
		s.rejected(c)
	}
	s.p.log.Debug("connection ended after its handshake", "host", c.target(), "rejected_ca", rejected)
}
