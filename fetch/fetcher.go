package fetch

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch/gate"
	"github.com/readthru/readthru/fetch/github"
	"github.com/readthru/readthru/fetch/robots"
	"github.com/readthru/readthru/fetch/turns"
	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/hostrule"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/internal/llm"
	"github.com/readthru/readthru/internal/recipe"
	"github.com/readthru/readthru/internal/symbols"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/render"
	"github.com/readthru/readthru/store"
)

// Options configures a Fetcher.
type Options struct {
	Client http.RoundTripper // the cache
	Direct http.RoundTripper // the transport below it, for third parties
	Store  *store.Store

	// Cascade names the steps in order. If nil: negotiate, alternate, local, browser, markdown_new; with
	// MarkdownNew.Mode prefer, markdown_new comes right after alternate.
	Cascade []string

	Timeout          time.Duration // for a whole page, not for responses that pass unchanged; if zero 30 s
	MaxBody          int64         // largest content converted, in bytes, coded or not; if zero, page.DefaultMaxBody
	UserAgent        string        // of own fetches
	BlockedDomains   []string      // host suffixes; pages of these hosts are never fetched
	Rules            hostrule.Rules
	Recipes          *recipe.Set // for the conversion of HTML; if nil there are none
	PagesWithCookies string      // skip (default), reread, remember
	Preferences      string      // PreferencesAuto (default), PreferencesRespect, PreferencesTell, PreferencesIgnore
	Private          bool        // the cache is private: pages read with credentials may be stored
	FrontMatter      bool        // answers begin with front matter
	Convert          convert.Options
	MarkdownNew      MarkdownNew
	Browser          *render.Browser // if nil, no page is rendered
	Render           string          // RenderAuto (default), RenderAlways, RenderNever
	LLM              *llm.Client     // for step llm; if nil the step is skipped
	MaxHTMLChars     int             // limit of a page's HTML sent to that model; if zero 40,000
	Workers          int             // concurrent conversions; if zero GOMAXPROCS
	MaxWaiting       int64           // bytes of HTML that passed and waits for its conversion; if zero 64 MiB
	GitHub           github.Options  // Get, Dial, Symbols and Log are set by New
	// PageLifetime is how long the page of a repository is fresh, and at most how long a rendered page; if zero 24 h
	PageLifetime time.Duration
	Symbols      *symbols.Engine // makes the symbol maps of repositories; if nil there are none
	// Observe is told how long a part of the work took: origin, convert or render. If nil, nobody is.
	Observe func(part string, took time.Duration)
	// Journal is told what doors other than the proxy's port read: [Fetcher.Tell]. If nil, nothing is told.
	Journal *journal.Journal
	Log     *slog.Logger
}

// observe tells Options.Observe how long a part of the work that has begun took, and returns it in milliseconds.
func (f *Fetcher) observe(part string, begun time.Time) int64 {
	took := time.Since(begun)
	if f.o.Observe != nil {
		f.o.Observe(part, took)
	}
	return took.Milliseconds()
}

// MarkdownNew configures the third party of step markdown_new.
type MarkdownNew struct {
	Mode       string // off, fallback (default), prefer
	BaseURL    string // if empty https://markdown.new
	DailyLimit int    // requests per day (UTC); if zero 500, if negative none

	// Spend takes one of the requests that this and other nodes may make together on a day (2006-01-02) up to limit.
	// The error says that nobody knows how many were made. If nil, this is a node alone.
	Spend func(ctx context.Context, day string, limit int64) (ok bool, err error)
}

// Fetcher fetches pages in the requested form. It is safe for concurrent use.
//
// A Fetcher is never changed. [Fetcher.Reconfigure] makes another one of the same work, and every exported method
// begins with the newest: a request keeps the options with which it began.
type Fetcher struct {
	*shared
	o      Options
	steps  map[string]Step
	wanted string // recipe of o.Convert
	mdnew  *markdownNew

	addresses *lru.Cache[string, *address] // by URL as written
}

