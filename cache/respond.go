package cache

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/readthru/readthru/store"
)

// errLost is the error for content that disappeared from the store while a request was answered.
func errLost(q *request) error {
	return fmt.Errorf("read %s from the store: %w", q.key, store.ErrNotFound)
}

// fromStore makes the response to q from the stored response r: whole, a part, 304 or without content, as q asks, and
// counts the hit. validated says that the origin has just confirmed it. It returns nil if the content is lost.
func (c *Cache) fromStore(q *request, r *store.Response, o Outcome, validated bool) *http.Response {
	h := r.Header.Clone()
	if !validated {
		// Fields that no-cache names need a validation (RFC 9111 §5.2.2.4).
		for _, name := range c.policy().control(r.Header).noCacheFields {
			delete(h, name)
		}
	}
	now := time.Now()
	old := age(r, now)
	if o.Hit {
		o.Took, o.Received, o.Age = max(0, r.ResponseTime.Sub(r.RequestTime)), r.ResponseTime, old
	}
	h["Age"] = []string{strconv.FormatInt(int64(old/time.Second), 10)}
	cut, ok := cutFor(q, r)
	if !ok {
		return nil
	}
	resp := &http.Response{
		StatusCode: cut.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: http.NoBody, ContentLength: 0, Request: q.Request,
	}
	switch {
	case cut.content:
		var body *store.Body
		var err error
		switch {
		case !o.Hit:
			body, err = c.store.Body(r.Body)
		case q.found != nil && q.found.HeadOnly && len(q.found.Responses) > 0 && q.found.Responses[0] == r:
			body = c.store.UseLater(r) // the client has a rendition of it at hand
		default:
			body, err = c.store.Use(r)
		}
		if err == nil {
			err = cut.setContent(resp, r, body)
		}
		if cut.whole && q.Method == http.MethodGet {
			o.Reuse = c.reuse(q, r, o, now)
		}
		if err != nil {
			c.warn("read a stored body", q.key, err)
			return nil
		}
	case cut.status == http.StatusNotModified && r.Status == http.StatusOK:
		setNotModified(resp)
	case cut.status == http.StatusRequestedRangeNotSatisfiable:
		setNotSatisfiable(resp, r.Length)
	case q.Method == http.MethodHead && r.Status != http.StatusNoContent:
		resp.ContentLength = r.Length
		h["Content-Length"] = []string{strconv.FormatInt(r.Length, 10)}
	}
	resp.Status = statusLine(resp.StatusCode)
	o.carry(resp)
	switch {
	case !o.Hit:
		return resp
	case o.TTL > 0:
		c.hits.Add(1)
	default:
		c.stale.Add(1)
	}
	if !cut.content {
		c.store.Touch(q.key)
	}
	return resp
}

// statusLine returns the Status of a response to a client with a code.
func statusLine(code int) string { return strconv.Itoa(code) + " " + http.StatusText(code) }

// setNotModified makes resp, the response to a client, a 304, which has no content and does not describe any (RFC 9110
// §15.4.5).
func setNotModified(resp *http.Response) {
	resp.StatusCode = http.StatusNotModified
	for _, name := range []string{
		"Content-Length", "Content-Type", "Content-Encoding", "Content-Language",
		"Content-Range",
	} {
		delete(resp.Header, name)
	}
}

// setContent gives resp the cut of the stored response r, whose content is body. It closes body if it cannot.
func (c cut) setContent(resp *http.Response, r *store.Response, body *store.Body) error {
	if !c.whole {
		total := r.Length
		if r.Status == http.StatusPartialContent {
			total = r.Total
		}
		return setRange(resp, body, c.first, c.last, r.Offset, total)
	}
	resp.Body, resp.ContentLength = body, r.Length
	resp.Header["Content-Length"] = []string{strconv.FormatInt(r.Length, 10)}
	return nil
}

// setRange makes resp, the response to a client, a 206 with the bytes first to last of a representation of total bytes,
// -1 if unknown, of which body holds those from offset on. It closes body if it cannot.
func setRange(resp *http.Response, body *store.Body, first, last, offset, total int64) error {
	if _, err := body.Seek(first-offset, io.SeekStart); err != nil {
		body.Close() //nolint:errcheck // it was only read
		return err
	}
	resp.StatusCode = http.StatusPartialContent
	resp.ContentLength = last - first + 1
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(body, resp.ContentLength), body}
	length := "*"
	if total >= 0 {
		length = strconv.FormatInt(total, 10)
	}
	resp.Header.Set("Content-Length", strconv.FormatInt(resp.ContentLength, 10))
	resp.Header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%s", first, last, length))
	return nil
}

// setNotSatisfiable makes resp, the response from the store, a 416 (RFC 9110 §15.5.17).
func setNotSatisfiable(resp *http.Response, length int64) {
	for _, name := range []string{"Content-Type", "Content-Encoding", "Content-Language", "Etag", "Last-Modified"} {
		delete(resp.Header, name)
	}
	resp.Header.Set("Content-Length", "0")
	resp.Header.Set("Content-Range", fmt.Sprintf("bytes */%d", length))
}

// streamed makes the response to q whose body a flight is still bringing from the origin.
func streamed(q *request, f *flight, h http.Header, body *spoolReader, o Outcome) *http.Response {
	code := f.out.entry.Status
	body.resp = &http.Response{
		Status: statusLine(code), StatusCode: code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: body, ContentLength: f.out.length, Trailer: f.out.later.Clone(), Request: q.Request,
	}
	body.outcome = o
	body.spool.awaitShort(q.Context(), f.out.length)
	return body.resp
}

// gatewayTimeout is the answer to a request that must not, or cannot, go to the origin (RFC 9111 §5.2.1.7).
func (c *Cache) gatewayTimeout(q *request, why string) *http.Response {
	detail := DetailOnlyIfCached
	if c.policy().offline {
		detail = DetailOffline
	}
	h := http.Header{"Date": {time.Now().UTC().Format(http.TimeFormat)}, "Content-Length": {"0"}}
	return &http.Response{
		Status: "504 Gateway Timeout", StatusCode: http.StatusGatewayTimeout, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: &body{http.NoBody, Outcome{Forward: why, Detail: detail}}, Request: q.Request,
	}
}
