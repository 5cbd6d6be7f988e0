package proxy

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/proxy/form"
	"github.com/readthru/readthru/proxy/strict"
)

// send responds with the page of an answer of package fetch, with the fields of the cache and of the proxy, or streams
// its response if it is not a page.
func (x *exchange) send(a *fetch.Answer) {
	if a.Response != nil {
		if a.Repeat != nil {
			x.offer(a.Cache.Reuse, a.Repeat, a.Response.ContentLength)
		}
		x.stream(a.Response, a.Cache)
		return
	}
	h := x.w.Header()
	maps.Copy(h, a.Header)
	a.Cache.AddTo(h)
	x.p.via.Add(h, 1, 1)
	x.answeredBy(a.Cache)
	x.rec.Status = a.Status
	if a.Page != nil {
		x.page = a.Page
	}
	status, body := a.Status, a.Body
	if status == http.StatusOK {
		status, body = x.conditional(h, body)
		x.rec.Status = status
	}
	bodiless := status == http.StatusNotModified || status == http.StatusNoContent
	if !bodiless && (body != nil || x.r.Method != http.MethodHead) {
		h["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	if a.Repeat != nil {
		x.offer(a.Cache.Reuse, a.Repeat, int64(len(body)))
	}
	x.w.WriteHeader(status)
	if bodiless || x.r.Method == http.MethodHead {
		return
	}
	defer x.gather(int64(len(body)))()
	if _, err := (*bodyWriter)(x).Write(body); err != nil {
		x.abort(journal.Gone)
	}
}

// conditional evaluates the conditions of the request, in the order of RFC 9110 §13.2.2, and its range against the
// page in markdown with the fields h, and against nothing else: the origin's representation is another one. It returns
// the status and the content of the answer, and changes h to suit.
func (x *incoming) conditional(h http.Header, body []byte) (int, []byte) {
	asked := x.r.Header
	tag := h.Get("Etag") // none after HEAD for a page without a rendition at hand
	if lines := asked["If-Match"]; tag != "" && len(lines) > 0 && !cache.MatchesETag(lines, tag) {
		h.Del("Content-Type")
		return http.StatusPreconditionFailed, nil
	}
	if cache.MatchesETag(asked["If-None-Match"], tag) {
		for _, name := range []string{"Content-Type", "Content-Length", "Content-Language"} {
			h.Del(name)
		}
		return http.StatusNotModified, nil
	}
	if x.r.Method != http.MethodGet {
		return http.StatusOK, body
	}
	status, first, last := cache.PartOf(asked, h, int64(len(body)))
	switch status {
	case http.StatusPartialContent:
		h["Content-Range"] = []string{fmt.Sprintf("bytes %d-%d/%d", first, last, len(body))}
		return status, body[first : last+1]
	case http.StatusRequestedRangeNotSatisfiable:
		h["Content-Range"] = []string{fmt.Sprintf("bytes */%d", len(body))}
		h.Del("Content-Type")
		return status, nil
	}
	return status, body
}

// bodyWriter writes content to the client of an exchange and counts it in the exchange's record.
type bodyWriter exchange

// Write implements [io.Writer] for the content of a response.
func (b *bodyWriter) Write(p []byte) (n int, err error) {
	if b.r.ProtoMajor == 2 {
		n, err = writeToStream(b.w, p)
	} else {
		n, err = b.w.Write(p)
	}
	b.rec.BytesOut += int64(n)
	b.lost = b.lost || err != nil
	return n, err
}

// stream forwards a response to the client as it arrives and closes its body. outcome is the cache's outcome for the
// request. If the body ends early, stream resets the client's connection or HTTP/2 stream, so that the truncated body
// does not look complete.
func (x *exchange) stream(resp *http.Response, outcome cache.Outcome) {
	defer resp.Body.Close()
	x.rec.Status = resp.StatusCode
	if outcome.Unasked() && (x.s.terms.Offline || outcome.Detail == cache.DetailOffline) {
		who := thisSession
		if outcome.Detail == cache.DetailOffline {
			who = readthru
		}
		bad := offlineRefusal(who, x.masked())
		x.tellOutcome(bad, outcome)
		x.refuse(bad)
		return
	}
	if resp.StatusCode < 200 || resp.StatusCode > 999 {
		bad := &strict.Refusal{
			Status: http.StatusBadGateway, Title: "Bad gateway", ProxyError: "http_protocol_error",
			Detail: "Connection error fetching " + x.masked() + ": the origin server answered with status " +
				strconv.Itoa(resp.StatusCode) + ", which was not requested.",
		}
		x.tellOutcome(bad, outcome)
		x.refuse(bad)
		return
	}
	announced := x.writeHead(resp, outcome)
	if x.r.Method == http.MethodHead || resp.StatusCode == http.StatusNoContent ||
		resp.StatusCode == http.StatusNotModified {
		return
	}
	x.copyBody(resp)
	httpfield.RemoveOurs(resp.Trailer)
	h := x.w.Header()
	for name, values := range resp.Trailer {
		switch {
		case slices.Contains(announced, name):
			h[name] = values
		case strict.EndToEndTrailer(name):
			h[http.TrailerPrefix+name] = values
		}
	}
}

// writeHead writes status and fields of a response to the client and returns the names of the trailer fields that it
// announced.
func (x *exchange) writeHead(resp *http.Response, outcome cache.Outcome) (announced []string) {
	h := x.w.Header()
	httpfield.RemoveConnection(resp.Header)
	maps.Copy(h, resp.Header)
	if x.p.o.Replay == nil { // a replayed response has these fields as recorded
		outcome.AddTo(h)
		x.p.via.Add(h, resp.ProtoMajor, resp.ProtoMinor)
		if outcome.Hit && outcome.TTL < 0 && page.IsPage(resp.Header.Get("Content-Type")) {
			h["X-Readthru-Warning"] = append(slices.Clip(h["X-Readthru-Warning"]), "stale")
		}
	}
	x.answeredBy(outcome)
	if _, ok := resp.Header["Content-Type"]; !ok {
		h["Content-Type"] = nil // or net/http would guess one
	}
	switch {
	case x.r.Method == http.MethodHead:
	case resp.StatusCode == http.StatusNoContent, resp.StatusCode == http.StatusNotModified:
		delete(h, "Content-Length") // in HTTP/2 a length without content is a stream error
	case resp.ContentLength >= 0:
		h["Content-Length"] = []string{strconv.FormatInt(resp.ContentLength, 10)}
	case resp.ContentLength < 0:
		delete(h, "Content-Length")
	}
	for name := range resp.Trailer {
		if strict.EndToEndTrailer(name) {
			announced = append(announced, name)
			h.Add("Trailer", name)
		}
	}
	x.w.WriteHeader(resp.StatusCode)
	return announced
}

// buffers are for copying bodies to clients.
var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// copyBody writes the body: a stored one directly from memory, any other one as it arrives. It flushes after each read
// if the body is an event stream or has no known length (RFC 9112 §7.1).
func (x *exchange) copyBody(resp *http.Response) {
	flush := resp.ContentLength < 0 || isEvents(resp.Header)
	if stored, ok := resp.Body.(io.WriterTo); ok && !flush && x.rec.Cache == "hit" {
		defer x.gather(resp.ContentLength)()
		n, err := stored.WriteTo((*bodyWriter)(x))
		x.rec.BytesIn += n
		x.ended(err)
		return
	}
	out := http.NewResponseController(x.w)
	if flush {
		out.Flush() //nolint:errcheck // the next write reports the error
	}
	buf := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buf)
	for {
		n, err := resp.Body.Read(buf[:])
		x.rec.BytesIn += int64(n)
		if n > 0 {
			release := func() {}
			if int64(n) == resp.ContentLength { // all of it, and nothing was sent yet
				release = x.gather(resp.ContentLength)
			}
			_, werr := (*bodyWriter)(x).Write(buf[:n])
			release()
			if werr == nil && flush {
				werr = out.Flush()
			}
			if werr != nil {
				x.abort(journal.Gone)
			}
		}
		if err == io.EOF {
			return
		}
		x.ended(err)
	}
}

