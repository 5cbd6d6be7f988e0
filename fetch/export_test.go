package fetch

import (
	"context"
	"errors"
	"net/url"
	"runtime"
	"time"

	"github.com/readthru/readthru/render"
)

// Unexported things that tests name.
var (
	CacheKey = cacheKey
)

// TakeYourTime sets the time to convert a page to one that a machine with very much else to do stays within.
func TakeYourTime() { convertBudget = 10 * time.Minute }

// Browser returns the browser that renders pages.
func (f *Fetcher) Browser() *render.Browser { return f.newest.Load().o.Browser }

// UseBrowser renders pages with b from now on.
func (f *Fetcher) UseBrowser(b *render.Browser) {
	o := f.newest.Load().o
	o.Browser = b
	f.Reconfigure(o)
}

// Drain waits until what was queued is done: the queue is taken in order.
func (f *Fetcher) Drain() {
	done := make(chan struct{})
	for !f.enqueue(func(context.Context) { close(done) }) {
		runtime.Gosched()
	}
	<-done
}

// KeepForEveryRoute changes what is kept of a page that a browser rendered to what programs kept that did not tell its
// routes apart: the text of the route that was rendered last.
func (f *Fetcher) KeepForEveryRoute(u *url.URL, markdown, final string) error {
	list, err := f.o.Store.Responses(cacheKey(u))
	if err != nil {
		return err
	}
	a := f.newAttempt(Request{URL: u}, f.addressOf(u), time.Now())
	recipe := a.madeFrom(a.recipeFor(a.wanted, list[0].Header), list[0].Body)
	r, err := f.o.Store.PageRendition(a.root, recipe)
	if err != nil {
		return err
	}
	old := *r
	old.Markdown, old.FinalURL, old.ContentHash = []byte(markdown), final, ""
	p, err := f.o.Store.Page(a.key)
	if err != nil {
		return err
	}
	p.FinalURL, p.ContentHash = final, hexSum(old.Markdown)
	_, err = f.o.Store.PutPage(&p.Record, old.Markdown, list[0].Body)
	return errors.Join(err, f.o.Store.PutPageRendition(a.root, &old))
}
