package fetch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/page"
)

// converter is markdown.new on loopback: GET with the URL as path, POST with JSON, a daily allowance that counts down.
type converter struct {
	mu        sync.Mutex
	asked     []string // "METHOD url"
	fields    []http.Header
	answer    http.HandlerFunc // if set, answers in place of the converter
	remaining int
}

var converted = "# Converted\n\n" +
	strings.Repeat("By a [third](https://markdown.new/) party, in words enough to stand for a page of the harbour.\n\n",
		8)

func (c *converter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	target := strings.TrimPrefix(r.RequestURI, "/")
	if r.Method == http.MethodPost {
		var v struct {
			URL    string
			Method string
		}
		if err := json.NewDecoder(r.Body).Decode(&v); err != nil || r.URL.Path != "/" || v.Method != "auto" &&
			v.Method != "browser" {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		if target = v.URL; v.Method == "browser" {
			target += " by browser"
		}
	}
	c.asked, c.fields = append(c.asked, r.Method+" "+target), append(c.fields, r.Header.Clone())
	c.remaining--
	w.Header().Set("X-Rate-Limit-Remaining", fmt.Sprint(c.remaining))
	switch {
	case c.answer != nil:
		c.answer(w, r)
	case r.Method == http.MethodPost:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"success": true, "url": target, "title": "Converted",
			"content": converted, "method": "Workers AI", "duration_ms": 12, "tokens": 99,
		})
	default:
		w.Header().Set("Content-Type", "text/markdown; charset=utf-8")
		w.Header().Set("X-Markdown-Tokens", "99")
		io.WriteString(w, converted)
	}
}

func newConverter(t *testing.T) (*converter, func(mode string, limit int) func(*fetch.Options)) {
	t.Helper()
	c := &converter{remaining: 500}
	s := httptest.NewServer(c)
	t.Cleanup(s.Close)
	return c, func(mode string, limit int) func(*fetch.Options) {
		return func(o *fetch.Options) {
			o.MarkdownNew = fetch.MarkdownNew{Mode: mode, BaseURL: s.URL, DailyLimit: limit}
		}
	}
}

const thinPage = "<!doctype html><title>App</title><body><div id=root></div><p>Loading</p></body>"

func TestMarkdownNewModes(t *testing.T) {
	for _, tt := range []struct {
		name, mode, content string
		status              int
		want                page.Source
		sent                bool
	}{
		{"AD3 prefer takes it before the local conversion", "prefer", article("Local"), 200, page.MarkdownNew, true},
		{"AD3 fallback leaves a good page alone", "fallback", article("Local"), 200, page.Local, false},
		{"AD3 fallback takes it for a thin page", "fallback", thinPage, 200, page.MarkdownNew, true},
		{"AD3 off sends nothing", "off", thinPage, 200, page.Local, false},
		{"AD3 fallback, origin refuses with 403", "fallback", "<p>Forbidden", 403, page.MarkdownNew, true},
		{"AD3 fallback, origin refuses with 503", "fallback", "<p>Busy", 503, page.MarkdownNew, true},
		{"E2 401 is no refusal to get round", "fallback", "<p>Sign in", 401, page.Local, false},
		{"E2 402 is no refusal to get round", "fallback", "<p>Pay", 402, page.Local, false},
		{"404 is no refusal", "fallback", "<p>Nothing here", 404, page.Local, false},
		{
			"E2 a bot challenge is not got round", "fallback",
			"<title>Just a moment...</title><script>_cf_chl_opt={}</script>Checking your browser", 403, page.Local,
			false,
		},
		{
			"E2 a login page is not got round", "fallback", "<p>Members<form><input name=p type='password'></form>",
			403,
			page.Local, false,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			conv, with := newConverter(t)
			c := newChain(t, respond(tt.status, tt.content, html), with(tt.mode, 0))
			ans := c.read(t, "https://site.test/docs/page#part")
			if ans.Page == nil || ans.Page.Source != tt.want {
				t.Fatalf("source %v, want %s; attempts %+v", ans.Page.Source, tt.want, ans.Page.Attempts)
			}
			if (len(conv.asked) > 0) != tt.sent {
				t.Fatalf("it was asked %v, want sent %v", conv.asked, tt.sent)
			}
			ledger, _, err := c.store.Disclosures("", 10)
			if err != nil || len(ledger) != len(conv.asked) {
				t.Errorf("ledger %+v, %v, want as many entries as requests", ledger, err)
			}
			if !tt.sent {
				return
			}
			if conv.asked[0] != "GET https://site.test/docs/page" {
				t.Errorf("asked %q, want GET of the URL without its fragment", conv.asked[0])
			}
			if ans.Status != 200 || !strings.Contains(string(ans.Body), "# Converted") ||
				ans.Header.Get("X-Markdown-Tokens") != "99" || ans.Header.Get("X-Readthru-Source") != "markdown_new" {
				t.Errorf("status %d, fields %v", ans.Status, ans.Header)
			}
			if d := ledger[0]; d.Service != "markdown.new" || d.URL != "https://site.test/docs/page" || d.Why == "" ||
				d.Rule != "markdown_new.mode "+tt.mode || d.Bytes == 0 {
				t.Errorf("ledger entry %+v", d)
			}
			c.read(t, "https://site.test/docs/page")
			if tt.status == 200 && len(conv.asked) != 1 {
				t.Errorf("the second read asked it again: %v", conv.asked)
			}
		})
	}
}