// isEvents reports whether a response is a stream of events, each of which is sent at once.
func isEvents(h http.Header) bool {
	const events = "text/event-stream"
	for _, media := range h["Content-Type"] {
		return len(media) >= len(events) && strings.EqualFold(media[:len(events)], events)
	}
	return false
}

// ended aborts the response if its content ended with an error, and says whose fault that was: the client's, that has
// gone or is too slow, or the origin's.
func (x *exchange) ended(err error) {
	if err == nil {
		return
	}
	if x.lost || x.r.Context().Err() != nil {
		x.abort(journal.Gone)
	}
	if errors.Is(err, cache.ErrLagging) {
		x.abort(err.Error())
	}
	x.p.stats.errors.Add(1)
	x.abort("the origin's response ended early: " + err.Error())
}

// abort ends a response that cannot be completed, so that the client notices the truncation, by a panic that net/http
// knows.
func (x *exchange) abort(why string) {
	x.rec.Error, x.cut = why, true
	panic(http.ErrAbortHandler)
}

// sendTrailers returns a copy of r, before the response to it, that forwards the announced trailer fields, except those
// that must not be forwarded. Their values become known when the body has been read; the server then sets them in r.
func sendTrailers(r *http.Request) *http.Request {
	out := r.WithContext(r.Context())
	out.Trailer = http.Header{}
	for name := range r.Trailer {
		if strict.EndToEndTrailer(name) {
			out.Trailer[name] = nil
		}
	}
	out.Body = &trailerBody{r.Body, r, out.Trailer}
	return out
}

