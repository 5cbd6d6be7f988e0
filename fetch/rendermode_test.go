package fetch_test

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/hostrule"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

func TestAPageThatNeedsNoBrowserStartsNone(t *testing.T) {
	c := withBrowser(t, "", http.HandlerFunc(spa))
	ans := c.read(t, "https://site.test/whole")
	if ans.Page.Source != page.Local || c.Stats().Render.Running {
		t.Errorf("source %s, browser %+v", ans.Page.Source, c.Stats().Render)
	}
}

func TestRenderingIsDecidedByRequestRuleAndHost(t *testing.T) { // rule C7
	never := func(o *fetch.Options) { o.Render = fetch.RenderNever }
	for _, tt := range []struct {
		name    string
		path    string
		request fetch.Request
		change  func(*fetch.Options)
		want    page.Source
	}{
		{"never by configuration", "/app", fetch.Request{}, never, page.Local},
		{"always by request beats it", "/app", fetch.Request{Render: fetch.RenderAlways}, never, page.Browser},
		{"never by request", "/app", fetch.Request{Render: fetch.RenderNever}, nil, page.Local},
		{
			"always by rule", "/whole",
			fetch.Request{},
			func(o *fetch.Options) { o.Rules = hostrule.Rules{{Host: "site.test", Render: fetch.RenderAlways}} },
			page.Browser,
		},
		{"a cascade without it", "/app", fetch.Request{Cascade: []string{"local"}}, nil, page.Local},
		{"with credentials", "/app", fetch.Request{Header: header("Cookie: a=b")}, nil, page.Local},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var change []func(*fetch.Options)
			if tt.change != nil {
				change = append(change, tt.change)
			}
			c := withBrowser(t, "", http.HandlerFunc(spa), change...)
			tt.request.URL = parse(t, "https://site.test"+tt.path)
			ans, err := c.try(t, tt.request)
			if err != nil {
				t.Fatal(err)
			}
			if ans.Page.Source != tt.want {
				t.Errorf("source %s, want %s: %+v", ans.Page.Source, tt.want, ans.Page.Attempts)
			}
		})
	}
}

func TestAHostWhereRenderingHelpedIsRenderedAtOnce(t *testing.T) {
	c := withBrowser(t, "", http.HandlerFunc(spa))
	for n := range 3 {
		if h, err := c.store.Host("site.test"); err != nil || h.Knows(store.NeedsBrowser, time.Now()) {
			t.Fatalf("host %+v, %v: learnt of %d pages", h, err, n)
		}
		c.read(t, fmt.Sprintf("https://site.test/app/%d", n))
	}
	if h, err := c.store.Host("site.test"); err != nil || !h.Knows(store.NeedsBrowser, time.Now()) {
		t.Fatalf("host %+v, %v: not learnt", h, err)
	}
	if ans := c.read(t, "https://site.test/whole"); outcome(ans.Page, "browser") != page.Rejected &&
		outcome(ans.Page, "browser") != page.Answered {
		t.Errorf("attempts %+v, want the browser tried", ans.Page.Attempts)
	}
}

func TestWhatWasLearntOfAHostIsForgottenWhenItHoldsNoMore(t *testing.T) {
	c := withBrowser(t, "", http.HandlerFunc(spa))
	needBrowser(t, c, time.Now().Add(-48*time.Hour))
	c.read(t, "https://site.test/whole")
	if h, err := c.store.Host("site.test"); err != nil || len(h.Facts) != 0 {
		t.Errorf("host %+v, %v: not forgotten", h, err)
	}
	if n := c.Stats().Render.Pages; n != 1 {
		t.Errorf("%d pages rendered, want 1", n)
	}
}

// needBrowser has site.test known as a host that needs a browser.
func needBrowser(t *testing.T, c *chain, at time.Time) {
	t.Helper()
	for n := range 3 {
		if _, _, err := c.store.Learn("site.test", store.NeedsBrowser, "", strconv.Itoa(n), at); err != nil {
			t.Fatal(err)
		}
	}
}