func TestMarkdownNewIsPostedWhatWouldMixWithItsOptions(t *testing.T) { // rule A5
	conv, with := newConverter(t)
	c := newChain(t, respond(200, article("Local"), html), with("prefer", 0))
	for _, path := range []string{"/a?b=c", "/a%20b"} {
		if ans := c.read(t, "https://site.test"+path); ans.Page.Source != page.MarkdownNew || ans.Page.Tokens != 99 ||
			ans.Page.Title != "Converted" {
			t.Errorf("%s: %s, %d tokens, title %q", path, ans.Page.Source, ans.Page.Tokens, ans.Page.Title)
		}
	}
	if got := strings.Join(conv.asked, " "); got != "POST https://site.test/a?b=c POST https://site.test/a%20b" {
		t.Errorf("asked %s", got)
	}
	for _, h := range conv.fields {
		if h.Get("Cookie")+h.Get("Authorization") != "" || h.Get("User-Agent") != "readthru/test" {
			t.Errorf("fields %v: want ours alone", h)
		}
	}
}

func TestMarkdownNewRendersAShellThatNoBrowserRenderedHere(t *testing.T) {
	for path, want := range map[string]string{
		"/app":     "GET https://site.test/app?method=browser",
		"/app?q=1": "POST https://site.test/app?q=1 by browser",
	} {
		conv, with := newConverter(t)
		c := newChain(t, respond(200, shell, html), with("fallback", 0))
		if ans := c.read(t, "https://site.test"+path); ans.Page.Source != page.MarkdownNew ||
			strings.Join(conv.asked, " ") != want {
			t.Errorf("%s: source %s, asked %q, want %q", path, ans.Page.Source, conv.asked, want)
		}
	}
}

func TestMarkdownNewAnswersThatAreNotTaken(t *testing.T) { // rules A6, A7
	for name, answer := range map[string]http.HandlerFunc{
		"HTML with status 200":   respond(200, "<html><p>Error</html>", "Content-Type: text/html"),
		"HTML labelled markdown": respond(200, "<!doctype html><p>Error", "Content-Type: text/markdown"),
		"empty":                  respond(200, "", "Content-Type: text/markdown"),
		"success false": respond(200, `{"success":false,"error":"no","code":"INTERNAL"}`,
			"Content-Type: application/json"),
		"empty content in JSON": respond(200, `{"success":true,"content":""}`, "Content-Type: application/json"),
		"JSON that is none":     respond(200, `{"success":`, "Content-Type: application/json"),
		"a bot wall": respond(200, "# Just a moment\n\n<script>_cf_chl_opt</script>",
			"Content-Type: text/markdown"),
		"does not look like it": respond(200, "some words", "Content-Type: text/markdown"),
		"415": respond(415, `{"success":false,"code":"UNSUPPORTED_FORMAT"}`,
			"Content-Type: application/json"),
		"500":                       respond(500, "", ""),
		"a redirect elsewhere":      respond(302, "", "Location: http://127.0.0.1:1/"),
		"markedly shorter":          respond(200, "# Short\n", "Content-Type: text/markdown"),
		"a body that ends too soon": respond(200, converted, "Content-Type: text/markdown", "Content-Length: 10000"),
	} {
		t.Run(name, func(t *testing.T) {
			conv, with := newConverter(t)
			conv.answer = answer
			c := newChain(t, respond(200, article("Local"), html), with("prefer", 0))
			ans := c.read(t, "https://site.test/")
			if ans.Page.Source != page.Local || !strings.Contains(string(ans.Body), "# Local") {
				t.Errorf("source %s, want local", ans.Page.Source)
			}
			for _, a := range ans.Page.Attempts {
				if a.Step == "markdown_new" && (a.Outcome == page.Answered || a.Reason == "") {
					t.Errorf("attempt %+v, want it told why not", a)
				}
			}
			if len(conv.asked) != 1 {
				t.Errorf("asked %d times, want once", len(conv.asked))
			}
		})
	}
}

