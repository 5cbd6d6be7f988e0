package render

import (
	"cmp"
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

	"github.com/readthru/readthru/page"
)

// Options configures a Browser.
type Options struct {
	// Browser is the path or name of a Chromium. If empty, the usual places are searched.
	Browser string
	// Attach is the DevTools URL (http://127.0.0.1:9222/) of a running browser to use instead of starting one. Pages get
	// their own browser contexts there, and their requests are made as with our own browser. What depends on the
	// browser's flags (WebRTC, background requests) remains as its owner set it.
	Attach string
	// Client makes every request of a page. It must not follow redirects, and it must decode content codings.
	Client http.RoundTripper
	// Sockets makes the requests that open a page's WebSockets. If nil, pages have none.
	Sockets http.RoundTripper
	// Dir is a directory for the browser's profile. It is created with mode 0700 if it does not exist.
	Dir string
	// Concurrency is the maximum number of pages rendered at the same time. If zero, it is 8 for a headless shell and 4
	// for a full browser, but at most four per processor.
	Concurrency int
	Timeout     time.Duration // of one page, including the wait for its turn; if zero, 30 s
	MaxBody     int64         // maximum size of one response's content, in bytes; if zero, page.DefaultMaxBody
	UserAgent   string        // sent with every request
	Sandbox     bool          // refuse to run without Chromium's sandbox, which does not work as root
	Log         *slog.Logger  // if nil, nothing is logged
}

// Errors of [Browser.Render].
var (
	// ErrNoBrowser reports that there is no browser, or that it died too often.
	ErrNoBrowser = errors.New("no browser")
	// ErrCrashed reports that the browser died twice while it rendered the page.
	ErrCrashed = errors.New("the browser died")
)

// errClosing is the error of pages that are asked for, or being rendered, while the browser is closed.
var errClosing = fmt.Errorf("%w: shutting down", ErrNoBrowser)

// Request describes a page to render. URL is required.
type Request struct {
	URL *url.URL
	// Status, Header and Body are the origin's response to a GET of URL, decoded. The browser does not request it again.
	// If Body is nil, the browser requests URL.
	Status int
	Header http.Header
	Body   []byte

	Selector string // CSS selector to wait for, within the timeout
	// Wait is how long the page gets after it has loaded, within the timeout, by its own clock. That stands still while
	// something loads.
	Wait       time.Duration
	Scroll     bool // also load content that loads when it comes into view
	Vain       Vain // what the page's host was given time for in vain: it gets no more of it
	Screenshot bool // take a screenshot of the whole page, which loads its images and fonts
	Console    bool // keep the errors that the page logs
	Fresh      bool // ask for every response with Cache-Control: no-cache
}

// Vain says what a page was given time for in vain.
type Vain struct {
	Loading bool // it went on showing that it loads
	Events  bool // its streams of events said nothing
	Workers bool // its workers computed for long, and it showed nothing else afterwards
}

// Page is a rendered page.
type Page struct {
	HTML       []byte   // the final document, UTF-8; shadow roots are template elements with shadowrootmode
	URL        *url.URL // of the final document
	Navigated  bool     // it is another document than that of Request: a script or a meta element led there
	Screenshot []byte   // PNG
	Console    []string // errors and uncaught exceptions, at most 100, each at most 1,000 characters
	Unsettled  string   // why the page may be incomplete; empty if it was done
	More       string   // what there may be more of than was loaded: MoreScrolling and so on; empty if unknown
	FramesLeft int      // number of visible frames that are not in HTML: of other origins, or without text
	StylesLeft int      // number of style sheets made by scripts that are not in HTML, for their size
	Ended      string   // what ended the wait: EndedBySelector, EndedByQuiet or EndedByTimeout
	Vain       Vain     // what it was given time for in vain
	Requests   int      // number of requests of the page
	Refused    int      // how many of them were refused: images, fonts, beacons, failures, and requests over a limit
	Bytes      int64    // total size of the responses, decoded

	// Responses are what the document was made of, apart from Request.Body: scripts, style sheets, data and further
	// documents, in the order of their arrival. Requests that were refused on principle are left out.
	Responses []Response
}