// shared is what a Fetcher does and knows, whatever its options are. It outlives a change of the configuration.
type shared struct {
	newest atomic.Pointer[Fetcher]
	peers  Peers // nil: none

	github      *github.Reader
	turns       *turns.Turns
	flights     singleflight.Group
	failedSteps *lru.Cache[string, time.Time] // failed steps, and until when they are not repeated

	failed  *lru.Cache[string, failure]          // failed own fetches
	anchors *lru.Cache[store.Sum, []page.Anchor] // by the body that has them
	robots  robots.Sites

	mu      sync.Mutex // guards closed and additions to running
	closed  bool
	running sync.WaitGroup
	ctx     context.Context // ends at Close; for work that outlives its request
	cancel  context.CancelFunc
	queue   chan func(context.Context)
	waiting atomic.Int64 // bytes of observed pages in queue

	bySource                 sync.Map // page.Source → *atomic.Int64
	converted, convertFailed atomic.Int64
}

// New returns a Fetcher, with a goroutine for work in the background. Close it when done.
func New(o Options) *Fetcher {
	o = o.withDefaults()
	failedSteps, _ := lru.New[string, time.Time](4096) // fails for sizes below 1 only
	failed, _ := lru.New[string, failure](1024)
	anchors, _ := lru.New[store.Sum, []page.Anchor](keptAnchored)
	f := newFetcher(o, &shared{
		turns:       turns.New(o.Workers),
		failedSteps: failedSteps,

		failed: failed, anchors: anchors,
		queue: make(chan func(context.Context), 64),
	}, nil)
	f.ctx, f.cancel = context.WithCancel(context.Background())
	f.github = newGitHub(f)
	f.newest.Store(f)
	f.running.Go(fault.Forever(f.ctx, "fetch: work in the background", f.runJobs))
	return f
}

// newFetcher returns a Fetcher with o, which is complete, that shares the work of all others. before is the present
// one's step of markdown.new, or nil.
func newFetcher(o Options, with *shared, before *markdownNew) *Fetcher {
	addresses, _ := lru.New[string, *address](1024) // fails for sizes below 1 only
	f := &Fetcher{shared: with, o: o, wanted: wanted(o.Convert), steps: map[string]Step{}, addresses: addresses}
	f.mdnew = newMarkdownNew(f, before)
	for _, s := range []Step{negotiate{f}, alternate{f}, local{f}, f.mdnew, browser{f}, model{f}} {
		f.steps[s.Name()] = s
	}
	return f
}

// Reconfigure replaces the options by those of o for what begins from now on, but for Client, Direct, Store, Workers,
// MaxWaiting, GitHub, Symbols, Journal and Log.
func (f *Fetcher) Reconfigure(o Options) {
	f = f.newest.Load()
	o.Client, o.Direct, o.Store, o.Workers, o.MaxWaiting = f.o.Client, f.o.Direct, f.o.Store, f.o.Workers,
		f.o.MaxWaiting
	o.GitHub, o.Symbols, o.Journal, o.Log = f.o.GitHub, f.o.Symbols, f.o.Journal, f.o.Log
	f.newest.Store(newFetcher(o.withDefaults(), f.shared, f.mdnew))
}

// withDefaults returns the options with every zero value that stands for a default replaced.
func (o Options) withDefaults() Options {
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	o.MaxBody = cmp.Or(o.MaxBody, page.DefaultMaxBody)
	o.MaxWaiting = cmp.Or(o.MaxWaiting, waitingLimit)
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.Render = cmp.Or(o.Render, RenderAuto)
	o.Preferences = cmp.Or(o.Preferences, PreferencesAuto)
	o.PagesWithCookies = cmp.Or(o.PagesWithCookies, "skip")
	o.PageLifetime = cmp.Or(o.PageLifetime, 24*time.Hour)
	if o.MaxHTMLChars <= 0 {
		o.MaxHTMLChars = maxHTMLChars
	}
	o.MarkdownNew.Mode = cmp.Or(o.MarkdownNew.Mode, "fallback")
	if o.Cascade == nil {
		o.Cascade = []string{"negotiate", "alternate", "local", "browser", "markdown_new"}
	}
	o.Cascade = gate.Order(o.Cascade, o.MarkdownNew.Mode)
	return o
}

