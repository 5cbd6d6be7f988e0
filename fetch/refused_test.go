package fetch_test

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/page"
)

// inTurn answers the first request as the first handler does, and so on; the last one answers all further requests.
func inTurn(handlers ...http.HandlerFunc) http.HandlerFunc {
	var n atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) {
		handlers[min(n.Add(1), int64(len(handlers)))-1](w, r)
	}
}

// A demand that nobody can read is one still.
func TestADemandInNoKnownFormIsTold(t *testing.T) {
	c := newChain(t, respond(402, "<h1>Pay at the desk</h1>", html))
	_, err := c.own(t, "https://site.test/")
	if err == nil || !strings.Contains(err.Error(), "asks for payment, in no form that is known; nothing was paid") {
		t.Errorf("error %v", err)
	}
}

// What an origin asks to be paid is told, and which copy of the page is stored, but never kept as the page.
func TestAPageThatCostsMoneyIsTold(t *testing.T) {
	price := "Crawler-Price: USD 0.01"
	answers := inTurn(respond(200, article("Harbour"), html), respond(402, "<h1>Pay</h1>", html, price),
		respond(402, `{"x402Version":1,"accepts":[{"scheme":"exact","maxAmountRequired":"7","asset":"0x1"}]}`,
			"Content-Type: application/json"))
	c := newChain(t, answers)
	if _, err := c.own(t, "https://site.test/"); err != nil {
		t.Fatal(err)
	}
	doc := c.stored(t, "https://site.test/")
	for _, want := range []string{"USD 0.01, by pay per crawl", "7 units of 0x1, by x402 exact"} {
		_, err := c.try(t, fetch.Request{URL: parse(t, "https://site.test/"), Own: true, Force: true})
		e, ok := errors.AsType[*fetch.Error](err)
		if !ok || e.Status != 402 || len(e.Payment) != 1 || e.Payment[0].String() != want ||
			e.Page().Payment[0] != e.Payment[0] {
			t.Fatalf("error %+v, want 402 and the price %q", err, want)
		}
		for _, text := range []string{want + "; nothing was paid", "a copy of 20", "readthru pages show " + doc.Doc} {
			if !strings.Contains(e.Error(), text) {
				t.Errorf("%q does not say %q", e, text)
			}
		}
	}
	ans := c.read(t, "https://site.test/", "Cache-Control: no-cache")
	if ans.Status == 200 {
		t.Errorf("answer %+v", ans)
	}
	if now := c.stored(t, "https://site.test/"); now.ContentHash != doc.ContentHash {
		t.Error("the demand replaced the page")
	}
}

// What comes with a demand cannot hide it, nor do more than be named: it is as long as it likes, or no JSON at all.
func TestADemandWithHostileContentIsTold(t *testing.T) {
	for name, content := range map[string]string{
		"longer than any page": strings.Repeat("x", 3<<20),
		"deep":                 `{"x402Version":1,"accepts":` + strings.Repeat("[", 1<<16),
		"markup": `{"x402Version":1,"accepts":[{"amount":"1","asset":"<script>\u001b[2J\u202e","network":"` +
			strings.Repeat("n", 9999) + `"}]}`,
	} {
		c := newChain(t, respond(402, content, "Content-Type: application/json", "Crawler-Price: USD 0.01"),
			func(o *fetch.Options) { o.MaxBody = 1 << 20 })
		_, err := c.own(t, "https://site.test/")
		e, ok := errors.AsType[*fetch.Error](err)
		if !ok || e.Status != 402 || len(e.Payment) == 0 || e.Payment[0].String() != "USD 0.01, by pay per crawl" {
			t.Fatalf("%s: error %v, want the price", name, err)
		}
		if text := err.Error(); len(text) > 2000 || strings.ContainsAny(text, "\x1b\u202e") {
			t.Errorf("%s: %d bytes of error: %q", name, len(text), text)
		}
	}
}

// A wall says whose it is, as far as its marks tell, and which copy of the page is stored.
func TestBotWallsAreTold(t *testing.T) {
	wall := "<html><body><script>window._cf_chl_opt={}</script><p>Checking your browser</p></body></html>"
	c := newChain(t, inTurn(respond(200, article("Harbour"), html), respond(200, wall, html), respond(403, wall, html)))
	if _, err := c.own(t, "https://site.test/"); err != nil {
		t.Fatal(err)
	}
	ans, err := c.try(t, fetch.Request{URL: parse(t, "https://site.test/"), Own: true, Force: true})
	if err != nil || ans.Page.Wall == nil || ans.Page.Wall.By != "Cloudflare" || ans.Page.Wall.Copy.IsZero() ||
		ans.Page.Attempts[len(ans.Page.Attempts)-1].Reason != "bot wall: _cf_chl_opt" {
		t.Fatalf("page %+v, %v, want Cloudflare's wall and the time of the copy", ans.Page, err)
	}
	_, err = c.try(t, fetch.Request{URL: parse(t, "https://site.test/"), Own: true, Force: true})
	if err == nil || !strings.Contains(err.Error(), "HTTP 403") ||
		!strings.Contains(err.Error(), "a bot wall of Cloudflare; a copy of 20") ||
		!strings.Contains(err.Error(), "; "+page.WallHelp) {
		t.Errorf("error %v, want the wall, the copy and what else helps", err)
	}
}
