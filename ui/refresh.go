package ui

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/readthru/readthru/internal/users"
)

// A page of the dashboard that is open fetches itself again when something has happened. However many are open, each is
// made twice a second at most for all of them: those that ask meanwhile wait for the next one, which shows all that
// they were told of, because it is made after they asked. Somebody who opens a page does not wait.
const (
	refreshGather = 20 * time.Millisecond  // how long the first one waits for others
	refreshEvery  = 500 * time.Millisecond // how often a page is made
)

// refreshes are the pages of the dashboard that are about to be made for those who have them open, by who asks and by
// their addresses.
type refreshes struct {
	mu    sync.Mutex
	next  map[string]*refreshed
	begun map[string]time.Time // when the last one of those that are made again and again was begun
}

// refreshed is a page, for all that have asked for it again. It is a ResponseWriter that keeps what is written. Its
// fields are read only when done is closed.
type refreshed struct {
	done   chan struct{}
	header http.Header
	status int
	body   bytes.Buffer
}

func (p *refreshed) Header() http.Header            { return p.header }
func (p *refreshed) WriteHeader(status int)         { p.status = status }
func (p *refreshed) Write(text []byte) (int, error) { return p.body.Write(text) }

// live returns a handler for a page of the dashboard that fetches itself again: it lets scripts that ask at the same
// time share one page. A script is known by its Sec-Fetch-Dest; a browser that opens the page gets one of its own at
// once.
func (d *dashboard) live(page http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Sec-Fetch-Dest") != "empty" { // not by a script
			page(w, r)
			return
		}
		who, _ := users.Of(r.Context())
		address := who.Name() + " " + r.URL.RequestURI() // users do not see the same
		p, wait := d.refreshes.join(address, time.Now())
		if wait > 0 { // the first one makes the page, even if it goes away: others wait
			time.Sleep(wait)
			d.refreshes.begin(address)
			p.make(page, r)
		} else {
			select {
			case <-p.done:
			case <-r.Context().Done():
				return
			}
		}
		maps.Copy(w.Header(), p.header)
		w.WriteHeader(p.status)
		_, _ = w.Write(p.body.Bytes()) // an error is a client that has gone
	}
}

// make makes the page by a handler, for all that wait. The request of the first one may end meanwhile; the page does
// not depend on it.
func (p *refreshed) make(page http.HandlerFunc, r *http.Request) {
	defer close(p.done)
	page(p, r.WithContext(context.WithoutCancel(r.Context())))
}

// join returns the next page of an address, for those who have it open. The first one who asks for it has to make it,
// after the time returned; the others get 0 and wait for it.
func (f *refreshes) join(address string, now time.Time) (p *refreshed, wait time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p := f.next[address]; p != nil {
		return p, 0
	}
	if f.next == nil {
		f.next, f.begun = map[string]*refreshed{}, map[string]time.Time{}
	}
	// Only the beginnings that still hold somebody back are of use.
	maps.DeleteFunc(f.begun, func(_ string, at time.Time) bool { return now.Sub(at) >= refreshEvery })
	p = &refreshed{done: make(chan struct{}), header: http.Header{}, status: http.StatusInternalServerError}
	f.next[address] = p
	wait = refreshGather
	if at, ok := f.begun[address]; ok {
		wait = max(wait, refreshEvery-now.Sub(at))
	}
	return p, wait
}

// begin says that the next page of an address is made now: those that ask from now on get the one after it, which shows
// what has happened since.
func (f *refreshes) begin(address string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.next, address)
	f.begun[address] = time.Now()
}
