package fetch_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/fetch"
)

func TestLinksAreThoseOfTheWholePageFromTheCacheToo(t *testing.T) {
	c := newChain(t, respond(200, strings.Replace(article("Harbour"), "<body>",
		`<body><nav><a href="/menu#x">Menu entry</a><a href="mailto:x@y.test">m</a></nav>`, 1), html,
		"Cache-Control: max-age=600"))
	for i := range 2 {
		ans, err := c.try(t, fetch.Request{URL: parse(t, "https://site.test/a"), Own: true, Links: true, NoVisit: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(ans.Links) == 0 || ans.Links[0] != "https://site.test/menu" ||
			strings.Contains(string(ans.Body), "Menu entry") {
			t.Errorf("links %v, want the menu's, which is not in the markdown", ans.Links)
		}
		if p := ans.Page; p.VisitID != "" || p.VisitCount != 0 || !p.Stored || p.FromCache != (i == 1) {
			t.Errorf("page %+v, want it stored, without a visit, the second time from the cache", p)
		}
	}
	if n, s := len(c.origin.asked()), c.Stats(); n != 1 || s.Converted != 1 {
		t.Errorf("%d origin requests, %d conversions, want one of each", n, s.Converted)
	}
	if ans, err := c.own(t, "https://site.test/a"); err != nil || ans.Links != nil || ans.Page.VisitCount != 1 {
		t.Errorf("answer %+v, %v, want no links where none were asked for, and the first visit", ans.Page, err)
	}
}

func TestLinksOfMarkdownAreThoseOfItsText(t *testing.T) {
	c := newChain(t, respond(200, "# T\n\n[a](b/c) and <https://x.test/>\n", "Content-Type: text/markdown"))
	ans, err := c.try(t, fetch.Request{URL: parse(t, "https://site.test/d/"), Own: true, Links: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"https://site.test/d/b/c", "https://x.test/"}, ans.Links); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
}

func TestCallerMayRefuseARedirect(t *testing.T) {
	c := newChain(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/a" {
			http.Redirect(w, r, "http://other.test/b", http.StatusFound)
			return
		}
		respond(200, article("B"), html)(w, r)
	}))
	var to *url.URL
	stop := errors.New("not there")
	_, err := c.try(t, fetch.Request{
		URL: parse(t, "http://site.test/a"), Own: true,
		Follow: func(next *url.URL) error { to = next; return stop },
	})
	if !errors.Is(err, stop) || to.String() != "http://other.test/b" || len(c.origin.asked()) != 1 {
		t.Errorf("%v at %s after %v, want the caller's error and one request", err, to, c.origin.asked())
	}
	if ans, err := c.own(t, "http://site.test/a"); err != nil || ans.Page.Title != "B" {
		t.Errorf("the same page for another caller: %v, want it: the refusal was the first one's", err)
	}
}

func TestErrorTellsHowLongTheOriginAsksToWait(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"120": 2 * time.Minute, "": 0, "soon": 0, "-5": 0,
		"99999999": 7 * 24 * time.Hour, "Mon, 01 Jan 2001 00:00:00 GMT": 0,
	} {
		c := newChain(t, respond(503, "busy", "Content-Type: text/html", "Retry-After: "+value))
		_, err := c.own(t, "https://site.test/")
		if e, ok := errors.AsType[*fetch.Error](err); !ok || e.RetryAfter != want || e.Status != 503 {
			t.Errorf("Retry-After %q: %+v, want to wait %v", value, err, want)
		}
	}
}

func TestDiscloseIsTheGateAndTheLedger(t *testing.T) {
	c := newChain(t, respond(200, "x"), func(o *fetch.Options) { o.BlockedDomains = []string{"blocked.test"} })
	for raw, want := range map[string]string{
		"https://site.test/?a=1": "", "https://site.test/?token=abc": "credentials", "https://u:p@site.test/": "credentials",
		"http://10.1.2.3/": "not public", "http://wiki.corp/": "not public",
		"https://blocked.test/": "Blocked", "https://unmapped.test:444/": "may not be public",
	} {
		err := c.Disclose(t.Context(), "firecrawl", parse(t, raw), 10, "it was asked for", "crawl.service firecrawl")
		if (err == nil) != (want == "") || err != nil &&
			(!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "abc")) {
			t.Errorf("%s: %v, want %q", raw, err, want)
		}
	}
	list, _, err := c.store.Disclosures("", 10)
	if err != nil || len(list) != 1 || list[0].URL != "https://site.test/?a=1" || list[0].Bytes != 10 ||
		list[0].Service != "firecrawl" {
		t.Errorf("ledger %+v, %v, want the one that may leave", list, err)
	}
}

func TestAFailureOfOneReadersRequestIsNobodyElsesAnswer(t *testing.T) {
	c := newChain(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") != "" {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		respond(200, article("A"), html)(w, r)
	}))
	personal := http.Header{"Cache-Control": {"no-store"}, "X-Api-Key": {"k"}}
	if _, err := c.try(t, fetch.Request{
		URL: parse(t, "https://site.test/a"), Own: true, NoRemote: true,
		Header: personal,
	}); err == nil {
		t.Error("the origin's refusal is no error")
	}
	if _, err := c.try(t, fetch.Request{URL: parse(t, "https://site.test/a"), Own: true, NoRemote: true}); err != nil {
		t.Errorf("another reader: %v", err)
	}
}
