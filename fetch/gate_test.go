package fetch_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/page"
)

func TestOfflineTellsNobody(t *testing.T) {
	conv, with := newConverter(t)
	c := newChain(t, respond(200, thinPage, html), with("fallback", 0), func(o *fetch.Options) {
		o.Client = cache.New(cache.Options{Store: o.Store, Offline: true})
	})
	if _, err := c.own(t, "https://site.test/a"); err == nil || len(conv.asked) > 0 {
		t.Errorf("%v, the third party was asked %v, want an error and nobody asked", err, conv.asked)
	}
}

func TestHEADAsksNoThirdParty(t *testing.T) {
	conv, with := newConverter(t)
	c := newChain(t, respond(200, thinPage, html), with("fallback", 0))
	if _, _, err := c.browse(t, "https://site.test/a", false); err != nil {
		t.Fatal(err)
	}
	ans, err := c.try(t, fetch.Request{URL: parse(t, "https://site.test/a"), Method: http.MethodHead})
	if err != nil || len(conv.asked) > 0 || ans.Header.Get("Etag") != "" {
		t.Errorf("%+v, %v, it was asked %v, want the fields that are known", ans, err, conv.asked)
	}
}

func TestClientsThatLeaveAreNoTroubleOfTheService(t *testing.T) {
	conv, with := newConverter(t)
	c := newChain(t, respond(200, thinPage, html), with("fallback", 0))
	for i := range 4 {
		ctx, cancel := context.WithCancel(t.Context())
		conv.answer = func(_ http.ResponseWriter, r *http.Request) {
			cancel()
			<-r.Context().Done()
		}
		_, err := c.Page(ctx, fetch.Request{URL: parse(t, fmt.Sprint("https://site.test/", i)), NoStore: true})
		if err == nil {
			t.Fatal("no error, want the request given up")
		}
	}
	if s := c.Stats().MarkdownNewState; s != "on" {
		t.Errorf("markdown.new is %s, want it on", s)
	}
}

func TestAThirdPartyIsAskedOnceForWhatTheOriginRefuses(t *testing.T) {
	conv, with := newConverter(t)
	n := 0
	c := newChain(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n++
		respond(403, fmt.Sprintf("<p>Forbidden, request %d", n), html)(w, r)
	}), with("fallback", 0))
	for range 3 {
		if ans := c.read(t, "https://site.test/a"); ans.Page.Source != page.MarkdownNew {
			t.Errorf("source %s, want markdown_new", ans.Page.Source)
		}
	}
	if len(conv.asked) != 1 {
		t.Errorf("it was asked %v, want once", conv.asked)
	}
}