// trailerBody gives a request that is forwarded the trailer fields that came behind its body, when the body ends.
type trailerBody struct {
	io.ReadCloser
	from *http.Request
	sent http.Header
}

// Read implements [io.Reader]: at the end it notes the trailer fields for the response.
func (b *trailerBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		for name := range b.sent {
			b.sent[name] = b.from.Trailer[name]
		}
	}
	return n, err
}

// writeToStream writes p to an HTTP/2 stream, which it resets if one piece takes too long: a client may read its
// connection and still keep the window of a stream closed.
func writeToStream(w http.ResponseWriter, p []byte) (n int, err error) {
	limit := time.AfterFunc(streamTime, func() {
		http.NewResponseController(w).SetWriteDeadline(time.Unix(1, 0)) //nolint:errcheck // the client has left
	})
	defer limit.Stop()
	piece := maxStreamWrite
	if len(p) <= shortBody {
		piece = shortStreamWrite
	}
	for n < len(p) && err == nil {
		limit.Reset(streamTime)
		var m int
		m, err = w.Write(p[n:min(n+piece, len(p))])
		n += m
	}
	return n, err
}

const (
	// streamTime is how long an HTTP/2 client may keep the window of a stream closed.
	streamTime = 10 * time.Minute
	// maxStreamWrite is how much of a body one write to an HTTP/2 stream holds.
	maxStreamWrite = 64 << 10
	// At most shortBody bytes at once, as most pages are, are written in pieces of shortStreamWrite: net/http keeps a
	// buffer as large as the largest piece for as long as the connection lasts.
	shortBody        = 16 << 10
	shortStreamWrite = 4 << 10
)

// answerPage responds with the page of a request in markdown or text, which it fetches. A response that is not a page
// passes unchanged.
func (x *exchange) answerPage(want fetch.Request) {
	r := x.r
	want.URL, want.Method, want.Header = r.URL, r.Method, r.Header
	want.Force = httpfield.Has(r.Header, "Cache-Control", "no-cache") || r.Header["Cache-Control"] == nil &&
		httpfield.Has(r.Header, "Pragma", "no-cache")
	want.CacheOnly = x.s.terms.Offline
	want.NoStore = httpfield.Has(r.Header, "Cache-Control", "no-store")
	want.User = x.rec.User
	want.MaxTokens, want.View, want.Render, want.Session, want.Agent = x.asked.MaxTokens, x.asked.View, x.asked.Render,
		x.session, r.UserAgent()
	want.Patient = x.asked.Mode == "" && form.TakesAnything(r.Header)
	want.Repeat = x.repeats()
	ctx, hints := withEarlyHints(r.Context(), x)
	answer, err := x.p.o.Fetch.Page(ctx, want)
	hints.stop()
	if err != nil {
		x.fail(r.URL, err)
		return
	}
	if answer.Response == nil {
		httpfield.AddVary(answer.Header, form.VaryBy(r.URL, r.Header, x.asked)...)
	}
	x.send(answer)
}

// passThrough streams the cache's response to the client as the origin made it, or that of the origin if the host is to
// be left alone. If observe is set, a page in it is stored in the background.
func (x *exchange) passThrough(observe, alone bool) {
	if !httpfield.RemoveOurTags(x.r.Header) {
		x.refuse(&strict.Refusal{
			Status: http.StatusPreconditionFailed, Title: "Precondition failed",
			Detail: "If-Match names the markdown of the page. This request is for what the origin has.",
		})
		return
	}
	ctx, hints := withEarlyHints(x.r.Context(), x)
	req := x.r.WithContext(ctx)
	send := x.p.head
	if alone {
		send = x.p.o.Transport.RoundTrip
	}
	resp, err := send(req)
	hints.stop()
	if err != nil {
		x.fail(x.r.URL, err)
		return
	}
	outcome := cache.OutcomeOf(resp)
	if observe && x.r.Method == http.MethodGet && resp.StatusCode == http.StatusOK &&
		page.KindOf(resp.Header.Get("Content-Type")) == page.HTML {
		x.p.o.Fetch.Observe(req, resp, x.r.UserAgent(), x.session, x.rec.User)
	} else if !alone {
		x.offer(outcome.Reuse, nil, resp.ContentLength)
	}
	if t := resp.Header.Get("Content-Type"); x.asked.Mode == "raw" && (page.IsPage(t) || fetch.Readable(t)) {
		resp.Header = resp.Header.Clone()
		resp.Header.Add("X-Readthru-Warning", fetch.WarnUnfiltered)
	}
	x.stream(resp, outcome)
}

// head returns the cache's response to req, for one that passes. The caller closes its body.
func (p *Proxy) head(req *http.Request) (*http.Response, error) {
	if p.o.Fetch != nil && form.NamesHTML(req.Header) {
		return p.o.Fetch.Head(req, p.o.Client)
	}
	return p.o.Client.RoundTrip(req) // an API may be slow
}