// MaxBody returns the largest content read, in bytes.
func (f *Fetcher) MaxBody() int64 { return f.newest.Load().o.MaxBody }

// Close cancels the background work and waits for it to end. It drops queued work that has not begun.
func (f *Fetcher) Close() error {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.cancel()
	f.running.Wait()
	return nil
}

// runJobs runs the jobs in the background, one at a time, until ctx ends: they must not slow down the answers.
func (f *Fetcher) runJobs(ctx context.Context) {
	for {
		select {
		case job := <-f.queue:
			_ = f.guarded(func() { job(ctx) }) // guarded logs a panic; the other jobs go on
		case <-ctx.Done():
			return
		}
	}
}

// enqueue queues a job for the background and reports whether it did. It drops the job if the queue is full, so that
// requests never wait.
func (f *Fetcher) enqueue(job func(context.Context)) bool {
	select {
	case f.queue <- job:
		return true
	default:
		f.o.Log.Debug("background queue full")
		return false
	}
}

// Request describes a requested page.
type Request struct {
	URL    *url.URL
	Method string      // GET (default) or HEAD
	Header http.Header // proxied: the client's fields, hop-by-hop and X-Readthru-* gone; own fetch: nil
	Own    bool        // own-fetch policy; false: a client's proxied request
	Force  bool        // validate or fetch again (no-cache)
	// answer only from fresh stored responses; the error for a missing one has status 504
	CacheOnly bool
	// the client did not ask for a page in particular: an answer that begins after the time limit passes unchanged
	Patient  bool
	NoRemote bool // no third party
	NoStore  bool // store no page, visit or rendition
	Text     bool // plain text instead of markdown
	// the origin's HTML, decoded to UTF-8, instead of markdown; has no effect on other content
	HTML bool
	// Reader says that the client asked for markdown by name, and so reads plain text and data too: what nobody sees is
	// taken out of them. With HTML it holds for content that is not HTML.
	Reader    bool
	Cascade   []string // if nil the rule's, else the config's
	MaxTokens int      // truncate at a block boundary and report it; 0: no limit

	// MaxHTMLChars is the limit of the page's HTML sent to a model, if it is less than Options.MaxHTMLChars; 0: that.
	// What is made so is for this request alone.
	MaxHTMLChars int

	Agent   string // User-Agent for the visit
	Session string // stored with the visit
	User    string // of the proxy, stored with the visit; may be empty
	// set of fetched pages to add the page to (rule B37); if empty the set of Session, if any
	Set     string
	View    View
	Render  string        // RenderAuto, RenderAlways or RenderNever; if empty the rule's, else the config's
	WaitFor string        // CSS selector: rendering waits until it matches
	Wait    time.Duration // that a rendered page gets after it has loaded, by its own clock

	// Timeout is how long the page may take. If zero, as long as every page.
	Timeout time.Duration

	Console    bool // return the errors that a rendered page logs: Answer.Console
	Screenshot bool // take a screenshot: Answer.Screenshot

	// Unattended says that nobody asked for this page in particular, as in a crawl: it is not stored where its origin
	// denies that (see Options.Preferences), and the caller does not use it if [Fetcher.Unwanted] says so. Links may be
	// followed.
	Unattended bool

	NoVisit bool // store the page but count no visit, because there is no reader (rule E13)
	Told    bool // the caller tells what its reader got of the page ([Fetcher.Tell]): the visit counts that
	Unread  bool // a person looks after the page: it is the one that readers get, but this is no visit
	Links   bool // return the page's links: Answer.Links
	Source  bool // return the page's HTML too: Answer.Source
	Trimmed bool // return the part of the HTML that the view selects, simplified: Answer.Trimmed
	Repeat  bool // return why an equal request gets an equal answer again: Answer.Repeat

	whole bool // read stored content with the head of its response: it is lost if it was not read in time

	// Follow is called before an own fetch follows a redirect. If it returns an error, the fetch fails with an error
	// that wraps it. If nil, the fetch follows all redirects that the own policy allows.
	Follow func(next *url.URL) error
}

