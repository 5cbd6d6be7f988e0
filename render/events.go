package render

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
)

// A stream of events (EventSource) does not end, but the browser's requests can only be answered as a whole. So the
// page gets what came until the stream paused, and its clock stands still until then, unless the caller waits for an
// element, which may need the clock. When the page connects again, it is told that there is no more (204, which ends an
// EventSource).

// eventPause is how long a stream of events that has begun may say nothing before the page gets what came. It is real
// time, because the origin does not know the clock of the page.
const eventPause = time.Second

// isStream reports whether a request of the page is for a stream of events: of an EventSource, or of a script that
// reads one by fetch.
func isStream(ev *fetch.EventRequestPaused) bool {
	return ev.ResourceType == network.ResourceTypeEventSource ||
		strings.Contains(field(ev.Request.Headers, "Accept"), "text/event-stream")
}

// firstStream reports whether the stream of events at a URL was not read before, and notes that it is read now. A
// second request is the page connecting again.
func (f *traffic) firstStream(url string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	known := f.streams[url]
	f.streams[url] = true
	return !known
}

// eventTime returns how long a stream of events may take until its first event: all of the page's time if the caller
// waits for something, and hardly any on a host whose streams said nothing before.
func (t *tab) eventTime() time.Duration {
	switch {
	case t.r.Selector != "":
		return t.left()
	case t.r.Wait > 0:
		return min(t.left(), max(t.r.Wait, t.o.stepTimes().answer))
	case t.r.Vain.Events:
		return t.o.stepTimes().rest
	}
	return t.o.stepTimes().answer
}

// onlyListens reports whether the page waits for nothing but streams of events: its clock would stand still for as long
// as they say nothing.
func (f *traffic) onlyListens() bool {
	n := int(f.listening.Load())
	return n > 0 && n >= f.loading()
}

// begin reads the beginning of a stream of events, until it pauses. stop ends the request. An error after the first
// bytes is the end of what there is, because it is stop that causes it.
func (f *traffic) begin(stream io.Reader, stop func()) ([]byte, error) {
	var body []byte
	var pause *time.Timer // runs since the first event
	part := make([]byte, 16<<10)
	for {
		n, err := stream.Read(part)
		body = append(body, part[:n]...)
		switch {
		case pause != nil:
			pause.Reset(eventPause)
		// The first comment lines of a stream, which begin with a colon, keep the connection open and say nothing to the
		// page.
		case bytes.Contains(body, []byte("data:")):
			pause = time.AfterFunc(eventPause, stop)
			defer pause.Stop()
		}
		switch {
		case err == nil:
			continue
		// For Vain: the page's host is not waited for so long again.
		case pause == nil:
			f.silent.Store(true)
		}
		if len(body) > 0 || errors.Is(err, io.EOF) {
			return body, nil
		}
		return nil, err
	}
}
