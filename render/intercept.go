package render

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	pageurl "github.com/readthru/readthru/page"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/httpfield"
)

// The limits of one page in the browser. What is beyond is refused, and Page.Unsettled says so; a page that ends for
// that is still of use.
const (
	maxRequests  = 1000
	maxDocuments = 20        // of the main frame, one after the other: as many as browsers follow redirects
	maxAtOnce    = 16        // parallel requests
	maxTotal     = 128 << 20 // bytes of all responses
	maxUpload    = 16 << 20  // bytes of the content of all requests
)

// traffic answers the requests of a page by Options.Client, and counts them. The browser pauses every request (the
// domain Fetch of DevTools), serve takes them, and answer fulfils each or refuse fails it.
type traffic struct {
	t       *tab
	slots   chan struct{}
	running sync.WaitGroup // requests being answered
	sockets *sockets
	silent  atomic.Bool // a stream of events said nothing

	listening atomic.Int32 // requests not yet answered that are for streams of events

	mu        sync.Mutex
	open      int       // requests not yet answered
	since     time.Time // when open changed last
	requests  int
	refused   int
	bytes     int64  // of responses
	uploaded  int64  // bytes of requests
	status    int    // of the main document; 0 before it
	documents int    // of the main frame, one after the other
	circling  bool   // the page wanted another document after maxDocuments
	used      bool   // the response of Request was used
	limit     string // the limit that the page exceeded, if any
	heads     []Response
	streams   map[string]bool // URLs of streams of events that were read
}

// newTraffic returns the traffic of a tab, whose requests are intercepted, before the tab has made a request.
func newTraffic(t *tab) *traffic {
	f := &traffic{t: t, slots: make(chan struct{}, maxAtOnce), since: time.Now(), streams: map[string]bool{}}
	f.sockets = newSockets(f)
	return f
}

// document returns the intercepted HTTP status of the last document of the page's main frame, or 0 if there was none.
func (f *traffic) document() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.status
}

// loading returns the number of intercepted requests of the page that are not yet answered.
func (f *traffic) loading() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open
}

// quiet returns for how long the page has made no requests that were intercepted; 0 while one is open.
func (f *traffic) quiet() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open > 0 {
		return 0
	}
	return time.Since(f.since)
}

// restartQuiet has quiet count intercepted requests from now, after something that may lead to requests.
func (f *traffic) restartQuiet() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.since = time.Now()
}

// requestCount returns how many requests of the page were intercepted, for those who look whether it makes more.
func (f *traffic) requestCount() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests
}

// report sets the counts of intercepted requests, and limits that they exceeded, in a rendered page.
func (f *traffic) report(p *Page) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p.Navigated = f.documents > 1
	p.Requests, p.Refused, p.Bytes, p.Responses = f.requests, f.refused, f.bytes, f.heads
	p.Unsettled = cmp.Or(p.Unsettled, f.limit)
	if p.Unsettled == "" && f.circling {
		p.Unsettled = fmt.Sprintf("over %d documents", maxDocuments)
	}
}

// serve intercepts and answers the requests of a page until its tab closes, each in a goroutine of its own, maxAtOnce
// at a time. It never blocks, because paused requests would pile up in memory.
func (f *traffic) serve(paused iter.Seq2[fetch.EventRequestPaused, error]) {
	for ev, err := range paused {
		if err != nil {
			return
		}
		if f.excess() {
			// From now on, requests go to the browser's own network, which refuses them.
			_, _ = chromedp.Call(f.t.ctx, fetch.Disable, cdp.Empty{}) // the tab may be gone
			return
		}
		if reason := f.refusal(&ev); reason != "" {
			id := ev.RequestID
			f.running.Go(fault.ContainTo(f.t.end, "render: refuse a request", func() { f.refuse(id, reason) }))
			continue
		}
		f.count(1)
		f.running.Go(fault.ContainTo(f.t.end, "render: answer a request", func() {
			defer f.count(-1)
			if f.sockets.owns(&ev) { // it may wait, and needs no slot for that
				f.answer(&ev)
				return
			}
			select {
			case f.slots <- struct{}{}:
				defer func() { <-f.slots }()
			case <-f.t.ctx.Done():
				return
			}
			f.answer(&ev)
		}))
	}
}

// count changes the number of intercepted requests of the page that are not yet answered by n. The page is not quiet
// when that happens.
func (f *traffic) count(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open += n
	f.since = time.Now()
}

