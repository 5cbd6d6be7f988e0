package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/readthru/readthru/certs"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/hostrule"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/internal/recording"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/proxy/repeat"
	"github.com/readthru/readthru/proxy/strict"
	"github.com/readthru/readthru/store"
)

// Times and bounds of a listener's connections.
const (
	headTime       = 10 * time.Second // to read a request's head
	idleTime       = 90 * time.Second // between requests of a connection
	drainTime      = 30 * time.Second // for requests in progress when Serve's context ends
	recordingGrace = 5 * time.Second  // for answers in progress when a recording ends

	maxHead = 64 << 10 // bytes of a request's head; larger ones are answered 431
)

// Options configures a Proxy.
type Options struct {
	// Fetch fetches pages for clients that want markdown. If nil, every response passes unchanged.
	Fetch *fetch.Fetcher

	// Client is the cache. It answers every request that Fetch does not. It must not be nil.
	Client http.RoundTripper

	// Transport sends upgrade requests past the cache. It must not be nil.
	Transport http.RoundTripper

	// Dial dials the targets of tunnels under the address policy for proxied requests. It must not be nil.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)

	// Authority signs certificates for intercepted hosts. It must not be nil.
	Authority *certs.Authority

	// Replay, if not nil, answers every request that is not for the proxy itself, instead of pages, cache and origins.
	// Every host is then intercepted.
	Replay *recording.Recording

	// Users may sign in, and must if there are any. If nil, no sign-in is required.
	Users *users.Directory

	// These five can change, see [Proxy.Reconfigure].
	Rules          hostrule.Rules
	Mode           string // auto, always, negotiate or never; if empty auto
	Paused         bool   // tunnel what is not blocked, and pass other requests on as they are
	ConnectPorts   []int  // if nil 443
	BlockedDomains []string
	AdminURL       string // shown on the page at readthru.local; may be empty

	// Store remembers which clients rejected our certificate for which hosts; the host is tunnelled for the client for
	// a while (see rejection.go). If nil, rejections are not remembered.
	Store *store.Store

	// Memory is how many bytes are used to keep answers that are given again below net/http, to requests that equal an
	// earlier one byte for byte. If zero, or without Store, none are. Client must be the cache over Store.
	Memory int64

	// Journal is told of each request. If nil, the proxy makes one in memory.
	Journal *journal.Journal

	// Log receives one line per request at level info, and details at level debug. If nil, nothing is logged.
	Log *slog.Logger
}

// Proxy is a forward proxy. Its methods are safe for concurrent use.
type Proxy struct {
	o             Options
	log           *slog.Logger
	policy        atomic.Pointer[policy]
	tls           *tls.Config
	tlsHere       *tls.Config // for clients on this machine
	silentClients *silentClients
	recordings    recordings
	repeats       *repeat.Table // nil: no answer is given again
	repeatLog     repeatLog
	via           strict.Via

	listeners atomic.Int64 // ever
	drops     atomic.Int64 // calls of DropAnswers
	journal   *journal.Journal
	open      atomic.Int64 // requests in progress
	stats     struct{ total, intercepted, tunnelled, blocked, errors atomic.Int64 }
}

// New returns a proxy that does not serve yet. The error for an invalid option names the option.
func New(o Options) (*Proxy, error) {
	if o.Client == nil || o.Transport == nil || o.Dial == nil || o.Authority == nil {
		return nil, errors.New("new proxy: Client, Transport, Dial and Authority must not be nil")
	}
	first, err := newPolicy(o)
	if err != nil {
		return nil, fmt.Errorf("new proxy: %w", err)
	}
	if o.Users == nil {
		o.Users = users.NewDirectory(nil)
	}
	p := &Proxy{
		o: o, log: o.Log, silentClients: newSilentClients(),
		recordings: recordings{of: map[string]*recorder{}}, via: strict.NewVia(),
		journal: o.Journal,
	}
	if p.journal == nil {
		p.journal = journal.New(journal.Options{})
	}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	p.policy.Store(first)
	p.tls = p.newTLSConfig()
	p.tlsHere = p.newTLSConfig()
	p.tlsHere.CurvePreferences = []tls.CurveID{tls.X25519, tls.CurveP256, tls.CurveP384, tls.CurveP521}
	p.repeatLog.log = p.log
	if o.Memory > 0 && o.Store != nil && o.Replay == nil {
		p.repeats = repeat.New(o.Memory, func(c repeat.Stored) ([]byte, error) { return o.Store.Content(c.Sum) })
		o.Store.Watch(p.changed)
	}
	return p, nil
}

// Stats are counters since the start. Total counts answered requests and closed tunnels; Intercepted counts requests
// inside intercepted connections, Blocked refusals by policy, and Errors failures of origins.
type Stats struct{ Total, Intercepted, Tunnelled, Blocked, Errors int64 }

// Stats returns the counters.
func (p *Proxy) Stats() Stats {
	s := &p.stats
	return Stats{s.total.Load(), s.intercepted.Load(), s.tunnelled.Load(), s.blocked.Load(), s.errors.Load()}
}

// Open returns the number of requests in progress, without tunnels.
func (p *Proxy) Open() int64 { return p.open.Load() }

// Serve accepts connections on l until ctx ends. Then it stops accepting, waits up to 30 s for requests in progress,
// including intercepted ones, closes tunnels and relays, and returns nil. It closes l. It may be called concurrently
// for several listeners.
func (p *Proxy) Serve(ctx context.Context, l net.Listener) error {
	return p.ServeSession(ctx, l, Terms{})
}

// Terms configure how the clients of a listener are served.
type Terms struct {
	Session string // session of requests that do not name another one; may be empty
	Offline bool   // answer from stored responses, however stale, and never contact an origin
}

// ServeSession is like Serve, but with terms for the listener.
func (p *Proxy) ServeSession(ctx context.Context, l net.Listener, terms Terms) error {
	s := &serving{
		p: p, terms: terms, addr: l.Addr(), inner: newHandover(l.Addr()), open: map[net.Conn]struct{}{},
		scope: strconv.FormatInt(p.listeners.Add(1), 10),
	}
	var drain context.CancelFunc
	s.draining, drain = context.WithCancel(ctx)
	defer drain()
	s.dispatcher = s.newDispatcher()
	front, inside := s.server(), s.server()
	// inside gets connections after their TLS handshake; this enables HTTP/2
	inside.TLSConfig = &tls.Config{NextProtos: p.tls.NextProtos}
	inside.DisableGeneralOptionsHandler = true // the origin is asked for its options
	ended := make(chan error, 2)
	go fault.Contain("proxy: end serving", func() {
		ended <- fault.Loop(s.draining, "proxy: serve", func(context.Context) error {
			return front.Serve(framedListener{l, s})
		})()
	})()
	go fault.Contain("proxy: end serving inside tunnels", func() {
		ended <- fault.Loop(s.draining, "proxy: serve inside tunnels", func(context.Context) error {
			return inside.Serve(s.inner)
		})()
	})()

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
		stop := func(error) { hangUp(server) }
		servers.Go(fault.ContainTo(stop, "proxy: stop a server", func() {
			if err := server.Shutdown(grace); err != nil {
				stop(err)
			}
		}))
	}
	servers.Wait()
	for ; running > 0; running-- {
		<-ended //nolint:errcheck // they end because of the Shutdown above
	}
	s.closeAll()
	s.giving.Lock() // for good
	p.repeatLog.flush(context.WithoutCancel(ctx))
	return failed
}
