// Package fetch gets pages in the form asked for.
//
// A [Fetcher] asks an origin once per page, naming markdown first and HTML second, and hands what came back to an
// ordered list of steps (see [Step]): the first good result is the answer. What is no page (assets, downloads, streams,
// redirects) comes back as the origin's response, untouched and unread. The HTTP cache stands between the Fetcher and
// the origin as an [http.RoundTripper]; markdown made here is a rendition, kept in the store under the hash of the
// bytes it was made of, so that a hit converts nothing and reads no body.
//
// A [Transport] is the way to origins: it verifies, refuses addresses that must not be reached, and obeys one of two
// policies, for what a client asked (proxied) and for what we or a page asked (own). Whoever calls [Fetcher.Page] with
// credentials in the request gets the page and leaves nothing behind: no page, rendition, visit or request to a third
// party.
package fetch

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

	"readthru/cache"
	"readthru/convert"
	"readthru/github"
	"readthru/llm"
	"readthru/page"
	"readthru/render"
	"readthru/store"
	"readthru/symbols"
)

// Options configures a Fetcher.
type Options struct {
	Client http.RoundTripper // the cache
	Direct http.RoundTripper // the transport below it, for third parties
	Store  *store.Store

	// Cascade names the steps in order. If nil: negotiate, alternate, local, browser, markdown_new; with MarkdownNew.Mode
	// prefer, markdown_new comes right after alternate.
	Cascade []string

	Timeout          time.Duration // for a page in all, not for what passes untouched; if zero 30 s
	MaxBody          int64         // largest content converted, in bytes, coded and decoded; if zero 32 MiB
	UserAgent        string        // of own fetches
	BlockedDomains   []string      // suffixes of hosts that are never fetched as pages
	Rules            Rules
	PagesWithCookies string // skip (default), reread, remember
	Private          bool   // the cache is private: what was read with credentials may be kept
	FrontMatter      bool   // pages we made begin with front matter
	Convert          convert.Options
	MarkdownNew      MarkdownNew
	Browser          *render.Browser // if nil nothing is rendered
	Render           string          // RenderAuto (default), RenderAlways, RenderNever
	LLM              *llm.Client     // of step llm; if nil it is skipped
	MaxHTMLChars     int             // of a page's HTML into that model; if zero 40,000
	Workers          int             // conversions at once; if zero GOMAXPROCS
	GitHub           github.Options  // Get, Dial, Symbols and Log are set by New
	// RepositoryLifetime is how long the page of a repository is fresh; if zero 24 h
	RepositoryLifetime time.Duration
	Symbols            *symbols.Engine // makes the symbol maps of repositories; if nil they have none
	Log                *slog.Logger
}

// MarkdownNew configures the third party of step markdown_new.
type MarkdownNew struct {
	Mode       string // off, fallback (default), prefer
	BaseURL    string // if empty https://markdown.new
	DailyLimit int    // requests a day (UTC); if zero 500, negative: none at all
}

// Fetcher gets pages in the form asked for. It is safe for concurrent use.
type Fetcher struct {
	o       Options
	steps   map[string]Step
	wanted  string // recipe of o.Convert
	mdnew   *markdownNew
	github  *github.Reader
	workers *semaphore.Weighted
	flights singleflight.Group
	tried   *lru.Cache[string, time.Time] // what was asked in vain, and until when it is not asked again

	failed     *lru.Cache[string, failure]   // own fetches that gave nothing
	identities *lru.Cache[string, *identity] // of URLs as they were spelt
	robots     robotsCache

	mu      sync.Mutex // guards closed and adding to running
	closed  bool
	running sync.WaitGroup
	ctx     context.Context // ends at Close: for work that outlives its request
	cancel  context.CancelFunc
	queue   chan func(context.Context)
	waiting atomic.Int64 // bytes of observed pages in queue

	bySource                 sync.Map // page.Source → *atomic.Int64
	converted, convertFailed atomic.Int64
}

