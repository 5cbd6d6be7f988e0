// Package proxy is how an agent reaches us: a forward proxy that tunnels or intercepts, and decides who gets markdown.
//
// One handler answers every request, whether it came plain, in absolute form, or inside a CONNECT whose TLS ends here
// ([Proxy.Serve]). It asks, in this order: is the request for us ourselves (readthru.local); is it well-formed; has it
// been here before; who is asking; may they; and which form of the answer do they want ([decide]). A page in markdown
// comes from [fetch.Fetcher.Page]; everything else streams through the cache byte for byte, and an upgrade past it.
//
// goproxy dispatches CONNECT and relays WebSockets. Nothing else of it is in use: not its certificates, not its
// dialers, not its own handling of requests.
package proxy

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elazarl/goproxy"

	"readthru/certs"
	"readthru/fetch"
	"readthru/recording"
)

const (
	headTime    = 10 * time.Second // for a request's head
	idleTime    = 90 * time.Second // between requests of a connection
	drainTime   = 30 * time.Second // for requests under way when Serve is told to end
	lastAnswers = 5 * time.Second  // for answers under way when a recording is told to end

	maxHead = 64 << 10 // bytes of a request's head, 431 above
)

// User may sign in to the proxy. PasswordHash is as [HashPassword] makes it; Mode, if not empty, is the user's own.
type User struct{ Name, PasswordHash, Mode string }

// Options configures a Proxy.
type Options struct {
	// Fetch gets pages for clients that want markdown. If nil, everything passes untouched.
	Fetch *fetch.Fetcher

	// Client is the cache: it answers everything that is not a page. It must not be nil.
	Client http.RoundTripper

	// Transport goes past the cache: upgrades. It must not be nil.
	Transport http.RoundTripper

	// Dial reaches the targets of tunnels, under the address policy for proxied requests. It must not be nil.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)

	// Authority signs for intercepted hosts. It must not be nil.
	Authority *certs.Authority

	// Replay, if set, answers every request that is not for the proxy itself, in the place of pages, cache and origins,
	// and every host is intercepted.
	Replay *recording.Recording

	Rules          fetch.Rules
	Mode           string // auto, always, negotiate or never; if empty auto
	Users          []User // if empty, nobody has to sign in
	ConnectPorts   []int  // if nil 443
	BlockedDomains []string
	AdminURL       string // for the page at readthru.local; if empty it names none

	// RejectsCA and NoteRejectsCA remember clients that rejected our certificate for a host: it is tunnelled for them from
	// then on. If nil, nothing is remembered.
	RejectsCA     func(client, host string) bool
	NoteRejectsCA func(client, host string)

	// Log gets one line per request at info, and the path taken at debug. If nil, nothing is logged.
	Log *slog.Logger
}

// Proxy is the door. Its methods are safe for concurrent use.
type Proxy struct {
	o         Options
	log       *slog.Logger
	ports     []string
	auth      *signInDesk
	tls       *tls.Config
	suspects  *suspects
	sessions  *sessions
	pseudonym string // our name in Via; new with each process, so that a chain of two readthrus is no loop
	via11     string // our entry for HTTP/1.1, which nearly all messages have

	records ring
	stats   struct{ total, intercepted, tunnelled, blocked, errors atomic.Int64 }
}

// New returns a proxy that serves nothing yet. Options that cannot be met are an error that names them.
func New(o Options) (*Proxy, error) {
	if o.Client == nil || o.Transport == nil || o.Dial == nil || o.Authority == nil {
		return nil, errors.New("new proxy: Client, Transport, Dial and Authority must be given")
	}
	if !validConfigMode(o.Mode) {
		return nil, fmt.Errorf("new proxy: mode %q is not auto, always, negotiate or never", o.Mode)
	}
	auth, err := newSignInDesk(o.Users)
	if err != nil {
		return nil, fmt.Errorf("new proxy: %w", err)
	}
	p := &Proxy{o: o, log: o.Log, auth: auth, suspects: newSuspects(), sessions: newSessions()}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	if o.ConnectPorts == nil {
		o.ConnectPorts = []int{443}
	}
	for _, port := range o.ConnectPorts {
		if port < 1 || port > 65535 {
			return nil, fmt.Errorf("new proxy: connect port %d is not from 1 to 65535", port)
		}
		p.ports = append(p.ports, strconv.Itoa(port))
	}
	id := make([]byte, 4)
	rand.Read(id)
	p.pseudonym = "readthru-" + hex.EncodeToString(id)
	p.via11 = "1.1 " + p.pseudonym
	p.tls = p.newTLSConfig()
	return p, nil
}

// Stats counts since start: requests answered and tunnels closed, of them those inside intercepted connections,
// tunnels, refusals by policy, and errors of origins.
type Stats struct{ Total, Intercepted, Tunnelled, Blocked, Errors int64 }