func TestMarkdownNewUnreachable(t *testing.T) { // acceptance A: text there, local
	c := newChain(t, respond(200, article("Local"), html), func(o *fetch.Options) {
		o.MarkdownNew = fetch.MarkdownNew{Mode: "prefer", BaseURL: "http://127.0.0.1:1"}
	})
	if ans := c.read(t, "https://site.test/"); ans.Page.Source != page.Local {
		t.Errorf("source %s, want local", ans.Page.Source)
	}
}

func TestMarkdownNewLimits(t *testing.T) {
	t.Run("daily limit", func(t *testing.T) {
		conv, with := newConverter(t)
		c := newChain(t, respond(200, article("Local"), html, "Cache-Control: no-cache"), with("prefer", 2))
		for i := range 4 {
			c.read(t, fmt.Sprintf("https://site.test/%d", i))
		}
		if s := c.Stats(); len(conv.asked) != 2 || s.MarkdownNewSent != 2 || s.MarkdownNewLeft != 0 ||
			s.BySource[page.MarkdownNew] != 2 || s.BySource[page.Local] != 2 {
			t.Errorf("asked %d times, stats %+v, want 2 and no more", len(conv.asked), s)
		}
	})
	t.Run("daily limit of all nodes", func(t *testing.T) {
		conv, with := newConverter(t)
		answers := []error{nil, errors.New("away"), nil}
		asked := 0
		c := newChain(t, respond(200, article("Local"), html), with("prefer", 5), func(o *fetch.Options) {
			o.MarkdownNew.Spend = func(_ context.Context, day string, limit int64) (bool, error) {
				if asked++; day != time.Now().UTC().Format(time.DateOnly) || limit != 5 {
					t.Errorf("asked for %s and %d", day, limit)
				}
				return asked == 1, answers[asked-1] // then it is not known, then there is none left
			}
		})
		for i := range 3 {
			c.read(t, fmt.Sprintf("https://site.test/%d", i))
		}
		if s := c.Stats(); len(conv.asked) != 1 || asked != 3 || s.MarkdownNewSent != 1 ||
			s.BySource[page.Local] != 2 {
			t.Errorf("asked %d times, the nodes %d times, stats %+v; want 1 and 3", len(conv.asked), asked, s)
		}
	})
	t.Run("Retry-After", func(t *testing.T) {
		conv, with := newConverter(t)
		conv.answer = respond(429, "", "Retry-After: 3600")
		c := newChain(t, respond(200, article("Local"), html), with("prefer", 0))
		for i := range 3 {
			c.read(t, fmt.Sprintf("https://site.test/%d", i))
		}
		if s := c.Stats(); len(conv.asked) != 1 || s.MarkdownNewState != "resting" {
			t.Errorf("asked %d times, state %s, want once and resting", len(conv.asked), s.MarkdownNewState)
		}
	})
	t.Run("circuit breaker", func(t *testing.T) {
		conv, with := newConverter(t)
		conv.answer = respond(502, "")
		c := newChain(t, respond(200, article("Local"), html), with("prefer", 0))
		for i := range 6 {
			c.read(t, fmt.Sprintf("https://site.test/%d", i))
		}
		if s := c.Stats(); len(conv.asked) != 3 || s.MarkdownNewState != "resting" {
			t.Errorf("asked %d times, state %s, want 3 times and resting", len(conv.asked), s.MarkdownNewState)
		}
	})
	t.Run("allowance used up", func(t *testing.T) {
		conv, with := newConverter(t)
		conv.remaining = 1
		c := newChain(t, respond(200, article("Local"), html), with("prefer", 0))
		for i := range 3 {
			c.read(t, fmt.Sprintf("https://site.test/%d", i))
		}
		if len(conv.asked) != 1 {
			t.Errorf("asked %d times, want once", len(conv.asked))
		}
	})
}

