package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// site is an origin of every kind of answer. What it says of a page depends on its URL and the second alone.
func site(w http.ResponseWriter, r *http.Request) {
	kind, n, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	number, _ := strconv.Atoi(n)
	h := w.Header()
	switch kind {
	case "page":
		version := time.Now().Unix() / int64(10+number%50)
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Cache-Control", "max-age=2")
		h.Set("Etag", fmt.Sprintf(`"%d-%d"`, number, version))
		if r.Header.Get("If-None-Match") == h.Get("Etag") {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		io.WriteString(w, article(r.Host+r.URL.Path, version, number%40))
	case "asset":
		h.Set("Content-Type", "application/octet-stream")
		h.Set("Cache-Control", "max-age=60")
		w.Write(bytes.Repeat([]byte(n+" "), 1000+number)) //nolint:errcheck // the client may leave
	case "large":
		h.Set("Content-Type", "application/octet-stream")
		for range 64 {
			w.Write(make([]byte, 64<<10)) //nolint:errcheck // the client may leave
		}
	case "events":
		h.Set("Content-Type", "text/event-stream")
		for i := range 20 {
			_, _ = fmt.Fprintf(w, "data: %d\n\n", i)
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	case "broken":
		h.Set("Content-Length", "1000")
		io.WriteString(w, "the beginning")
	case "reset":
		panic(http.ErrAbortHandler)
	case "failing":
		w.WriteHeader(http.StatusInternalServerError + number%4)
	case "echo":
		h.Set("Content-Type", "application/json")
		h.Set("Cache-Control", "no-store")
		sent, _ := io.ReadAll(r.Body) // all before the answer begins, as net/http wants it
		w.Write(sent)                 //nolint:errcheck // the client may leave
	default:
		http.NotFound(w, r)
	}
}

// article is a page that takes its time to convert.
func article(title string, version int64, paragraphs int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!doctype html><title>%s</title><main><h1>%[1]s, version %d</h1>", title, version)
	for i := range paragraphs + 5 {
		fmt.Fprintf(&b, "<h2>Part %d</h2><p>What %s says in part %d is <a href=/page/%d>told</a> by someone who read it, "+
			"and "+
			"it is long enough to be taken for text that was written to be read.</p><ul><li>one<li>two</ul>", i, title, i, i)
	}
	return b.String() + "</main>"
}

// load is a client that does everything that clients do, in an order of its own.
type load struct {
	d        *daemon
	rnd      *rand.Rand
	plain    *http.Client
	one, two *http.Client // in tunnels, by HTTP/1 and HTTP/2
	done     *atomic.Int64
	wrong    func(error)
}

// newLoad returns a client of a daemon. seeds choose what it does; it counts in done what it did, and tells wrong of
// what was not as it must be.
func newLoad(d *daemon, seeds [2]uint64, done *atomic.Int64, wrong func(error)) *load {
	return &load{
		d: d, rnd: rand.New(rand.NewPCG(seeds[0], seeds[1])), //nolint:gosec // only an order
		plain: d.client(false), one: d.client(false), two: d.client(true), done: done, wrong: wrong,
	}
}

// run does one thing after another until ctx ends.
func (l *load) run(ctx context.Context) {
	for ctx.Err() == nil {
		l.step(ctx)
	}
}

// step does one thing.
func (l *load) step(ctx context.Context) {
	host, n := fmt.Sprintf("h%d.faults.test", l.rnd.IntN(20)), l.rnd.IntN(2000)
	base, c := "https://"+host, l.two
	switch l.rnd.IntN(3) {
	case 0:
		base, c = "http://"+host, l.plain
	case 1:
		c = l.one
	}
	l.done.Add(1)
	switch what := l.rnd.IntN(20); {
	case what < 7:
		l.expect(ctx, c, fmt.Sprintf("%s/page/%d", base, n), "*/*", fmt.Sprintf("# %s/page/%d, version ", host, n))
	case what < 10:
		l.expect(ctx, c, fmt.Sprintf("%s/page/%d", base, n), "text/html", fmt.Sprintf("<h1>%s/page/%d, version ", host, n))
	case what < 12:
		l.expect(ctx, c, fmt.Sprintf("%s/asset/%d", base, n), "image/*", strconv.Itoa(n)+" ")
	case what < 13: // it leaves in the middle
		ctx, cancel := context.WithTimeout(ctx, time.Duration(1+l.rnd.IntN(30))*time.Millisecond)
		defer cancel()
		get(ctx, c, base+"/large/0", "image/*") //nolint:errcheck,bodyclose // get closes it
	case what < 14:
		ctx, cancel := context.WithTimeout(ctx, time.Duration(100+l.rnd.IntN(1500))*time.Millisecond)
		defer cancel()
		get(ctx, c, base+"/events/0", "text/event-stream") //nolint:errcheck,bodyclose // get closes it
	case what < 15:
		//nolint:errcheck,bodyclose // get closes it
		get(ctx, c, base+[]string{"/broken/0", "/reset/0", "/failing/3"}[l.rnd.IntN(3)], "*/*")
	case what < 16:
		l.echo(ctx, c, base)
	case what < 17: // a client that does not come again
		once := l.d.once()
		l.expect(ctx, once, fmt.Sprintf("%s/asset/%d", base, n), "image/*", strconv.Itoa(n)+" ")
		once.CloseIdleConnections()
	case what < 18:
		_, err := l.d.Ask(ctx, "/api/v1/search?q="+url.QueryEscape(fmt.Sprintf("page %d", n)), "", nil)
		l.report(ctx, err)
	case what < 19:
		_, err := l.d.Ask(ctx, "/api/v1/fetch", fmt.Sprintf(`{"url":"%s/page/%d"}`, base, n), nil)
		l.report(ctx, err)
	default:
		_, err := l.d.Ask(ctx, "/api/v1/pages?limit=20", "", nil)
		l.report(ctx, err)
	}
}

// once returns a client for one request.
func (d *daemon) once() *http.Client {
	c := d.client(false)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clients = slices.DeleteFunc(d.clients, func(tr *http.Transport) bool { return tr == c.Transport })
	return c
}

// expect reads a URL whose answer must contain a text.
func (l *load) expect(ctx context.Context, c *http.Client, target, accept, want string) {
	resp, body, err := get(ctx, c, target, accept) //nolint:bodyclose // get closes it
	if err == nil && (resp.StatusCode != http.StatusOK || !strings.Contains(body, want)) {
		err = fmt.Errorf("%s, %s: %d %q %.100q", target, accept, resp.StatusCode, resp.Header, body)
	}
	l.report(ctx, err)
}

func (l *load) echo(ctx context.Context, c *http.Client, base string) {
	sent := strings.Repeat(strconv.FormatUint(l.rnd.Uint64(), 36), 100)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/echo/0", strings.NewReader(sent))
	if err != nil {
		l.report(ctx, err)
		return
	}
	resp, err := c.Do(req)
	if err == nil {
		var body []byte
		if body, err = io.ReadAll(resp.Body); err == nil && string(body) != sent {
			err = fmt.Errorf("echo: %d, %d bytes of %d", resp.StatusCode, len(body), len(sent))
		}
		resp.Body.Close()
	}
	l.report(ctx, err)
}

// report counts what went wrong while the load was on.
func (l *load) report(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		l.wrong(err)
	}
}

// bounds of what may grow from the first rest to the last.
const (
	moreGoroutines  = 20
	moreDescriptors = 10
	moreMemory      = 1.2      // times
	slack           = 16 << 20 // bytes: when the collector ran last is chance
)

// holding is what a daemon holds at rest.
type holding struct {
	goroutines, heap    float64
	descriptors, stored int
	memory              int64
}

func (h holding) String() string {
	return fmt.Sprintf("%.0f goroutines, %d descriptors and %d of the store, %.0f MB of heap, %d MB of memory",
		h.goroutines,
		h.descriptors-h.stored, h.stored, h.heap/1e6, h.memory/1e6)
}

// atRest waits until the daemon has been left alone for a while and returns what it holds.
func (d *daemon) atRest(ctx context.Context, rest time.Duration) (h holding, err error) {
	d.leave()
	http.DefaultClient.CloseIdleConnections()
	select {
	case <-time.After(rest):
	case <-ctx.Done():
	}
	if h.goroutines, err = d.metric(ctx, "go_goroutines"); err != nil {
		return h, err
	}
	h.heap, err = d.metric(ctx, "go_memstats_heap_inuse_bytes")
	h.descriptors, h.stored = d.descriptors()
	h.memory = d.memory()
	return h, err
}

// soak puts a mixed load on a daemon for s.last, of which the first third is to warm it and to fill its store, and
// compares what it holds at rest then and at the end.
func soak(ctx context.Context, s settings) (string, error) {
	d, end, err := start(ctx, s, http.HandlerFunc(site), nil, "READTHRU_CACHE_MAX_SIZE=32MiB")
	if err != nil {
		return "", err
	}
	defer end()
	var done, wrong atomic.Int64
	var first atomic.Value
	run := func(last time.Duration) {
		ctx, cancel := context.WithTimeout(ctx, last)
		defer cancel()
		var wg sync.WaitGroup
		for n := range s.clients {
			l := newLoad(d, [2]uint64{uint64(n), uint64(done.Load())}, &done, func(err error) {
				wrong.Add(1)
				first.CompareAndSwap(nil, err.Error())
			})
			wg.Go(func() { l.run(ctx) })
		}
		wg.Wait()
	}
	rest := min(s.last/10, time.Minute)
	run(s.last / 3)
	before, err := d.atRest(ctx, rest)
	if err != nil {
		return "", err
	}
	run(s.last - s.last/3)
	after, err := d.atRest(ctx, rest)
	if err != nil {
		return "", err
	}
	seen := fmt.Sprintf("%d requests in %v, %d wrong; at rest before: %v; after: %v", done.Load(), s.last, wrong.Load(),
		before, after)
	switch {
	case wrong.Load() > 0:
		err = fmt.Errorf("a request went wrong: %v", first.Load())
	case !s.timed:
	case after.goroutines > before.goroutines+moreGoroutines:
		err = errors.New("goroutines grew")
	case after.descriptors-after.stored > before.descriptors-before.stored+moreDescriptors:
		err = errors.New("descriptors grew")
	case float64(after.memory) > moreMemory*float64(before.memory)+slack:
		err = errors.New("memory grew")
	case after.heap > moreMemory*before.heap+slack:
		err = errors.New("the heap grew")
	}
	if err != nil {
		return seen, err
	}
	return seen, d.stop()
}
