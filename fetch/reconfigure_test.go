package fetch_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/page"
)

// Fetches and changes of the options meet; the race detector looks on.
func TestOptionsChangeWhilePagesAreFetched(t *testing.T) {
	c := newChain(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<title>A page</title><h1>A page</h1><p>With a <a href=/next>link</a>."))
	}))
	options := func(links string) fetch.Options {
		return fetch.Options{MarkdownNew: fetch.MarkdownNew{Mode: "off"}, Convert: convert.Options{Links: links}}
	}
	stop := make(chan struct{})
	var changes, fetches sync.WaitGroup
	changes.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				c.Reconfigure(options([]string{"inline", "text"}[i%2]))
				c.cache.Reconfigure(cache.Options{Page: page.IsPage, Markdown: page.IsMarkdown, PageLifetime: time.Hour})
			}
		}
	})
	for range 4 {
		fetches.Go(func() {
			for range 20 {
				c.read(t, "https://site.test/")
			}
		})
	}
	fetches.Wait()
	close(stop)
	changes.Wait()
	blocked := options("inline")
	blocked.BlockedDomains = []string{"site.test"}
	c.Reconfigure(blocked)
	if _, err := c.own(t, "https://site.test/"); err == nil {
		t.Error("a host on the new list of blocked domains is fetched")
	}
	c.Reconfigure(options("inline"))
	if _, err := c.own(t, "https://site.test/"); err != nil {
		t.Errorf("after it left the list: %v", err)
	}
}