// New returns a Fetcher. Close it when done.
func New(o Options) *Fetcher {
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.MaxBody == 0 {
		o.MaxBody = 32 << 20
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Render == "" {
		o.Render = RenderAuto
	}
	if o.PagesWithCookies == "" {
		o.PagesWithCookies = "skip"
	}
	if o.MaxHTMLChars <= 0 {
		o.MaxHTMLChars = maxHTMLChars
	}
	if o.MarkdownNew.Mode == "" {
		o.MarkdownNew.Mode = "fallback"
	}
	if o.Cascade == nil {
		o.Cascade = []string{"negotiate", "alternate", "local", "browser", "markdown_new"}
	}
	o.Cascade = order(o.Cascade, o.MarkdownNew.Mode)
	tried, _ := lru.New[string, time.Time](4096) // fails for sizes below 1 only
	failed, _ := lru.New[string, failure](1024)
	identities, _ := lru.New[string, *identity](1024)
	f := &Fetcher{
		o:       o,
		wanted:  wanted(o.Convert),
		workers: semaphore.NewWeighted(int64(o.Workers)),
		tried:   tried,

		failed:     failed,
		identities: identities,
		queue:      make(chan func(context.Context), 64),
	}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	f.mdnew = newMarkdownNew(f)
	f.github = newGitHub(f)
	f.steps = map[string]Step{}
	for _, s := range []Step{negotiate{f}, alternate{f}, local{f}, f.mdnew, browser{f}, model{f}} {
		f.steps[s.Name()] = s
	}
	f.running.Go(f.work)
	return f
}

// order puts markdown_new where its mode wants it: "prefer" right before the steps that convert here. Where a model is
// listed and local is not, local follows it: a page must not depend on a model (rule E12).
func order(cascade []string, mode string) []string {
	if i := slices.Index(cascade, "llm"); i >= 0 && !slices.Contains(cascade, "local") {
		cascade = slices.Insert(slices.Clone(cascade), i+1, "local")
	}
	i := slices.Index(cascade, "markdown_new")
	to := slices.IndexFunc(cascade, func(s string) bool { return s == "local" || s == "browser" || s == "llm" })
	if mode != "prefer" || to < 0 || i < to {
		return cascade
	}
	moved := slices.Delete(slices.Clone(cascade), i, i+1)
	return slices.Insert(moved, to, "markdown_new")
}

// Close gives up what runs in the background and waits for it. What was queued and has not begun is dropped.
func (f *Fetcher) Close() error {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.cancel()
	f.running.Wait()
	return nil
}

// work takes what was queued, one at a time, until Close.
func (f *Fetcher) work() {
	for {
		select {
		case job := <-f.queue:
			_ = f.guarded(func() { job(f.ctx) }) // it is logged, and the next job may be better
		case <-f.ctx.Done():
			return
		}
	}
}

// enqueue hands work to the background, or drops it when much is waiting: nothing on a request's path waits for it.
func (f *Fetcher) enqueue(job func(context.Context)) bool {
	select {
	case f.queue <- job:
		return true
	default:
		f.o.Log.Debug("background queue full")
		return false
	}
}

// Request is one wish for a page.
type Request struct {
	URL    *url.URL
	Method string      // GET (default) or HEAD
	Header http.Header // proxied: the client's fields, hop-by-hop and X-Readthru-* gone; own fetch: nil
	Own    bool        // own-fetch policy; false: a client's proxied request
	Force  bool        // validate or fetch anew (no-cache)
	// answer from what is stored and fresh, and ask nobody: what is not there is an error with status 504
	CacheOnly bool
	NoRemote  bool // no third party
	NoStore   bool // leave no page, visit or rendition
	Text      bool // plain text instead of markdown
	// the origin's HTML, decoded to UTF-8, instead of markdown; what is not HTML comes as without it
	HTML      bool
	Cascade   []string // if nil the rule's, else the config's
	MaxTokens int      // cut at a block boundary and say so; 0 no limit
	Agent     string   // User-Agent for the visit
	Session   string   // kept with the visit
	// the set of fetched pages that the page goes into (rule B37); if empty that of Session, if it is named
	Set        string
	View       View
	Render     string // RenderAuto, RenderAlways or RenderNever; if empty the rule's, else the config's
	WaitFor    string // CSS: a page that is rendered is waited for until this matches
	Console    bool   // tell what a page that is rendered logs as errors: Answer.Console
	Screenshot bool   // take a picture of the page: Answer.Screenshot

	NoVisit bool // no reader is served: the page is kept and no visit counted (rule E13)
	Links   bool // tell where the page leads: Answer.Links
	Source  bool // tell the page's HTML too: Answer.Source
	Trimmed bool // and of that what the view wants, in few elements: Answer.Trimmed

	// Follow is asked before an own fetch follows a redirect. Its error ends the fetch and is found by errors.As. If nil,
	// all redirects that the own policy allows are followed.
	Follow func(next *url.URL) error
}

// Answer is a page, or the origin's response when that is not a page.
type Answer struct {
	Page   *page.Page // without Content (it is Body)
	Status int        // the origin's
	Header http.Header
	Cache  cache.Outcome // what the cache did for it; Header does not say so

	// Body is markdown or text, with front matter where configured. It is nil for HEAD unless the rendition is known; then
	// it is there to tell Content-Length. Header has no Content-Length.
	Body []byte

	// Links are the URLs that all of the page links to, where they were asked for: absolute, without fragments, as the
	// page orders them. A page with more than 20,000 has the warning links-cut.
	Links []string

	// Source is the HTML that the page was made of, in UTF-8: the origin's, or what a browser made of it. Trimmed is what
	// the view wants of it as HTML: without what nobody reads, its links absolute. They are empty where they were not
	// asked for, and of what is no HTML; Trimmed also of a page in which there is no content.
	Source, Trimmed []byte

	// Private says that request or response concern one reader: nothing of it may go to others.
	Private bool

	Console    []string // what the page logged as errors while it was rendered
	Screenshot []byte   // PNG

	// Response is set when Page is nil: the caller streams it and closes its body.
	Response *http.Response
}

// Stats counts since start.
type Stats struct {
	Render                   render.State
	BySource                 map[page.Source]int64
	MarkdownNewState         string // off, closed, open
	MarkdownNewSent          int64  // today
	MarkdownNewLeft          int64  // today
	Converted, ConvertFailed int64
}

// Stats returns the counts since start.
func (f *Fetcher) Stats() Stats {
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

// vainLifetime is how long a step that failed for a page is not tried again.
const vainLifetime = 10 * time.Minute

// inVain reports whether what was asked in vain a short while ago.
func (f *Fetcher) inVain(what string, now time.Time) bool {
	until, ok := f.tried.Get(digest(what))
	return ok && now.Before(until)
}

// giveUp notes that what was asked in vain, unless the asking ended before its time.
func (f *Fetcher) giveUp(ctx context.Context, what string) {
	if ctx.Err() == nil {
		f.tried.Add(digest(what), time.Now().Add(vainLifetime))
	}
}

func (f *Fetcher) count(s page.Source) {
	n, ok := f.bySource.Load(s)
	if !ok {
		n, _ = f.bySource.LoadOrStore(s, new(atomic.Int64))
	}
	n.(*atomic.Int64).Add(1)
}
