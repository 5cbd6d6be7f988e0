// Package render answers what a browser sees at a URL. It owns one Chromium process, found on the machine, started when
// the first page needs it and stopped when none does.
//
// The browser has no network of its own: its proxy is a listener that refuses everything, and each request it wants is
// paused, made by the [http.RoundTripper] that [Options] hands in, and answered with what came back. So the cache, the
// guard of addresses and the limits of our own fetches hold for every byte of a page; what interception does not see
// (WebSockets, pop-up windows, service workers) fails. Each page has a browser context of its own, so that pages share
// no cookies and no storage.
//
// Time in a page is virtual: timers fire as soon as nothing is loading, so that a page which shows its text a second
// later is not waited for a second. See settle.go.
//
// Reading on: find.go (which browser), supervise.go (when one runs), process.go (its life), flags.go (how it is shut
// in), page.go (one page), intercept.go (its requests), settle.go (when it is done).
package render

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Options configures a Browser.
type Options struct {
	// Browser is the path or name of a Chromium. If empty the usual places are looked through.
	Browser string
	// Attach is the DevTools URL (http://127.0.0.1:9222/) of a browser that runs already, instead of one of ours. Pages
	// get browser contexts of their own there, whose requests are made as those of our own browser are; what is a matter
	// of that browser's switches (WebRTC, what it does of its own accord) is its owner's.
	Attach string
	// Client makes every request of a page. It must not follow redirects, and it undoes content codings.
	Client http.RoundTripper
	// Dir is where the browser's profile lies, below it for its own use. It is made with mode 0700 when missing.
	Dir string
	// Concurrency bounds the pages at once; if zero 8 for a headless shell and 4 for a whole browser, and never more than
	// four for each processor.
	Concurrency int
	Timeout     time.Duration // for a page in all, waiting for its turn included; if zero 30 s
	MaxBody     int64         // largest content of one response, in bytes; if zero 32 MiB
	UserAgent   string        // sent with every request
	Sandbox     bool          // refuse to run without Chromium's sandbox, which it has not under root
	Log         *slog.Logger  // if nil nothing is logged
}

// Errors of [Browser.Render].
var (
	// ErrNoBrowser says that there is no browser to be had, or that it died too often.
	ErrNoBrowser = errors.New("no browser")
	// ErrCrashed says that the browser died while it rendered, twice.
	ErrCrashed = errors.New("the browser died")
)

var errClosing = fmt.Errorf("%w: shutting down", ErrNoBrowser)

// Request is a page to be rendered.
type Request struct {
	URL *url.URL
	// Status, Header and Body are the origin's response in hand, decoded: the browser asks for nothing that we hold.
	Status int
	Header http.Header
	Body   []byte

	Selector   string // CSS; wait until it matches, within the time
	Scroll     bool   // load what loads when it comes into view
	Screenshot bool   // take a picture of the whole page; its images and fonts are loaded then
	Console    bool   // keep what the page logs as errors
}

// Page is what a browser saw.
type Page struct {
	HTML       []byte // the document as it became, UTF-8; open shadow roots are template elements with shadowrootmode
	URL        *url.URL
	Screenshot []byte   // PNG
	Console    []string // errors and uncaught exceptions, at most 100, each at most 1,000 characters
	Unsettled  string   // why it may not be complete; empty when it was at rest
	Requests   int      // that it made
	Refused    int      // of these not made: images, fonts, beacons, what the guard or a limit forbade
	Bytes      int64    // of the responses, decoded
}

// State is what can be said of the browser now.
type State struct {
	Mode      string // "browser", or "http" when there is none to be had
	Path      string // of the browser
	Reason    string // why there is none
	Running   bool
	Sandboxed bool  // as far as is known: not as root
	Pages     int64 // rendered since start
	Failed    int64
	Deaths    int64 // of the process since start
	PID       int   // 0 when it does not run
}