// refusal counts an intercepted request of the page and returns why it is refused, or "" if it is allowed. Images,
// fonts and media are not worth their bytes for a text; a screenshot wants the first two.
func (f *traffic) refusal(ev *fetch.EventRequestPaused) network.ErrorReason {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests++
	if f.documents >= maxDocuments && f.t.isMain(ev) {
		f.circling = true
		return network.ErrorReasonAborted // the document that wants it stays
	}
	switch ev.ResourceType {
	case network.ResourceTypeImage, network.ResourceTypeFont:
		if !f.t.r.Screenshot {
			return network.ErrorReasonBlockedByClient
		}
	case network.ResourceTypeMedia, network.ResourceTypePing, network.ResourceTypeCSPViolationReport,
		network.ResourceTypePrefetch, network.ResourceTypeManifest, network.ResourceTypeTextTrack:
		return network.ErrorReasonBlockedByClient
	}
	if !strings.HasPrefix(ev.Request.URL, "http://") && !strings.HasPrefix(ev.Request.URL, "https://") {
		return network.ErrorReasonAccessDenied
	}
	// Content of a request that the browser does not hand over, such as a file, is no entry: the request would be another
	// one without it.
	before := f.uploaded
	for _, e := range ev.Request.PostDataEntries {
		f.uploaded += int64(len(e.Bytes))
	}
	if f.uploaded > maxUpload || ev.Request.HasPostData && f.uploaded == before {
		return network.ErrorReasonFailed
	}
	return ""
}

// excess reports whether the page has exceeded a limit of its intercepted requests, and keeps which.
func (f *traffic) excess() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.requests >= maxRequests:
		f.limit = fmt.Sprintf("over %d requests", maxRequests)
	case f.bytes > maxTotal:
		f.limit = fmt.Sprintf("over %d bytes", maxTotal)
	case f.uploaded > maxUpload:
		f.limit = fmt.Sprintf("over %d bytes of uploads", maxUpload)
	}
	return f.limit != ""
}

// refuse fails an intercepted request of the page with a reason of the browser, and counts it.
func (f *traffic) refuse(id fetch.RequestID, reason network.ErrorReason) {
	f.mu.Lock()
	f.refused++
	f.mu.Unlock()
	// the tab may be gone
	_, _ = chromedp.Call(f.t.ctx, fetch.FailRequest, fetch.FailRequestParams{RequestID: id, ErrorReason: reason})
}

// isMain reports whether an intercepted request is for a document of the page's main frame, not of a frame in it.
func (t *tab) isMain(ev *fetch.EventRequestPaused) bool {
	return ev.ResourceType == network.ResourceTypeDocument &&
		string(ev.FrameID) == string(chromedp.FromContext(t.ctx).Target.TargetID)
}

// answer makes an intercepted request of the page and answers it with the response; a request without one fails. The
// first request for the main document gets the response that the caller already has.
func (f *traffic) answer(ev *fetch.EventRequestPaused) {
	main := f.t.isMain(ev)
	resp, err := f.inHand(ev, main)
	if f.sockets.owns(ev) {
		resp, err = f.sockets.answer(ev)
	} else if resp == nil && err == nil {
		ctx, cancel := context.WithTimeout(f.t.ctx, f.t.requestTime(ev.Request.URL))
		defer cancel()
		resp, err = f.ask(ctx, ev)
	}
	if err != nil {
		f.t.o.Log.Debug("request of a rendered page failed", "err", err)
		f.refuse(ev.RequestID, network.ErrorReasonFailed)
		return
	}
	f.mu.Lock()
	// Redirects are answered to the browser, which follows them by another request.
	if main && (resp.ResponseCode < 300 || resp.ResponseCode > 399) {
		f.status = int(resp.ResponseCode)
		f.documents++
	}
	f.mu.Unlock()
	// The script of a shared worker begins with ours (workers.go).
	if ev.Request.URLFragment == sharedMark {
		resp.Body = append([]byte(connectShared), resp.Body...)
	}
	_, _ = chromedp.Call(f.t.ctx, fetch.FulfillRequest, *resp) // as above
}

// requestTime returns the time for an intercepted request of the page: for one to the page's own site, all of the
// page's time, so that the page is never taken for quiet because its request was given up. Another site, whose data is
// seldom the text, gets stepTimes.request.
func (t *tab) requestTime(to string) time.Duration {
	all := time.Until(t.deadline)
	if u, err := url.Parse(to); err != nil || !pageurl.SameSite(u.Hostname(), t.r.URL.Hostname()) {
		return min(t.o.stepTimes().request, all)
	}
	return all
}

// inHand intercepts the first request: it returns Request's response, as the browser is given it, for the first GET of
// the main document, and nil for all other requests: the origin is not asked twice for the page.
func (f *traffic) inHand(ev *fetch.EventRequestPaused, main bool) (*fetch.FulfillRequestParams, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !main || f.used || f.t.r.Body == nil || ev.Request.Method != http.MethodGet {
		return nil, nil
	}
	f.used = true
	f.bytes += int64(len(f.t.r.Body))
	return fulfil(ev.RequestID, f.t.r.Status, f.t.r.Header, f.t.r.Body), nil
}