// privateNetwork is a transport that finds private addresses for all names.
type privateNetwork struct{ http.RoundTripper }

func (privateNetwork) Public(context.Context, *url.URL) error {
	return errors.New("the address is private")
}

func TestNamesOfPrivateNetworksAreNotSent(t *testing.T) {
	conv, with := newConverter(t)
	c := newChain(t, respond(200, article("Local"), html), with("prefer", 0), func(o *fetch.Options) {
		o.Direct = privateNetwork{o.Direct}
	})
	if ans := c.read(t, "https://site.test/"); ans.Page.Source != page.Local || len(conv.asked) != 0 {
		t.Errorf("source %s, asked %v, want nothing sent of a name that resolves to a private address", ans.Page.Source,
			conv.asked)
	}
}

func TestMarkdownNewWithCredentials(t *testing.T) {
	conv, with := newConverter(t)
	c := newChain(t, respond(200, thinPage, html), with("prefer", 0))
	c.read(t, "https://site.test/", "Cookie: a=b")
	c.read(t, "https://site.test/", "Authorization: Basic eDp5")
	if _, err := c.try(t, fetch.Request{URL: parse(t, "https://site.test/x"), Own: true, NoRemote: true}); err != nil {
		t.Fatal(err)
	}
	if len(conv.asked) != 0 {
		t.Errorf("asked %v, want nothing", conv.asked)
	}
}

func TestMarkdownNewIsNotAskedWhileItIsSwitchedOff(t *testing.T) {
	conv, with := newConverter(t)
	c := newChain(t, respond(200, thinPage, html), with("fallback", 0))
	if err := c.store.SwitchService(fetch.MarkdownNewService, true); err != nil {
		t.Fatal(err)
	}
	ans := c.read(t, "https://site.test/docs/page")
	if len(conv.asked) > 0 || ans.Page == nil || ans.Page.Source != page.Local {
		t.Errorf("it was asked %v; the page is %+v", conv.asked, ans.Page)
	}
	if n := c.Stats(); n.MarkdownNewSent != 0 {
		t.Errorf("%d requests are counted, want 0", n.MarkdownNewSent)
	}
}

func TestMarkdownNewIsBelievedIfItSharesWordsWithThePage(t *testing.T) {
	moon := "# The moon\n\n" +
		strings.Repeat("It is made of the finest cheese that anybody has ever eaten up there.\n\n", 8)
	for _, tt := range []struct {
		name, page, answer string
		want               page.Source
	}{
		{"another page", "<title>Harbour almanac</title><p>Tides</p>", moon, page.Local},
		{"the page", "<title>Moonshine and cheese</title><p>Nothing yet</p>", moon, page.MarkdownNew},
		{
			"in its description", "<title>A</title><meta name=description content='About dinner and cheese'>", moon,
			page.MarkdownNew,
		},
		{"nothing was seen", "<title>App</title><p>Loading…</p>", moon, page.MarkdownNew},
		{
			"only that scripts are missing", "<title>App</title><p>Please enable JavaScript in your browser</p>", moon,
			page.MarkdownNew,
		},
		{
			"in Japanese", "<title>月の石について</title>",
			"# 石\n\n" + strings.Repeat("月の石は月面で集められた岩石です。", 9), page.MarkdownNew,
		},
		{
			"another page in Japanese", "<title>港の朝の音</title>",
			"# 石\n\n" + strings.Repeat("岩石は集められた。", 9), page.Local,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			conv, with := newConverter(t)
			conv.answer = respond(200, tt.answer, "Content-Type: text/markdown; charset=utf-8")
			c := newChain(t, respond(200, "<!doctype html><meta charset=utf-8>"+tt.page, html), with("fallback", 0))
			if ans := c.read(t, "https://site.test/"); ans.Page.Source != tt.want {
				t.Errorf("by %s, want %s: %+v", ans.Page.Source, tt.want, ans.Page.Attempts)
			}
		})
	}
}
