package cache

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

const (
	// spoolLimit is Options.Memory unless that is set.
	spoolLimit = 64 << 20
	// closeWait is how long Close lets flights end by themselves.
	closeWait = 3 * time.Second
)

// Options configures a Cache. Store must be set; for the rest the zero value is ready to use.
type Options struct {
	// Store keeps the responses. It outlives the Cache.
	Store *store.Store

	// Next obtains what the store cannot answer. It must be safe for concurrent use. If nil, every miss is answered 504
	// (Gateway Timeout), as for only-if-cached.
	Next http.RoundTripper

	// Private makes the cache serve one user (RFC 9111 §1): it stores what is marked private and ignores s-maxage and
	// proxy-revalidate. Responses to different credentials are kept apart all the same.
	Private bool

	// PartitionKey makes credentials, by which responses are kept apart, into names that do not tell them. It should be
	// secret, and the same at each start: with another key what was stored for credentials is not found.
	PartitionKey []byte

	// MaxBody is the largest content stored, in bytes. Larger responses pass through unstored. If zero,
	// [page.DefaultMaxBody].
	MaxBody int64

	// Memory bounds the bodies that are on their way into the store, in bytes, over all flights. If zero, 64 MiB.
	Memory int64

	// StaleLimit is how stale a response may be that answers when the origin cannot be reached. If zero, 168 h.
	StaleLimit time.Duration

	// HeuristicMax bounds the lifetime guessed from Last-Modified. If zero, 168 h.
	HeuristicMax time.Duration

	// Targeted names fields that take the place of Cache-Control (RFC 9213), the first one present wins. If empty, none.
	Targeted []string

	// Offline answers everything as if the request said only-if-cached and max-stale.
	Offline bool

	// Secret reports whether a URL carries a credential. A request for such a URL counts as one with credentials, and no
	// answer to it is stored in a shared cache. It must be pure. If nil, user info is what it looks for.
	Secret func(*url.URL) bool

	// Page reports whether content of this media type, the value of a Content-Type field, is read as a page. A shared
	// cache stores no page that was asked for with credentials, whatever its origin allows.
	// It must be pure. If nil, nothing is a page.
	Page func(contentType string) bool

	// Markdown reports whether content of this media type is markdown. If a request names text/markdown and the origin
	// answers with markdown but without Vary: Accept, only requests that name it get the stored response; and a page that
	// was stored for others answers them only when the origin cannot be asked. It must be pure. If nil, nothing is
	// markdown.
	Markdown func(contentType string) bool

	// ForPage reports whether the answer to a request may become a page, whatever its media type. A shared cache answers
	// such a request with nothing that was asked for with credentials. It must be pure. If nil, no request is for a page.
	ForPage func(*http.Request) bool

	// Untrusted reports whether an error of Next means that the origin did not prove its identity, for example because its
	// certificate has expired. A stale response hides such an error only from a client that says max-stale or
	// stale-if-error. It must be pure. If nil, every error counts as an origin that cannot be reached.
	Untrusted func(error) bool

	// PageLifetime is how long a page stays fresh that states no lifetime, in place of a guess. It counts for answers 200
	// to GET, and not where credentials or cookies are involved. If zero, pages live as all other responses do.
	PageLifetime time.Duration

	// Rule returns what the operator rules for a URL. It must be pure. If nil, nothing is ruled.
	Rule func(*url.URL) Rule

	// Log gets what goes wrong with the store. If nil, slog.Default.
	Log *slog.Logger
}

// A Rule is what an operator rules for a URL, whatever its origin says. The zero value rules nothing.
type Rule struct {
	// Lifetime is how long answers 200 to GET stay fresh, also those that say no-cache. It makes no response storable that
	// says no-store or private, and does not count where credentials or cookies are involved. If zero, they live as long
	// as they say.
	Lifetime time.Duration

	// Bypass sends requests past the cache: nothing stored answers them, and their answers are not stored.
	Bypass bool
}

// Cache answers requests from its store or from the origin. It is safe for concurrent use.
type Cache struct {
	store  *store.Store
	next   http.RoundTripper
	now    atomic.Pointer[policy] // see [Cache.policy]
	budget budget
	past   *pastFlights
	peers  Peers // nil: none
	log    *slog.Logger

	mu     sync.Mutex
	groups map[string]*flight   // flights that take followers
	landed time.Time            // when the last of them ended
	live   map[*flight]struct{} // all
	closed bool
	wg     sync.WaitGroup
	crew   crew

	hits, misses, revalidated, stale, bypass, collapsed, stored atomic.Int64
}