// Response is the head of a response to a page's request.
type Response struct {
	URL    *url.URL
	Status int         // 0 if there was no response
	Header http.Header // shared: never change it
	Empty  bool        // it has no content
}

// What ended the wait for a page.
const (
	EndedBySelector = "selector" // Request.Selector matched
	EndedByQuiet    = "quiet"    // the page had nothing more to do
	EndedByTimeout  = "timeout"  // there was no more time, or there is no match for Request.Selector
)

// What there is more of than was loaded.
const (
	MoreScrolling = "scrolling" // the page adds content whenever it is scrolled to its end, and was left at a limit
	MoreRows      = "rows"      // a list, which shows only the rows in view, has more than the limit
	MoreGrowing   = "growing"   // the page goes on adding content without anybody's doing
	MoreComputing = "computing" // a worker of the page did not answer in time, and may still tell it something
)

// State is the state of a [Browser]. Counts are since New.
type State struct {
	Mode      string // "browser", or "http" if there is no browser
	Path      string // of the browser
	Reason    string // why there is no browser; empty if there is one
	Running   bool
	Open      int   // pages that are being rendered
	Sandboxed bool  // the browser has its sandbox, which it has unless it runs as root
	Pages     int64 // rendered pages
	Failed    int64 // failed pages
	Deaths    int64 // deaths of the process
	PID       int   // 0 if the browser does not run or was started by somebody else
}

// Browser renders pages. It is safe for concurrent use.
type Browser struct {
	o               Options
	pagesPerProcess int           // a process is replaced after so many pages, because it leaks memory
	idleTime        time.Duration // a process without pages ends after this time

	mu       sync.Mutex
	found    executable
	process  *process          // gets new pages; nil if there is none
	live     map[*process]bool // has process, and those that still finish their last pages
	starting *starting         // nil if no process is starting
	deaths   int               // since the last rendered page
	until    time.Time         // no process is started before this time
	swept    bool              // old profiles have been removed
	idle     *time.Timer
	closed   bool

	life    context.Context // of all processes
	end     context.CancelFunc
	running sync.WaitGroup // pages, and starts and ends of processes; Add only under mu and while not closed

	slots chan struct{}
	count counts
}

// counts are the counts of State, which are read without mu.
type counts struct{ pages, failed, deaths atomic.Int64 }

// New returns a Browser, which renders pages. It starts no process. The caller must close it.
func New(o Options) *Browser {
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	o.MaxBody = cmp.Or(o.MaxBody, page.DefaultMaxBody)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	b := &Browser{o: o, pagesPerProcess: maxPages, idleTime: idleTime, found: find(o.Browser), live: map[*process]bool{}}
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

// Render loads a page in the browser and returns the final document. If the browser dies meanwhile, Render restarts it
// once. The error may wrap [ErrNoBrowser], [ErrCrashed] or the error of ctx.
func (b *Browser) Render(ctx context.Context, r Request) (*Page, error) {
	if err := b.enter(); err != nil {
		return nil, err
	}
	defer b.running.Done()
	ctx, cancel := context.WithTimeout(ctx, b.o.Timeout)
	defer cancel()
	rendered, err := b.renderInTurn(ctx, r)
	if err != nil {
		b.count.failed.Add(1)
		return nil, err
	}
	b.count.pages.Add(1)
	return rendered, nil
}

// renderInTurn waits for a free slot and renders a page. It tries once more with another process if the browser died
// meanwhile: the death may be another page's fault.
func (b *Browser) renderInTurn(ctx context.Context, r Request) (*Page, error) {
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
		rendered, err := p.render(ctx, b.o, r)
		dead := p.dead()
		b.release(p, err == nil) //nolint:contextcheck // the check of the browser is independent of this page
		switch {
		case err == nil:
			return rendered, nil
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

// State returns the state of the browser that renders, for the health of the daemon. It searches again for a missing
// browser, and never waits for a running one.
func (b *Browser) State() State {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := State{
		Mode: "browser", Sandboxed: sandboxed(), Pages: b.count.pages.Load(), Failed: b.count.failed.Load(),
		Deaths: b.count.deaths.Load(), Open: len(b.slots),
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

// Close stops the browser that renders and waits for it. Pages that are being rendered fail with ErrNoBrowser; so does
// every Render from now on.
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
