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
	// trustedFor is how long a client that has sent a request is not taken for one that rejects our certificate, however
	// often it leaves silently: agents give requests up.
	trustedFor = time.Minute
	// maxSilentClients bounds the number of clients remembered for a silent connection.
	maxSilentClients = 1024
)

// silentClients counts, by client, the intercepted connections that ended in the handshake without an alert, or right
// after it without a request. Some clients, such as Node, check the certificate only then.
type silentClients struct {
	mu    sync.Mutex
	known *lru.Cache[silentClient, silence]
}

// silentClient is a client of the proxy (clientOf) at a host.
type silentClient struct{ client, host string }

// silence is what is known of a client at a host.
type silence struct {
	times int       // how often it left silently since its last request
	spoke time.Time // when it sent a request
}

// newSilentClients returns a count of no clients.
func newSilentClients() *silentClients {
	known, _ := lru.New[silentClient, silence](maxSilentClients) // fails for sizes below 1 only
	return &silentClients{known: known}
}

// countSilent counts an intercepted connection that ended silently and reports whether its client has reached
// silentLimit, by which it rejects our certificate. Then the count begins anew.
func (s *silentClients) countSilent(c *connect) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	client := silentClient{c.client, c.host}
	k, _ := s.known.Get(client)
	if time.Since(k.spoke) < trustedFor {
		return false
	}
	if k.times++; k.times >= silentLimit {
		s.known.Remove(client)
		return true
	}
	s.known.Add(client, k)
	return false
}

// heard notes that a request of c's client came, so that for trustedFor its silence means nothing.
func (s *silentClients) heard(c *connect) {
	s.known.Add(silentClient{c.client, c.host}, silence{spoke: time.Now()})
}