// New returns a Cache over a store, which it does not close. Close ends its background work.
func New(o Options) *Cache {
	c := &Cache{
		store: o.Store, next: o.Next, log: o.Log,
		budget: budget{limit: cmp.Or(o.Memory, spoolLimit)}, past: newPastFlights(),
		groups: make(map[string]*flight), live: make(map[*flight]struct{}), crew: newCrew(),
	}
	c.Reconfigure(o)
	if c.log == nil {
		c.log = slog.Default()
	}
	return c
}

// Reconfigure replaces the options by those of o, but for Store, Next and Log, for requests that begin from now on.
func (c *Cache) Reconfigure(o Options) {
	p := &policy{
		shared: !o.Private, offline: o.Offline, maxBody: o.MaxBody, staleLimit: o.StaleLimit,
		heuristicMax: o.HeuristicMax,
		key:          o.PartitionKey, secret: o.Secret, page: o.Page, markdown: o.Markdown, forPage: o.ForPage,
		untrusted: o.Untrusted, pageLifetime: o.PageLifetime, rule: o.Rule,
		targeted: o.Targeted,
	}
	p.maxBody = cmp.Or(p.maxBody, page.DefaultMaxBody)
	p.staleLimit = cmp.Or(p.staleLimit, 7*24*time.Hour)
	p.heuristicMax = cmp.Or(p.heuristicMax, 7*24*time.Hour)
	c.now.Store(p)
}

// policy returns the present policy. It is never changed but replaced as a whole, and each decision takes it once.
func (c *Cache) policy() *policy { return c.now.Load() }

// Stats counts outcomes of requests since start, and stored responses.
type Stats struct{ Hits, Misses, Revalidated, Stale, Bypass, Collapsed, Stored int64 }

// Stats returns the counts so far.
func (c *Cache) Stats() Stats {
	return Stats{
		Hits: c.hits.Load(), Misses: c.misses.Load(), Revalidated: c.revalidated.Load(), Stale: c.stale.Load(),
		Bypass: c.bypass.Load(), Collapsed: c.collapsed.Load(), Stored: c.stored.Load(),
	}
}

// Open returns the number of exchanges with origins in progress.
func (c *Cache) Open() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.live)
}

// Abandon ends the flights, also those that only fill the store, so that Close has nothing to wait for.
func (c *Cache) Abandon() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for f := range c.live {
		f.end(errors.New("the cache is closing"))
	}
}

// Close waits closeWait for background work (validations, fetches finished for the store), then ends it. Requests that
// come later pass through.
func (c *Cache) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	timer := time.AfterFunc(closeWait, fault.Contain("cache: end what is under way", c.Abandon))
	defer timer.Stop()
	c.wg.Wait()
	c.crew.dismiss()
	return nil
}

// RoundTrip answers req from the store or from the origin; [OutcomeOf] the response says which. When its body is the
// complete stored content, it knows that content's Len and Sum. An error carries an outcome, too: see [OutcomeOfError].
func (c *Cache) RoundTrip(req *http.Request) (*http.Response, error) {
	q := c.policy().request(req)
	switch {
	case q.bypasses():
		return q.answered(c.pass(q, "bypass"))
	case q.Method != http.MethodGet && q.Method != http.MethodHead:
		return q.answered(c.pass(q, "method"))
	case q.ContentLength != 0 && q.Body != nil && q.Body != http.NoBody:
		return q.answered(c.pass(q, "bypass"))
	}
	sel, at := c.lookup(q, q.found)
	asks := c.asks(q)
	r, v := c.policy().answer(q, &sel, asks, time.Now())
	if r != nil {
		if resp := c.fromStore(q, r, v.hit(), false); resp != nil {
			if v.action == reuseRefreshing {
				c.refresh(q, sel)
			}
			return resp, nil
		}
		sel, v.why = selection{}, "uri-miss" // its content is lost
	}
	if !asks {
		c.misses.Add(1)
		return c.gatewayTimeout(q, v.why), nil
	}
	return q.answered(c.fetch(q, sel, v.why, at))
}

// asks reports whether the origin may be asked for the answer to q: not offline, and not for only-if-cached.
func (c *Cache) asks(q *request) bool {
	return c.next != nil && !q.cc.onlyIfCached && !c.policy().offline
}

// answered returns the result of a round trip: of forwarding q to the origin, with the outcome in an error.
func (q *request) answered(resp *http.Response, err error) (*http.Response, error) {
	if err != nil {
		return nil, &unanswered{err, Outcome{Forward: q.why}}
	}
	return resp, nil
}

