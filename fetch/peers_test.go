package fetch_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// board is what peers share, in memory: package fleet has the real thing.
type board struct {
	mu    sync.Mutex
	has   map[string]*store.Rendition // by page and recipe
	log   []string                    // asked, told or ended, with the URI
	offer *store.Rendition            // for every question; nil: what was told
}

func (b *board) AskRendition(_ context.Context, k page.Key, uri, recipe string, makes bool) (*store.Rendition, func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.note("asked", uri, makes)
	done := func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.note("ended", uri, makes)
	}
	r := b.offer
	if r == nil {
		r = b.has[k.String()+recipe]
	}
	if r == nil {
		return nil, done
	}
	shared := *r
	shared.ContentHash, shared.Recipe = "", recipe
	return &shared, func() {}
}

func (b *board) TellRendition(k page.Key, uri string, began time.Time, r *store.Rendition) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if began.IsZero() || r.Recipe == "" || r.ContentHash == "" {
		b.note("told malformed", uri, true)
	}
	b.has[k.String()+r.Recipe] = r
	b.note("told", uri, true)
}

func (b *board) note(what, uri string, makes bool) {
	if !makes {
		what += " without making"
	}
	b.log = append(b.log, what+" "+uri)
}

// did returns the log since the last call.
func (b *board) did() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	log := b.log
	b.log = nil
	return log
}

func newBoard() *board { return &board{has: map[string]*store.Rendition{}} }

func (c *chain) joined(b *board) *chain {
	c.Join(b)
	return c
}

func (b *board) expect(t *testing.T, when string, want ...string) {
	t.Helper()
	if got := b.did(); !slices.Equal(got, want) {
		t.Errorf("%s: peers saw %q, want %q", when, got, want)
	}
}

// fetchedAt is the line of front matter that says when a node fetched the page, to the second.
var fetchedAt = regexp.MustCompile(`(?m)^fetched_at: .*$`)

// unstamped returns the content of an answer without its time: two nodes fetch at different ones.
func unstamped(ans *fetch.Answer) string {
	return fetchedAt.ReplaceAllString(string(ans.Body), "fetched_at:")
}

func TestWhatAModelMadeIsSharedWithPeers(t *testing.T) {
	m, with := withModel(t, false)
	b := newBoard()
	one := newChain(t, respond(200, article("Harbour"), html), with).joined(b)
	_, with2 := withModel(t, false)
	two := newChain(t, respond(200, article("Harbour"), html), with2).joined(b)
	const url = "https://site.test/docs/harbour"
	first := one.read(t, url)
	b.expect(t, "a first read", "asked "+url, "told "+url)
	second := two.read(t, url)
	b.expect(t, "a read on another node", "asked "+url)
	if second.Page.Source != page.LLM || unstamped(second) != unstamped(first) || len(m.asked()) != 1 ||
		second.Page.ContentHash != first.Page.ContentHash || second.Page.Title != "Harbour" {
		t.Errorf("source %s, attempts %+v, body %q", second.Page.Source, second.Page.Attempts, second.Body)
	}
	if last := second.Page.Attempts[len(second.Page.Attempts)-1]; last.Reason != "made by llm of another node" {
		t.Errorf("attempts %+v", second.Page.Attempts)
	}
	third := two.read(t, url)
	b.expect(t, "a second read there")
	if last := third.Page.Attempts[len(third.Page.Attempts)-1]; last.Reason != "rendition from the store" {
		t.Errorf("attempts %+v", third.Page.Attempts)
	}
}

func TestPeersAreNotAskedForWhatAnyNodeMakes(t *testing.T) {
	m, with := withModel(t, false)
	m.say = "nonsense"
	for name, tt := range map[string]struct {
		content string
		with    func(*fetch.Options)
		request fetch.Request
		want    []string
	}{
		"local conversion": {content: article("Harbour"), with: func(*fetch.Options) {}},
		"a request with credentials": {
			article("Harbour"), with, fetch.Request{Header: header("Authorization: Basic eDp5")}, nil,
		},
		"what is not to be stored": {article("Harbour"), with, fetch.Request{NoStore: true}, nil},
		"what nobody can make": {article("Harbour"), with, fetch.Request{}, []string{
			"asked https://site.test/p", "ended https://site.test/p",
		}},
		"a shell without a browser": {shell, func(*fetch.Options) {}, fetch.Request{}, []string{
			"asked without making https://site.test/p", "ended without making https://site.test/p",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBoard()
			c := newChain(t, respond(200, tt.content, html), tt.with).joined(b)
			tt.request.URL = parse(t, "https://site.test/p")
			if _, err := c.try(t, tt.request); err != nil {
				t.Fatal(err)
			}
			b.expect(t, name, tt.want...)
		})
	}
}

func TestANodeWithoutABrowserTakesWhatOneOfAnotherNodeMade(t *testing.T) {
	made := &store.Rendition{
		Markdown: []byte("# Harbour\n\n" + strings.Repeat(shellText+"\n\n", 12)), From: page.Browser, Rendered: true,
		Title: "Harbour", Tokens: 300, Expires: time.Now().Add(time.Hour), FinalURL: "https://site.test/p",
	}
	for name, tt := range map[string]struct {
		change func(*fetch.Options, *store.Rendition)
		taken  bool
	}{
		"as it is":        {func(*fetch.Options, *store.Rendition) {}, true},
		"one that ended":  {func(_ *fetch.Options, r *store.Rendition) { r.Expires = time.Now().Add(-time.Second) }, false},
		"of another step": {func(_ *fetch.Options, r *store.Rendition) { r.From = page.LLM }, false},
		"without the browser": {func(o *fetch.Options, _ *store.Rendition) {
			o.Cascade = []string{"negotiate", "local"}
		}, false},
		"never to be rendered": {func(o *fetch.Options, _ *store.Rendition) { o.Render = fetch.RenderNever }, false},
	} {
		t.Run(name, func(t *testing.T) {
			b, r := newBoard(), *made
			b.offer = &r
			c := newChain(t, respond(200, shell, html), func(o *fetch.Options) { tt.change(o, &r) }).joined(b)
			if again := c.read(t, "https://site.test/p", "Cache-Control: no-cache"); again.Page.Source == page.Browser {
				t.Errorf("taken though it is wanted anew: %+v", again.Page.Attempts)
			}
			ans := c.read(t, "https://site.test/other")
			if taken := ans.Page.Source == page.Browser && strings.Contains(string(ans.Body), shellText); taken != tt.taken {
				t.Errorf("taken: %t, attempts %+v", taken, ans.Page.Attempts)
			}
			if tt.taken && slices.Contains(ans.Page.Warnings, "no-browser") {
				t.Errorf("warnings %q", ans.Page.Warnings)
			}
		})
	}
}