// Answer is a page, or the origin's response if that is not a page.
type Answer struct {
	Page   *page.Page // without Content (it is Body)
	Status int        // the origin's
	Header http.Header
	Cache  cache.Outcome // the cache's outcome; Header does not contain it

	// Body is markdown or text, with front matter if configured. For HEAD it is nil unless the rendition is known; the
	// caller then derives Content-Length from it. Header has no Content-Length.
	Body []byte

	// Links are the URLs that the whole page links to, if requested: absolute, without fragments, in the order of the
	// page. A page with more than 20,000 links has the warning links-cut.
	Links []string

	// Source is the HTML that the page was made from, in UTF-8: the origin's, or the browser's after rendering. Trimmed
	// is the part of it that the view selects, without hidden elements and with absolute links. They are empty if not
	// requested and for content that is not HTML; Trimmed is also empty for a page without content.
	Source, Trimmed []byte

	// Private reports that the request or response concerns a single reader and must not be shared.
	Private bool

	Console    []string // errors that the page logged during rendering
	Screenshot []byte   // PNG

	// Response is set if Page is nil. The caller streams it and closes its body.
	Response *http.Response

	// Repeat is why an equal request gets an equal answer again; nil if not requested, or if it might get another one.
	Repeat *Repeat

	made  *store.Rendition // the whole page
	count func()           // the visit, for [Fetcher.Tell] (Request.Told); nil: it is none
}

// Stats are counters since the start.
type Stats struct {
	Render                   render.State
	BySource                 map[page.Source]int64
	MarkdownNewState         string // off, on or resting
	MarkdownNewSent          int64  // today
	MarkdownNewLeft          int64  // today
	Converted, ConvertFailed int64
}

// Stats returns the counters.
func (f *Fetcher) Stats() Stats {
	f = f.newest.Load()
	s := Stats{
		Render: f.renderState(), BySource: map[page.Source]int64{}, Converted: f.converted.Load(),
		ConvertFailed: f.convertFailed.Load(),
	}
	maps.Insert(s.BySource, func(yield func(page.Source, int64) bool) {
		f.bySource.Range(func(k, v any) bool { return yield(k.(page.Source), v.(*atomic.Int64).Load()) })
	})
	s.MarkdownNewState, s.MarkdownNewSent, s.MarkdownNewLeft = f.mdnew.state(time.Now())
	return s
}

// failedStepLifetime is how long a step of the cascade that failed is not repeated for a page.
const failedStepLifetime = 10 * time.Minute

// count counts a page that was answered, by where its markdown came from.
func (f *Fetcher) count(s page.Source) {
	n, ok := f.bySource.Load(s)
	if !ok {
		n, _ = f.bySource.LoadOrStore(s, new(atomic.Int64))
	}
	n.(*atomic.Int64).Add(1)
}

// detached runs work that does not end with the request that began it, within a time limit, and within Close.
func (f *Fetcher) detached(limit time.Duration, work func(context.Context)) error {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return context.Canceled
	}
	f.running.Add(1)
	f.mu.Unlock()
	defer f.running.Done()
	ctx, cancel := context.WithTimeout(f.ctx, limit)
	defer cancel()
	return f.guarded(func() { work(ctx) })
}

// guarded makes a panic of work an error: foreign bytes must not end the process.
func (f *Fetcher) guarded(work func()) error {
	return fault.Catch("fetch: make a page", func() error { work(); return nil })
}