// Stats returns the counters.
func (p *Proxy) Stats() Stats {
	s := &p.stats
	return Stats{s.total.Load(), s.intercepted.Load(), s.tunnelled.Load(), s.blocked.Load(), s.errors.Load()}
}

// Recent returns the last 500 requests at most, newest first.
func (p *Proxy) Recent() []Record { return p.records.newestFirst() }

// Serve accepts on l until ctx ends. Then it stops accepting, gives requests under way 30 s to end, intercepted ones
// too, closes tunnels and relays, and returns nil. It closes l. It may be called for several listeners at once.
func (p *Proxy) Serve(ctx context.Context, l net.Listener) error {
	return p.ServeSession(ctx, l, Terms{})
}

// Terms are how the clients of a listener are served.
type Terms struct {
	Session string // whose requests are that name no other session; empty is nobody's
	Offline bool   // what is stored is answered, however stale it may be, and no origin is asked
}

// ServeSession is Serve for a listener with terms of its own.
func (p *Proxy) ServeSession(ctx context.Context, l net.Listener, terms Terms) error {
	s := &serving{p: p, terms: terms, addr: l.Addr(), inner: newHandover(l.Addr()), open: map[net.Conn]struct{}{}}
	var drain context.CancelFunc
	s.draining, drain = context.WithCancel(ctx)
	defer drain()
	s.door = s.newDoor()
	front, inside := s.server(), s.server()
	// its connections come with their TLS done; this switches HTTP/2 on
	inside.TLSConfig = &tls.Config{NextProtos: p.tls.NextProtos}
	ended := make(chan error, 2)
	go func() { ended <- front.Serve(framedListener{l}) }()
	go func() { ended <- inside.Serve(s.inner) }()

	var failed error
	running := 2
	select {
	case <-ctx.Done():
	case err := <-ended:
		running--
		failed = fmt.Errorf("serve proxy on %s: %w", l.Addr(), err)
	}
	drain()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	var servers sync.WaitGroup
	for _, server := range []*http.Server{front, inside} {
		servers.Go(func() {
			if server.Shutdown(grace) != nil {
				hangUp(server)
			}
		})
	}
	servers.Wait()
	for ; running > 0; running-- {
		<-ended //nolint:errcheck // they end because they were told to
	}
	s.closeAll()
	return failed
}

// serving is a proxy on one listener.
type serving struct {
	p     *Proxy
	terms Terms
	addr  net.Addr
	inner *handover
	door  *goproxy.ProxyHttpServer

	draining context.Context // ends when serving is told to end: nothing is dialled from then on

	mu     sync.Mutex
	open   map[net.Conn]struct{} // hijacked connections, which no http.Server knows any more; nil once closed
	leases sync.WaitGroup
}

// link is what a request must know of the connection it came by.
type link struct {
	conn   *framedConn // nil with HTTP/2
	inside *connect    // set inside an intercepted connection
}

type linkKey struct{}

func linkOf(c net.Conn) link {
	var l link
	if f, ok := c.(*framedConn); ok {
		l.conn, c = f, f.Conn
	}
	if t, ok := c.(*tls.Conn); ok {
		if below, ok := t.NetConn().(*innerConn); ok {
			l.inside = below.connect
		}
	}
	return l
}

func (s *serving) server() *http.Server {
	return &http.Server{
		Handler:   s,
		ConnState: s.connState,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, linkKey{}, linkOf(c))
		},
		ReadHeaderTimeout: headTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHead - 4096, // net/http adds this much
		ErrorLog:          slog.NewLogLogger(s.p.log.Handler(), slog.LevelDebug),
	}
}

// connState is told by a server what becomes of its connections.
func (s *serving) connState(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateIdle:
		if f, ok := c.(*framedConn); ok {
			f.idle.Store(true)
		}
	case http.StateActive:
		if inside := linkOf(c).inside; inside != nil && !inside.spoke {
			inside.spoke = true
			s.p.suspects.clear(inside)
		}
	case http.StateClosed:
		if inside := linkOf(c).inside; inside != nil && !inside.spoke {
			s.leftSilently(inside)
		}
	}
}

// track registers a hijacked connection, to be closed when serving ends. The function it returns unregisters it.
func (s *serving) track(c net.Conn) (untrack func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		hangUp(c)
		return func() {}
	}
	c = bare(c)
	s.open[c] = struct{}{}
	s.leases.Add(1)
	return func() {
		s.mu.Lock()
		delete(s.open, c)
		s.mu.Unlock()
		s.leases.Done()
	}
}

// closeAll closes the connections that are tracked and waits for those who hold them.
func (s *serving) closeAll() {
	s.mu.Lock()
	for c := range s.open {
		hangUp(c)
	}
	s.open = nil
	s.mu.Unlock()
	s.leases.Wait()
}
