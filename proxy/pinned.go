package proxy

import (
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

const (
	// silentTime is how soon after its handshake a client that rejects our certificate leaves.
	silentTime = 2 * time.Second
	// silentTimes is how often a client must leave so before it counts: once may be a connection made in advance.
	silentTimes = 2
	// suspectsKept bounds the memory of clients that left once.
	suspectsKept = 1024
)

// suspects counts clients that end an intercepted connection right after a complete handshake without a word. Some
// (Node among them) look at a certificate only then.
type suspects struct {
	mu    sync.Mutex
	times *lru.Cache[suspect, int]
}

type suspect struct{ client, host string }

func newSuspects() *suspects {
	times, _ := lru.New[suspect, int](suspectsKept) // fails for sizes below 1 only
	return &suspects{times: times}
}

// again notes that c left silently, and reports whether that was once too often.
func (s *suspects) again(c *connect) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	who := suspect{c.client, c.host}
	n, _ := s.times.Get(who)
	if n++; n >= silentTimes {
		s.times.Remove(who)
		return true
	}
	s.times.Add(who, n)
	return false
}

// clear forgets what is noted of c's client and host: it has spoken.
func (s *suspects) clear(c *connect) { s.times.Remove(suspect{c.client, c.host}) }

// leftSilently is called when an intercepted connection ends before the first byte of a request. A client that does so
// at once, time after time, probably rejects our certificate: it is remembered as one that does.
func (s *serving) leftSilently(c *connect) {
	if s.draining.Err() != nil || time.Since(c.secured) > silentTime {
		return
	}
	rejected := s.p.suspects.again(c)
	s.p.log.Debug("connection ended after its handshake", "host", c.target(), "rejected_ca", rejected)
	if rejected && s.p.o.NoteRejectsCA != nil {
		s.p.o.NoteRejectsCA(c.client, c.host)
	}
}
