package proxy

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/proxy/strict"
	"github.com/readthru/readthru/store"

	lru "github.com/hashicorp/golang-lru/v2"
)

// A client that does not trust our certificate breaks the handshake off, with an alert; one that does so without an
// alert may have given its request up, and is believed the second time only, and not if it sent requests lately. Its
// next connections to the host are tunnelled, so that it reaches the origin: for ten minutes, then for twice as long
// each time that it rejects the certificate again, for a day at most. The store keeps that, and drops it when the
// authority is installed. The door of a run applies and teaches none of it: the command has our certificate in its
// environment, and is told if it does not use it.

// clientOf returns an identifier of the client for remembering rejections of our certificate: the proxy's user, the
// address, and the User-Agent of the CONNECT. Programs on one machine trust different certificate stores, and many send
// a User-Agent.
//
// A fingerprint of the TLS handshake is no part of it. The answer to the CONNECT, which says that it is tunnelled and
// that the origin is reached, precedes the handshake; and the mistake to survive, one program started with and then
// without our certificate, has one fingerprint.
func clientOf(r *http.Request, user users.Login) string {
	address, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		address = r.RemoteAddr
	}
	if user.User != nil {
		address = user.Name() + "@" + address
	}
	if agent := strict.Shown(r.UserAgent()); agent != "" {
		address += " " + agent
	}
	return address
}

// rejects reports whether the client of a CONNECT is known to reject our certificate for the host, and until when that
// is believed. On the listener of a run it is not asked.
func (s *serving) rejects(c *connect) (until time.Time, ok bool) {
	if s.p.o.Store == nil || s.terms.Session != "" {
		return time.Time{}, false
	}
	h, err := s.p.o.Store.Host(c.host)
	if err != nil {
		return time.Time{}, false // unknown: intercept to find out
	}
	f, known := h.Fact(store.RejectsCA, c.client)
	c.rejecting = known
	return f.Until, known && f.Holds(time.Now())
}

// rejectedWhy says to whoever looks for a request why there is none.
const rejectedWhy = "The client rejected our certificate: have it trust the authority (readthru ca install, " +
	"readthru env), or tunnel the host."

// rejected remembers that the client of a CONNECT rejected our certificate for the host, for as long as the store says.
// On the listener of a run it tells the session instead.
func (s *serving) rejected(c *connect) {
	if s.terms.Session != "" {
		s.p.journal.Reject(s.terms.Session, c.host)
		s.p.log.Warn("client rejects our certificate", "host", c.host, "client", c.client, "session", s.terms.Session,
			"remedy", "use the certificate variables that readthru run sets, or add a rule that tunnels the host")
		return
	}
	if s.p.o.Store == nil {
		return
	}
	f, news, err := s.p.o.Store.Learn(c.host, store.RejectsCA, c.client, "", time.Now())
	switch {
	case err != nil:
		s.p.log.Warn("client that rejects our certificate not remembered", "host", c.host, "client", c.client, "error", err)
	case news:
		s.p.log.Warn("client rejects our certificate: the host is tunnelled for it", "host", c.host, "client", c.client,
			"until", f.Until.Format(time.RFC3339), "times", f.Times,
			"remedy", "readthru ca install, or the environment of readthru env; readthru site forget "+c.host)
	}
}

// accepted forgets that the client of a CONNECT rejected our certificate for the host, because it sent a request.
func (s *serving) accepted(c *connect) {
	s.p.silentClients.heard(c)
	if !c.rejecting {
		return
	}
	_, err := s.p.o.Store.Forget(c.host, time.Now(), func(f store.Fact) bool {
		return f.Trait == store.RejectsCA && f.Client == c.client
	})
	if err != nil {
		s.p.log.Warn("client that accepts our certificate not remembered", "host", c.host, "client", c.client, "error", err)
	}
}

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

// handshakeFailed handles the end of a TLS handshake with a client that may not trust our certificate, and remembers a
// client that does not.
func (s *serving) handshakeFailed(below *innerConn, err error) {
	c := below.connect
	rejected := below.signed.Load() && (rejectsCertificate(err) || breaksOff(err) && s.p.silentClients.countSilent(c))
	s.p.log.Debug("handshake failed", "host", c.target(), "rejected_ca", rejected, "error", err)
	if rejected {
		s.rejected(c)
		c.fail(rejectedWhy)
	}
}

// rejectsCertificate reports whether the client rejected our certificate, given the error of a handshake that failed
// after the certificate was sent: the client sent an alert about it (RFC 8446 §6.2). In TLS 1.3, OpenSSL encrypts its
// alert with keys that crypto/tls does not have yet, so that the alert appears as a bad record.
func rejectsCertificate(err error) bool {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		switch op.Op + ": " + strings.TrimPrefix(op.Err.Error(), "tls: ") {
		case "remote error: bad certificate", "remote error: unknown certificate",
			"remote error: unknown certificate authority",
			"local error: bad record MAC":
			return true
		}
	}
	return false
}

// breaksOff reports whether the client closed the connection in the TLS handshake without an alert. It may have
// rejected our certificate, or given the request up.
func breaksOff(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
}