// errTooLarge reports that a response, or all responses of the page together, are too large. Such a response is
// refused, never cut: half a script is an error in the page.
var errTooLarge = errors.New("response too large")

// metered counts the bytes of a response while they are read, so that parallel responses respect the page's limit
// (maxTotal) together.
type metered struct {
	io.Reader
	f *traffic
}

// Read implements [io.Reader]: it counts the bytes of a response that was intercepted.
func (m metered) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	m.f.mu.Lock()
	defer m.f.mu.Unlock()
	if m.f.bytes += int64(n); m.f.bytes > maxTotal {
		return n, errTooLarge
	}
	return n, err
}

// ask makes an intercepted request of the page through Options.Client, and returns the response as the browser is given
// it. It reads the content whole, up to Options.MaxBody, because the browser takes it only as a whole; of a stream of
// events it reads the beginning.
func (f *traffic) ask(ctx context.Context, ev *fetch.EventRequestPaused) (*fetch.FulfillRequestParams, error) {
	u, err := url.Parse(ev.Request.URL)
	if err != nil {
		return nil, err
	}
	// The origin gets the path as the page has written it.
	pageurl.KeepEscapes(u)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if isStream(ev) {
		if !f.firstStream(ev.Request.URL) {
			return &fetch.FulfillRequestParams{RequestID: ev.RequestID, ResponseCode: http.StatusNoContent}, nil // it ends
		}
		defer time.AfterFunc(f.t.eventTime(), stop).Stop()
		f.listening.Add(1)
		defer f.listening.Add(-1)
	}
	var upload []byte
	for _, e := range ev.Request.PostDataEntries {
		upload = append(upload, e.Bytes...)
	}
	req, err := http.NewRequestWithContext(ctx, ev.Request.Method, u.String(), bytes.NewReader(upload))
	if err != nil {
		return nil, err
	}
	// Fields that begin with a colon are those of HTTP/2.
	for name, value := range ev.Request.Headers {
		if s, ok := value.(string); ok && !strings.HasPrefix(name, ":") {
			req.Header.Set(name, s)
		}
	}
	req.Header.Del("Accept-Encoding") // the client's matter
	if f.t.o.UserAgent != "" {
		req.Header.Set("User-Agent", f.t.o.UserAgent)
	}
	if f.t.r.Fresh && req.Header.Get("Cache-Control") == "" {
		req.Header.Set("Cache-Control", "no-cache")
	}
	head := Response{URL: u}
	defer func() { f.note(head) }()
	resp, err := f.t.o.Client.RoundTrip(req)
	if err != nil {
		if isStream(ev) {
			f.silent.Store(true)
		}
		return nil, err
	}
	defer resp.Body.Close()
	if resp.ContentLength > f.t.o.MaxBody {
		return nil, errTooLarge
	}
	content := io.LimitReader(metered{resp.Body, f}, f.t.o.MaxBody+1)
	var body []byte
	if isStream(ev) {
		body, err = f.begin(content, stop)
	} else {
		body, err = io.ReadAll(content)
	}
	if err != nil {
		return nil, err
	}
	if int64(len(body)) > f.t.o.MaxBody {
		return nil, errTooLarge
	}
	head.Status, head.Header, head.Empty = resp.StatusCode, resp.Header, len(body) == 0
	return fulfil(ev.RequestID, resp.StatusCode, resp.Header, body), nil
}

// note keeps the head of an intercepted response that the page was given, for Page.Responses: how long the rendition
// may be kept depends on them. A failed request is kept as well, with the status 0.
func (f *traffic) note(head Response) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.heads = append(f.heads, head)
}

// fulfil returns the command that, for an intercepted request, gives the browser a response with its content decoded:
// without the fields that concern the connection or the form of the content on it, and as a page rather than a
// download.
func fulfil(id fetch.RequestID, status int, h http.Header, body []byte) *fetch.FulfillRequestParams {
	p := &fetch.FulfillRequestParams{RequestID: id, ResponseCode: int64(status), Body: body}
	h = maps.Clone(h)
	httpfield.RemoveConnection(h)
	for name, values := range h {
		switch name {
		case "Content-Encoding", "Content-Length", "Content-Disposition", "Alt-Svc":
			continue
		}
		for _, v := range values {
			// The page's WebSockets are requests to its own origin (socket.go).
			if name == "Content-Security-Policy" {
				v = withOwnConnections(v)
			}
			p.ResponseHeaders = append(p.ResponseHeaders, &fetch.HeaderEntry{Name: name, Value: strings.ToValidUTF8(v, "")})
		}
	}
	return p
}

// field returns the value of a field of an intercepted request. Case does not matter in the name.
func field(h network.Headers, name string) string {
	for k, v := range h {
		if strings.EqualFold(k, name) {
			s, _ := v.(string)
			return s
		}
	}
	return ""
}