// lookup returns what is stored for q, and as of when. It takes it from what was found before, unless that is nil or
// answers another URI. A store that cannot answer has nothing, and a shared cache has nothing for a URL with a secret.
func (c *Cache) lookup(q *request, found *store.Found) (selection, time.Time) {
	at := time.Now()
	if c.policy().shared && q.secret {
		return selection{}, at
	}
	if found != nil && found.URI == q.key {
		return c.policy().choose(q, found.Responses), found.At
	}
	stored, err := c.store.Responses(q.key)
	c.warn("look up stored responses", q.key, err)
	return c.policy().choose(q, stored), at
}

// foundKey is the key of what was found for a request, in its context.
type foundKey struct{}

// WithFound returns a context for one request, with what its caller has just found for it in the cache's store: the
// cache then does not read it again.
func WithFound(ctx context.Context, found *store.Found) context.Context {
	return context.WithValue(ctx, foundKey{}, found)
}

// invalidate drops the responses that are stored for a key, and those that are on their way there, after an unsafe
// request or an answer that the URL has nothing.
func (c *Cache) invalidate(key string) {
	c.past.forget(key)
	var writing []<-chan struct{}
	c.mu.Lock()
	for f := range c.live {
		if f.q.key == key {
			writing = append(writing, f.invalidate())
			if c.groups[f.group] == f {
				delete(c.groups, f.group)
			}
		}
	}
	c.mu.Unlock()
	for _, done := range writing {
		if done != nil {
			<-done // what is being written now is deleted, too
		}
	}
	_, err := c.store.DeleteResponses(key)
	c.warn("invalidate stored responses", key, err)
}

// update stores r as a validation freshened it: unless it now says that it may not be stored, when it is deleted, or
// was freshened by a request whose answers are for itself alone, when the store keeps what it has. It reports whether
// fresh may answer others.
func (c *Cache) update(q *request, r, fresh *store.Response) bool {
	cc := c.policy().control(fresh.Header)
	switch {
	case c.policy().forbids(fresh, &cc):
		c.warn("delete a stored response", q.key, c.store.DeleteResponse(q.key, r.ID))
		return false
	case !c.policy().admits(q, fresh, &cc):
		return false
	}
	c.warn("freshen a stored response", q.key, c.store.UpdateResponse(fresh))
	c.tellPeers(q, fresh)
	return true
}

// freshenOthers updates the other stored responses that the request selects and that a 304 or the answer to a HEAD with
// the fields h names (RFC 9111 §4.3.4), or deletes them if the 304 forbids to store them. If fresh is stored, it
// deletes those that fresh makes redundant.
func (c *Cache) freshenOthers(q *request, sel *selection, fresh *store.Response, stored bool, h http.Header,
	sent, received time.Time,
) {
	for _, o := range sel.variants {
		if o.ID == fresh.ID || o.Status != http.StatusOK || !strongMatch(o.Header.Get("ETag"), h.Get("ETag")) ||
			!c.policy().matches(q, o) {
			continue
		}
		if other := c.policy().freshen(q, o, h, sent, received); stored && slices.Equal(other.Vary, fresh.Vary) &&
			maps.Equal(other.Selecting, fresh.Selecting) {
			c.warn("delete a stored response", q.key, c.store.DeleteResponse(q.key, o.ID))
		} else {
			c.update(q, o, other)
		}
	}
}

// put stores r and reports whether the store took it. Those that it makes obsolete go; the store bounds how many a URI
// has.
func (c *Cache) put(q *request, r *store.Response, content io.Reader) (ok bool) {
	err := c.store.PutResponse(r, content, func(o *store.Response) bool {
		return c.policy().owns(q, o) && o.Class == r.Class && supersedes(r, o) && c.policy().matches(q, o)
	})
	if err != nil {
		if !errors.Is(err, store.ErrFull) {
			c.warn("store a response", q.key, err)
		}
		return false
	}
	c.stored.Add(1)
	c.tellPeers(q, r)
	return true
}

// supersedes reports whether the response r that is put into the cache leaves no use for o, which the same request
// selects. Parts of one representation live beside each other, but for those that lie within another.
func supersedes(r, o *store.Response) bool {
	part := r.Status == http.StatusPartialContent
	within := o.Status == http.StatusPartialContent && o.Total == r.Total && o.Offset >= r.Offset && end(o) <= end(r)
	return !part || within || !strongMatch(r.Header.Get("ETag"), o.Header.Get("ETag"))
}

// warn logs an error of the store, if it is one, without the query of the key, which may be secret. The cache goes on
// without what the store could not do.
func (c *Cache) warn(doing, key string, err error) {
	if err == nil || errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrNotFound) {
		return
	}
	key, _, _ = strings.Cut(key, "?")
	c.log.Warn("cache store error", slog.String("doing", doing), slog.String("url", key), slog.Any("err", err))
}