// Browser renders pages. It is safe for concurrent use.
type Browser struct {
	o        Options
	mostOf   int           // pages of one process, for what leaks
	idleTime time.Duration // without a page, then the process goes

	mu       sync.Mutex
	found    found
	process  *process          // that gets new pages; nil: none
	live     map[*process]bool // not yet ended: process, and those with pages under way that get no more
	starting *launch           // under way; nil: none
	deaths   int               // since a page was last rendered
	until    time.Time         // no new start before
	swept    bool              // profiles left behind are gone
	idle     *time.Timer
	closed   bool

	life    context.Context // of all processes
	end     context.CancelFunc
	running sync.WaitGroup // pages, starts and ends of processes; added to under mu while not closed

	slots chan struct{}
	count counts
}

// counts are what State tells.
type counts struct{ pages, failed, deaths atomic.Int64 }

// New returns a Browser. It starts nothing; Close it when done.
func New(o Options) *Browser {
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.MaxBody == 0 {
		o.MaxBody = 32 << 20
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	b := &Browser{o: o, mostOf: maxPages, idleTime: idleTime, found: find(o.Browser), live: map[*process]bool{}}
	b.life, b.end = context.WithCancel(context.Background())
	n := o.Concurrency
	if n <= 0 {
		if n = 4; b.found.shell {
			n = 8
		}
		n = min(n, 4*runtime.GOMAXPROCS(0))
	}
	b.slots = make(chan struct{}, n)
	return b
}

// Render has the browser load a page and returns what it became. A browser that dies meanwhile is started anew, once.
// The error wraps [ErrNoBrowser], [ErrCrashed] or the context's.
func (b *Browser) Render(ctx context.Context, r Request) (*Page, error) {
	if err := b.enter(); err != nil {
		return nil, err
	}
	defer b.running.Done()
	ctx, cancel := context.WithTimeout(ctx, b.o.Timeout)
	defer cancel()
	page, err := b.turn(ctx, r)
	if err != nil {
		b.count.failed.Add(1)
		return nil, err
	}
	b.count.pages.Add(1)
	return page, nil
}

// turn renders a page when its turn comes.
func (b *Browser) turn(ctx context.Context, r Request) (*Page, error) {
	select {
	case b.slots <- struct{}{}:
		defer func() { <-b.slots }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-b.life.Done():
		return nil, errClosing
	}
	for attempt := 0; ; attempt++ {
		p, err := b.acquire(ctx)
		if err != nil {
			return nil, err
		}
		page, err := p.render(ctx, b.o, r)
		dead := p.dead()
		b.release(p, err == nil) //nolint:contextcheck // whether the browser is in order has nothing to do with this page
		switch {
		case err == nil:
			return page, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case b.life.Err() != nil:
			return nil, errClosing
		case !dead:
			return nil, err
		case attempt > 0:
			return nil, errors.Join(ErrCrashed, err)
		}
	}
}

// State tells how the browser is. A browser that was missing is looked for again. It never waits for the browser.
func (b *Browser) State() State {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := State{
		Mode: "browser", Sandboxed: sandboxed(), Pages: b.count.pages.Load(), Failed: b.count.failed.Load(),
		Deaths: b.count.deaths.Load(),
	}
	if err := b.ready(time.Now()); err != nil {
		s.Mode, s.Reason = "http", strings.TrimPrefix(err.Error(), ErrNoBrowser.Error()+": ")
	}
	if s.Path = b.found.path; b.o.Attach != "" {
		s.Path = b.o.Attach
	}
	if b.process != nil && !b.process.dead() {
		s.Running = true
		if proc := b.process.browser.Process(); proc != nil {
			s.PID = proc.Pid
		}
	}
	return s
}

// Close ends the browser and waits for it. Pages under way fail.
func (b *Browser) Close() error {
	b.mu.Lock()
	b.closed = true
	if b.idle != nil {
		b.idle.Stop()
	}
	b.process = nil
	for p := range b.live {
		if p.users.Load() == 0 {
			b.retire(p)
		}
	}
	b.mu.Unlock()
	b.end()
	b.running.Wait()
	return nil
}
